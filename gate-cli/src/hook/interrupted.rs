//! Turns that a person broke off, as the transcript tells it. Some clients call their stop hook for such
//! a turn as for any other.

use std::path::Path;

use serde_json::Value;

use super::transcript_lag::RecentRecords;

/// The beginning of what Claude Code, and who writes transcripts as it does, puts in the place of the
/// person's message.
const INTERRUPTED: &str = "[Request interrupted by user";

/// True if the transcript's last turn was broken off by a person, and nothing was said since.
pub(super) fn is_interrupted(transcript: &Path) -> bool {
    let latest = RecentRecords::read(transcript);
    latest.records().find_map(|record| tells(&record)).unwrap_or(false)
}

/// True for a record that ends a turn early, false for another part of a conversation, none for any
/// other record.
fn tells(record: &Value) -> Option<bool> {
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
