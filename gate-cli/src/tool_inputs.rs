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
const SENDING_TOOLS: [&str; 7] =
    ["cron", "schedul", "wakeup", "wake_up", "sendmessage", "send_message", "remote"];

/// Parts of commands that type a text into a terminal, schedule it, or hand it to gate's hook.
const SENDING_COMMANDS: [&str; 9] = [
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
                collect_texts(&record, false, &mut inputs.texts);
                collect_calls(&record, &mut inputs.calls);
            }
        }
        inputs
    }

    /// No call is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// A call may have made git check out another commit.
    pub(crate) fn can_move_head(&self) -> bool {
        self.texts.iter().any(|input| {
            let words: Vec<_> =
                input.split(|c: char| c.is_whitespace() || "\"';&|()".contains(c)).collect();
            words.iter().enumerate().any(|(index, word)| {
                let is_git = *word == "git" || word.ends_with("/git");
                let mut git_words = words[index..].iter().take(MAX_GIT_WORDS);
                is_git && git_words.any(|word| HEAD_COMMANDS.contains(word))
            })
        })
    }

    /// A call may have sent this text somewhere else, and does not only hold it: a tool that
    /// schedules or sends prompts, or a command that types, schedules or hands on.
    pub(crate) fn can_send(&self, text: &str) -> bool {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let sent_text = one_line(text);
        // Every input would hold an empty text.
        if sent_text.is_empty() {
            return false;
        }
        let has_text = |input: &str| one_line(input).contains(&sent_text);
        let is_sending_tool =
            |tool: &str| SENDING_TOOLS.iter().any(|part| tool.to_lowercase().contains(part));
        let is_sending_command =
            |input: &str| SENDING_COMMANDS.iter().any(|part| input.contains(part));
        self.calls.iter().any(|call| is_sending_tool(&call.tool) && has_text(&call.input))
            || self.texts.iter().any(|input| has_text(input) && is_sending_command(input))
    }

    /// A call names a file or folder by its whole path.
    pub(crate) fn has_path(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.texts.iter().any(|input| contains_path(input, path)))
    }

    /// A call of git names this branch.
    pub(crate) fn has_branch(&self, branch: &str) -> bool {
        self.texts.iter().any(|input| {
            let mut words = words_in(input);
            input.contains("git") && words.any(|word| word == branch)
        })
    }

    /// The paths in the calls, absolute or from a folder above this one.
    pub(crate) fn paths(&self, folder: &Path) -> BTreeSet<PathBuf> {
        let words = self.texts.iter().flat_map(|input| words_in(input));
        let paths = words.filter(|word| word.starts_with('/') || word.starts_with("../"));
        paths.map(|path| folder.join(path)).collect()
    }

    /// A call names the file. Its name is looked for without its folder: calls may name it from any
    /// folder.
    pub(crate) fn has_file(&self, file: &Path) -> bool {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| self.texts.iter().any(|input| input.contains(&name)))
    }
}

/// The words of a command, or of a path with blanks as a whole.
fn words_in(input: &str) -> impl Iterator<Item = &str> {
    let is_end = |letter: char| letter.is_whitespace() || "\"';&|()=<>".contains(letter);
    let whole_path = input.starts_with('/').then_some(input);
    whole_path.into_iter().chain(input.split(is_end)).filter(|word| !word.is_empty())
}

/// A text has this path, and not only a longer one that begins with it.
fn contains_path(text: &str, path: &str) -> bool {
    text.match_indices(path).any(|(start, _)| {
        let text_after = &text[start + path.len()..];
        !text_after.starts_with(|letter: char| letter.is_alphanumeric() || "-_.".contains(letter))
    })
}

/// The text at a file's end, of at most so many bytes.
pub(crate) fn tail(file: &Path, max_bytes: u64) -> Option<String> {
    let mut file = File::open(file).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(max_bytes))).ok()?;
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The calls of a record, each by the tool's name with its whole input.
fn collect_calls(value: &Value, calls: &mut Vec<Call>) {
    match value {
        Value::Array(elements) => {
            elements.iter().for_each(|element| collect_calls(element, calls));
        }
        Value::Object(members) => {
            let name_keys = ["name", "toolName", "tool"];
            let name = name_keys.into_iter().find_map(|key| members.get(key)?.as_str());
            let input = INPUT_KEYS.into_iter().find_map(|key| members.get(key));
            if let (Some(name), Some(input)) = (name, input) {
                let mut texts = Vec::new();
                collect_texts(input, true, &mut texts);
                calls.push(Call { tool: name.to_owned(), input: texts.join("\n") });
            }
            members.values().for_each(|member| collect_calls(member, calls));
        }
        _ => {}
    }
}

/// The texts within the inputs of tool calls. `is_in_input` says that the value is part of one.
fn collect_texts(value: &Value, is_in_input: bool, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if is_in_input => texts.push(text.clone()),
        Value::Array(elements) => {
            elements.iter().for_each(|element| collect_texts(element, is_in_input, texts));
        }
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str);
            let is_output = matches!(kind, Some("tool_result" | "function_call_output"));
            for (key, member) in members {
                let is_input = INPUT_KEYS.contains(&key.as_str());
                // A message has its tool calls under `content`, so that key is searched
                // unless the record as a whole is a tool's output.
                let is_output_key = key != "content" && OUTPUT_KEYS.contains(&key.as_str());
                if is_in_input || (!is_output && !is_output_key) {
                    collect_texts(member, is_in_input || is_input, texts);
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
        records.iter().for_each(|record| collect_texts(record, false, &mut texts));
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
        assert!(inputs.has_file(Path::new("src/mine.py")));
        assert!(!inputs.has_file(Path::new("other.py")));
        let edit = parse(&[call(json!({ "file_path": "/w/calc.py", "content": "x" }))]);
        assert!(edit.has_file(Path::new("calc.py")));
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
        for file in ["a.rs", "b.rs", "d.rs"] {
            assert!(inputs.has_file(Path::new(file)), "{file}");
        }
        assert!(!inputs.has_file(Path::new("c.rs")));
    }
}
