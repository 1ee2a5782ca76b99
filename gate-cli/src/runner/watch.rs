//! Watches a running agent: shows its output, ends it at its limits or on a stop, and
//! waits for runs that it has delegated.

use std::time::{Duration, Instant};

use gate_checks::process::{Session, SessionEnd};

use super::agent_loop::{Loop, Order};
use super::delegated;
use super::end::DelegatedRuns;
use super::live::LoopEvent;
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

/// An agent that has ended, with all of its processes.
pub(super) struct EndedAgent {
    pub(super) session: SessionEnd,
    pub(super) cause: EndCause,
    pub(super) delegated: DelegatedRuns,
}

/// Watches a session until all of its processes have ended.
pub(super) fn watch(mut session: Session, folder: &RunFolder, agent_loop: &Loop<'_>) -> EndedAgent {
    let mut output = Output::default();
    let began_at = Instant::now();
    let mut cause = EndCause::Agent;
    let mut orphans = OrphanedProcesses::default();
    loop {
        let session_end = session.wait_for(POLL_INTERVAL);
        // Shown also after the end: the last lines come with it.
        output.show(folder, agent_loop);
        if let Some(session) = session_end {
            return EndedAgent { session, cause, delegated: orphans.delegated };
        }
        // The session is being ended already.
        if cause != EndCause::Agent {
            continue;
        }
        // Limits are for the agent: once it has ended, only a stop ends what it left.
        let stop = match session.has_leftovers() {
            true => agent_loop.conditions.stop_reason().map(EndCause::Stopped),
            false => reason_to_end(agent_loop, began_at, output.last_growth),
        };
        match stop {
            Some(stop_cause) => {
                cause = stop_cause;
                session.stop();
            }
            None if session.has_leftovers() => orphans.check(&mut session, folder, agent_loop),
            None => {}
        }
    }
}

/// The processes that an agent has left running.
#[derive(Default)]
struct OrphanedProcesses {
    /// The first look after the agent's end.
    found_at: Option<Instant>,
    checked_at: Option<Instant>,
    is_ending: bool,
    delegated: DelegatedRuns,
}

impl OrphanedProcesses {
    /// Lets delegated runs go on within their time limit, and ends all other processes.
    fn check(&mut self, session: &mut Session, folder: &RunFolder, agent_loop: &Loop<'_>) {
        let found_at = *self.found_at.get_or_insert_with(Instant::now);
        // Each look reads the records of the whole project, so it is a rarer one.
        let is_soon = self.checked_at.is_some_and(|time| time.elapsed() < DELEGATED_POLL_INTERVAL);
        if self.is_ending || is_soon {
            return;
        }
        self.checked_at = Some(Instant::now());
        if !delegated::has_running(agent_loop.task, &folder.id(), session) {
            self.is_ending = true;
            session.end_leftovers();
            return;
        }
        self.delegated = DelegatedRuns::Ended;
        if found_at.elapsed() >= agent_loop.order.children {
            self.is_ending = true;
            self.delegated = DelegatedRuns::TimedOut;
            // With the whole grace: a loop still has to record how its runs ended.
            session.stop();
        }
    }
}

fn reason_to_end(
    agent_loop: &Loop<'_>,
    began_at: Instant,
    last_growth: Instant,
) -> Option<EndCause> {
    if let Some(stopped_by) = agent_loop.conditions.stop_reason() {
        return Some(EndCause::Stopped(stopped_by));
    }
    let Order { timeout, idle, .. } = agent_loop.order;
    let is_timed_out = timeout.is_some_and(|limit| began_at.elapsed() >= limit)
        || idle.is_some_and(|limit| last_growth.elapsed() >= limit);
    is_timed_out.then_some(EndCause::TimedOut)
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
            agent_loop.live.show(LoopEvent::Printed(&bytes));
        }
    }
}
