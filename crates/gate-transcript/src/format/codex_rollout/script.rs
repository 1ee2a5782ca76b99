//! The calls in a script: newer versions let the model write JavaScript that calls tools.

use std::borrow::Cow;

use crate::loose::Leaves;

/// The tool that runs scripts.
pub(super) const TOOL: &str = "exec";

/// The beginning of a call of a tool.
const CALL: &str = "tools.";

/// The names by which tools take a command line.
const COMMANDS: [&str; 2] = ["cmd", "command"];

/// Calls that are read of one script. A script is a line of the transcript, which may be long
/// and is the agent's own: its calls must not cost more than its text does.
const MAX_CALLS: usize = 256;

/// Patches of one script that are reported with the whole script: each such report copies it.
const MAX_WHOLE_PATCHES: usize = 4;

/// The tools that a script calls, by their names, with their command line or patch: the first
/// [`MAX_CALLS`] of them.
pub(super) fn calls(script: &str) -> Vec<(&str, Leaves<'_>)> {
    let mut calls = Vec::new();
    let mut patches = 0;
    for (at, _) in script.match_indices(CALL) {
        let Some((name, text)) = named_call(&script[at + CALL.len()..]) else { continue };
        // No parser of JavaScript: the arguments end at the next call at the latest.
        let arguments = &text[..text.find(CALL).unwrap_or(text.len())];
        let command = COMMANDS.iter().find_map(|key| value(arguments, key));
        let text = if name == "apply_patch" {
            patches += 1;
            // The patch is an argument, or a variable that was set before.
            let text = if patches > MAX_WHOLE_PATCHES { arguments } else { script };
            Cow::Owned(text.replace("\\n", "\n"))
        } else {
            Cow::Borrowed(arguments)
        };
        calls.push((name, Leaves { texts: vec![text], command }));
        if calls.len() == MAX_CALLS {
            break;
        }
    }
    calls
}

/// The name that a text begins with, and the text behind the parenthesis that follows.
fn named_call(text: &str) -> Option<(&str, &str)> {
    let name_end = text.find(|char: char| !char.is_ascii_alphanumeric() && char != '_')?;
    let (name, call) = text.split_at(name_end);
    let arguments = call.strip_prefix('(')?;
    (!name.is_empty()).then_some((name, arguments))
}

/// The string that a key of an object has.
fn value(object: &str, key: &str) -> Option<String> {
    object.match_indices(key).find_map(|(at, _)| {
        let head = object[..at].trim_end_matches(['"', '\'']).trim_end();
        let tail = object[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        if !head.ends_with(['{', ',', '(']) {
            return None;
        }
        let value = tail.strip_prefix(':')?.trim_start();
        let quote = value.chars().next().filter(|char| matches!(char, '"' | '\'' | '`'))?;
        Some(unquoted(&value[1..], quote))
    })
}

/// The string up to its closing quote.
fn unquoted(text: &str, quote: char) -> String {
    let mut unquoted = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next().filter(|letter| *letter != quote) {
        match letter {
            '\\' => match letters.next() {
                Some('n') => unquoted.push('\n'),
                Some('t') => unquoted.push('\t'),
                Some('r') | None => {}
                Some(letter) => unquoted.push(letter),
            },
            letter => unquoted.push(letter),
        }
    }
    unquoted
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

    #[test]
    fn each_patch_of_a_script_names_its_files() {
        let script: String =
            (0..6).map(|n| format!(r#"tools.apply_patch("\n*** Add File: {n}.rs\n");"#)).collect();
        for (n, (_, input)) in calls(&script).iter().enumerate() {
            let file = format!("*** Add File: {n}.rs");
            assert!(input.texts[0].lines().any(|line| line == file), "{file}");
        }
    }

    #[test]
    fn many_calls_cost_no_more_than_the_script_is_long() {
        let script = "tools.apply_patch(".repeat(100_000);
        let found = calls(&script);
        let bytes: usize = found.iter().map(|(_, input)| input.texts[0].len()).sum();
        assert_eq!((found.len(), bytes), (MAX_CALLS, MAX_WHOLE_PATCHES * script.len()));
        check(&"tools.a b ".repeat(500_000), &[]);
        check("tools.a b(); tools.(); tools.ä()", &[]);
    }
}
