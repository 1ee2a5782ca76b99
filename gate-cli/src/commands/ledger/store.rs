//! The store of a ledger: the condition of the database, and of the ledger of each project in it.

use gate_core::ledger::Chain;
use gate_core::text::readable_size;
use serde::Serialize;

use super::card::{LedgerProblem, LedgerReport, count};
use super::verify;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory::Memory;
use crate::render::{Mark, Page};
use crate::store::{Condition, Place, is_aside};

/// The condition of a store.
#[derive(Debug, Serialize)]
pub(super) struct StoreRecord {
    #[serde(flatten)]
    condition: Condition,
    /// Each project's ledger, but for those that were set aside.
    projects: Vec<ProjectRecord>,
    /// The number of ledgers that were set aside.
    set_aside: usize,
}

/// The condition of a project's ledger.
#[derive(Debug, Serialize)]
struct ProjectRecord {
    /// The project's name.
    project: String,
    #[serde(flatten)]
    ledger: LedgerReport,
    /// The number of work items; null if they could not be read.
    work_items: Option<u64>,
    /// The number of leased work items.
    leases: Option<u64>,
}

/// The record of one project. A `report` saves verifying its ledger again.
fn project_record(
    invocation: &Invocation,
    place: &Place,
    project: String,
    report: Option<LedgerReport>,
) -> Result<ProjectRecord, Failure> {
    let mut memory = Memory::in_place(place, invocation.places.heads(), &project)?;
    let ledger = match report {
        Some(report) => report,
        None => verify::verify_ledger(Chain::new(), &mut memory)?,
    };
    let (work_items, leases) = memory.item_counts().ok().unzip();
    Ok(ProjectRecord { project, ledger, work_items, leases })
}

impl StoreRecord {
    /// The store in this condition, with the report on the project that was verified already; `None`
    /// if no record was written.
    pub(super) fn new(
        invocation: &Invocation,
        place: &Place,
        condition: Condition,
        verified_project: &str,
        report: &LedgerReport,
    ) -> Result<Option<Self>, Failure> {
        if condition.version == 0 && condition.problems.is_empty() {
            return Ok(None);
        }
        let (set_aside, projects): (Vec<_>, Vec<_>) =
            condition.projects.iter().cloned().partition(|name| is_aside(name));
        let records = projects.into_iter().map(|project| {
            let is_verified = project == verified_project;
            project_record(invocation, place, project, is_verified.then(|| report.clone()))
        });
        Ok(Some(Self {
            projects: records.collect::<Result<_, Failure>>()?,
            set_aside: set_aside.len(),
            condition,
        }))
    }

    /// The first problem of the database, or of a ledger.
    pub(super) fn problem(&self) -> Option<LedgerProblem> {
        let ledger_problems =
            self.projects.iter().filter_map(|ProjectRecord { project, ledger, .. }| {
                Some(format!("{project}: {}", ledger.problem.as_ref()?.message))
            });
        let message = self.condition.problems.iter().cloned().chain(ledger_problems).next()?;
        Some(LedgerProblem { seq: None, message })
    }

    /// Writes the rows of the store.
    pub(super) fn fill(&self, page: &mut Page) {
        let Condition { place, database, remarks, .. } = &self.condition;
        page.row("store", place);
        page.row("database", &format!("{database}, {}", self.sizes()));
        page.row("tables", &self.tables());
        for problem in &self.condition.problems {
            page.marked(Mark::Bad, "problem", problem);
        }
        for remark in remarks {
            page.marked(Mark::Unsure, "remark", remark);
        }
        for project in &self.projects {
            project.fill(page);
        }
        if self.set_aside > 0 {
            page.row("set aside", &format!("{} ledgers, not verified", self.set_aside));
        }
    }

    fn sizes(&self) -> String {
        let size = readable_size(self.condition.bytes);
        match self.condition.free_bytes {
            Some(free) => format!("{size}; {} are free", readable_size(free)),
            None => size,
        }
    }

    fn tables(&self) -> String {
        let version = format!("version {}", self.condition.version);
        if self.condition.missing.is_empty() {
            return version;
        }
        let names: Vec<_> = self.condition.missing.iter().map(|addition| addition.name).collect();
        format!("{version}, without {}", names.join(", "))
    }
}

impl ProjectRecord {
    fn fill(&self, page: &mut Page) {
        let name = &self.project;
        if let Some(problem) = &self.ledger.problem {
            page.marked(Mark::Bad, "ledger", &format!("{name}: {}", problem.message));
            return;
        }
        let items = match (self.work_items, self.leases.unwrap_or_default()) {
            (Some(0) | None, _) => String::new(),
            (Some(1), leases) => format!(", 1 work item, {leases} leased"),
            (Some(items), leases) => format!(", {items} work items, {leases} leased"),
        };
        page.marked(
            Mark::Good,
            "ledger",
            &format!("{name}: {}{items}", count(self.ledger.records)),
        );
    }
}
