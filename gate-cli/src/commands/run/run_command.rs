//! A `gate run`, as its stages share it.

use gate_core::config::Resolved;
use gate_fleet::run;

use super::args::Run;
use super::worker::Worker;
use crate::governance::Project;
use crate::interrupt::Interrupt;
use crate::invocation::Invocation;
use crate::notify::Notifier;
use crate::trust::Trust;

/// A `gate run` with all that it needs to start loops.
pub(super) struct RunCommand<'a> {
    pub(super) invocation: &'a Invocation,
    pub(super) args: &'a Run,
    pub(super) settings: Resolved,
    pub(super) trust: Trust,
    pub(super) interrupt: Interrupt,
    pub(super) worker: Worker,
    /// Writes the tests in the place of the worker.
    pub(super) tester: Option<Worker>,
    pub(super) project: Project,
    pub(super) prompt: Option<String>,
    pub(super) notifier: Option<Notifier>,
    /// The run whose agent started this command.
    pub(super) parent: Option<run::RunInfo>,
}
