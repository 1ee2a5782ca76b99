//! The hook interface of an agent's client: its events, and the replies to them.

use std::path::PathBuf;
use std::time::Duration;

use gate_core::text;
use serde_json::{Value, json};

use super::payload::Payload;
use super::transcript_lag::{RecentRecords, TranscriptLag};

/// The hook interface of one agent's client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) event: fn(&Payload<'_>) -> Event,
    /// True if no person sits in front of the client. None if gate cannot find out.
    pub(crate) is_headless: fn(&Payload<'_>) -> Option<bool>,
    /// Compares the event with the transcript, whose last message is the third argument.
    pub(crate) transcript_lag: fn(&Payload<'_>, &RecentRecords, &str) -> TranscriptLag,
    /// The reply that makes the agent go on, for this reason.
    pub(crate) refusal: fn(&str) -> Value,
    /// True if the client shows a `systemMessage` to the person and does nothing else
    /// with it.
    pub(crate) shows_messages: bool,
    /// The variable with the folder in which the session began. The agent may have
    /// changed its folder since.
    pub(crate) project: Option<&'static str>,
    /// Time for a hook if the installed command names none: below the client's default.
    pub(crate) deadline: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EventKind {
    #[default]
    Stop,
    /// A session begins or is resumed, and its agent has not acted yet.
    SessionStart,
    /// A person or a program gave the agent a prompt.
    Prompt,
    /// An event in the middle of a turn. gate does nothing.
    MidTurn,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    /// The reason not to judge this stop, if there is one.
    pub(crate) not_judged: Option<&'static str>,
    /// The client's id of the session.
    pub(crate) session: Option<String>,
    /// Differs from prompt to prompt within a session.
    pub(crate) prompt_id: Option<String>,
    /// The agent's current folder.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) transcript: Option<PathBuf>,
    /// The agent's last message, if the client sends it whole and unchanged.
    pub(crate) last_message: Option<String>,
    /// Background tasks that are still running.
    pub(crate) background_tasks: Vec<String>,
    pub(crate) prompt_text: Option<String>,
}

impl Event {
    /// The event of a payload with Claude Code's keys, which the other clients took over.
    /// `session_start` and `stop` are the client's names for those events.
    pub(super) fn from_payload(payload: &Payload<'_>, session_start: &str, stop: &str) -> Self {
        Self {
            kind: event_kind(payload, session_start),
            not_judged: reason_not_to_judge(event_name(payload), stop),
            session: payload.owned("session_id"),
            prompt_id: None,
            folder: payload.path("cwd"),
            transcript: payload.path("transcript_path"),
            last_message: None,
            background_tasks: Vec::new(),
            prompt_text: payload.owned("prompt"),
        }
    }

    /// The event, which is not judged in plan mode: the agent may not act then.
    pub(super) fn unless_in_plan_mode(mut self, payload: &Payload<'_>) -> Self {
        if payload.text("permission_mode") == Some("plan") {
            self.not_judged = self.not_judged.or(Some(not_judged::PLAN_MODE));
        }
        self
    }

    /// The session's id as a run's name.
    pub(crate) fn run(&self) -> Option<String> {
        Some(text::clean(self.session.as_deref()?).replace('#', "-"))
    }
}

/// Reasons not to judge a stop, as the ledger records them.
pub(crate) mod not_judged {
    pub(crate) const SUB_AGENT: &str = "a sub-agent stopped, not the agent";
    pub(crate) const PLAN_MODE: &str = "the agent is in plan mode";
    pub(crate) const BROKEN_OFF: &str = "the turn was broken off, or its API failed";
    pub(crate) const OTHER_EVENT: &str = "the event is no stop of the agent";
    pub(crate) const IN_RUN: &str = "gate run looks when the agent ends";
    pub(crate) const NEVER: &str = "hook.judge is never";
}

/// The refusal for Claude Code, Codex, Gemini CLI, Qwen Code, Copilot, Droid and Goose.
/// Codex ignores a reply with any other key, and Copilot one without a reason.
pub(super) fn block(reason: &str) -> Value {
    json!({ "decision": "block", "reason": reason })
}

const PROMPT_EVENTS: [&str; 5] = [
    "UserPromptSubmit",
    "BeforeAgent",
    "userPromptSubmitted",
    "beforeSubmitPrompt",
    "chat.message",
];

/// Tells the kinds apart by the event's name; `session_start` is the client's own.
pub(super) fn event_kind(payload: &Payload<'_>, session_start: &str) -> EventKind {
    let name = event_name(payload);
    let is_sub_agent = payload.text("agent_id").is_some();
    if name.is_some_and(|name| PROMPT_EVENTS.contains(&name)) {
        return if is_sub_agent { EventKind::MidTurn } else { EventKind::Prompt };
    }
    match (name == Some(session_start), payload.text("source")) {
        (false, _) => EventKind::Stop,
        // Some clients send the event again after they compacted a session. The agent
        // has acted by then, so the work tree is no baseline any more.
        (true, Some("compact")) => EventKind::MidTurn,
        (true, _) if is_sub_agent => EventKind::MidTurn,
        (true, _) => EventKind::SessionStart,
    }
}

fn event_name<'p>(payload: &Payload<'p>) -> Option<&'p str> {
    payload.text("hook_event_name").or_else(|| payload.text("event"))
}

/// None for a stop of the agent; `stop` is the client's name for that event.
fn reason_not_to_judge(name: Option<&str>, stop: &str) -> Option<&'static str> {
    match name {
        None => None,
        Some(name) if name == stop => None,
        Some("SubagentStop") => Some(not_judged::SUB_AGENT),
        Some("StopFailure") => Some(not_judged::BROKEN_OFF),
        Some(_) => Some(not_judged::OTHER_EVENT),
    }
}
