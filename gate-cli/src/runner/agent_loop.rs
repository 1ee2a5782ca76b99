//! A loop, with the state that lasts from run to run.

use std::path::PathBuf;
use std::time::Instant;

use gate_checks::process::Supervisor;
use gate_fleet::bus::Message;

use super::backoff::Backoff;
use super::finished_run::DelegatedRuns;
use super::live::Live;
use super::order::Order;
use super::stop_conditions::StopConditions;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::governance::{Heads, Task, by_gate};
use crate::interrupt::Interrupt;
use crate::record::Record;
use crate::request::Request;
use crate::secrets;

pub(crate) struct Loop<'l> {
    pub(crate) order: &'l Order,
    pub(crate) task: &'l Task,
    pub(crate) gate: &'l Gate,
    pub(crate) request: Request,
    pub(crate) supervisor: Supervisor,
    pub(crate) live: &'l dyn Live,
    pub(super) conditions: StopConditions<'l>,
    /// The ids of the loop's runs, in order.
    pub(super) runs: Vec<String>,
    /// The last messages of the buses that an agent got with its prompt.
    pub(super) seen_messages: Heads,
    pub(super) last: Option<Record>,
    /// The transcript of the last run.
    pub(super) transcript: Option<PathBuf>,
    /// The outcome of the runs that the last agent had delegated.
    pub(super) delegated: DelegatedRuns,
    pub(super) backoff: Backoff,
    pub(super) began: Instant,
    /// Why the loop had to end, if no decision says it.
    pub(super) problem: Option<String>,
}

impl<'l> Loop<'l> {
    pub(crate) fn new(
        order: &'l Order,
        task: &'l Task,
        (gate, request): (&'l Gate, Request),
        supervisor: Supervisor,
        (interrupt, live): (&'l Interrupt, &'l dyn Live),
    ) -> Self {
        Self {
            order,
            task,
            gate,
            request,
            supervisor,
            live,
            conditions: StopConditions::new(task, interrupt, order),
            runs: Vec::new(),
            seen_messages: Heads::default(),
            last: None,
            transcript: None,
            delegated: DelegatedRuns::None,
            backoff: Backoff::new(order.backoff),
            began: Instant::now(),
            problem: None,
        }
    }

    /// Posts a message on the task's bus.
    pub(super) fn post(&self, kind: &str, body: &str) -> Result<Message, Failure> {
        self.task.bus()?.append(Message { body: secrets::masked(body), ..by_gate(kind, self.task) })
    }
}
