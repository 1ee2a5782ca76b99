//! The facts of the stop that `gate doctor` tries a hook with.

use serde::Deserialize;

/// The client's own part of a test stop. The other facts give the members that most clients send.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TestStopFacts {
    /// Further members of the event, in JSON. They replace those of the same name.
    /// `"{claim}"` stands for the agent's last message; `install/trial/event.rs` has the others.
    pub(crate) members: Option<String>,
    /// The event has no other members.
    pub(crate) is_whole: bool,
    pub(crate) transcript: TranscriptForm,
}

/// The client whose transcripts are like those of this client.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TranscriptForm {
    #[default]
    ClaudeCode,
    Gemini,
    Qwen,
    Copilot,
}
