//! gate in other people's loops: the files in integrations/ and the loops in
//! examples/ do what they say.
#![cfg(unix)]

use crate::needs::{needs, root};
use crate::support::Run;

/// A check that fails until the file `fixed` is there.
const RED: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"test -e fixed\"]\n";

/// A program in Claude Code's place: it prints one result, and mends what is
/// missing when it is called for the second time.
const CLAUDE: &str = r#"#!/bin/sh
echo "$@" >>calls
cat >>prompts
test "$(wc -l <calls)" -ge 2 && test -z "$NEVER" && touch fixed
cat <<'END'
{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"s-1","result":"All tasks are completed.\n\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"}
END
"#;

/// A project with a red check, and a script in which `$FILE` is this file.
fn scripted(script: &str, file: &str) -> Run {
    let run = Run::new("bash").args(["-c", script]).settings(RED).with_gate_in_path();
    let run = run.env("FILE", root().join(file)).stdin("");
    run.script("claude", CLAUDE).env("CLAUDE", "./claude").env("GATE_CLAUDE", "./claude")
}

#[test]
fn a_loop_around_a_client_goes_on_in_its_session_until_the_work_is_done() {
    if !needs("bash") {
        return;
    }
    let ran = scripted("$FILE 'Add the export.'", "examples/claude-loop.sh").code(0);
    let calls = ran.file("calls");
    let calls: Vec<_> = calls.lines().collect();
    assert_eq!(calls, ["-p --output-format json", "-p --output-format json --resume s-1"]);
    let prompts = ran.file("prompts");
    assert!(prompts.contains("Add the export.") && prompts.contains("tests failed"), "{prompts}");
}

#[test]
fn a_loop_around_a_client_stops_with_gates_code() {
    if needs("bash") {
        let ran = scripted("$FILE Go.", "examples/claude-loop.sh").env("NEVER", "1").code(3);
        ran.tells("STOP, not done");
    }
}

#[test]
fn the_peers_loop_reads_gates_word_in_the_place_of_the_agents() {
    if !needs("bash") || !needs("jq") {
        return;
    }
    let file = "integrations/ralph-claude-code/claude-with-gate.sh";
    let said = scripted("$FILE -p; $FILE -p", file).code(0).json_lines();
    let said: Vec<_> = said.iter().map(|it| it["result"].as_str().unwrap()).collect();
    let [refused, passed] = said[..] else { panic!("{said:?}") };
    assert!(
        refused.contains("tests failed") && refused.contains("EXIT_SIGNAL: false"),
        "{refused}"
    );
    assert!(!refused.contains("EXIT_SIGNAL: true"), "{refused}");
    assert!(passed.contains("EXIT_SIGNAL: true"), "{passed}");
}

#[test]
fn the_peers_loop_is_never_told_that_it_is_done_where_gate_is_missing() {
    if needs("bash") && needs("jq") {
        let file = "integrations/ralph-claude-code/claude-with-gate.sh";
        let ran = scripted("$FILE -p", file).without_gate_in_path().code(0);
        assert!(!ran.out().contains("EXIT_SIGNAL: true"), "{}", ran.out());
    }
}

#[test]
fn the_orchestrators_hook_lets_its_loop_end_where_the_checks_pass() {
    if !needs("bash") {
        return;
    }
    let event = r#"{"schema_version":1,"phase":"pre","event":"loop.complete","phase_event":"pre.loop.complete","loop":{"id":"l-7","workspace":"/w"}}"#;
    let hook =
        || scripted("$FILE", "integrations/ralph-orchestrator/gate-complete.sh").stdin(event);
    hook().code(1).says("CONTINUE");
    hook().file("fixed", "").code(0).again("last --json").code(0).says("ralph-l-7");
    hook().without_gate_in_path().code(127);
}
