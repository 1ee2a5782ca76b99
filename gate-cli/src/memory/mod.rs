//! The memory of a project's decisions: its ledger, in a store.
//!
//! A decision takes four steps:
//!
//! 1. [`Memory::look_up`] finds the loop, returns a decision that was made before, and asks
//!    the breaker. [`Memory::begin_probe`] records it if the decision is the breaker's probe.
//! 2. The checks run. No lock and no transaction is open in the meantime.
//! 3. [`Memory::begin_decision`] numbers the iteration, and returns the loop's state at that
//!    moment. The gate decides by it.
//! 4. [`DecisionTransaction::commit`] writes the record. When it returns, the record is
//!    durable.

mod accepted_loss;
mod approvals;
mod body;
mod breaker_ops;
mod breakers;
mod clock;
mod decision_transaction;
mod decisions;
mod goals;
mod hook;
mod locked_tests;
mod loop_end;
mod naming;
mod notices;
mod pending_decision;
mod queries;
mod recorded_decision;
mod run_history;
mod set_aside;
#[cfg(test)]
mod tests;
mod token;
mod trusted_settings;
mod work;
mod wrong;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gate_checks::worktree;
use gate_core::ledger::{Draft, MovedOut, Sealed};

pub(crate) use accepted_loss::AcceptedLoss;
pub(crate) use approvals::Approvals;
pub use breaker_ops::{BreakerStatus, Operation};
pub use breakers::{BreakerSelector, OpenBreaker};
pub(crate) use clock::now;
pub(crate) use decision_transaction::{DecisionContext, DecisionStart};
pub(crate) use decisions::{Confirmation, ConfirmedAt, DecisionsKey, TaskDecisions};
pub(crate) use goals::{
    Goal, Scope, chosen_goals, command_line, command_of_words, command_words, may_have_goal,
};
pub(crate) use hook::NotJudged;
pub(crate) use locked_tests::LockedTests;
pub(crate) use loop_end::{LoopEnd, LoopStart, StoppedBy, machine};
pub(crate) use naming::{LoopId, next_run, run_before};
pub(crate) use pending_decision::{DecisionRequest, LookUp, PendingDecision};
pub(crate) use queries::LastEvent;
pub use queries::{RecordSelector, ReplayedDecision};
pub use set_aside::SetAside;
pub(crate) use token::Tokens;
pub(crate) use work::LeasedItem;
pub use work::{Claim, LeaseRef, Submitted};
pub(crate) use wrong::WrongRecord;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::settings::{DATABASE, DATABASE_FILE, Places};
use crate::store::{self, Examination, Leases, Place, Store, StoreError, Transaction, View};
use crate::trust::{NearestApproval, Trust, TrustReport, TrustState};

/// A project's ledger, opened.
#[derive(Debug)]
pub struct Memory {
    store: Store,
    project: String,
    /// The name of the work tree. It is a part of the names of loops.
    tree: String,
    /// The state folder, which has the key of the tokens.
    state: Option<PathBuf>,
    /// The record that is marked outside of the store was found in the ledger, before a claim.
    has_marked_record: bool,
}

impl Memory {
    /// Opens the ledger of the project in these places. `id` is the project's name in the
    /// settings; without one, the repository identifies the project, by the origin that it had
    /// when its settings were approved.
    ///
    /// # Errors
    ///
    /// No place for state, a place that cannot be used, a database without a project's
    /// name.
    pub fn open(places: &Places, id: Option<&str>) -> Result<Self, Failure> {
        Self::open_within(places, id, places.patience()?)
    }

    /// As [`Memory::open`], with a timeout for a store that is busy or does not answer.
    pub(crate) fn open_within(
        places: &Places,
        id: Option<&str>,
        patience: Duration,
    ) -> Result<Self, Failure> {
        Self::open_in(&places.project()?, places, id, patience)
    }

    /// As [`Memory::open_within`], for the project in a folder.
    fn open_in(
        folder: &Path,
        places: &Places,
        id: Option<&str>,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let place = place(places)?;
        if matches!(place, Place::Database(_)) && id.is_none() {
            let message = "a database is shared by machines, and there `[project] id` has to name the project";
            let failure = Failure::usage("project-unnamed", message);
            return Err(failure.hint("add `[project]` with `id = \"…\"` to gate.toml"));
        }
        let project = id.map(str::to_owned).or_else(|| Trust::approved_project(places));
        let project = project.unwrap_or_else(|| worktree::identity(folder));
        let store = Store::open(&place, places.heads(), patience)?;
        let state = places.state.clone();
        let tree = naming::tree_name(folder);
        Ok(Self { store, project, tree, state, has_marked_record: false })
    }

    /// As [`Memory::open`], for the project that the approved settings name.
    // An agent could otherwise start a fresh history by changing the project's id.
    pub(crate) fn open_under(
        report: &TrustReport,
        places: &Places,
        id: Option<&str>,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let is_changed = report.changed.is_some() || report.state == TrustState::Changed;
        match &report.approved {
            Some(NearestApproval { folder, approval }) if is_changed => {
                Self::open_in(folder, places, approval.id.as_deref(), patience)
            }
            _ => Self::open_within(places, id, patience),
        }
    }

    /// Opens the same project's ledger once more.
    pub(crate) fn reopened(&self, places: &Places) -> Result<Self, Failure> {
        let memory = Self::open(places, Some(&self.project))?;
        // The loop goes on under its name, which holds that of its work tree.
        Ok(Self { tree: self.tree.clone(), ..memory })
    }

    /// Opens the ledger of the project with this name in a place.
    pub(crate) fn in_place(
        place: &Place,
        heads: Option<PathBuf>,
        project: &str,
    ) -> Result<Self, Failure> {
        let store = Store::open(place, heads, store::PATIENCE)?;
        Ok(Self {
            store,
            project: project.to_owned(),
            // Whoever reads a whole ledger asks for no loop of one work tree.
            tree: String::new(),
            state: None,
            has_marked_record: false,
        })
    }

    /// The records that older gates moved out of the ledger to archives.
    pub(crate) fn moved_out(&mut self) -> Result<Vec<MovedOut>, StoreError> {
        store::moved_out(&mut self.examine()?.view)
    }

    /// The project's id in the settings, or its identity.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// The name of a loop in this work tree.
    ///
    /// # Errors
    ///
    /// A name that a run cannot have.
    pub(crate) fn loop_name(&self, id: LoopId<'_>) -> Result<String, Failure> {
        id.name(&self.tree)
    }

    /// A consistent view of the ledger.
    pub(crate) fn view(&mut self) -> Result<View<'_>, StoreError> {
        self.store.view(&self.project)
    }

    /// The names of all projects in the store.
    pub(crate) fn projects(&mut self) -> Result<Vec<String>, Failure> {
        // Only names are read, so no ledger has to be sound.
        Ok(self.examine()?.view.projects()?)
    }

    /// A consistent view of the ledger of another project in the same store.
    pub(crate) fn view_project<'s>(&'s mut self, project: &'s str) -> Result<View<'s>, StoreError> {
        self.store.view(project)
    }

    /// A view of a ledger that may have lost records, and the last record that is known outside of
    /// the store.
    pub(crate) fn examine(&mut self) -> Result<Examination<'_>, StoreError> {
        self.store.examine(&self.project)
    }

    /// Begins a change of the ledger, which nobody else changes meanwhile.
    pub(crate) fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.store.begin(&self.project)
    }

    /// Begins a change of leases of work items, but not of the ledger.
    fn begin_leases(&mut self) -> Result<Leases<'_>, StoreError> {
        self.store.lease(&self.project)
    }

    /// Waits for a store that does not answer as long as for the agent's service, or until somebody
    /// interrupts the loop.
    pub(crate) fn waiting_out(mut self, limit_ms: u64, interrupt: &Interrupt) -> Self {
        self.store.wait_in_loop(Duration::from_millis(limit_ms), interrupt.signal());
        self
    }

    /// Calls `work` until it succeeds, or fails otherwise than because the store does not answer or
    /// is busy. Nothing of such a call was kept.
    pub(crate) fn retry<T>(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let start = Instant::now();
        let mut failures = 0;
        loop {
            match work(self) {
                Err(failure)
                    if failure.is_of_connection()
                        && self.store.wait_for(start, failures, &failure.message) =>
                {
                    failures += 1;
                }
                result => return result,
            }
        }
    }

    /// As [`Memory::retry`], for what is to be recorded. If the end of the ledger is lost, reports
    /// that to the other machines.
    fn retry_record<T>(
        &mut self,
        work: impl FnMut(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let result = self.retry(work);
        if result.as_ref().is_err_and(|failure| failure.code == "state-lost") {
            // If this fails, the others go on until they notice the loss themselves; this machine
            // stops in any case.
            let _ = self.report_loss();
        }
        result
    }

    /// Appends one record.
    fn append(&mut self, draft: &Draft) -> Result<Sealed, Failure> {
        self.retry_record(|memory| {
            let mut transaction = memory.begin()?;
            let sealed = transaction.append(draft.clone())?;
            transaction.commit()?;
            Ok(sealed)
        })
    }
}

/// The database that the environment names, or the state folder.
pub(crate) fn place(places: &Places) -> Result<Place, Failure> {
    if let Some(url) = places.variable(DATABASE) {
        return Ok(Place::Database(url.parse()?));
    }
    if let Some(file) = places.variable(DATABASE_FILE) {
        let file = places.folder.join(file);
        let url = std::fs::read_to_string(&file).map_err(|error| {
            Failure::file("database-file", "read the database's address from", &file, &error)
        })?;
        return Ok(Place::Database(url.parse()?));
    }
    places.state.clone().map(Place::Folder).ok_or_else(no_place)
}

fn no_place() -> Failure {
    let message =
        "there is no place for state: neither GATE_STATE_DIR nor XDG_STATE_HOME nor HOME is set";
    Failure::internal("state-unwritable", message)
        .hint("set one of them, or decide without memory: --no-state")
}
