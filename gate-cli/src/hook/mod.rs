//! Hooks: the events of agents' clients, and the replies that are safe with each.
//!
//! `crate::clients` has the facts of each client; one that needs code beside them has a
//! file here. All clients fail open: they let the agent stop on any reply that is no plain
//! refusal, and leave no trace of that. So a refusal is always one JSON object alone on
//! stdout, with exit code 0: the one form that every client understands. To let the agent
//! stop, gate prints nothing.

mod background;
mod client;
mod codex;
mod copilot;
mod cursor;
mod grounds;
mod helper;
mod interrupted;
mod nested;
mod operator_command;
mod owed;
mod payload;
mod prompt;
mod reply;
pub(crate) mod session;
mod session_start;
mod stop;
#[cfg(test)]
mod tests;
mod transcript_lag;
mod turn_context;
mod typed;

pub(crate) use client::{Client, Event, EventKind, not_judged};
pub(crate) use grounds::{EventScene, Ground, Grounds, OtherGround};
pub(crate) use payload::Payload;
pub(crate) use prompt::{PromptAnswer, prompt_reply};
pub(crate) use reply::StopReply;
pub(crate) use transcript_lag::{RecentRecords, TranscriptLag};
pub(crate) use turn_context::TurnContext;

use std::time::{Duration, Instant};

use client::ClientCode;
use gate_core::decide::policy::Attendance;
use gate_core::decide::situation::Presence;

use crate::agent::Agent;
use crate::clients::facts;
use crate::settings::{Places, Selection};
use crate::trust;

/// A client's call of its hook.
pub(crate) struct HookCall<'c> {
    pub(crate) agent: Agent,
    pub(crate) payload: Payload<'c>,
    pub(crate) event: Event,
    pub(crate) start: ClientStart,
    pub(crate) called_at: Instant,
    /// Time that the hook may take, from its call.
    pub(crate) deadline: Duration,
}

/// Who started an agent's client, and who sits in front of it.
#[derive(Clone, Debug)]
pub(crate) struct ClientStart {
    /// The trace of another agent that started it; `None` if a person or a script did.
    pub(crate) outer_agent: Option<String>,
    /// Who is there to answer.
    pub(crate) presence: Presence,
    /// The way in which it was started, if gate does not know that.
    pub(crate) unknown_entry: Option<String>,
}

impl ClientStart {
    pub(crate) fn detect(agent: Agent, payload: &Payload<'_>, places: &Places) -> Self {
        let outer_agent = nested::outer_agent(agent, places);
        let policy = trust::settings_in_force(places, &Selection::default());
        let person = policy.map(|(settings, _)| settings.policy.hook.person).unwrap_or_default();
        let client = client(agent).for_sender(agent, payload);
        let presence = match (&outer_agent, person) {
            (Some(_), _) | (None, Attendance::No) => Presence::Nobody,
            (None, Attendance::Yes) => Presence::Person,
            (None, Attendance::Auto) => client.is_headless(payload).into(),
        };
        // Settings that say who is there leave nothing unknown.
        let unknown_entry = match person {
            Attendance::Auto => client.unknown_entry(payload),
            Attendance::Yes | Attendance::No => None,
        };
        Self { outer_agent, presence, unknown_entry }
    }

    /// Another agent started the client.
    pub(crate) fn is_nested(&self) -> bool {
        self.outer_agent.is_some()
    }
}

/// The hook interface of this agent's client.
pub(crate) fn client(agent: Agent) -> Client {
    let code = match agent {
        Agent::Codex => codex::CODE,
        Agent::Copilot => copilot::CODE,
        Agent::Cursor => cursor::CODE,
        _ => ClientCode::NONE,
    };
    let facts = facts(agent);
    Client { facts, hook: &facts.hook, code }
}

/// Reads a client's JSON as a hook does, for the fuzzing of hook events: the name of the run
/// that the stop belongs to, and the reply that refuses it. `choice` selects one of the known
/// clients. `None` for bytes that are no JSON.
#[doc(hidden)]
pub fn read_event(choice: u8, json: &[u8], reason: &str) -> Option<(Option<String>, String)> {
    let value = serde_json::from_slice(json).ok()?;
    let agent = Agent::ALL[usize::from(choice) % Agent::ALL.len()];
    let payload = Payload::new(&value, &[]);
    let client = client(agent).for_sender(agent, &payload);
    let event = client.event(&payload);
    Some((event.run(), client.refusal(reason).to_string()))
}

/// The texts differ in white space alone: clients wrap and trim a text that they report.
fn has_same_words(text: &str, other_text: &str) -> bool {
    text.split_whitespace().eq(other_text.split_whitespace())
}
