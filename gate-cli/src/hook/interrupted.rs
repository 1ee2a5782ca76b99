//! Turns that a person broke off, as the transcript tells it. Some clients call their stop hook for
//! such a turn as for any other.

use std::path::Path;

use serde_json::Value;

use super::transcript_lag::RecentRecords;

/// The beginning of the text that Claude Code, and clients that write transcripts as it does, put in
/// the place of the person's message.
const INTERRUPTED: &str = "[Request interrupted by user";

/// A person broke off the transcript's last turn, and no message came since.
pub(super) fn is_interrupted(transcript: &Path) -> bool {
    let latest = RecentRecords::read(transcript);
    latest.records().find_map(|record| is_interruption(&record)).unwrap_or(false)
}

/// The record ends a turn early; another part of a conversation does not. `None` for a record that
/// is no part of the agent's own conversation.
fn is_interruption(record: &Value) -> Option<bool> {
    match record.get("type")?.as_str()? {
        // Codex.
        "event_msg" => match record.pointer("/payload/type")?.as_str()? {
            "turn_aborted" => Some(true),
            "task_started" | "turn_started" | "task_complete" | "user_message"
            | "agent_message" => Some(false),
            _ => None,
        },
        _ if record["isSidechain"] == true || record["isMeta"] == true => None,
        "assistant" => Some(false),
        "user" | "message" => {
            let content = record.pointer("/message/content")?;
            let text = content.as_str().or_else(|| content.pointer("/0/text")?.as_str());
            Some(text.is_some_and(|text| text.starts_with(INTERRUPTED)))
        }
        _ => None,
    }
}
