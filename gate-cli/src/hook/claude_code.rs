//! Claude Code's `Stop`. A stop that follows a background task has another `prompt_id`
//! and `stop_hook_active: false`.

use serde_json::Value;

use super::client::{ClientCode, Event};
use super::payload::Payload;

pub(super) const CODE: ClientCode = ClientCode { event, ..ClientCode::NONE };

const MAX_TASK_CHARS: usize = 120;

fn event(payload: &Payload<'_>, event: Event) -> Event {
    let tasks = payload.list("background_tasks").iter();
    Event { background_tasks: tasks.filter_map(running_task).collect(), ..event }
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
