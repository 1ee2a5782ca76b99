//! GitHub Copilot CLI's `Stop`, or `agentStop` without an event's name.
//!
//! The event carries no message. The transcript is the only source, and the client
//! writes it while the hook runs.

use serde_json::Value;

use super::client::{ClientCode, Event, EventKind, not_judged};
use super::payload::Payload;
use super::transcript_lag::{RecentRecords, TranscriptLag, timestamp};

pub(super) const CODE: ClientCode = ClientCode { event, transcript_lag, ..ClientCode::NONE };

/// The stop reason of a turn that was not broken off.
const COMPLETE_TURN: &str = "end_turn";

fn event(payload: &Payload<'_>, event: Event) -> Event {
    let reason = payload.text("stop_reason").or_else(|| payload.text("stopReason"));
    let is_broken_off = reason.is_some_and(|reason| reason != COMPLETE_TURN);
    // Without a name, only a stop has a reason to stop.
    let is_no_stop = payload.text("hook_event_name").is_none() && reason.is_none();
    let is_prompt = is_no_stop && event.prompt_text.is_some();
    Event {
        kind: if is_prompt { EventKind::Prompt } else { event.kind },
        not_judged: event
            .not_judged
            .or(is_no_stop.then_some(not_judged::OTHER_EVENT))
            .or(is_broken_off.then_some(not_judged::BROKEN_OFF)),
        ..event
    }
}

// The client records that it calls this hook, and does so after the last message. So a
// call with this event's time means that the message is in the file. Before the first
// such record only the message itself shows it. An empty file does not count as up to
// date: a hook at the session's start makes the client create the file long before.
fn transcript_lag(payload: &Payload<'_>, latest: &RecentRecords) -> Option<TranscriptLag> {
    let last_call = latest.records().find_map(|record| stop_hook_time(&record));
    let is_behind = match (last_call, payload.timestamp()) {
        (Some(called_at), Some(stopped_at)) => called_at < stopped_at,
        _ => !latest.records().find_map(|record| is_closing_message(&record)).unwrap_or(false),
    };
    Some(if is_behind { TranscriptLag::Certain } else { TranscriptLag::UpToDate })
}

/// The time of a call of the stop hook, in milliseconds since 1970.
fn stop_hook_time(record: &Value) -> Option<i64> {
    if record.pointer("/data/hookType")? != "agentStop" {
        return None;
    }
    timestamp(record.pointer("/data/input/timestamp"))
}

/// The record is a message of the agent that calls no tool; a prompt or a tool call is not.
/// `None` for any other record.
fn is_closing_message(record: &Value) -> Option<bool> {
    match record.get("type")?.as_str()? {
        "assistant.message" => {
            let requests = record.pointer("/data/toolRequests").and_then(Value::as_array);
            Some(requests.is_none_or(Vec::is_empty))
        }
        "user.message" | "tool.execution_start" | "tool.execution_complete" => Some(false),
        _ => None,
    }
}
