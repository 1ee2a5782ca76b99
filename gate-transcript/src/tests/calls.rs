//! The calls of tools that formats show.

use std::fmt::Write;

use crate::{Call, Event, Reader, Sink};

#[derive(Default)]
struct Calls(String);

impl Sink for Calls {
    fn event(&mut self, _event: Event<'_>) {}

    fn called(&mut self, call: &Call<'_>) {
        let Call { tool, line, .. } = call;
        writeln!(
            self.0,
            "{line} {tool}: {}",
            call.about().unwrap_or_default().lines().next().unwrap_or_default()
        )
        .unwrap();
    }
}

#[track_caller]
fn check(input: &[&str], expected: &[&str]) {
    let (mut calls, mut reader) = (Calls::default(), Reader::new(None));
    reader.push((input.join("\n") + "\n").as_bytes(), &mut calls);
    reader.finish(&mut calls);
    assert_eq!(calls.0.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn claude_shows_commands_and_paths() {
    check(
        &[
            r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#,
            r#"{"type":"assistant","session_id":"s","message":{"content":[{"type":"tool_use","id":"a","name":"Edit","input":{"file_path":"src/a.rs","old_string":"x"}},{"type":"tool_use","id":"b","name":"Bash","input":{"description":"all","command":"make"}}]}}"#,
        ],
        &["2 Edit: src/a.rs", "2 Bash: make"],
    );
}

#[test]
fn codex_shows_commands_and_changed_files() {
    check(
        &[
            r#"{"type":"thread.started","thread_id":"1"}"#,
            r#"{"type":"item.started","item":{"id":"i0","type":"command_execution","command":"make test"}}"#,
            r#"{"type":"item.completed","item":{"id":"i1","type":"file_change","changes":[{"path":"a.py","kind":"update"}],"status":"completed"}}"#,
        ],
        &["2 command_execution: make test", "3 file_change: a.py"],
    );
}

#[test]
fn a_rollout_shows_patches_and_shells() {
    check(
        &[
            r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s","cwd":"/w"}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","call_id":"c","input":"*** Begin Patch\n*** Update File: a.py"}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"d","arguments":"{\"command\":[\"make\",\"test\"]}"}}"#,
        ],
        &["2 apply_patch: *** Begin Patch", "3 shell: make test"],
    );
}
