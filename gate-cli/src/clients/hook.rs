//! The facts of a client's hooks: its events, their keys, and the replies to them.

use serde::Deserialize;
use serde_json::{Value, json};

/// The interface of the client's hooks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookFacts {
    pub(crate) events: Events,
    pub(crate) keys: Keys,
    pub(crate) lag: Option<LagSign>,
    /// The event's `permission_mode` may be `plan`.
    pub(crate) has_plan_mode: bool,
    /// A hook can keep a prompt from the model.
    pub(crate) blocks_prompts: bool,
    /// Records of a transcript, by `type` or `subtype`, behind a prompt that nobody typed.
    #[serde(default)]
    pub(crate) unattended_records: Vec<String>,
    /// A hook can add a text to the context of a prompt.
    #[serde(default)]
    pub(crate) adds_context: bool,
    /// The client shows a `systemMessage` to the person and does nothing else with it.
    pub(crate) shows_messages: bool,
    #[serde(default)]
    pub(crate) refusal: Refusal,
    /// The client also takes the exit code of a hook that fails for a refusal.
    #[serde(default)]
    pub(crate) failure_refuses: bool,
    /// The client itself sends empty prompts in the middle of a turn.
    #[serde(default)]
    pub(crate) sends_empty_prompts: bool,
    /// The variable by which the client says how it was started.
    pub(crate) entry: Option<EntryPoint>,
    /// The words of a command line that show that no person sits in front of the client.
    pub(crate) headless_words: Vec<String>,
    /// The variable with the folder in which the session began. The agent may have
    /// changed its folder since.
    pub(crate) project_variable: Option<String>,
    /// Seconds that the client waits for a hook whose settings name no time, if that is
    /// documented.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the documents, and for tests"))]
    pub(super) default_timeout: Option<u64>,
    /// Seconds for a hook if the installed command names none: below the client's default.
    pub(crate) deadline: u64,
    /// The refusals after which the client lets its agent stop.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the documents, and for tests"))]
    pub(super) refusal_cap: String,
}

/// The ways in which a client is started. If the variable is not set, `headless_words` decide.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EntryPoint {
    pub(crate) variable: String,
    /// Values with which a person sits in front of the client; `*` at the end stands for any.
    person: Vec<String>,
    /// Values with which a program has started the client, and nobody sits in front of it.
    program: Vec<String>,
}

impl EntryPoint {
    /// Nobody sits in front of a client that was started in this way. `None` if the way is not known.
    pub(crate) fn is_headless(&self, value: &str) -> Option<bool> {
        let is_among = |patterns: &[String]| {
            patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(beginning) => value.starts_with(beginning),
                None => value == pattern,
            })
        };
        if is_among(&self.program) {
            return Some(true);
        }
        is_among(&self.person).then_some(false)
    }
}

/// The form of a reply that makes the agent go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) enum Refusal {
    /// `{"decision": "block", "reason": …}`. Codex ignores a reply with any other key, and
    /// Copilot one without a reason.
    #[default]
    #[serde(rename = "decision")]
    Decision,
    /// `{"followup_message": …}`, the next prompt.
    #[serde(rename = "follow-up")]
    FollowUp,
    /// The members of `Decision` within `hookSpecificOutput`, with the event's name.
    #[serde(rename = "specific")]
    Specific,
}

impl Refusal {
    /// The reply with this reason.
    pub(crate) fn reply(self, reason: &str) -> Value {
        match self {
            Self::Decision => json!({ "decision": "block", "reason": reason }),
            Self::FollowUp => json!({ "followup_message": reason }),
            Self::Specific => json!({ "hookSpecificOutput":
                { "hookEventName": "Stop", "decision": "block", "reason": reason } }),
        }
    }

    /// The client takes this reply for a refusal.
    pub(crate) fn is_reply(self, reply: &Value) -> bool {
        let reason = match self {
            Self::Decision => &reply["reason"],
            Self::FollowUp => &reply["followup_message"],
            Self::Specific => &reply["hookSpecificOutput"]["reason"],
        };
        let reason_text = reason.as_str().filter(|text| !text.trim().is_empty());
        // Compared as a whole: a member too many voids a refusal for some clients.
        reason_text.is_some_and(|text| self.reply(text) == *reply)
    }
}

/// The client's names for its events.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Events {
    pub(crate) stop: String,
    /// `None` if the client reports no session that begins.
    pub(crate) start: Option<String>,
    /// All spellings; an installation takes the first. Empty if the client reports no prompts.
    #[serde(default)]
    pub(crate) prompt: Vec<String>,
    /// Stops of helpers and teammates.
    #[serde(default)]
    pub(crate) helper: Vec<String>,
    /// Events of `helper` that only the exit code 2 refuses, with the reason on standard error.
    #[serde(default)]
    pub(crate) refused_by_code: Vec<String>,
    /// The end of a session.
    pub(crate) end: Option<String>,
}

impl Events {
    /// The name under which the client's settings have an event.
    pub(crate) fn name(&self, moment: Moment) -> Option<&str> {
        match moment {
            Moment::Stop => Some(&self.stop),
            Moment::Start => self.start.as_deref(),
            Moment::Prompt => self.prompt.first().map(String::as_str),
            Moment::End => self.end.as_deref(),
        }
    }
}

/// Keys of the payload. Of several, the first that has a text counts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keys {
    pub(crate) session: Vec<String>,
    pub(crate) transcript: Vec<String>,
    /// The agent's last message, if the client sends it whole and unchanged.
    pub(crate) message: Option<String>,
    /// The agent's last message with parts of it twice. It serves if there is no transcript.
    pub(crate) repeated_message: Option<String>,
    /// An id that differs from prompt to prompt within a session.
    pub(crate) prompt_id: Option<String>,
    /// A text whose digest serves as the prompt's id.
    pub(crate) prompt_digest: Option<String>,
    /// The tasks that run in the background at a stop.
    pub(crate) tasks: Option<String>,
    /// The prompts that the client will send by itself.
    pub(crate) scheduled: Option<String>,
}

/// A key of the payload that shows if the transcript has the last message already.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum LagSign {
    /// A text that ends as the message does.
    End {
        key: String,
        /// Characters that are compared; all if not given.
        chars: Option<usize>,
        /// Another end proves that the transcript is behind; else it is only likely.
        is_certain: bool,
    },
    /// The id of the message's record.
    Record(String),
}

/// When a client calls gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Moment {
    /// The agent stops.
    Stop,
    /// A session begins.
    Start,
    /// A person sends a prompt.
    Prompt,
    /// A session is over.
    End,
}
