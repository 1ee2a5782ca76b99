//! Which files a session's transcript names in what it gave to tools.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

/// How much of a transcript's end is read, in bytes.
const END: u64 = 8 << 20;

/// Under these keys clients keep what an agent gives to a tool.
const INPUTS: [&str; 7] =
    ["input", "arguments", "args", "parameters", "rawInput", "tool_input", "command"];

/// Under these what tools answered. It may name any file.
const ANSWERS: [&str; 6] =
    ["output", "result", "tool_result", "toolUseResult", "functionResponse", "content"];

/// What the session gave to its tools, as far as the end of its transcript shows.
#[derive(Debug, Default)]
pub(super) struct ToolInputs(Vec<String>);

impl ToolInputs {
    /// Of a transcript with a JSON record a line; nothing of another file.
    pub(super) fn of(transcript: Option<&Path>) -> Self {
        let mut inputs = Vec::new();
        for line in transcript.and_then(end).unwrap_or_default().split(|byte| *byte == b'\n') {
            if let Ok(record) = serde_json::from_slice(line) {
                collect(&record, false, &mut inputs);
            }
        }
        Self(inputs)
    }

    /// Whether a tool was given the name of this file.
    pub(super) fn name(&self, file: &Path) -> bool {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| self.0.iter().any(|input| input.contains(&name)))
    }
}

fn end(file: &Path) -> Option<Vec<u8>> {
    let mut file = File::open(file).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END))).ok()?;
    let mut bytes = Vec::new();
    file.take(END).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Collects the texts that stand in what a tool was given.
fn collect(value: &Value, in_input: bool, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if in_input => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, in_input, texts)),
        Value::Object(map) => {
            let is_answer = ["tool_result", "function_call_output"]
                .iter()
                .any(|kind| map.get("type").is_some_and(|it| it == kind));
            for (key, item) in map {
                let is_input = INPUTS.contains(&key.as_str());
                // A message's content holds its tool calls; a tool's answer is one, too.
                let skipped = key != "content" && ANSWERS.contains(&key.as_str());
                if in_input || (!is_answer && !skipped) {
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

    fn of(records: &[Value]) -> ToolInputs {
        let mut texts = Vec::new();
        records.iter().for_each(|record| collect(record, false, &mut texts));
        ToolInputs(texts)
    }

    #[test]
    fn a_file_is_named_by_a_call_and_not_by_its_answer() {
        let call = |input: Value| {
            json!({ "type": "assistant", "message": { "content": [
                { "type": "tool_use", "name": "Bash", "input": input }] } })
        };
        let answer = json!({ "type": "user", "message": { "content": [
            { "type": "tool_result", "content": "create mode 100644 other.py" }] } });
        let inputs = of(&[call(json!({ "command": "sed -i s/a/b/ src/mine.py" })), answer]);
        assert!(inputs.name(Path::new("src/mine.py")));
        assert!(!inputs.name(Path::new("other.py")));
        let edit = of(&[call(json!({ "file_path": "/w/calc.py", "content": "x" }))]);
        assert!(edit.name(Path::new("calc.py")));
    }

    #[test]
    fn calls_of_other_clients_are_read_too() {
        let codex = json!({ "type": "response_item", "payload": { "type": "function_call",
            "name": "shell", "arguments": "{\"command\":\"touch a.rs\"}" } });
        let gemini = json!({ "type": "gemini", "toolCalls": [{ "name": "write_file",
            "args": { "file_path": "b.rs" }, "result": [{ "output": "c.rs" }] }] });
        let copilot = json!({ "type": "tool.execution_start",
            "data": { "toolName": "bash", "arguments": { "command": "touch d.rs" } } });
        let inputs = of(&[codex, gemini, copilot]);
        for named in ["a.rs", "b.rs", "d.rs"] {
            assert!(inputs.name(Path::new(named)), "{named}");
        }
        assert!(!inputs.name(Path::new("c.rs")));
    }
}
