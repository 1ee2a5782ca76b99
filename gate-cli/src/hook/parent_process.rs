//! The command line of the client that started this hook, read from its parent
//! processes.

use std::path::Path;

use gate_checks::process::{ancestors, command_line};

/// A shell or two and an interpreter are between a client and its hook.
const MAX_DEPTH: usize = 12;

/// The arguments of the nearest parent that runs this program.
pub(super) fn arguments(program: &str) -> Option<Vec<String>> {
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
    let in_package = path.components().any(|part| part.as_os_str() == "node_modules");
    path.file_stem().is_some_and(|stem| stem == program) || (in_package && word.contains(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_behind_its_interpreter() {
        let at = |line: &str| {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            program_index("codex", &words)
        };
        assert_eq!(at("codex exec go"), Some(0));
        assert_eq!(at("node /x/node_modules/@openai/codex/bin/codex.js exec"), Some(1));
        assert_eq!(at("sh -c gate"), None);
        assert_eq!(at("vim a b codex"), None);
    }
}
