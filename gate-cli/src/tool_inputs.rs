//! Finds the files that a session named in its tool calls, from its transcript.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Bytes at a transcript's end that are searched.
const TAIL_BYTES: u64 = 8 << 20;

/// Keys under which clients keep a tool's input.
const INPUT_KEYS: [&str; 7] =
    ["input", "arguments", "args", "parameters", "rawInput", "tool_input", "command"];

/// Keys under which clients keep a tool's output, which may name any file.
const OUTPUT_KEYS: [&str; 6] =
    ["output", "result", "tool_result", "toolUseResult", "functionResponse", "content"];

/// Parts of the names of tools that schedule or send a prompt, in lower case.
const SENDERS: [&str; 7] =
    ["cron", "schedul", "wakeup", "wake_up", "sendmessage", "send_message", "remote"];

/// Parts of commands that type a text into a terminal, schedule it, or hand it to gate's hook.
const SENDS: [&str; 9] = [
    "send-keys",
    "xdotool",
    "ydotool",
    "wtype",
    "screen -",
    "gate hook",
    "/dev/pts",
    "/dev/tty",
    "crontab",
];

/// Commands of git after which another commit may be checked out.
const HEAD_COMMANDS: [&str; 12] = [
    "commit",
    "merge",
    "pull",
    "rebase",
    "cherry-pick",
    "am",
    "revert",
    "reset",
    "checkout",
    "switch",
    "update-ref",
    "bisect",
];

/// Words of a call of git, with options before its command.
const MAX_GIT_WORDS: usize = 6;

/// Every text in the inputs of a session's tool calls, from the end of its transcript.
#[derive(Debug, Default)]
pub(crate) struct ToolInputs {
    texts: Vec<String>,
    calls: Vec<Call>,
}

/// A call of a tool, with all texts of its input.
#[derive(Debug)]
struct Call {
    tool: String,
    input: String,
}

impl ToolInputs {
    /// Reads JSON lines; empty for a file of another kind.
    pub(crate) fn read(transcript: Option<&Path>) -> Self {
        let mut inputs = Self::default();
        let tail = transcript.and_then(|file| tail(file, TAIL_BYTES)).unwrap_or_default();
        for line in tail.lines() {
            if let Ok(record) = serde_json::from_str(line) {
                collect(&record, false, &mut inputs.texts);
                collect_calls(&record, &mut inputs.calls);
            }
        }
        inputs
    }

    /// True if no call is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// True if a call may have made git check out another commit.
    pub(crate) fn move_head(&self) -> bool {
        self.texts.iter().any(|input| {
            let words: Vec<_> =
                input.split(|c: char| c.is_whitespace() || "\"';&|()".contains(c)).collect();
            let mut calls = words.iter().enumerate();
            calls.any(|(at, word)| {
                let is_git = *word == "git" || word.ends_with("/git");
                is_git
                    && words[at..]
                        .iter()
                        .take(MAX_GIT_WORDS)
                        .any(|word| HEAD_COMMANDS.contains(word))
            })
        })
    }

    /// True if a call sends this text somewhere else, and does not only hold it: a tool that
    /// schedules or sends prompts, or a command that types, schedules or hands on.
    pub(crate) fn send(&self, text: &str) -> bool {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = words(text);
        let holds = |input: &str| !wanted.is_empty() && words(input).contains(&wanted);
        let is_sender = |tool: &str| SENDERS.iter().any(|part| tool.contains(part));
        self.calls.iter().any(|call| is_sender(&call.tool.to_lowercase()) && holds(&call.input))
            || self
                .texts
                .iter()
                .any(|input| holds(input) && SENDS.iter().any(|part| input.contains(part)))
    }

    /// True if a call names a file or folder by its whole path.
    pub(crate) fn name_path(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.texts.iter().any(|input| has_path(input, path)))
    }

    /// True if a call of git names this branch.
    pub(crate) fn name_branch(&self, branch: &str) -> bool {
        self.texts.iter().any(|input| {
            let mut words = words_of(input);
            input.contains("git") && words.any(|word| word == branch)
        })
    }

    /// The paths in the calls, absolute or from a folder above this one.
    pub(crate) fn paths(&self, folder: &Path) -> BTreeSet<PathBuf> {
        let words = self.texts.iter().flat_map(|input| words_of(input));
        let paths = words.filter(|word| word.starts_with('/') || word.starts_with("../"));
        paths.map(|path| folder.join(path)).collect()
    }

    /// Looks for the file's name without its folder.
    pub(crate) fn mention(&self, file: &Path) -> bool {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| self.texts.iter().any(|input| input.contains(&name)))
    }
}

/// The words of a command, or of a path with blanks as a whole.
fn words_of(input: &str) -> impl Iterator<Item = &str> {
    let is_end = |letter: char| letter.is_whitespace() || "\"';&|()=<>".contains(letter);
    let whole = input.starts_with('/').then_some(input);
    whole.into_iter().chain(input.split(is_end)).filter(|word| !word.is_empty())
}

/// True if a text has this path, and not only one that begins so.
fn has_path(text: &str, path: &str) -> bool {
    text.match_indices(path).any(|(at, _)| {
        let rest = &text[at + path.len()..];
        !rest.starts_with(|letter: char| letter.is_alphanumeric() || "-_.".contains(letter))
    })
}

/// The text at a file's end, of at most so many bytes.
pub(crate) fn tail(file: &Path, most: u64) -> Option<String> {
    let mut file = File::open(file).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most))).ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The calls of a record, each by the tool's name with its whole input.
fn collect_calls(value: &Value, calls: &mut Vec<Call>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_calls(item, calls)),
        Value::Object(map) => {
            let name =
                ["name", "toolName", "tool"].into_iter().find_map(|key| map.get(key)?.as_str());
            let input = INPUT_KEYS.into_iter().find_map(|key| map.get(key));
            if let (Some(name), Some(input)) = (name, input) {
                let mut texts = Vec::new();
                collect(input, true, &mut texts);
                calls.push(Call { tool: name.to_owned(), input: texts.join("\n") });
            }
            map.values().for_each(|item| collect_calls(item, calls));
        }
        _ => {}
    }
}

fn collect(value: &Value, in_input: bool, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if in_input => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, in_input, texts)),
        Value::Object(map) => {
            let kind = map.get("type").and_then(Value::as_str);
            let is_output = matches!(kind, Some("tool_result" | "function_call_output"));
            for (key, item) in map {
                let is_input = INPUT_KEYS.contains(&key.as_str());
                // A message has its tool calls under `content`, so that key is searched
                // unless the record as a whole is a tool's output.
                let skipped = key != "content" && OUTPUT_KEYS.contains(&key.as_str());
                if in_input || (!is_output && !skipped) {
                    collect(item, in_input || is_input, texts);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(records: &[Value]) -> ToolInputs {
        let mut texts = Vec::new();
        records.iter().for_each(|record| collect(record, false, &mut texts));
        ToolInputs { texts, calls: Vec::new() }
    }

    #[test]
    fn a_file_is_named_by_a_call_and_not_by_its_answer() {
        let call = |input: Value| {
            json!({ "type": "assistant", "message": { "content": [
                { "type": "tool_use", "name": "Bash", "input": input }] } })
        };
        let answer = json!({ "type": "user", "message": { "content": [
            { "type": "tool_result", "content": "create mode 100644 other.py" }] } });
        let inputs = parse(&[call(json!({ "command": "sed -i s/a/b/ src/mine.py" })), answer]);
        assert!(inputs.mention(Path::new("src/mine.py")));
        assert!(!inputs.mention(Path::new("other.py")));
        let edit = parse(&[call(json!({ "file_path": "/w/calc.py", "content": "x" }))]);
        assert!(edit.mention(Path::new("calc.py")));
    }

    #[test]
    fn calls_of_other_clients_are_read_too() {
        let codex = json!({ "type": "response_item", "payload": { "type": "function_call",
            "name": "shell", "arguments": "{\"command\":\"touch a.rs\"}" } });
        let gemini = json!({ "type": "gemini", "toolCalls": [{ "name": "write_file",
            "args": { "file_path": "b.rs" }, "result": [{ "output": "c.rs" }] }] });
        let copilot = json!({ "type": "tool.execution_start",
            "data": { "toolName": "bash", "arguments": { "command": "touch d.rs" } } });
        let inputs = parse(&[codex, gemini, copilot]);
        for named in ["a.rs", "b.rs", "d.rs"] {
            assert!(inputs.mention(Path::new(named)), "{named}");
        }
        assert!(!inputs.mention(Path::new("c.rs")));
    }
}
