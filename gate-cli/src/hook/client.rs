//! The hook interface of an agent's client: its events, and the replies to them.

use std::path::PathBuf;
use std::time::Duration;

use gate_core::text;
use serde_json::Value;

use super::background::{self, BackgroundTask, ScheduledPrompt};
use super::interrupted::is_interrupted;
use super::payload::Payload;
use super::transcript_lag::{RecentRecords, TranscriptLag, by_sign};
use crate::agent::Agent;
use crate::clients::{self, ClientFacts, Events, HookFacts};
use crate::tool_inputs::tail;

/// The hook interface of one agent's client.
pub(crate) struct Client {
    pub(super) facts: &'static ClientFacts,
    /// The interface of the program that sends the events: the client's, or a dialect's.
    pub(super) hook: &'static HookFacts,
    pub(super) code: ClientCode,
}

/// The code that a client needs beside its facts.
pub(super) struct ClientCode {
    /// Completes the event that was read by the facts.
    pub(super) event: fn(&Payload<'_>, Event) -> Event,
    /// Nobody sits in front of the client. `None` if the facts decide: variables, then the
    /// words of its command line.
    pub(super) is_headless: fn(&Payload<'_>) -> Option<bool>,
    /// Compares the event with the transcript. `None` if the facts name a sign, or nothing
    /// does.
    pub(super) transcript_lag: fn(&Payload<'_>, &RecentRecords) -> Option<TranscriptLag>,
}

impl ClientCode {
    /// For a client that its facts describe.
    pub(super) const NONE: Self =
        Self { event: |_, event| event, is_headless: |_| None, transcript_lag: |_, _| None };
}

impl Client {
    pub(crate) fn facts(&self) -> &'static HookFacts {
        self.hook
    }

    /// The interface of the program that sent this event, which may be another one that reads the
    /// client's hook files. A person sits in front of such a program.
    #[must_use]
    pub(crate) fn for_sender(self, agent: Agent, payload: &Payload<'_>) -> Self {
        // A command to gate is not taken from a program that nobody has tried.
        let code = ClientCode {
            event: |_, event| Event { prompt_text: None, ..event },
            is_headless: |_| Some(false),
            ..ClientCode::NONE
        };
        match clients::dialect(agent, payload.value()) {
            Some(hook) => Self { hook, code, ..self },
            None => self,
        }
    }

    /// Another program sends the events: one that reads the client's hook files.
    pub(crate) fn is_dialect(&self) -> bool {
        !std::ptr::eq(self.hook, &self.facts.hook)
    }

    pub(crate) fn event(&self, payload: &Payload<'_>) -> Event {
        let HookFacts { events, keys, has_plan_mode, .. } = self.facts();
        let first_text = |keys: &[String]| keys.iter().find_map(|key| payload.owned(key));
        let text = |key: &Option<String>| payload.owned(key.as_deref()?);
        // The agent may not act in plan mode, so there is nothing to judge.
        let is_plan = *has_plan_mode && payload.text("permission_mode") == Some("plan");
        let event = Event {
            kind: event_kind(payload, events.start.as_deref()),
            not_judged: reason_not_to_judge(event_name(payload), events)
                .or(is_plan.then_some(not_judged::PLAN_MODE)),
            is_refused_by_code: event_name(payload)
                .is_some_and(|name| events.refused_by_code.iter().any(|event| event == name)),
            session: first_text(&keys.session),
            prompt_id: text(&keys.prompt_id)
                .or_else(|| Some(gate_core::digest(text(&keys.prompt_digest)?.as_bytes()))),
            folder: helper_folder(payload)
                .or_else(|| payload.path("cwd"))
                .or_else(|| payload.path("working_dir")),
            transcript: first_text(&keys.transcript).map(PathBuf::from),
            // A turn without a last word is sent as one without a text.
            last_message: keys.message.as_deref().and_then(|key| payload.possibly_blank(key)),
            tasks: background::tasks(payload, keys.tasks.as_deref()),
            scheduled: background::scheduled(payload, keys.scheduled.as_deref()),
            repeated_message: text(&keys.repeated_message),
            prompt_text: payload.owned("prompt"),
        };
        let event = (self.code.event)(payload, event);
        // Looked up last: it reads the transcript, and only a stop that would be judged needs it.
        let is_interrupted = || event.transcript.as_deref().is_some_and(is_interrupted);
        if event.kind == EventKind::Stop && event.not_judged.is_none() && is_interrupted() {
            return Event { not_judged: Some(not_judged::BROKEN_OFF), ..event };
        }
        event
    }

    /// Nobody sits in front of the client. `None` if gate cannot find out.
    pub(crate) fn is_headless(&self, payload: &Payload<'_>) -> Option<bool> {
        let program = self.facts.programs.first()?;
        let HookFacts { entry, headless_words, .. } = self.facts();
        if let Some(entry) = entry
            && let Some(value) = payload.variable(&entry.variable)
        {
            return entry.is_headless(value);
        }
        (self.code.is_headless)(payload).or_else(|| payload.started_with(program, headless_words))
    }

    /// The way in which the client was started, if gate does not know it.
    pub(crate) fn unknown_entry(&self, payload: &Payload<'_>) -> Option<String> {
        let entry = self.facts().entry.as_ref()?;
        let value = payload.variable(&entry.variable)?;
        entry.is_headless(value).is_none().then(|| format!("{}={value}", entry.variable))
    }

    /// Compares the event with the transcript and its last message.
    pub(crate) fn transcript_lag(
        &self,
        payload: &Payload<'_>,
        latest: &RecentRecords,
        last_message: &str,
    ) -> TranscriptLag {
        let by_facts = || Some(by_sign(self.facts().lag.as_ref()?, payload, latest, last_message));
        let lag = (self.code.transcript_lag)(payload, latest).or_else(by_facts);
        lag.unwrap_or(TranscriptLag::UpToDate)
    }

    pub(crate) fn refusal(&self, reason: &str) -> Value {
        self.facts().refusal.reply(reason)
    }

    /// Time for a hook if the installed command names none.
    pub(crate) fn deadline(&self) -> Duration {
        Duration::from_secs(self.facts().deadline)
    }
}

/// Bytes at the end of a helper's transcript that are searched for its folder.
const MAX_TAIL_BYTES: u64 = 256 << 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EventKind {
    #[default]
    Stop,
    /// A session begins or is resumed, and its agent has not acted yet.
    SessionStart,
    /// A person or a program gave the agent a prompt.
    Prompt,
    /// A session is over.
    SessionEnd,
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
    /// Only the exit code 2 refuses it: the client reads no reply.
    pub(crate) is_refused_by_code: bool,
    /// Tasks that run in the background.
    pub(crate) tasks: Vec<BackgroundTask>,
    /// Prompts that the client will send by itself.
    pub(crate) scheduled: Vec<ScheduledPrompt>,
    /// The agent's last message with parts of it twice. It serves if there is no transcript.
    pub(crate) repeated_message: Option<String>,
    pub(crate) prompt_text: Option<String>,
}

impl Event {
    /// The session's id as a run's name.
    pub(crate) fn run(&self) -> Option<String> {
        Some(text::clean(self.session.as_deref()?).replace('#', "-"))
    }
}

/// Reasons not to judge a stop, as the ledger records them.
pub(crate) mod not_judged {
    pub(crate) const SUB_AGENT: &str = "a sub-agent stopped, not the agent";
    pub(crate) const HELPER_LOOKED: &str = "a sub-agent stopped that changed nothing";
    pub(crate) const PLAN_MODE: &str = "the agent is in plan mode";
    pub(crate) const BROKEN_OFF: &str = "the turn was broken off, or its API failed";
    pub(crate) const OTHER_EVENT: &str = "the event is no stop of the agent";
    pub(crate) const IN_RUN: &str = "gate run looks when the agent ends";
    pub(crate) const NEVER: &str = "hook.judge is never";
}

/// The kind of an event, by its name; `session_start` is the client's own name.
fn event_kind(payload: &Payload<'_>, session_start: Option<&str>) -> EventKind {
    let name = event_name(payload);
    let is_sub_agent = payload.text("agent_id").is_some();
    let mut end_names = clients::all().filter_map(|facts| facts.hook.events.end.as_deref());
    if end_names.any(|end_name| name == Some(end_name)) {
        return EventKind::SessionEnd;
    }
    let mut prompt_names = clients::all().flat_map(|facts| &facts.hook.events.prompt);
    if prompt_names.any(|prompt_name| name == Some(prompt_name)) {
        return if is_sub_agent { EventKind::MidTurn } else { EventKind::Prompt };
    }
    match (name.is_some() && name == session_start, payload.text("source")) {
        // Any other event is handled as a stop, so that the ledger says why it was not judged.
        (false, _) => EventKind::Stop,
        // Some clients send the event again after they compacted a session. The agent
        // has acted by then, so the work tree is no baseline any more.
        (true, Some("compact")) => EventKind::MidTurn,
        (true, _) if is_sub_agent => EventKind::MidTurn,
        (true, _) => EventKind::SessionStart,
    }
}

/// The folder of a helper that stops, which may be in another work tree than its parent's. The
/// event names the parent's folder, so the helper's is read from the end of its transcript.
fn helper_folder(payload: &Payload<'_>) -> Option<PathBuf> {
    let transcript = payload.path("agent_transcript_path")?;
    let text = tail(&transcript, MAX_TAIL_BYTES)?;
    let mut lines = text.lines().rev().filter_map(|line| serde_json::from_str(line).ok());
    lines.find_map(|record: Value| Some(PathBuf::from(record.get("cwd")?.as_str()?)))
}

fn event_name<'p>(payload: &Payload<'p>) -> Option<&'p str> {
    let keys = ["hook_event_name", "event", "hookEventName", "event_type"];
    keys.into_iter().find_map(|key| payload.text(key))
}

/// The reason not to judge an event of this name; `None` for a stop of the agent.
fn reason_not_to_judge(name: Option<&str>, events: &Events) -> Option<&'static str> {
    let helpers = events.helper.iter().map(String::as_str);
    match name {
        None => None,
        Some(name) if name == events.stop => None,
        Some(name) if helpers.chain(["SubagentStop"]).any(|helper| helper == name) => {
            Some(not_judged::SUB_AGENT)
        }
        Some("StopFailure") => Some(not_judged::BROKEN_OFF),
        Some(_) => Some(not_judged::OTHER_EVENT),
    }
}
