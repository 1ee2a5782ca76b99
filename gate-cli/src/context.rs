//! The place in which a command runs, and what opens there.

use std::path::PathBuf;
use std::time::Duration;

use gate_checks::process::Supervisor;
use gate_checks::{SLOTS, Site};
use gate_core::Policy;

use crate::failure::Failure;
use crate::memory::Memory;
use crate::operator::Operator;
use crate::settings::Places;
use crate::supervision::SUPERVISE;
use crate::trust::Trust;

/// Where the command runs.
pub(crate) struct Here {
    pub(crate) places: Places,
}

impl Here {
    /// Where checks look, by the settings that decide.
    pub(crate) fn site_under(&self, trust: &Trust) -> Result<Site, Failure> {
        self.site_of(trust.project()?)
    }

    /// Where checks look.
    pub(crate) fn site(&self) -> Result<Site, Failure> {
        self.site_of(self.places.project()?)
    }

    fn site_of(&self, project: PathBuf) -> Result<Site, Failure> {
        let program = std::env::current_exe().ok().filter(|program| program.is_file());
        // Where gate was replaced while it runs, Linux still leads to it.
        let running = || Some(PathBuf::from(format!("/proc/{}/exe", std::process::id())));
        let program = program.or_else(|| running().filter(|program| program.is_file()));
        let gate = |command: &str| {
            let args = vec![command.to_owned()];
            program.clone().map(|program| Supervisor { program, args })
        };
        Ok(Site {
            state: self.places.state.clone(),
            supervisor: gate(SUPERVISE),
            environment: self.places.environment.clone(),
            slots: self.places.state.as_ref().map(|state| state.join(SLOTS)),
            ..Site::new(project)
        })
    }
}

impl Here {
    /// That an operator's command or flag, as it is typed, may be given here.
    pub(crate) fn operator(&self, act: &str) -> Result<Operator, Failure> {
        Operator::admitted(act, &self.places)
    }

    /// That a command that agents may give is not given below a check.
    pub(crate) fn above_checks(&self, act: &str) -> Result<Operator, Failure> {
        Operator::above_checks(act, &self.places)
    }

    /// What decisions under these settings are remembered by.
    pub(crate) fn memory_under(
        &self,
        trust: &Trust,
        policy: &Policy,
        patience: Duration,
    ) -> Result<Memory, Failure> {
        let id = policy.project_id.as_deref();
        Memory::open_under(&trust.look()?, &self.places, id, patience)
    }

    /// What the project's decisions are remembered by.
    pub(crate) fn memory(&self, policy: &Policy) -> Result<Memory, Failure> {
        Memory::open(&self.places, policy.project_id.as_deref())
    }

    pub(crate) fn of_process(dir: Option<PathBuf>) -> Result<Self, Failure> {
        let current = std::env::current_dir().map_err(|error| {
            Failure::internal("folder-unknown", format!("no current folder: {error}"))
        })?;
        let asked = dir.map_or_else(|| current.clone(), |dir| current.join(dir));
        let folder =
            asked.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
                Failure::usage("usage", format!("-C {}: no such folder", asked.display()))
            })?;
        Ok(Self { places: Places::of_process(folder) })
    }
}
