//! A helper of the agent that only read files: its stop is let go, whatever state its parent's tree
//! is in.

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
const READING_TOOLS: [&str; 36] = [
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
const SHELL_TOOLS: [&str; 10] = [
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

/// The transcript of the helper that stops shows that it changed nothing: it called tools that only
/// read, and while its shell ran no file of the tree changed. Whatever cannot be read is no proof.
pub(super) fn has_only_read(payload: &Payload<'_>, turn: Option<&TurnContext>) -> bool {
    let Some(transcript) = payload.path("agent_transcript_path") else { return false };
    let Some(records) = read_records(&transcript) else { return false };
    let mut tools = Vec::new();
    records.iter().for_each(|record| add_called_tools(record, &mut tools));
    let is_one_of = |tool: &str, list: &[&str]| list.contains(&tool.to_lowercase().as_str());
    if !tools.iter().all(|tool| is_one_of(tool, &READING_TOOLS) || is_one_of(tool, &SHELL_TOOLS)) {
        return false;
    }
    if !tools.iter().any(|tool| is_one_of(tool, &SHELL_TOOLS)) {
        return true;
    }
    let first_timestamp = records.iter().find_map(|record| timestamp(record.get("timestamp")));
    let (Some(began_at), Some(turn)) = (first_timestamp.and_then(system_time), turn) else {
        return false;
    };
    // A commit moves changes out of the tree's sight without touching its files.
    turn.is_unchanged_since(began_at) && !ToolInputs::read(Some(&transcript)).can_move_head()
}

/// The records of a transcript; `None` if it is no such file, or is cut.
fn read_records(transcript: &Path) -> Option<Vec<Value>> {
    let length = fs::metadata(transcript).ok()?.len();
    let text = (length <= MAX_BYTES).then(|| fs::read_to_string(transcript).ok())??;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let records: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
    records.ok().filter(|records| !records.is_empty())
}

/// Adds the names of the tools that a record calls. Clients nest their calls in different ways, so
/// the whole record is searched.
fn add_called_tools(value: &Value, tools: &mut Vec<String>) {
    match value {
        Value::Array(elements) => {
            elements.iter().for_each(|element| add_called_tools(element, tools));
        }
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
            let is_call = kind.ends_with("tool_use") || kind.ends_with("_call");
            if is_call {
                let name = members.get("name").and_then(Value::as_str);
                tools.push(name.unwrap_or(kind.trim_end_matches("_call")).to_owned());
            }
            for (key, member) in members {
                let calls = member.as_array().map_or(std::slice::from_ref(member), Vec::as_slice);
                if matches!(
                    key.as_str(),
                    "functionCall" | "toolCalls" | "tool_calls" | "toolRequests"
                ) {
                    let name = |call: &Value| {
                        let function = call.get("function").unwrap_or(call);
                        Some(function.get("name")?.as_str()?.to_owned())
                    };
                    // A call without a name counts as one of an unknown tool, which may change files.
                    tools.extend(calls.iter().map(|call| name(call).unwrap_or_default()));
                // A tool's input and its output may quote calls that nobody made.
                } else if !matches!(key.as_str(), "input" | "arguments" | "args" | "toolUseResult")
                {
                    add_called_tools(member, tools);
                }
            }
        }
        _ => {}
    }
}

fn system_time(millis_since_1970: i64) -> Option<SystemTime> {
    let since_1970 = Duration::from_millis(u64::try_from(millis_since_1970).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since_1970)
}
