//! Claude Code's `Stop` (2.1.197 to 2.1.330).
//!
//! The last word comes with the event, which is safer than the transcript: that
//! one may be written later. A stop that follows a background task has another
//! `prompt_id` and `stop_hook_active: false`.

use std::time::Duration;

use serde_json::Value;

use super::{Client, Event, Lag, Said, about, block, judged_as, why};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    lag: |_, _, _| Lag::None,
    refusal: block,
    shows_messages: true,
    project: Some("CLAUDE_PROJECT_DIR"),
    deadline: Duration::from_secs(50),
};

/// The most that is told of a task, in characters.
const TASK: usize = 120;

/// The event with which a session begins.
const BEGINNING: &str = "SessionStart";

fn event(said: &Said<'_>) -> Event {
    let in_plan_mode = said.text("permission_mode") == Some("plan");
    Event {
        about: about(said, BEGINNING),
        not_judged: judged_as(said.text("hook_event_name"), "Stop")
            .or(in_plan_mode.then_some(why::PLAN_MODE)),
        session: said.owned("session_id"),
        prompt: said.owned("prompt_id"),
        folder: said.path("cwd"),
        transcript: said.path("transcript_path"),
        said: said.owned("last_assistant_message"),
        background: said.list("background_tasks").iter().filter_map(running).collect(),
        typed: said.owned("prompt"),
    }
}

/// A task that is still running, in words.
fn running(task: &Value) -> Option<String> {
    let text = |key: &str| task.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let runs = text("status").is_none_or(|status| status == "running");
    let words = text("command").or_else(|| text("description")).or_else(|| text("id"));
    runs.then(|| gate_core::text::brief(words.unwrap_or("a task"), TASK))
}

fn is_headless(said: &Said<'_>) -> Option<bool> {
    match said.variable("CLAUDE_CODE_ENTRYPOINT") {
        Some(entry) => Some(entry == "sdk-cli"),
        None => said.started_with("claude", &["-p", "--print"]),
    }
}
