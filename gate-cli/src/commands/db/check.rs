//! `gate db check`: is the database sound, and the ledger of each project in it?

use gate_core::text::readable_size;
use schemars::JsonSchema;
use serde::Serialize;

use super::counted;
use crate::commands::common::DONE;
use crate::commands::ledger::card::{LedgerReport, count};
use crate::commands::ledger::verify;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{self, Memory};
use crate::render::{self, Mark, Page, print};
use crate::store::{self, Added, Condition, Place, is_aside};

/// Exit code of a store that is not sound.
const UNSOUND: u8 = 1;

/// `gate.db.check.v1`: the condition of a store.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DbCheckRecord {
    /// Always `gate.db.check.v1`.
    schema: &'static str,
    /// True if the database and all ledgers are sound.
    ok: bool,
    /// The state folder, or the database's host, port and name.
    place: String,
    /// The database and its version.
    database: String,
    /// The version of the tables.
    version: i64,
    /// The numbers of the additions to the tables that the store has.
    additions: Vec<i64>,
    /// The additions that this gate knows and the store is without.
    missing: Vec<Added>,
    /// The size of the store in bytes.
    bytes: u64,
    /// The free space of its disk in bytes; null if that is not known.
    free_bytes: Option<u64>,
    /// Defects of the database, which make it unsound.
    problems: Vec<String>,
    /// Facts that an operator should know.
    remarks: Vec<String>,
    /// Each project's ledger, but for those that were set aside.
    projects: Vec<ProjectRecord>,
    /// The number of ledgers that were set aside.
    set_aside: usize,
}

/// The condition of a project's ledger.
#[derive(Debug, Serialize, JsonSchema)]
struct ProjectRecord {
    /// The project's name.
    project: String,
    /// The ledger, as `gate ledger verify --json` prints it.
    #[serde(flatten)]
    ledger: LedgerReport,
    /// The number of work items; null if they could not be read.
    work_items: Option<u64>,
    /// The number of leased work items.
    leases: Option<u64>,
}

pub(super) fn run(here: &Here, json: bool) -> Result<u8, Failure> {
    let place = memory::place(&here.places)?;
    let record = examined(here, &place)?;
    print(&if json { render::json(&record)? } else { card(&record) })?;
    Ok(if record.ok { DONE } else { UNSOUND })
}

fn examined(here: &Here, place: &Place) -> Result<DbCheckRecord, Failure> {
    let mut store = store::upkeep(place, store::PATIENCE)?;
    let Condition {
        database,
        version,
        additions,
        missing,
        bytes,
        free_bytes,
        problems,
        mut remarks,
        projects,
    } = store.condition()?;
    if version == 0 && problems.is_empty() {
        let message = format!("there is no store in {}: no record was written", store.place());
        return Err(Failure::usage("state-missing", message));
    }
    if !missing.is_empty() {
        remarks.push("`gate db migrate` makes the missing additions".to_owned());
    }
    let (aside, projects): (Vec<_>, Vec<_>) = projects.into_iter().partition(|name| is_aside(name));
    let projects: Vec<_> = projects
        .into_iter()
        .map(|project| verified(here, place, project))
        .collect::<Result<_, Failure>>()?;
    Ok(DbCheckRecord {
        schema: "gate.db.check.v1",
        ok: problems.is_empty() && projects.iter().all(|project| project.ledger.ok),
        place: store.place().to_owned(),
        database,
        version,
        additions,
        missing,
        bytes,
        free_bytes,
        problems,
        remarks,
        projects,
        set_aside: aside.len(),
    })
}

fn verified(here: &Here, place: &Place, project: String) -> Result<ProjectRecord, Failure> {
    let mut memory = Memory::in_place(place, here.places.heads(), &project)?;
    let ledger = verify::ledger(&mut memory)?;
    let counts = memory.item_counts().ok();
    let (work_items, leases) = counts.unzip();
    Ok(ProjectRecord { project, ledger, work_items, leases })
}

fn card(record: &DbCheckRecord) -> String {
    let mut page = Page::new();
    match record.ok {
        true => page.head(Mark::Good, "SOUND", &record.place),
        false => page.head(Mark::Bad, "NOT SOUND", &record.place),
    }
    page.blank();
    page.row("database", &format!("{}, {}", record.database, sizes(record)));
    page.row("tables", &tables(record));
    for problem in &record.problems {
        page.marked(Mark::Bad, "problem", problem);
    }
    for remark in &record.remarks {
        page.marked(Mark::Unsure, "remark", remark);
    }
    for project in &record.projects {
        project_row(&mut page, project);
    }
    if record.set_aside > 0 {
        page.row("set aside", &format!("{} ledgers, not verified", record.set_aside));
    }
    page.into_text()
}

fn sizes(record: &DbCheckRecord) -> String {
    let size = readable_size(record.bytes);
    match record.free_bytes {
        Some(free) => format!("{size}; {} are free", readable_size(free)),
        None => size,
    }
}

fn tables(record: &DbCheckRecord) -> String {
    let version = format!("version {}", record.version);
    if record.missing.is_empty() {
        return version;
    }
    let names: Vec<_> = record.missing.iter().map(|missing| missing.name).collect();
    format!("{version}, without {}", names.join(", "))
}

fn project_row(page: &mut Page, project: &ProjectRecord) {
    let name = &project.project;
    if let Some(problem) = &project.ledger.problem {
        page.marked(Mark::Bad, "ledger", &format!("{name}: {}", problem.message));
        return;
    }
    let items = match (project.work_items, project.leases) {
        (Some(0) | None, _) => String::new(),
        (Some(items), leases) => {
            format!(", {}, {} leased", counted(items), leases.unwrap_or_default())
        }
    };
    page.marked(Mark::Good, "ledger", &format!("{name}: {}{items}", count(project.ledger.records)));
}
