//! Events that wake the agent after a result.
//!
//! A task that runs in the background reports when it has ended, and the client
//! begins anew for it; a loop that goes on with the session begins in the same
//! way, and shows no prompt. Since 2.1.3xx results are numbered from zero in
//! each run, and a task announces itself; before, only that one was started
//! can tell the two apart.

use crate::Boundary;

/// Beginnings of a tool's answer if its task runs on in the background.
const RUNS_ON: [&str; 3] =
    ["Command running in background", "Command was manually backgrounded", "Async agent launched"];

/// True for a tool's answer whose task runs on.
pub(super) fn runs_on(answer: &[u8]) -> bool {
    RUNS_ON.iter().any(|start| answer.starts_with(start.as_bytes()))
}

/// Knows whether an event, and not a prompt, is answered next.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    /// True for a client that never wakes the agent.
    never: bool,
    /// True if results are numbered (2.1.3xx and later).
    numbered: bool,
    announced: bool,
    /// True once a task was started that runs on.
    started: bool,
    /// True if the client began anew, with such a task and no announcement.
    begun: bool,
    /// True if this turn was taken for an answer to an event.
    answering: bool,
}

impl Wakes {
    /// For a client that wakes the agent or not.
    pub(super) fn new(wakes: bool) -> Self {
        Self { never: !wakes, ..Self::default() }
    }

    /// True if the next text answers an event, provided that a result came before.
    pub(super) fn is_due(&self) -> bool {
        !self.never && (self.announced || self.begun)
    }

    /// A task has reported.
    pub(super) fn announced(&mut self) {
        self.announced = true;
    }

    /// The report has come to the agent.
    pub(super) fn answered(&mut self) {
        self.announced = false;
    }

    /// A tool has answered.
    pub(super) fn tool(&mut self, answer: &str) {
        self.started |= runs_on(answer.as_bytes());
    }

    /// The client begins anew after a result.
    pub(super) fn begin(&mut self) {
        self.begun |= self.started && !self.numbered;
    }

    /// A turn begins.
    pub(super) fn turn(&mut self, boundary: Boundary) {
        self.begun = false;
        self.answering = boundary == Boundary::Notification;
    }

    /// A result comes, directly after another one or not. True if it is a new
    /// run's, and what it answers was taken for an event or not seen at all.
    pub(super) fn result(&mut self, number: Option<u64>, directly: bool) -> bool {
        let again = self.numbered && number == Some(0);
        self.numbered = number.is_some();
        let new = again && (directly || self.answering);
        if new {
            *self = Self { never: self.never, numbered: true, ..Self::default() };
        }
        new
    }
}
