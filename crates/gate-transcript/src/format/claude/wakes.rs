//! Events that wake the agent after a result.
//!
//! A task that runs in the background reports when it has ended, and the client
//! begins anew for it; a loop that goes on with the session begins in the same
//! way, and shows no prompt. Since 2.1.3xx results are numbered from zero in
//! each run, and a task announces itself. In older versions, the two can be told apart
//! only by the start of such a task.

use crate::Boundary;

/// Beginnings of a tool's answer if its task runs on in the background.
const RUNS_ON: [&str; 3] =
    ["Command running in background", "Command was manually backgrounded", "Async agent launched"];

/// A tool's answer whose task runs on.
pub(super) fn has_running_task(answer: &[u8]) -> bool {
    RUNS_ON.iter().any(|start| answer.starts_with(start.as_bytes()))
}

/// Knows whether an event, and not a prompt, is answered next.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    /// The client never wakes the agent.
    never_wakes: bool,
    /// Results are numbered (2.1.3xx and later).
    has_numbers: bool,
    /// A task has announced its report, which has not come to the agent.
    is_announced: bool,
    /// A task was started that runs on.
    has_running_task: bool,
    /// The client began anew, with such a task and no announcement.
    has_begun_anew: bool,
    /// This turn was taken for an answer to an event.
    answers_event: bool,
}

impl Wakes {
    /// For a client that wakes the agent or not.
    pub(super) fn new(wakes_agent: bool) -> Self {
        Self { never_wakes: !wakes_agent, ..Self::default() }
    }

    /// The next text answers an event, provided that a result came before.
    pub(super) fn is_due(&self) -> bool {
        !self.never_wakes && (self.is_announced || self.has_begun_anew)
    }

    /// A task has reported.
    pub(super) fn event_announced(&mut self) {
        self.is_announced = true;
    }

    /// The report has come to the agent.
    pub(super) fn event_answered(&mut self) {
        self.is_announced = false;
    }

    /// A tool has answered.
    pub(super) fn tool_answered(&mut self, answer: &str) {
        self.has_running_task |= has_running_task(answer.as_bytes());
    }

    /// The client begins anew after a result.
    pub(super) fn begin(&mut self) {
        self.has_begun_anew |= self.has_running_task && !self.has_numbers;
    }

    /// A turn begins.
    pub(super) fn turn(&mut self, boundary: Boundary) {
        self.has_begun_anew = false;
        self.answers_event = boundary == Boundary::Notification;
    }

    /// Takes a result, which may come directly after another one. Returns if it is another run's,
    /// and its prompt was taken for an event or not seen at all.
    pub(super) fn begins_unseen_run(&mut self, number: Option<u64>, after_result: bool) -> bool {
        let begins_run = self.has_numbers && number == Some(0);
        self.has_numbers = number.is_some();
        let is_unseen = begins_run && (after_result || self.answers_event);
        if is_unseen {
            *self = Self { never_wakes: self.never_wakes, has_numbers: true, ..Self::default() };
        }
        is_unseen
    }
}
