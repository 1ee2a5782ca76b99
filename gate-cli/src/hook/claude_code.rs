//! Claude Code's `Stop` (2.1.197 to 2.1.330).
//!
//! The event carries the last message. That is safer than the transcript, which the
//! client may write later. A stop that follows a background task has another
//! `prompt_id` and `stop_hook_active: false`.

use std::time::Duration;

use serde_json::Value;

use super::client::{Client, Event, block};
use super::payload::Payload;
use super::transcript_lag::TranscriptLag;

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    transcript_lag: |_, _, _| TranscriptLag::UpToDate,
    refusal: block,
    shows_messages: true,
    project: Some("CLAUDE_PROJECT_DIR"),
    deadline: Duration::from_secs(50),
};

const MAX_TASK_CHARS: usize = 120;

const SESSION_START_EVENT: &str = "SessionStart";

fn event(payload: &Payload<'_>) -> Event {
    let tasks = payload.list("background_tasks").iter();
    Event {
        prompt_id: payload.owned("prompt_id"),
        last_message: payload.owned("last_assistant_message"),
        background_tasks: tasks.filter_map(running_task).collect(),
        ..Event::from_payload(payload, SESSION_START_EVENT, "Stop").unless_in_plan_mode(payload)
    }
}

/// The command, description or id of a task that is still running.
fn running_task(task: &Value) -> Option<String> {
    if non_empty(task, "status").is_some_and(|status| status != "running") {
        return None;
    }
    let keys = ["command", "description", "id"];
    let name = keys.into_iter().find_map(|key| non_empty(task, key));
    Some(gate_core::text::brief(name.unwrap_or("a task"), MAX_TASK_CHARS))
}

fn non_empty<'t>(task: &'t Value, key: &str) -> Option<&'t str> {
    task.get(key)?.as_str().filter(|text| !text.is_empty())
}

fn is_headless(payload: &Payload<'_>) -> Option<bool> {
    match payload.variable("CLAUDE_CODE_ENTRYPOINT") {
        Some(entry) => Some(entry == "sdk-cli"),
        None => payload.started_with("claude", &["-p", "--print"]),
    }
}
