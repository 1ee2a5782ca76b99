//! Watches a running agent: shows its output, ends it at its limits or on a stop, and
//! waits for runs that it has delegated.

use std::time::{Duration, Instant};

use gate_checks::process::{Session, SessionEnd};

use super::agent_loop::{Loop, Order};
use super::delegated;
use super::end::DelegatedRuns;
use super::live::Event;
use crate::governance::RunFolder;
use crate::memory::StoppedBy;

pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

const DELEGATED_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Bytes of output that are shown at once.
const OUTPUT_BLOCK_BYTES: u64 = 64 << 10;

/// The cause of an agent's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndCause {
    /// The agent ended by itself.
    Agent,
    /// It took too long, or was silent for too long.
    TimedOut,
    /// A stop of the whole loop.
    Stopped(StoppedBy),
}

/// Watches a session until all of its processes have ended.
pub(super) fn watch(
    mut session: Session,
    folder: &RunFolder,
    agent_loop: &Loop<'_>,
) -> (SessionEnd, EndCause, DelegatedRuns) {
    let mut output = Output::default();
    let began = Instant::now();
    let mut cause = EndCause::Agent;
    let mut left = LeftProcesses::default();
    loop {
        let over = session.wait_for(POLL_INTERVAL);
        output.show(folder, agent_loop);
        if let Some(over) = over {
            return (over, cause, left.delegated);
        }
        if cause != EndCause::Agent {
            continue;
        }
        // Limits are for the agent: once it has ended, only a stop ends what it left.
        let stop = match session.is_left() {
            true => agent_loop.conditions.stop_reason().map(EndCause::Stopped),
            false => reason_to_end(agent_loop, began, output.last_growth),
        };
        match stop {
            Some(stop) => {
                cause = stop;
                session.stop();
            }
            None if session.is_left() => left.check(&mut session, folder, agent_loop),
            None => {}
        }
    }
}

/// The processes that an agent has left running.
#[derive(Default)]
struct LeftProcesses {
    since: Option<Instant>,
    checked_at: Option<Instant>,
    is_ending: bool,
    delegated: DelegatedRuns,
}

impl LeftProcesses {
    /// Lets delegated runs go on within their time limit, and ends all other processes.
    fn check(&mut self, session: &mut Session, folder: &RunFolder, agent_loop: &Loop<'_>) {
        let since = *self.since.get_or_insert_with(Instant::now);
        if self.is_ending
            || self.checked_at.is_some_and(|at| at.elapsed() < DELEGATED_POLL_INTERVAL)
        {
            return;
        }
        self.checked_at = Some(Instant::now());
        if !delegated::are_running(agent_loop.task, &folder.id(), session) {
            self.is_ending = true;
            session.end_left();
            return;
        }
        self.delegated = DelegatedRuns::Ended;
        if since.elapsed() >= agent_loop.order.children {
            self.is_ending = true;
            self.delegated = DelegatedRuns::TimedOut;
            // With the whole grace: a loop still has to record how its runs ended.
            session.stop();
        }
    }
}

fn reason_to_end(agent_loop: &Loop<'_>, began: Instant, last_growth: Instant) -> Option<EndCause> {
    if let Some(by) = agent_loop.conditions.stop_reason() {
        return Some(EndCause::Stopped(by));
    }
    let Order { timeout, idle, .. } = agent_loop.order;
    let timed_out = timeout.is_some_and(|limit| began.elapsed() >= limit)
        || idle.is_some_and(|limit| last_growth.elapsed() >= limit);
    timed_out.then_some(EndCause::TimedOut)
}

/// The agent's output files.
struct Output {
    /// Bytes of stdout that were shown.
    shown: u64,
    /// Bytes of stdout and stderr together.
    length: u64,
    last_growth: Instant,
}

impl Default for Output {
    fn default() -> Self {
        Self { shown: 0, length: 0, last_growth: Instant::now() }
    }
}

impl Output {
    /// Shows what is new. The agent may have removed a file; then there is nothing new.
    fn show(&mut self, folder: &RunFolder, agent_loop: &Loop<'_>) {
        let length = folder.printed();
        if length != self.length {
            (self.length, self.last_growth) = (length, Instant::now());
        }
        while let Some(bytes) = folder.printed_from(self.shown, OUTPUT_BLOCK_BYTES)
            && !bytes.is_empty()
        {
            self.shown += bytes.len() as u64;
            agent_loop.live.show(Event::Printed(&bytes));
        }
    }
}
