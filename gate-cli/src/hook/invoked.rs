//! How a client was started, as the system tells of the processes above this
//! one.

use std::path::Path;

use gate_checks::process::{ancestors, command_line};

/// How many processes up a client is looked for: a shell or two and an
/// interpreter stand between it and its hook.
const DEEPEST: usize = 12;

/// The words after the program's name with which it was started; none where no
/// such program is above this process.
pub(super) fn words_of(program: &str) -> Option<Vec<String>> {
    ancestors().take(DEEPEST).find_map(|process| {
        let words = command_line(process.pid);
        let at = place_of(program, &words)?;
        Some(words[at + 1..].to_vec())
    })
}

/// Where the program stands: first, or after the interpreter that runs it. A
/// shell's script is one word, and none of its words is a program's.
fn place_of(program: &str, words: &[String]) -> Option<usize> {
    let named = |word: &String| {
        let path = Path::new(word);
        let package = path.components().any(|part| part.as_os_str() == "node_modules");
        let is_named = path.file_stem().is_some_and(|stem| stem == program);
        is_named || (package && word.contains(program))
    };
    words.iter().take(3).position(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_behind_its_interpreter() {
        let at = |line: &str| {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            place_of("codex", &words)
        };
        assert_eq!(at("codex exec go"), Some(0));
        assert_eq!(at("node /x/node_modules/@openai/codex/bin/codex.js exec"), Some(1));
        assert_eq!(at("sh -c gate"), None);
        assert_eq!(at("vim a b codex"), None);
    }
}
