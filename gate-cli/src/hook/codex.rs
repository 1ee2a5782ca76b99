//! Codex CLI's `Stop` (0.169.0). It has no cap of its own on refusals, and
//! takes a reply with any key that it does not know for none.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
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
    project: None,
    deadline: Duration::from_secs(50),
};

/// A rollout's first line is read up to this length.
const MAX_HEADER_BYTES: u64 = 1 << 20;

const SESSION_START_EVENT: &str = "SessionStart";

fn event(payload: &Payload<'_>) -> Event {
    Event {
        prompt_id: payload.owned("turn_id"),
        last_message: payload.owned("last_assistant_message"),
        ..Event::from_payload(payload, SESSION_START_EVENT, "Stop").unless_in_plan_mode(payload)
    }
}

fn is_headless(payload: &Payload<'_>) -> Option<bool> {
    let rollout = payload.path("transcript_path");
    rollout
        .as_deref()
        .and_then(is_exec_rollout)
        .or_else(|| payload.started_with("codex", &["exec", "e"]))
}

/// Reads the rollout's first record. None if there is none that names its source.
fn is_exec_rollout(rollout: &Path) -> Option<bool> {
    let mut line = String::new();
    BufReader::new(File::open(rollout).ok()?.take(MAX_HEADER_BYTES)).read_line(&mut line).ok()?;
    let header: Value = serde_json::from_str(&line).ok()?;
    let source = header.get("payload")?.get("source")?;
    Some(source.as_str() == Some("exec"))
}
