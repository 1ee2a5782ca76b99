//! A prompt that was given to an agent: what changes from now on is its turn, and what
//! a person types to gate is the operator's word.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use gate_core::decide::feedback::is_feedback;
use serde_json::{Value, json};

use super::typed::Typed;
use super::{Began, Event, Said, Surroundings, client, is_nested, session};
use crate::agent::{Agent, IN_RUN};
use crate::approval::approve_typed;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::settings::{self, Selection};

/// The longest that a store is waited for.
const PATIENCE_OF_STORE: Duration = Duration::from_secs(2);

/// A prompt that was given to an agent.
pub(crate) struct Prompted<'e> {
    pub(crate) agent: Agent,
    pub(crate) said: &'e Said<'e>,
    pub(crate) event: &'e Event,
    /// When the hook was called.
    pub(crate) at: Instant,
    /// How long it may take.
    pub(crate) deadline: Duration,
}

impl Prompted<'_> {
    /// Takes the session's baseline if it has none, and keeps what the work tree is at
    /// this moment. Returns the reply to the client where the prompt was meant for gate.
    ///
    /// # Errors
    ///
    /// Settings that cannot be used, a store that cannot be written.
    pub(crate) fn keep(&self, here: &Here) -> Result<Option<Value>, Failure> {
        let text = self.event.typed.as_deref().unwrap_or_default();
        // Some clients report gate's own refusal, or the end of a background task, as a
        // prompt: neither is the person's.
        // Qwen Code reports an empty one after each result of a tool.
        let is_clients = text.trim_start().starts_with("<task-notification")
            || self.agent == Agent::Qwen && text.is_empty();
        if is_feedback(text) || is_clients || here.places.variable(IN_RUN).is_some() {
            return Ok(None);
        }
        let Self { agent, event, .. } = *self;
        let began = Began { agent, event, at: self.at, deadline: self.deadline };
        let baseline = began.keep(here);
        let is_nested = is_nested(agent, &here.places);
        let is_interactive = (client(agent).is_headless)(self.said) != Some(true);
        let mut surroundings = Surroundings::of(here, agent, event);
        // An agent's tool made it up: what it changed would not be looked at any more.
        if is_nested && surroundings.as_ref().is_some_and(Surroundings::is_a_persons) {
            baseline?;
            return Ok(None);
        }
        let typed = Typed::of(text).filter(|_| is_interactive && !is_nested);
        if let Some(surroundings) = &mut surroundings {
            let project = here.places.project()?;
            surroundings.prompted(&project, |session| {
                session.kept.is_nested = is_nested;
                session.kept.transcript.clone_from(&event.transcript);
                session.kept.needs_exit |= typed == Some(Typed::OnForSession);
                session.kept.prompted_at = seconds();
            });
        }
        if let Some(session) = event.run().filter(|_| is_interactive && !is_nested) {
            memory(here)?.close_at_prompt(&session)?;
        }
        let answer = typed.map(|typed| self.obey(here, typed)).transpose()?;
        baseline?;
        Ok(answer.map(|message| reply(agent, &message)))
    }

    fn obey(&self, here: &Here, typed: Typed) -> Result<String, Failure> {
        // No client calls its hook there: the prompt is made up.
        here.above_checks(self.event.typed.as_deref().unwrap_or_default().trim())?;
        let until = |switched: Option<String>| {
            let until =
                switched.map_or_else(|| "until `gate on`".to_owned(), |at| format!("until {at}"));
            format!("gate is off {until}: agents stop here without being judged")
        };
        match typed {
            Typed::Off(length) => {
                let millis = length.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
                Ok(until(memory(here)?.set_switch(true, millis)?.until))
            }
            Typed::On => {
                memory(here)?.set_switch(false, None)?;
                Ok("gate is on: stops of agents are judged here".to_owned())
            }
            Typed::OnForSession => Ok("gate: this session ends with a checked exit".to_owned()),
            Typed::Trust => approve_typed(here),
        }
    }
}

fn memory(here: &Here) -> Result<Memory, Failure> {
    let id = settings::resolve(&here.places, &Selection::default())?.policy.project_id;
    Memory::open_within(&here.places, id.as_deref(), PATIENCE_OF_STORE)
}

/// What the client is told: that the prompt is not for the model, where it takes that.
fn reply(agent: Agent, message: &str) -> Value {
    match agent {
        Agent::ClaudeCode | Agent::Codex | Agent::Gemini | Agent::Qwen | Agent::Droid => {
            json!({ "decision": "block", "reason": message })
        }
        _ => json!({ "systemMessage": message }),
    }
}

/// Seconds since 1970.
fn seconds() -> Option<u64> {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// Whether a file is older than a session's last prompt.
pub(super) fn is_older(file: &Path, session: &session::Session) -> bool {
    let written = std::fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
    let written = written.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    written.zip(session.kept.prompted_at).is_some_and(|(written, at)| written.as_secs() < at)
}
