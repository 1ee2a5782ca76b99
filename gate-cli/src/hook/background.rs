//! Tasks that go on after a stop, and prompts that the client sends by itself.

use gate_core::text::brief;
use serde_json::Value;

use super::payload::Payload;

const MAX_NAME_CHARS: usize = 120;

/// Kinds of tasks that are a shell's: a server among them never ends.
const SHELLS: [&str; 3] = ["shell", "bash", "local_bash"];

/// States of a task that is over.
const ENDED_STATES: [&str; 7] =
    ["completed", "failed", "killed", "stopped", "cancelled", "canceled", "done"];

/// A task that runs in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackgroundTask {
    /// The client's id.
    pub(crate) id: String,
    /// Its command, description or id.
    pub(crate) name: String,
    /// It is a shell's; other tasks are helpers', which end.
    pub(crate) is_shell: bool,
}

/// A prompt that the client will send by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScheduledPrompt {
    pub(crate) text: String,
    /// It comes again and again.
    pub(crate) is_recurring: bool,
}

/// The tasks of an event that still run.
pub(super) fn tasks(payload: &Payload<'_>, key: Option<&str>) -> Vec<BackgroundTask> {
    let tasks = key.map(|key| payload.list(key)).unwrap_or_default();
    let running = tasks.iter().filter(|task| {
        let status = text(task, "status").unwrap_or_default().to_lowercase();
        !ENDED_STATES.contains(&status.as_str())
    });
    let running = running.map(|task| {
        let name = ["command", "description", "id"].into_iter().find_map(|key| text(task, key));
        let kind = text(task, "type").or_else(|| text(task, "kind"));
        BackgroundTask {
            id: text(task, "id").or(name).unwrap_or_default().to_owned(),
            name: brief(name.unwrap_or("a task"), MAX_NAME_CHARS),
            is_shell: match kind {
                Some(kind) => SHELLS.contains(&kind.to_lowercase().as_str()),
                None => text(task, "command").is_some(),
            },
        }
    });
    running.collect()
}

/// The prompts of an event that the client will send.
pub(super) fn scheduled(payload: &Payload<'_>, key: Option<&str>) -> Vec<ScheduledPrompt> {
    let prompts = key.map(|key| payload.list(key)).unwrap_or_default();
    let prompts = prompts.iter().map(|prompt| ScheduledPrompt {
        text: text(prompt, "prompt").unwrap_or("a prompt").to_owned(),
        is_recurring: prompt.get("recurring").and_then(Value::as_bool).unwrap_or(false),
    });
    prompts.collect()
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
}
