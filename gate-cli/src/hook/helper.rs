//! A helper of the agent that only looked: its stop is let go, whatever the tree of its parent is.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::payload::Payload;
use super::transcript_lag::timestamp;
use super::turn_context::TurnContext;
use crate::tool_inputs::ToolInputs;

/// The largest transcript that is read, in bytes.
const MAX_BYTES: u64 = 8 << 20;

/// Tools of clients that change nothing, in lower case. Any other tool may.
const READERS: [&str; 36] = [
    "bashoutput",
    "codebase_search",
    "file_search",
    "glob",
    "google_web_search",
    "grep",
    "grep_search",
    "list",
    "list_dir",
    "list_directory",
    "list_files",
    "listmcpresourcestool",
    "ls",
    "lsp",
    "notebookread",
    "read",
    "read_file",
    "read_files",
    "read_many_files",
    "readmcpresourcetool",
    "search",
    "search_file_content",
    "search_files",
    "structuredoutput",
    "taskget",
    "tasklist",
    "taskoutput",
    "think",
    "todoread",
    "toolsearch",
    "view",
    "view_image",
    "web_fetch",
    "web_search",
    "webfetch",
    "websearch",
];

/// Tools that run commands of any kind, in lower case.
const SHELLS: [&str; 10] = [
    "bash",
    "exec",
    "exec_command",
    "execute",
    "local_shell",
    "powershell",
    "run_command",
    "run_shell_command",
    "run_terminal_cmd",
    "shell",
];

/// True if the transcript of the helper that stops shows that it changed nothing: it called tools
/// that only read, and while its shell ran no file of the tree changed.
pub(super) fn only_looked(payload: &Payload<'_>, turn: Option<&TurnContext>) -> bool {
    let Some(transcript) = payload.path("agent_transcript_path") else { return false };
    let Some(records) = records(&transcript) else { return false };
    let mut names = Vec::new();
    records.iter().for_each(|record| calls(record, &mut names));
    let is_of = |name: &str, tools: &[&str]| tools.contains(&name.to_lowercase().as_str());
    if !names.iter().all(|name| is_of(name, &READERS) || is_of(name, &SHELLS)) {
        return false;
    }
    if !names.iter().any(|name| is_of(name, &SHELLS)) {
        return true;
    }
    let began = records.iter().find_map(|record| timestamp(record.get("timestamp")));
    let (Some(began), Some(turn)) = (began.and_then(time), turn) else { return false };
    turn.is_unchanged_since(began) && !ToolInputs::read(Some(&transcript)).move_head()
}

/// The records of a transcript; none if it is no such file, or is cut.
fn records(transcript: &Path) -> Option<Vec<Value>> {
    let length = fs::metadata(transcript).ok()?.len();
    let text = (length <= MAX_BYTES).then(|| fs::read_to_string(transcript).ok())??;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let records: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
    records.ok().filter(|records| !records.is_empty())
}

/// The tools that a record calls, by their names.
fn calls(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| calls(item, names)),
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
            let is_call = kind.ends_with("tool_use") || kind.ends_with("_call");
            if is_call {
                let name = members.get("name").and_then(Value::as_str);
                names.push(name.unwrap_or(kind.trim_end_matches("_call")).to_owned());
            }
            for (key, item) in members {
                let list = item.as_array().map_or(std::slice::from_ref(item), Vec::as_slice);
                if matches!(
                    key.as_str(),
                    "functionCall" | "toolCalls" | "tool_calls" | "toolRequests"
                ) {
                    let name = |call: &Value| {
                        let call = call.get("function").unwrap_or(call);
                        Some(call.get("name")?.as_str()?.to_owned())
                    };
                    names.extend(list.iter().map(|call| name(call).unwrap_or_default()));
                } else if !matches!(key.as_str(), "input" | "arguments" | "args" | "toolUseResult")
                {
                    calls(item, names);
                }
            }
        }
        _ => {}
    }
}

fn time(milliseconds: i64) -> Option<SystemTime> {
    let since = Duration::from_millis(u64::try_from(milliseconds).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}
