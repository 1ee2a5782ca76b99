//! The calls in a script: newer versions let the model write JavaScript that calls tools.

use std::borrow::Cow;

use crate::loose::Leaves;

/// The tool that runs scripts.
pub(super) const TOOL: &str = "exec";

/// The beginning of a call of a tool.
const CALL: &str = "tools.";

/// The names by which tools take a command line.
const COMMANDS: [&str; 2] = ["cmd", "command"];

/// The tools that a script calls, by their names, with their command line or patch.
pub(super) fn calls(script: &str) -> Vec<(&str, Leaves<'_>)> {
    let mut calls = Vec::new();
    for (at, _) in script.match_indices(CALL) {
        let rest = &script[at + CALL.len()..];
        let Some((name, arguments)) = rest.split_once('(') else { continue };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            continue;
        }
        let end = arguments.find(CALL).unwrap_or(arguments.len());
        let command = COMMANDS.iter().find_map(|key| value(&arguments[..end], key));
        let texts = if name == "apply_patch" {
            // The patch is an argument, or a variable that was set before.
            vec![Cow::Owned(script.replace("\\n", "\n"))]
        } else {
            vec![Cow::Borrowed(&arguments[..end])]
        };
        calls.push((name, Leaves { texts, command }));
    }
    calls
}

/// The string that a key of an object has.
fn value(object: &str, key: &str) -> Option<String> {
    object.match_indices(key).find_map(|(at, _)| {
        let before = object[..at].trim_end_matches(['"', '\'']).trim_end();
        let after = object[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        if !before.ends_with(['{', ',', '(']) {
            return None;
        }
        let value = after.strip_prefix(':')?.trim_start();
        let quote = value.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'))?;
        Some(unquoted(&value[1..], quote))
    })
}

/// The string up to its closing quote.
fn unquoted(text: &str, quote: char) -> String {
    let mut found = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next().filter(|letter| *letter != quote) {
        match letter {
            '\\' => match letters.next() {
                Some('n') => found.push('\n'),
                Some('t') => found.push('\t'),
                Some('r') | None => {}
                Some(other) => found.push(other),
            },
            letter => found.push(letter),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, expected: &[(&str, Option<&str>)]) {
        let found = calls(script);
        let found: Vec<_> =
            found.iter().map(|(name, input)| (*name, input.command.as_deref())).collect();
        assert_eq!(found, expected, "{script}");
    }

    #[test]
    fn commands_are_found_in_any_quotes() {
        check(
            r#"const r = await tools.exec_command({"cmd":"echo \"a\" && make","workdir":"/w"}); text(r.output)"#,
            &[("exec_command", Some(r#"echo "a" && make"#))],
        );
        check(
            "await Promise.all([tools.exec_command({workdir: '/w', cmd: 'make test'}), tools.exec_command({cmd:`make lint`})])",
            &[("exec_command", Some("make test")), ("exec_command", Some("make lint"))],
        );
        check("await tools.view_image({path: 'cmd.png'})", &[("view_image", None)]);
        check("const tools = 1;", &[]);
    }

    #[test]
    fn a_patch_may_be_a_variable() {
        let script =
            r#"const p = "*** Begin Patch\n*** Update File: a.rs\n"; await tools.apply_patch(p)"#;
        let found = calls(script);
        assert!(found[0].1.texts[0].lines().any(|line| line == "*** Update File: a.rs"));
    }
}
