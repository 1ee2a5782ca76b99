//! `gate` alone: what is set up, and the one next step.

use crate::needs::needs;
use crate::support::{AT_A_TERMINAL, DONE, Ran, Run, gate};

const RED: &str = "[checks.red]\ncommand = [\"false\"]\n";

/// The project with these settings in a repository.
fn project(settings: &str) -> Run {
    gate("").settings(settings).committed()
}

/// The overview names this as the next step, and none beside it.
#[track_caller]
fn next(run: Run, expected: &str) -> Ran {
    let ran = run.code(2).stderr("");
    let next: Vec<_> = ran.stdout.lines().filter(|line| line.contains("next    ")).collect();
    assert!(next.len() == 1 && next[0].contains(expected), "{expected}:\n{}", ran.stdout);
    ran.says("gate --help lists the commands.\n")
}

#[test]
fn outside_of_a_project_it_says_how_to_begin_and_writes_nothing() {
    let ran = next(gate(""), "cd into a project, then `gate setup`; `gate demo` shows");
    assert_eq!(std::fs::read_dir(ran.home()).unwrap().count(), 0);
    let ran = next(gate("").file("a", "").committed(), "`gate setup`, or `gate demo`");
    ran.says("! gate.toml   none in /");
}

#[test]
fn the_next_step_is_the_first_thing_that_is_missing() {
    let ran = next(gate("").unapproved(RED), "`gate trust` shows what gate.toml starts");
    let ran = ran.says("nobody approved gate.toml").again("status").code(0);
    let ran = ran.says("OFF  stops cannot be judged here before `gate trust`");
    let ran = ran.says("gate.toml is not approved yet");
    let ran = ran.again("trust").code(0).again("status").code(0).says("ON  stops are checked here");
    let ran = next(ran.again(""), "`gate setup` puts gate in front of your agent's stop");
    let ran = ran.says("✓ checks      red\n").says("✓ approval    gate.toml is approved\n");
    let ran = ran.says("last        nothing was decided here yet");
    let ran = ran.again("install codex --trust").code(0);
    let ran = next(ran.again(""), "work with your agent as always").says("✓ hooks       codex\n");
    let ran = ran.again("check out.log").file("out.log", DONE).code(1);
    let ran =
        next(ran.again(""), "`gate last` shows what is missing").says("✗ last        NOT DONE (2");
    let ran = ran.again("status").code(0).says("stops are checked here, by the hook of codex\n");
    let ran = ran.again("last").file("later", "").code(1).says("Files changed here after this");
    let ran = ran.again("off").code(0);
    next(ran.again(""), "`gate on` switches the hooks on again");
}

#[test]
fn settings_that_start_nothing_need_no_approval_to_judge_a_stop() {
    let ran = gate("status").unapproved("breaker.no_exit = 7\n").code(0);
    ran.says("ON  stops are checked here");
}

#[test]
fn settings_that_changed_have_to_be_approved_first() {
    let ran = project(RED).code(2);
    let run = ran.again("").unapproved(&RED.replace("false", "true"));
    let ran = next(run, "`gate trust`").says("gate.toml changed since");
    // The approved text decides until then.
    ran.again("status").code(0).says("ON  stops are checked here").says("red         false");
}

#[test]
fn a_person_at_a_terminal_gets_no_error() {
    if !needs("python3") {
        return;
    }
    gate("").under(AT_A_TERMINAL).code(0).says("`gate demo` shows what gate does");
}

#[test]
fn hooks_of_an_older_gate_are_told() {
    let ran = project(RED).code(2).again("install codex").code(0);
    let older = ran.file("../home/.codex/hooks.json").replace("540s", "9s");
    let run = ran.again("").file("../home/.codex/hooks.json", older);
    next(run, "`gate doctor --fix` brings").says("! hooks       codex; not as this version");
}

#[test]
fn hooks_that_codex_skips_are_told_until_they_are_reviewed() {
    let ran = project(RED).code(2).again("install codex").code(0);
    let ran = next(ran.again(""), "`gate doctor --agent codex` says how to review it");
    let ran = ran.says("! hooks       codex: does not run until you have reviewed it\n");
    let ran = ran.again("install claude-code").code(0);
    let ran = next(ran.again(""), "`gate doctor --agent codex`");
    let ran = ran.says("✓ hooks       claude-code\n");
    ran.says("! hooks       codex: does not run");
}

#[test]
fn settings_with_a_mistake_are_told_with_their_line() {
    gate("").unapproved("[checks\n").code(2).tells("gate.toml:1:8: unclosed table");
}

#[test]
fn the_nearest_command_is_one_of_its_own_place() {
    gate("lgo").code(2).tells("a similar subcommand exists: 'log'");
    gate("work clam").code(2).tells("a similar subcommand exists: 'claim'");
    let ran = gate("config chekc").code(2);
    assert!(!ran.stderr.contains("'check'"), "{}", ran.stderr);
}
