//! The plain commands of a step's script: those that a shell runs one after the other, whatever
//! happened before.

/// Words that begin a block, and those that end one.
const BLOCK_BEGINS: [&str; 6] = ["if", "for", "while", "until", "case", "select"];
const BLOCK_ENDS: [&str; 3] = ["fi", "done", "esac"];

/// Commands behind which the folder, or if anything runs at all, is not known.
const ENDS: [&str; 7] = ["cd", "pushd", "popd", "exit", "return", "exec", "trap"];

/// The commands, each in one line. A line that goes on in the next one is a single command; the text of a
/// quotation or of a here-document is none.
pub(super) fn plain_commands(script: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut depth = 0_usize;
    let mut lines = script.lines();
    while let Some(line) = lines.next() {
        let mut command = line.trim().to_owned();
        while let Some(continued) = continued(&command) {
            command = match lines.next() {
                Some(next) => format!("{continued} {}", next.trim()),
                None => continued,
            };
        }
        while has_open_quote(&command) {
            let Some(next) = lines.next() else { return commands };
            command.push('\n');
            command.push_str(next);
        }
        if let Some(delimiter) = here_document(&command) {
            lines.by_ref().find(|line| line.trim() == delimiter);
            continue;
        }
        let words: Vec<_> =
            command.split([' ', '\t', ';']).filter(|word| !word.is_empty()).collect();
        let Some(first) = words.first().filter(|word| !word.starts_with('#')) else { continue };
        let (begins, ends) = (begins_block(&words), ends_block(&words));
        if depth == 0 && ENDS.contains(first) {
            break;
        }
        if depth == 0 && begins == 0 && ends == 0 {
            commands.push(command);
        }
        depth = (depth + begins).saturating_sub(ends);
    }
    commands
}

/// The line without the backslash at its end.
fn continued(line: &str) -> Option<String> {
    let backslashes = line.len() - line.trim_end_matches('\\').len();
    (backslashes % 2 == 1).then(|| line[..line.len() - 1].trim_end().to_owned())
}

fn has_open_quote(command: &str) -> bool {
    let mut open = None;
    let mut letters = command.chars();
    let mut previous = ' ';
    while let Some(letter) = letters.next() {
        match (open, letter) {
            (None | Some('"'), '\\') => drop(letters.next()),
            (None, '\'' | '"') => open = Some(letter),
            (Some(quote), letter) if quote == letter => open = None,
            // A comment: what it quotes is prose.
            (None, '#') if previous.is_whitespace() => return false,
            _ => {}
        }
        previous = letter;
    }
    open.is_some()
}

/// The line that ends a here-document; `None` if the command has none.
fn here_document(command: &str) -> Option<&str> {
    let (_, text) = command.split_once("<<")?;
    if text.starts_with('<') {
        return None;
    }
    let word = text.trim_start_matches('-').split_whitespace().next()?;
    Some(word.trim_matches(['\'', '"']))
}

fn begins_block(words: &[&str]) -> usize {
    let keywords = words.iter().filter(|word| BLOCK_BEGINS.contains(word)).count();
    let opens = words.first().is_some_and(|word| word.starts_with(['(', '{']))
        || words.last().is_some_and(|word| word.ends_with(['(', '{']));
    match words {
        // As an argument, such a word begins nothing.
        [first, ..] if BLOCK_BEGINS.contains(first) => keywords,
        _ => usize::from(opens),
    }
}

fn ends_block(words: &[&str]) -> usize {
    let is_end = |word: &&&str| BLOCK_ENDS.contains(word);
    let closes = words.first().is_some_and(|word| matches!(*word, "}" | ")"))
        || words.first().is_some_and(|word| word.starts_with(['(', '{']))
            && words.last().is_some_and(|word| word.ends_with([')', '}']));
    match words {
        [first, ..] if BLOCK_BEGINS.contains(first) || is_end(&first) => {
            words.iter().filter(is_end).count()
        }
        _ => usize::from(closes),
    }
}

#[cfg(test)]
mod tests {
    use super::plain_commands;

    #[track_caller]
    fn check(script: &str, expected: &[&str]) {
        assert_eq!(plain_commands(script), expected, "{script}");
    }

    #[test]
    fn a_command_over_several_lines_is_one() {
        check(
            "pip install \\\n  numpy \\\n  pytest\npytest -q\n",
            &["pip install numpy pytest", "pytest -q"],
        );
        check("docker run image \\\n  pytest -q\n", &["docker run image pytest -q"]);
        check("a \\\\\nb\n", &["a \\\\", "b"]);
        check("a \\", &["a"]);
    }

    #[test]
    fn text_that_a_command_reads_is_no_command() {
        check(
            "sed -i 's/a/b/\npytest -x\n' tox.ini\npytest\n",
            &["sed -i 's/a/b/\npytest -x\n' tox.ini", "pytest"],
        );
        check("cat >run.sh <<'EOF'\npytest -k nothing\nEOF\npytest\n", &["pytest"]);
        check("python - <<-END\n  pytest\n  END\nb\n", &["b"]);
        check("grep x <<<\"a\"\nb\n", &["grep x <<<\"a\"", "b"]);
        check("# it's only a comment\npytest # isn't it\nb\n", &["pytest # isn't it", "b"]);
        check("echo \"never closed\n pytest 'a'\n", &["echo \"never closed\n pytest 'a'\n"][..0]);
    }

    #[test]
    fn what_runs_only_sometimes_is_left_out() {
        check("if [ -n x ]; then\n  pytest -k a\nelse\n  pytest -k b\nfi\npytest\n", &["pytest"]);
        check("for f in *; do pytest $f; done\npytest\n", &["pytest"]);
        check("run() {\n  pytest -k a\n}\npytest\n", &["pytest"]);
        check("(\n  cd deep\n  pytest\n)\n(cd a && pytest)\npytest -q\n", &["pytest -q"]);
        check("make if\npytest\n", &["make if", "pytest"]);
        check("pytest\nexit 0\npytest -x\n", &["pytest"]);
        check("cd deep\npytest\n", &[]);
    }
}
