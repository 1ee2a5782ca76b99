//! Hooks: what an agent's client says when the agent stops, and the one reply that
//! is safe with it; and what it says when a session begins, to which there is none.
//!
//! One file an agent. All clients fail open: what is no plain refusal lets the
//! agent stop, with exit code 0 and without a trace. So a refusal is always
//! one JSON object with nothing beside it and exit code 0, which is the one
//! form that every client takes for what it is, and letting go is to print
//! nothing.

mod asks;
mod began;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod gemini;
mod goose;
mod invoked;
mod lag;
mod mentions;
mod named;
mod nested;
mod opencode;
mod prompted;
mod qwen;
mod said;
pub(crate) mod session;
mod stopped;
mod surroundings;
mod typed;
mod undecided;

use std::path::PathBuf;
use std::time::Duration;

use gate_core::text;
use serde_json::{Value, json};

pub(crate) use asks::asks;
pub(crate) use began::Began;
pub(crate) use lag::{Lag, Latest};
pub(crate) use prompted::Prompted;
pub(crate) use said::Said;
pub(crate) use stopped::{Stopped, Verdict};
pub(crate) use surroundings::Surroundings;
pub(crate) use undecided::{is_first, is_older_than_prompt};

use crate::agent::Agent;
use crate::settings::Places;

/// What is known of one agent's client.
#[derive(Debug)]
pub(crate) struct Client {
    /// What its words on the standard input mean.
    pub(crate) event: fn(&Said<'_>) -> Event,
    /// Whether nobody sits in front of it; none where that cannot be told.
    pub(crate) is_headless: fn(&Said<'_>) -> Option<bool>,
    /// How the transcript stands to the stop, where its last word is this.
    pub(crate) lag: fn(&Said<'_>, &Latest, &str) -> Lag,
    /// Its words for "go on, for this reason".
    pub(crate) refusal: fn(&str) -> Value,
    /// Whether it shows a `systemMessage` to the person and takes it for nothing
    /// else.
    pub(crate) shows_messages: bool,
    /// The variable with the folder that the session began in: an agent may have
    /// gone elsewhere since.
    pub(crate) project: Option<&'static str>,
    /// How long a hook may take where the installed command does not say: below
    /// the client's own default.
    pub(crate) deadline: Duration,
}

/// What an event is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum About {
    /// The agent stops.
    #[default]
    Stop,
    /// A session begins, or is taken up again, and its agent has not acted yet.
    Beginning,
    /// A prompt was given to the agent.
    Prompt,
    /// A session goes on in its middle.
    Middle,
}

/// What a client says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// What that is about.
    pub(crate) about: About,
    /// Why it is not to be judged, where it is not.
    pub(crate) not_judged: Option<&'static str>,
    /// The client's id of the session.
    pub(crate) session: Option<String>,
    /// What tells the person's prompts apart.
    pub(crate) prompt: Option<String>,
    /// The folder that the agent is in.
    pub(crate) folder: Option<PathBuf>,
    /// The session's transcript.
    pub(crate) transcript: Option<PathBuf>,
    /// The agent's last word, where what the client says of it can be trusted.
    pub(crate) said: Option<String>,
    /// The background tasks that are still running.
    pub(crate) background: Vec<String>,
    /// The text of a prompt.
    pub(crate) typed: Option<String>,
}

impl Event {
    /// The session as a run's name.
    pub(crate) fn run(&self) -> Option<String> {
        Some(text::clean(self.session.as_deref()?).replace('#', "-"))
    }
}

/// Whether an agent started this agent's client.
pub(crate) fn is_nested(agent: Agent, places: &Places) -> bool {
    nested::outer(agent, places).is_some()
}

/// Why a stop is not judged, in the words of the record.
pub(crate) mod why {
    pub(crate) const SUB_AGENT: &str = "a sub-agent stopped, not the agent";
    pub(crate) const PLAN_MODE: &str = "the agent is in plan mode";
    pub(crate) const BROKEN_OFF: &str = "the turn was broken off, or its API failed";
    pub(crate) const OTHER_EVENT: &str = "the event is no stop of the agent";
    pub(crate) const IN_RUN: &str = "gate run looks when the agent ends";
    pub(crate) const NEVER: &str = "hook.judge is never";
}

/// What is known of an agent's client.
pub(crate) fn client(agent: Agent) -> &'static Client {
    match agent {
        Agent::ClaudeCode => &claude_code::CLIENT,
        Agent::Codex => &codex::CLIENT,
        Agent::Gemini => &gemini::CLIENT,
        Agent::Qwen => &qwen::CLIENT,
        Agent::Copilot => &copilot::CLIENT,
        Agent::Cursor => &cursor::CLIENT,
        Agent::Opencode => &opencode::CLIENT,
        Agent::Droid => &droid::CLIENT,
        Agent::Goose => &goose::CLIENT,
    }
}

/// The refusal that Claude Code, Codex, Gemini CLI, Qwen Code, Copilot, Droid
/// and Goose take. Codex takes no other key beside these two, and Copilot
/// nothing without a reason.
fn block(reason: &str) -> Value {
    json!({ "decision": "block", "reason": reason })
}

/// The events with which clients report a prompt.
const PROMPTS: [&str; 5] = [
    "UserPromptSubmit",
    "BeforeAgent",
    "userPromptSubmitted",
    "beforeSubmitPrompt",
    "chat.message",
];

/// What an event is about, where this is the name of the one that begins a session.
/// Some clients send it after they compacted a session, too: its agent has acted.
fn about(said: &Said<'_>, beginning: &str) -> About {
    let name = said.text("hook_event_name").or_else(|| said.text("event"));
    let is_sub_agent = said.text("agent_id").is_some();
    if name.is_some_and(|name| PROMPTS.contains(&name)) {
        return if is_sub_agent { About::Middle } else { About::Prompt };
    }
    match (name == Some(beginning), said.text("source")) {
        (false, _) => About::Stop,
        (true, Some("compact")) => About::Middle,
        (true, _) if is_sub_agent => About::Middle,
        (true, _) => About::Beginning,
    }
}

/// A stop of the agent, or what else the name of an event says.
fn judged_as(name: Option<&str>, stop: &str) -> Option<&'static str> {
    match name {
        None => None,
        Some(name) if name == stop => None,
        Some("SubagentStop") => Some(why::SUB_AGENT),
        Some("StopFailure") => Some(why::BROKEN_OFF),
        Some(_) => Some(why::OTHER_EVENT),
    }
}
