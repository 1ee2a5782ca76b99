//! GitHub Copilot CLI's `Stop`, or `agentStop` without an event's name (1.0.102).
//!
//! No message comes with it: the transcript is the only source, and is written
//! while the hook runs. It ignores the ninth refusal in a row.

use std::time::Duration;

use serde_json::Value;

use super::lag::moment;
use super::{About, Client, Event, Lag, Latest, Said, about, block, judged_as, why};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    lag,
    refusal: block,
    shows_messages: true,
    project: Some("COPILOT_PROJECT_DIR"),
    deadline: Duration::from_secs(25),
};

/// How a turn ends that was not broken off.
const WHOLE: &str = "end_turn";

/// The event with which a session begins.
const BEGINNING: &str = "SessionStart";

fn event(said: &Said<'_>) -> Event {
    let reason = said.text("stop_reason").or_else(|| said.text("stopReason"));
    let broken_off = reason.is_some_and(|reason| reason != WHOLE);
    // Without a name, only a stop has a reason to stop.
    let name = said.text("hook_event_name");
    let is_other = name.is_none() && reason.is_none();
    let is_prompt = is_other && said.text("prompt").is_some();
    Event {
        about: if is_prompt { About::Prompt } else { about(said, BEGINNING) },
        not_judged: judged_as(name, "Stop")
            .or(is_other.then_some(why::OTHER_EVENT))
            .or(broken_off.then_some(why::BROKEN_OFF)),
        session: said.owned("session_id").or_else(|| said.owned("sessionId")),
        prompt: None,
        folder: said.path("cwd"),
        transcript: said.path("transcript_path").or_else(|| said.path("transcriptPath")),
        said: None,
        background: Vec::new(),
        typed: said.owned("prompt"),
    }
}

fn is_headless(said: &Said<'_>) -> Option<bool> {
    said.started_with("copilot", &["-p", "--prompt"])
}

/// The client writes down that it calls this hook, after the last word. Before it
/// has ever done so, the last word has to be there, behind what tools were asked: with
/// a hook where the session begins, the file is begun long before.
fn lag(said: &Said<'_>, latest: &Latest, _: &str) -> Lag {
    let calls = |record: &Value| {
        let of_stop = record.pointer("/data/hookType").is_some_and(|it| it == "agentStop");
        of_stop.then(|| moment(record.pointer("/data/input/timestamp"))).flatten()
    };
    let is_behind = match (latest.records().find_map(|record| calls(&record)), said.moment()) {
        (Some(called), Some(now)) => called < now,
        _ => !latest.records().find_map(|record| speaks(&record)).unwrap_or(false),
    };
    if is_behind { Lag::Sure } else { Lag::None }
}

/// Whether a record is a message by itself; none where it is of another kind.
fn speaks(record: &Value) -> Option<bool> {
    match record.get("type")?.as_str()? {
        "assistant.message" => {
            let requests = record.pointer("/data/toolRequests").and_then(Value::as_array);
            Some(requests.is_none_or(Vec::is_empty))
        }
        "user.message" | "tool.execution_start" | "tool.execution_complete" => Some(false),
        _ => None,
    }
}
