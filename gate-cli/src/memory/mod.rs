//! What this project's decisions are remembered by: its ledger, in a store.
//!
//! A decision is made in three steps. [`Memory::begin`] says which loop it
//! belongs to, whether it was made before, and what the breaker says to it.
//! Checks run then, while nobody holds anything. [`Memory::record`] numbers the
//! iteration, lets the decision be made from what is remembered at that moment,
//! and keeps it: when it returns, the record is durable.

mod act;
mod body;
mod breakers;
mod clock;
mod earlier;
mod ended;
mod failure;
mod held;
mod hook;
mod loops;
mod naming;
mod past;
mod set_aside;
mod token;
mod turn;
mod work;

use std::path::{Path, PathBuf};
use std::time::Duration;

use gate_checks::worktree;
use gate_core::protocol::ledger::Head;

pub use act::{BreakerStatus, Operation};
pub use breakers::{OpenBreaker, Which};
pub(crate) use clock::now;
pub(crate) use ended::{LoopEnd, StoppedBy};
pub use held::Lock;
pub(crate) use held::Settings;
pub(crate) use hook::NotJudged;
pub(crate) use loops::Loop;
pub(crate) use naming::{next_run, run_before};
pub(crate) use past::Last;
pub use past::{Past, Wanted};
pub use set_aside::SetAside;
pub(crate) use token::Tokens;
pub(crate) use turn::{Asked, Begun, Standing, Turn};
pub use work::{Claim, Handed, Submitted};

use crate::failure::Failure;
use crate::settings::{DATABASE, DATABASE_FILE, Places};
use crate::store::{self, Leasing, Place, Reading, Store, StoreError, Writing};
use crate::trust::{self, Looked};

/// A project's ledger, opened.
#[derive(Debug)]
pub struct Memory {
    store: Box<dyn Store>,
    project: String,
    /// Tells the loops of one work tree from those of another.
    tree: String,
    /// Where the key of its tokens is kept.
    state: Option<PathBuf>,
}

impl Memory {
    /// Opens the ledger of the project in these places. `id` is its name in the
    /// settings; else it is known by its repository.
    ///
    /// # Errors
    ///
    /// No place for state, a place that cannot be used, a database without a
    /// project's name.
    pub fn open(places: &Places, id: Option<&str>) -> Result<Self, Failure> {
        Self::open_within(places, id, store::PATIENCE)
    }

    /// As [`Memory::open`]; a store that is busy or does not answer is waited for
    /// so long each time.
    ///
    /// # Errors
    ///
    /// Those of [`Memory::open`].
    pub(crate) fn open_within(
        places: &Places,
        id: Option<&str>,
        patience: Duration,
    ) -> Result<Self, Failure> {
        Self::open_in(&places.project()?, places, id, patience)
    }

    /// As [`Memory::open_within`], of the project in a folder.
    ///
    /// # Errors
    ///
    /// Those of [`Memory::open`].
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
        let project = id.map_or_else(|| worktree::identity(folder), str::to_owned);
        let heads = places.data.as_ref().map(|data| data.join("heads"));
        let store = store::open(&place, heads, patience)?;
        let state = places.state.clone();
        Ok(Self { store, project, tree: naming::of_tree(folder), state })
    }

    /// As [`Memory::open_within`], for decisions under settings: where others were
    /// approved, the ledger and the runs are those of what was approved.
    ///
    /// # Errors
    ///
    /// Those of [`Memory::open`].
    pub(crate) fn open_under(
        looked: &Looked,
        places: &Places,
        id: Option<&str>,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let is_other = looked.changed.is_some() || looked.standing == trust::Standing::Changed;
        match &looked.approved {
            Some((folder, approval)) if is_other => {
                // Also where the project is known by another name by now.
                let known_by = || (!places.names_database()).then_some(approval.project.as_str());
                let id = approval.id.as_deref().or_else(known_by);
                Self::open_in(folder, places, id, patience)
            }
            _ => Self::open_within(places, id, patience),
        }
    }

    /// The same project's ledger, opened once more.
    pub(crate) fn again(&self, places: &Places) -> Result<Self, Failure> {
        let memory = Self::open_within(places, Some(&self.project), store::PATIENCE)?;
        Ok(Self { tree: self.tree.clone(), ..memory })
    }

    /// What the project is known by.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// The name of the loop that works on a prompt in this work tree.
    pub(crate) fn loop_of_prompt(&self, prompt: &str) -> String {
        naming::of_prompt(prompt, &self.tree)
    }

    /// Looks at the ledger.
    pub(crate) fn read<T>(
        &mut self,
        mut look: impl FnMut(&mut dyn Reading) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut found = None;
        let read = self.store.read(&self.project, &mut |reading| keep(look(reading), &mut found));
        told(read, found)
    }

    /// Looks at the ledger as it is, also where it lost what is marked as its
    /// own: whoever looks is told what that is.
    pub(crate) fn examine<T>(
        &mut self,
        mut look: impl FnMut(&mut dyn Reading, Option<Head>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut found = None;
        let examined = self
            .store
            .examine(&self.project, &mut |reading, marked| keep(look(reading, marked), &mut found));
        told(examined, found)
    }

    /// Changes the ledger, alone.
    pub(crate) fn write<T>(
        &mut self,
        mut work: impl FnMut(&mut dyn Writing) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut done = None;
        let written =
            self.store.write(&self.project, &mut |writing| keep(work(writing), &mut done));
        told(written, done)
    }
}

impl Memory {
    /// Changes leases of work items; the ledger stays as it is.
    fn lease<T>(
        &mut self,
        mut work: impl FnMut(&mut dyn Leasing) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut done = None;
        let written =
            self.store.lease(&self.project, &mut |leasing| keep(work(leasing), &mut done));
        told(written, done)
    }
}

/// Keeps what a look or a work gave. The store keeps nothing where it gave up.
fn keep<T>(
    given: Result<T, Failure>,
    kept: &mut Option<Result<T, Failure>>,
) -> Result<(), StoreError> {
    let given_up = given.is_err();
    *kept = Some(given);
    if given_up { Err(StoreError::GivenUp) } else { Ok(()) }
}

/// What the work gave, where the store kept it; else the store's trouble.
fn told<T>(
    stored: Result<(), StoreError>,
    given: Option<Result<T, Failure>>,
) -> Result<T, Failure> {
    match (stored, given) {
        (Ok(()), Some(given)) => given,
        (Err(StoreError::GivenUp), Some(Err(failure))) => Err(failure),
        (Err(error), _) => Err(error.into()),
        (Ok(()), None) => Err(Failure::internal("defect", "the store did nothing")),
    }
}

/// Where state is kept: in the database that the environment names, else in
/// the state folder.
fn place(places: &Places) -> Result<Place, Failure> {
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
