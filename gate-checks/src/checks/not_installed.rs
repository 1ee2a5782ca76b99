//! Programs that a command needs and that are not installed, by what shells and package managers
//! print about them.
//!
//! A program under test can print the same words, and such a failure is inconclusive. So they count
//! only where the output ends with them: nothing but the runner's own lines may follow.

/// Texts around the name of a missing program. An empty end is that of the line.
const MESSAGES: [(&str, &str); 9] = [
    // uv
    ("error: Failed to spawn: ", ""),
    // Poetry
    ("Command not found: ", ""),
    // zsh
    ("command not found: ", ""),
    // pnpm exec, yarn
    ("Command \"", "\" not found"),
    // bunx
    ("Could not find an existing '", "' binary to run"),
    // npx
    ("npx canceled due to missing packages and no YES option: [\"", "\"]"),
    // cargo
    ("error: no such command: `", "`"),
    // make
    ("make: ", ": No such file or directory"),
    // Python, asked for a module
    (": No module named ", ""),
];

/// Ends of a shell's message about a program, whose name is the word before.
const SHELLS: [&str; 2] = [": command not found", ": not found"];

/// The beginnings of what package managers and make print behind the message.
const WRAPPERS: [&str; 15] = [
    "npm",
    "pnpm",
    "yarn",
    "make",
    "error",
    "ERROR",
    "ERR_PNPM",
    "ELIFECYCLE",
    "WARN",
    "info",
    "hint:",
    "help:",
    "cause:",
    "Caused by:",
    "Stopping",
];

/// The longest name, in characters.
const MAX_NAME: usize = 60;

/// The program or module for want of which a command ended, by the end of its output.
pub(super) fn not_installed(output: &str) -> Option<String> {
    let last = output.lines().rev().map(str::trim_end).filter(|line| !line.is_empty());
    let mut found = None;
    for line in last {
        let missing = by_message(line).or_else(|| by_shell(line));
        if missing.is_none() && !is_wrapper(line) {
            break;
        }
        found = missing.or(found);
    }
    let found = found?;
    let name = found.trim_matches(['`', '\'', '"', '.']);
    let name = name.rsplit_once('@').map_or(name, |(name, _)| name);
    let is_name =
        !name.is_empty() && name.chars().count() <= MAX_NAME && !name.contains(char::is_whitespace);
    is_name.then(|| name.to_owned())
}

fn is_wrapper(line: &str) -> bool {
    let text = line.trim_start();
    let has_place = text.starts_with("error[") || text.starts_with("error TS");
    !has_place && WRAPPERS.iter().any(|begin| text.starts_with(begin))
}

fn by_message(line: &str) -> Option<&str> {
    MESSAGES.iter().find_map(|(before, after)| {
        let (start, rest) = line.split_once(before)?;
        // A module that the project's own code imports is another thing.
        let is_module = *before == ": No module named ";
        if is_module && !start.rsplit('/').next().is_some_and(|name| name.starts_with("python")) {
            return None;
        }
        if after.is_empty() {
            Some(rest.trim())
        } else {
            rest.split_once(after).map(|(name, _)| name)
        }
    })
}

/// `sh: 1: vitest: not found`
fn by_shell(line: &str) -> Option<&str> {
    let before = SHELLS.iter().find_map(|end| line.trim_end().strip_suffix(end))?;
    let (shell, name) = before.rsplit_once(": ")?;
    let shell = shell.split(':').next()?.rsplit('/').next()?;
    matches!(shell, "sh" | "bash" | "dash" | "ash" | "zsh").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::not_installed;

    #[track_caller]
    fn check(output: &str, expected: Option<&str>) {
        assert_eq!(not_installed(output).as_deref(), expected, "{output}");
    }

    #[test]
    fn each_tool_says_in_its_own_words_that_a_program_is_missing() {
        for (output, name) in [
            ("/usr/bin/python3: No module named pytest", "pytest"),
            ("error: Failed to spawn: pytest\n  cause: No such file or directory", "pytest"),
            ("error: Failed to spawn: `ruff`", "ruff"),
            ("Command not found: mypy", "mypy"),
            ("> a@1.0.0 test\n> vitest run\n\nsh: 1: vitest: not found\n", "vitest"),
            ("/usr/bin/bash: line 1: vitest: command not found", "vitest"),
            (
                "npm error npx canceled due to missing packages and no YES option: [\"vitest@4.1.12\"]",
                "vitest",
            ),
            (" ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL  Command \"vitest\" not found", "vitest"),
            ("error Command \"vitest\" not found.", "vitest"),
            ("error: Could not find an existing 'vitest' binary to run. Stopping", "vitest"),
            ("error: no such command: `nextest`\n\nhelp: view all", "nextest"),
            (
                "make: pytest: No such file or directory\nmake: *** [Makefile:2: test] Error 127",
                "pytest",
            ),
        ] {
            check(output, Some(name));
        }
    }

    #[test]
    fn a_fault_of_the_code_is_no_missing_program() {
        for output in [
            "ModuleNotFoundError: No module named 'shop.cart'",
            "E   assert 404 == 200: not found",
            "Error: user: not found",
            "FileNotFoundError: a.txt: No such file or directory",
            "Error: Cannot find module './cart'",
            "sh: 1: ccache: not found\nsrc/a.c:3:5: error: expected ';'",
            "sh: 1: ccache: not found\nerror[E0308]: mismatched types",
            "make: dot: No such file or directory\n1 test failed",
            "",
        ] {
            check(output, None);
        }
    }
}
