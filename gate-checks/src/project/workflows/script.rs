//! Commands of a shell script, by its words alone.

/// A command and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShellCommand {
    pub(super) words: Vec<String>,
    /// The folder that it runs in; none is the project's own.
    pub(super) cwd: Option<String>,
    /// Something that only a shell, or the CI service, makes words of was left out.
    pub(super) is_vague: bool,
}

/// The commands of a script that begins in this folder. One whose failure is ignored, and one in a
/// folder that only a shell knows, is none.
pub(super) fn commands(script: &str, cwd: Option<&str>) -> Vec<ShellCommand> {
    let mut commands = Vec::new();
    let Some(mut folder) = inside(None, cwd.unwrap_or(".")) else { return commands };
    for line in script.replace("\\\n", " ").lines() {
        if line.contains("||") {
            continue;
        }
        for part in line.split("&&").flat_map(|part| part.split(';')) {
            let (words, is_vague) = words(part);
            match words.as_slice() {
                [cd, to] if cd == "cd" => match inside(folder.as_deref(), to) {
                    Some(below) if !is_vague => folder = below,
                    _ => return commands,
                },
                [] => {}
                _ => commands.push(ShellCommand { words, cwd: folder.clone(), is_vague }),
            }
        }
    }
    commands
}

/// A folder from another one, below the project; none if it leads out of the project.
fn inside(from: Option<&str>, to: &str) -> Option<Option<String>> {
    if to.starts_with(['/', '~', '$']) || to.contains("${{") {
        return None;
    }
    let mut parts: Vec<&str> = from.into_iter().flat_map(|from| from.split('/')).collect();
    for part in to.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some((!parts.is_empty()).then(|| parts.join("/")))
}

/// The words of a simple command, and whether some of it was left out.
fn words(text: &str) -> (Vec<String>, bool) {
    let (mut words, mut word, mut quote, mut is_vague) = (Vec::new(), None, None, false);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '$' | '`') => is_vague = true,
            (Some(_), c) => word.get_or_insert_with(String::new).push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_with(String::new);
            }
            (None, '#') if word.is_none() => break,
            (None, '|' | '>' | '<' | '&' | '(' | ')' | '*' | '?' | '{' | '}' | '\\') => {
                is_vague = true;
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_with(String::new).push(c),
        }
    }
    words.extend(word);
    // A variable for this command alone.
    let set = words.iter().take_while(|word| is_assignment(word)).count();
    words.drain(..set);
    (words, is_vague || set > 0 || quote.is_some())
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[track_caller]
    fn check(script: &str, expected: &[&str]) {
        let found: Vec<_> = commands(script, None)
            .into_iter()
            .map(|command| {
                let cwd = command.cwd.map(|cwd| format!("{cwd}: ")).unwrap_or_default();
                let mark = if command.is_vague { "~" } else { "" };
                format!("{mark}{cwd}{}", command.words.join("|"))
            })
            .collect();
        assert_eq!(found, expected, "{script}");
    }

    #[test]
    fn commands_stand_in_lines_and_behind_each_other() {
        check("cargo build\ncargo test --all  # all\n", &["cargo|build", "cargo|test|--all"]);
        check("npm ci && npm test; echo \"a b\"", &["npm|ci", "npm|test", "echo|a b"]);
        check("go test \\\n  -race ./...", &["go|test|-race|./..."]);
    }

    #[test]
    fn a_folder_holds_for_what_follows() {
        check("cd web && npm test\ncd ../api\ngo test", &["web: npm|test", "api: go|test"]);
        check("make a\ncd $HOME\nmake b", &["make|a"]);
        check("cd ../other && make", &[]);
    }

    #[test]
    fn what_only_a_shell_reads_makes_a_command_vague() {
        check("pytest ${{ matrix.args }}", &["~pytest|matrix.args"]);
        check("go test ./... | tee log", &["~go|test|./...|tee|log"]);
        check("CI=1 npm test", &["~npm|test"]);
        check("pytest -k 'not slow'", &["pytest|-k|not slow"]);
    }

    #[test]
    fn a_command_that_may_fail_checks_nothing() {
        check("npm run lint || true\nnpm test", &["npm|test"]);
    }
}
