//! gate in other people's loops: the files in integrations/ and the loop in examples/ do
//! what they say. Stand-ins in tests/standins/ behave as those loops do.
#![cfg(unix)]

use crate::needs::{needs, root};
use crate::support::{Ran, Run};

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
        let never = || scripted("$FILE Go.", "examples/claude-loop.sh").env("NEVER", "1");
        never().code(3).tells("STOP, not done");
        never().env("MAX_ITERATIONS", "1").code(3).tells("STOP, not done: 1 iterations");
        scripted("$FILE ''", "examples/claude-loop.sh").code(2).tells("usage");
    }
}

/// Claude Code as ralph-claude-code calls it. It claims in each call that the work is done,
/// which is true from the third call on, unless NEVER is set.
const RALPHS_CLAUDE: &str = r#"#!/usr/bin/env bash
[[ $1 != --version ]] || { echo '2.1.330 (Claude Code)'; exit; }
format=text previous=
for argument in "$@"; do
  [[ $previous != --output-format ]] || format=$argument
  [[ $previous != -p ]] || printf '%s\n' "$argument" >>../prompts
  previous=$argument
done
echo call >>../calls
calls=$(wc -l <../calls)
echo 'warning: all is done' >&2
eval "${DOES:-}"
[[ -n ${NEVER:-} ]] || ((calls < 3)) || touch fixed
said=${SAYS:-$'All tasks are completed. Running tests with pytest: done.\n\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---'}
if [[ $format == text ]]; then
  printf '%s\n' "$said"
else
  [[ $format == json ]] || jq -cn --arg said "$said" '{type: "assistant", message: {role: "assistant", content: [{type: "text", text: $said}]}}'
  jq -cn --arg said "$said" --argjson more "${MORE:-{\}}" \
    '{type: "result", subtype: "success", is_error: false, terminal_reason: "completed", session_id: "s-1", result: $said} + $more'
fi
"#;

const PLAN: &str = "# Plan\n\n- [x] Begin\n- [ ] Add the export\n\n## Future\n- [ ] Dream\n";
const MODES: [&str; 3] = ["json", "live", "text"];
const WRAPPER: &str = "integrations/ralph-claude-code/claude-with-gate.sh";

/// A project with a red check, in which that agent can work in a shell script.
fn ralphs(script: &str) -> Run {
    let run = Run::new("bash").args(["-c", script]).settings(RED).with_gate_in_path();
    let run = run.env("LOOP", root().join("tests/standins/ralph-claude-code.sh"));
    let run = run.env("CLAUDE_CODE_CMD", root().join(WRAPPER)).env("GATE_CLAUDE", "./claude");
    let run = run.file(".ralph/PROMPT.md", "Add the export.\n").file(".ralph/fix_plan.md", PLAN);
    run.file(".gitignore", ".ralph/logs/\n.ralph/.*\n").script("claude", RALPHS_CLAUDE).committed()
}

fn calls(ran: &Ran) -> usize {
    ran.file("../calls").lines().count()
}

/// The loop has halted, and nothing of what it printed is a word of success.
#[track_caller]
fn halted(ran: &Ran, of: &str) {
    let out = ran.out();
    assert!(out.contains("[ERROR] halted"), "{of}: {out}");
    assert!(!out.contains("SUCCESS") && !out.contains("complete"), "{of}: {out}");
}

#[test]
#[ignore = "minutes: whole loops of another tool"]
fn an_agent_that_never_fixes_ends_that_loop_without_a_word_of_success() {
    if !needs("bash") || !needs("jq") {
        return;
    }
    let ways: [(&str, &str, &str); 4] = [
        ("claims", "", "{}"),
        ("ticks all boxes", "sed -i 's/- \\[ \\]/- [x]/' .ralph/fix_plan.md", "{}"),
        ("only tests", "date +%N >>work.txt", r#"{"work_type": "TEST_ONLY"}"#),
        ("is denied a tool", "", r#"{"permission_denials": [{"tool_name": "Write"}]}"#),
    ];
    // The plain claim in each mode; the other ways differ in what the agent does, not in how the loop
    // reads it.
    let claims = MODES.map(|mode| (mode, ways[0]));
    for (mode, (way, does, more)) in
        claims.into_iter().chain(ways[1..].iter().map(|way| ("json", *way)))
    {
        let run = ralphs(&format!("$LOOP {mode}")).env("NEVER", "1");
        let ran = run.env("DOES", does).env("MORE", more).run();
        halted(&ran, &format!("{mode}, {way}"));
    }
}

#[test]
#[ignore = "minutes: whole loops of another tool"]
fn that_loop_ends_with_success_as_soon_as_gate_says_exit() {
    if !needs("bash") || !needs("jq") {
        return;
    }
    for mode in MODES {
        // The agent may say so in a way that the loop does not know, or too much.
        let long =
            format!("{}All tasks are completed.\n\nEXIT_STATUS: COMPLETE", "x".repeat(30_000));
        for says in ["", &long] {
            let ran = ralphs(&format!("$LOOP {mode}")).env("SAYS", says).code(0);
            let out = ran.out();
            assert!(out.contains("[SUCCESS] the project is completed"), "{mode}: {out}");
            assert_eq!(calls(&ran), 3, "{mode}: {out}");
            assert_eq!(ran.file(".ralph/fix_plan.md"), PLAN, "{mode}");
        }
    }
}

#[test]
fn that_loop_ends_with_success_over_a_denied_tool_once_the_checks_pass() {
    if needs("bash") && needs("jq") {
        let more = r#"{"permission_denials": [{"tool_name": "Write"}]}"#;
        let run = ralphs("touch fixed; $LOOP json").env("MORE", more);
        run.code(0).says("[SUCCESS] the project is completed");
    }
}

#[test]
fn what_is_missing_reaches_the_next_prompt_of_that_loops_agent() {
    if !needs("bash") || !needs("jq") {
        return;
    }
    let ran = ralphs("$LOOP json").code(0);
    let prompts = ran.file("../prompts");
    let prompts: Vec<_> = prompts.split("Add the export.\n").skip(1).collect();
    assert_eq!(prompts.len(), 3, "{prompts:?}");
    assert_eq!(prompts[0], "");
    assert!(prompts[1].contains("tests failed") && prompts[2].contains("tests failed"));
}

#[test]
fn the_probe_for_a_version_is_no_iteration_of_that_loop() {
    if needs("bash") && needs("jq") {
        let ran = ralphs("$CLAUDE_CODE_CMD --version").code(0).stdout("2.1.330 (Claude Code)\n");
        ran.again("last").code(5);
    }
}

#[test]
fn that_loop_halts_without_gate() {
    if needs("bash") && needs("jq") {
        let ran = ralphs("$LOOP json").without_gate_in_path().code(0);
        halted(&ran, "without gate");
        assert_eq!(calls(&ran), 1);
    }
}

#[test]
fn that_loop_halts_though_its_breaker_closes_by_itself() {
    if needs("bash") && needs("jq") {
        let run = ralphs("$LOOP json").env("NEVER", "1").env("CB_AUTO_RESET", "true");
        let ran = run.code(0);
        halted(&ran, "reset");
        assert_eq!(calls(&ran), 3);
    }
}

#[test]
fn an_agent_that_is_ended_in_the_middle_has_not_finished_the_plan_of_that_loop() {
    if !needs("bash") || !needs("jq") {
        return;
    }
    let ticks = "sed -i 's/- \\[ \\]/- [x]/' .ralph/fix_plan.md; kill $PPID; sleep 1; exit";
    let script = "$CLAUDE_CODE_CMD --output-format json -p Go || echo \"ended: $?\"";
    let ran = ralphs(script).env("DOES", ticks).code(0).says("ended: 143");
    assert!(ran.out().contains("EXIT_SIGNAL: false"), "{}", ran.out());
    assert!(ran.file(".ralph/fix_plan.md").starts_with("- [ ] gate: "));
}

#[test]
fn that_loop_sees_the_failure_of_a_call_as_it_is() {
    if needs("bash") && needs("jq") {
        let fails = "((calls > 1)) || { echo 'the usage limit is reached' >&2; exit 1; }";
        let ran = ralphs("$LOOP json").env("DOES", fails).code(0);
        ran.says("failed with code 1: the usage limit is reached").says("[SUCCESS]");
    }
}

/// An agent for ralph-orchestrator. It gives the promise in each call, as its text, in a
/// stream or as an event; in its second call it mends what is missing, unless NEVER is set.
const ORCHESTRATED: &str = r#"#!/usr/bin/env bash
cat >>../prompts
echo call >>../calls
[[ -n ${NEVER:-} ]] || (($(wc -l <../calls) < 2)) || touch fixed
case $1 in
  text) printf 'All tasks are completed.\n\nLOOP_COMPLETE\n' ;;
  stream)
    jq -cn '{type: "assistant", message: {content: [{type: "text", text: "All tasks are completed.\n\nLOOP_COMPLETE"}]}}'
    jq -cn '{type: "result", result: "All tasks are completed.\n\nLOOP_COMPLETE"}'
    ;;
  event)
    jq -cn '{topic: "LOOP_COMPLETE", payload: "all", ts: "2026-01-01T00:00:00Z"}' >>"$RALPH_EVENTS_FILE"
    echo 'All tasks are completed. Event emitted: LOOP_COMPLETE'
    ;;
esac
"#;

const WAYS: [&str; 3] = ["text", "stream", "event"];

fn orchestrated(backend: &str) -> Run {
    let script = format!("$LOOP {backend}");
    let run = Run::new("bash").args(["-c", &script]).settings(RED).with_gate_in_path();
    let run = run.env("LOOP", root().join("tests/standins/ralph-orchestrator.sh"));
    let folder = root().join("integrations/ralph-orchestrator");
    let run = run.env("BACKEND", folder.join("gate-backend.sh"));
    let run = run.env("HOOK", folder.join("gate-complete.sh"));
    let run = run.file("PROMPT.md", "Add the export.\n").file(".gitignore", ".ralph/\n");
    run.script("agent", ORCHESTRATED).committed()
}

#[test]
#[ignore = "minutes: whole loops of another tool"]
fn incomplete_work_goes_on_in_the_orchestrator_and_the_agent_hears_why() {
    if !needs("bash") || !needs("jq") {
        return;
    }
    for way in WAYS {
        let ran = orchestrated(&format!("$BACKEND ./agent {way}")).code(0);
        assert!(ran.out().ends_with("terminated: completed\n"), "{way}: {}", ran.out());
        assert_eq!(calls(&ran), 2, "{way}: {}", ran.out());
        let prompts = ran.file("../prompts");
        let (first, second) = prompts
            .split_once("PENDING EVENTS\n")
            .unwrap()
            .1
            .split_once("PENDING EVENTS\n")
            .unwrap();
        assert!(!first.contains("tests failed"), "{way}: {first}");
        assert!(
            second.contains("task.resume") && second.contains("tests failed"),
            "{way}: {second}"
        );
    }
}

#[test]
#[ignore = "minutes: whole loops of another tool"]
fn an_agent_that_never_fixes_stops_the_orchestrator() {
    if !needs("bash") || !needs("jq") {
        return;
    }
    for way in WAYS {
        let ran = orchestrated(&format!("$BACKEND ./agent {way}")).env("NEVER", "1").code(1);
        assert!(ran.out().ends_with("terminated: stopped\n"), "{way}: {}", ran.out());
        assert!(!ran.out().contains("LOOP_COMPLETE"), "{way}: {}", ran.out());
    }
}

#[test]
fn the_orchestrator_stops_without_gate() {
    if needs("bash") && needs("jq") {
        let run = orchestrated("$BACKEND ./agent event").without_gate_in_path();
        assert_eq!(calls(&run.code(1).says("terminated: stopped")), 1);
    }
}

#[test]
fn the_orchestrator_does_not_end_on_a_backend_that_gate_did_not_see() {
    if needs("bash") && needs("jq") {
        orchestrated("./agent text").env("NEVER", "1").code(1).says("terminated: a hook blocked");
    }
}

/// The command of a hook of pre-commit.
fn pre_commit_entry(id: &str) -> String {
    let hooks = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    let hook = hooks.split("- id: ").find(|hook| hook.lines().next() == Some(id)).expect(id);
    let entry = hook.lines().find_map(|line| line.trim().strip_prefix("entry: "));
    entry.expect(id).to_owned()
}

#[test]
fn a_hook_of_pre_commit_refuses_settings_that_cannot_be_read() {
    let run = |settings: &str| {
        let entry = pre_commit_entry("gate-settings");
        Run::new("sh").args(["-c", &entry]).settings(settings).with_gate_in_path().stdin("")
    };
    run(RED).code(0);
    run("[checks.tests]\ncomand = [\"true\"]\n").code(2).tells("comand");
}
