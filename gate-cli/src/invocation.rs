//! An invocation of the program: the folder that it works in, and the memory and the site for checks
//! that it opens there.

use std::path::PathBuf;
use std::time::Duration;

use gate_checks::CheckSite;
use gate_checks::process::{Supervisor, program_link};
use gate_core::Policy;
use gate_core::config::Resolved;
use gate_core::state_folder::SLOTS;
use gate_platform::RealPath;

use crate::failure::Failure;
use crate::governance::handoff_problems;
use crate::interrupt::Interrupt;
use crate::memory::Memory;
use crate::operator::Operator;
use crate::settings::Places;
use crate::supervision::SUPERVISE;
use crate::trust::Trust;

/// The folders and variables of one invocation of the program.
pub(crate) struct Invocation {
    pub(crate) places: Places,
}

impl Invocation {
    /// The site for checks, in the project whose settings decide.
    pub(crate) fn site_under(&self, trust: &Trust) -> Result<CheckSite, Failure> {
        self.site_of(trust.project()?)
    }

    /// The site for checks.
    pub(crate) fn site(&self) -> Result<CheckSite, Failure> {
        self.site_of(self.places.project()?)
    }

    fn site_of(&self, project: PathBuf) -> Result<CheckSite, Failure> {
        let program = std::env::current_exe().ok().filter(|program| program.is_file());
        let supervisor = program
            .or_else(running_program)
            .map(|program| Supervisor { program, args: vec![SUPERVISE.to_owned()] });
        Ok(CheckSite {
            state: self.places.state.clone(),
            supervisor,
            environment: self.places.environment.clone(),
            slots: self.places.state.as_ref().map(|state| state.join(SLOTS)),
            handoff_reader: Some(handoff_problems),
            ..CheckSite::new(project)
        })
    }
}

impl Invocation {
    /// Admits an operator's command or flag, as it is typed, if an operator may give it here.
    pub(crate) fn operator(&self, act: &str) -> Result<Operator, Failure> {
        Operator::admitted(act, &self.places)
    }

    /// Admits a command that agents may give, but no check.
    pub(crate) fn above_checks(&self, act: &str) -> Result<Operator, Failure> {
        Operator::above_checks(act, &self.places)
    }

    /// The memory for decisions under these settings.
    pub(crate) fn memory_under(&self, trust: &Trust, policy: &Policy) -> Result<Memory, Failure> {
        self.memory_within(trust, policy, self.places.patience()?)
    }

    /// As [`Invocation::memory_under`], with a timeout for a store that is busy or does not answer.
    pub(crate) fn memory_within(
        &self,
        trust: &Trust,
        policy: &Policy,
        patience: Duration,
    ) -> Result<Memory, Failure> {
        let id = policy.project.id.as_deref();
        Memory::open_under(&trust.report()?, &self.places, id, patience)
    }

    /// The memory of a loop, which waits until a database answers again.
    pub(crate) fn memory_of_loop(
        &self,
        trust: &Trust,
        settings: &Resolved,
        interrupt: &Interrupt,
    ) -> Result<Memory, Failure> {
        let memory = self.memory_under(trust, &settings.policy)?;
        Ok(memory.waiting_out(settings.run.backoff_limit_ms, interrupt))
    }

    /// The memory for the work items of such a loop.
    pub(crate) fn memory_of_items(
        &self,
        settings: &Resolved,
        interrupt: &Interrupt,
    ) -> Result<Memory, Failure> {
        let id = settings.policy.project.id.as_deref();
        let memory = Memory::open(&self.places, id)?;
        Ok(memory.waiting_out(settings.run.backoff_limit_ms, interrupt))
    }

    /// The memory for the project's decisions.
    pub(crate) fn memory(&self, policy: &Policy) -> Result<Memory, Failure> {
        Memory::open(&self.places, policy.project.id.as_deref())
    }

    /// The memory for a look at all projects of the store. Unlike [`Invocation::memory`] it can be
    /// opened if no project is named.
    pub(crate) fn whole_store(&self, policy: &Policy) -> Result<Memory, Failure> {
        // A database demands a name, and to look at all projects any will do.
        let is_unnamed = self.places.names_database() && policy.project.id.is_none();
        let id = if is_unnamed { Some("") } else { policy.project.id.as_deref() };
        Memory::open(&self.places, id)
    }

    /// The invocation in the current folder, or in the folder that `-C` names.
    pub(crate) fn open(named_folder: Option<PathBuf>) -> Result<Self, Failure> {
        let current = std::env::current_dir().map_err(|error| {
            Failure::internal("folder-unknown", format!("no current folder: {error}"))
        })?;
        let path = match named_folder {
            Some(folder) => current.join(folder),
            None => current,
        };
        let folder = path.real_path().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
            Failure::usage("usage", format!("-C {}: no such folder", path.display()))
        })?;
        Ok(Self { places: Places::from_process(folder) })
    }
}

/// This program, even if its file was replaced since it started: Linux still leads to it.
fn running_program() -> Option<PathBuf> {
    let program = program_link(std::process::id() as i32);
    program.is_file().then_some(program)
}
