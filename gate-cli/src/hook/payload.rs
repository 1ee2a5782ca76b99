//! The input of a hook: the client's JSON on stdin, its environment, and its command line.

use std::path::{Path, PathBuf};

use gate_checks::process::{ancestors, command_line};
use serde_json::Value;

use super::transcript_lag;

/// A key with a value of another type than expected counts as missing.
pub(crate) struct Payload<'a> {
    value: &'a Value,
    environment: &'a [(String, String)],
}

impl<'a> Payload<'a> {
    pub(crate) fn new(value: &'a Value, environment: &'a [(String, String)]) -> Self {
        Self { value, environment }
    }

    /// The whole event.
    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// The text under a key; `None` if it is blank.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key)?.as_str().filter(|text| !text.trim().is_empty())
    }

    /// As [`Payload::text`], for a caller that keeps it.
    pub(super) fn owned(&self, key: &str) -> Option<String> {
        self.text(key).map(str::to_owned)
    }

    /// A text, also a blank one; null counts as blank.
    pub(super) fn possibly_blank(&self, key: &str) -> Option<String> {
        match self.value.get(key)? {
            Value::Null => Some(String::new()),
            value => value.as_str().map(str::to_owned),
        }
    }

    pub(super) fn path(&self, key: &str) -> Option<PathBuf> {
        self.text(key).map(PathBuf::from)
    }

    /// The event's time, in milliseconds since 1970.
    pub(super) fn timestamp(&self) -> Option<i64> {
        transcript_lag::timestamp(self.value.get("timestamp"))
    }

    pub(super) fn list(&self, key: &str) -> &'a [Value] {
        self.value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// A variable of the client's environment; `None` if it is empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&'a str> {
        let mut set_variables = self.environment.iter().filter(|(_, value)| !value.is_empty());
        set_variables.find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The client's command line has one of these words. `None` if no parent process runs the
    /// client.
    pub(super) fn started_with(&self, program: &str, words: &[String]) -> Option<bool> {
        let arguments = client_arguments(program)?;
        Some(arguments.iter().any(|argument| words.contains(argument)))
    }
}

/// A shell or two and an interpreter are between a client and its hook.
const MAX_DEPTH: usize = 12;

/// The arguments of the nearest parent that runs this program.
fn client_arguments(program: &str) -> Option<Vec<String>> {
    ancestors().take(MAX_DEPTH).find_map(|parent| {
        let words = command_line(parent.pid);
        let index = program_index(program, &words)?;
        Some(words[index + 1..].to_vec())
    })
}

/// The program is the first word, or follows its interpreter. A shell's script is one
/// word, so no word inside it counts.
fn program_index(program: &str, words: &[String]) -> Option<usize> {
    words.iter().take(3).position(|word| is_program(program, word))
}

fn is_program(program: &str, word: &str) -> bool {
    let path = Path::new(word);
    // The script of a package may have another name, as in `@qwen-code/qwen-code/cli.js`.
    let is_in_package = path.components().any(|part| part.as_os_str() == "node_modules");
    path.file_stem().is_some_and(|stem| stem == program)
        || (is_in_package && word.contains(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_behind_its_interpreter() {
        let index_in = |line: &str| {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            program_index("codex", &words)
        };
        assert_eq!(index_in("codex exec go"), Some(0));
        assert_eq!(index_in("node /x/node_modules/@openai/codex/bin/codex.js exec"), Some(1));
        assert_eq!(index_in("sh -c gate"), None);
        assert_eq!(index_in("vim a b codex"), None);
    }
}
