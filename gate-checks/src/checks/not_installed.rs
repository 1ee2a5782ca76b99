//! Programs that a command needs and that are not installed, by the messages of shells and package
//! managers.
//!
//! A program under test can print the same words, and such a failure is inconclusive. So they count
//! only where the output ends with them: nothing but the runner's own lines may follow.

/// Texts before and after the name of a missing program. An empty text after it is the line's end.
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
const SHELL_MESSAGES: [&str; 2] = [": command not found", ": not found"];

/// Beginnings of the lines that package managers and make print after the message.
const LINES_AFTER: [&str; 15] = [
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

/// The longest name of a program, in characters.
const MAX_NAME_CHARS: usize = 60;

/// The program or module for want of which a command ended, by the end of its output.
pub(super) fn not_installed(output: &str) -> Option<String> {
    let mut quoted_name = None;
    for line in output.lines().rev().map(str::trim_end).filter(|line| !line.is_empty()) {
        let name_in_line = name_in_message(line).or_else(|| name_in_shell_message(line));
        if name_in_line.is_none() && !is_line_after(line) {
            break;
        }
        // Of several messages the first one counts.
        quoted_name = name_in_line.or(quoted_name);
    }
    let versioned_name = quoted_name?.trim_matches(['`', '\'', '"', '.']);
    let name = versioned_name.rsplit_once('@').map_or(versioned_name, |(name, _)| name);
    let is_name = !name.is_empty()
        && name.chars().count() <= MAX_NAME_CHARS
        && !name.contains(char::is_whitespace);
    is_name.then(|| name.to_owned())
}

fn is_line_after(line: &str) -> bool {
    let text = line.trim_start();
    let is_compiler_error = text.starts_with("error[") || text.starts_with("error TS");
    !is_compiler_error && LINES_AFTER.iter().any(|start| text.starts_with(start))
}

fn name_in_message(line: &str) -> Option<&str> {
    MESSAGES.iter().find_map(|(text_before, text_after)| {
        let (start, end) = line.split_once(text_before)?;
        // Python itself lacks the module, not the project's own code that imports it.
        let is_module = *text_before == ": No module named ";
        if is_module && !start.rsplit('/').next().is_some_and(|name| name.starts_with("python")) {
            return None;
        }
        match *text_after {
            "" => Some(end.trim()),
            text_after => end.split_once(text_after).map(|(name, _)| name),
        }
    })
}

/// The name in a line such as `sh: 1: vitest: not found`.
fn name_in_shell_message(line: &str) -> Option<&str> {
    let place_and_name =
        SHELL_MESSAGES.iter().find_map(|message| line.trim_end().strip_suffix(message))?;
    let (place, name) = place_and_name.rsplit_once(": ")?;
    let shell = place.split(':').next()?.rsplit('/').next()?;
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
