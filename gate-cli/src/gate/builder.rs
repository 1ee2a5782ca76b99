//! A gate for a program that embeds it.

use std::path::PathBuf;

use gate_checks::check::Check;
use gate_checks::process::Supervisor;
use gate_checks::{CheckSite, OwnChecks};
use gate_core::config::{self, Layer, Origin};
use gate_core::decide::policy::When;
use gate_core::state_folder::SLOTS;
use gate_platform::RealPath;

use super::Gate;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::settings::{FILE, Places, Selection, layers_with};
use crate::supervision::SUPERVISE;

/// Builds a [`Gate`] for one project. The order of the calls does not matter.
#[derive(Clone, Debug)]
pub struct GateBuilder {
    project: PathBuf,
    settings: Option<String>,
    supervisor: Option<PathBuf>,
    state: Option<PathBuf>,
    checks: OwnChecks,
    has_memory: bool,
}

impl Gate {
    /// A gate for the project in this folder, with the settings that the program `gate`
    /// would use there. Whoever embeds gate answers for the commands in those settings:
    /// nobody has to approve them.
    pub fn builder(project: impl Into<PathBuf>) -> GateBuilder {
        let project = project.into();
        GateBuilder {
            project,
            settings: None,
            supervisor: None,
            state: None,
            checks: OwnChecks::default(),
            has_memory: true,
        }
    }
}

impl GateBuilder {
    /// Takes this text in the place of the project's gate.toml. The settings of the machine and
    /// the user, and the `GATE_*` variables, still apply.
    #[must_use]
    pub fn settings(mut self, text: impl Into<String>) -> Self {
        self.settings = Some(text.into());
        self
    }

    /// Runs checks below this program, which has to be `gate` of the same version. It ends
    /// all of a check's processes. Without it gate ends process groups, and a process that
    /// left its group survives its check.
    #[must_use]
    pub fn supervisor(mut self, program: impl Into<PathBuf>) -> Self {
        self.supervisor = Some(program.into());
        self
    }

    /// Keeps the ledger and all other state in this folder, instead of the user's.
    #[must_use]
    pub fn state(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// Adds a check that runs in this process, beside the configured ones. It is required, and may
    /// take 10 minutes, unless the settings have a table `[checks.NAME]` for it. Its result is
    /// recorded as any other, and never cached.
    ///
    /// It runs on a thread of its own, so it may block. A panic is inconclusive, never a pass. If
    /// it does not return within a second after its cancellation, its thread is left behind, and
    /// its result is inconclusive.
    #[must_use]
    pub fn check(mut self, check: impl Check + 'static) -> Self {
        self.checks.add(check);
        self
    }

    /// Keeps no ledger and no breaker: each decision stands alone, and its trust is T0.
    #[must_use]
    pub fn without_memory(mut self) -> Self {
        self.has_memory = false;
        self
    }

    /// Reads the settings and opens the project's ledger.
    ///
    /// # Errors
    ///
    /// A folder that is not there, settings that are wrong, a check of the program's own whose name
    /// is taken, a ledger that cannot be opened.
    pub fn build(self) -> Result<Gate, Failure> {
        let folder = self.project.real_path().map_err(|error| {
            Failure::file("folder-unknown", "use the folder", &self.project, &error)
        })?;
        let mut places = Places::from_process(folder);
        if let Some(folder) = self.state {
            places.data = Some(folder.join("data"));
            places.state = Some(folder);
        }
        let project = self
            .settings
            .as_deref()
            .map(|text| Layer::parse(Origin::File(PathBuf::from(FILE)), text));
        let mut layers = vec![Layer::checks(self.checks.names())?];
        layers.extend(layers_with(&places, &Selection::default(), project.transpose()?)?);
        let settings = config::resolve(&layers, None)?;
        let supervisor =
            self.supervisor.map(|program| Supervisor { program, args: vec![SUPERVISE.to_owned()] });
        let state = self.has_memory.then(|| places.state.clone()).flatten();
        let site = CheckSite {
            // Gates in other processes share these, so that together they do not overload the
            // machine.
            slots: state.as_ref().map(|state| state.join(SLOTS)),
            state,
            supervisor,
            environment: places.environment.clone(),
            ..CheckSite::new(places.project()?)
        };
        self.checks.in_policy(&settings.policy)?;
        let gate = Gate::open(settings, site)?.at(When::Check).with_own_checks(self.checks);
        if !self.has_memory {
            return Ok(gate);
        }
        let memory = Memory::open(&places, gate.policy().project.id.as_deref())?;
        Ok(gate.remembering(memory))
    }
}
