//! `gate setup`: from nothing to hooks that refuse a stop, in one command.

use std::fs;

use crate::needs::needs;
use crate::support::{AT_A_TERMINAL, Run, gate};

const SETTINGS: &str = "../home/.claude/settings.json";

/// A committed project whose tests are this recipe, on a machine with Claude Code alone.
fn project(words: &str, recipe: &str) -> Run {
    let makefile = format!(".PHONY: test\ntest:\n\t{recipe}\n");
    let run = gate(words).file("Makefile", makefile).committed();
    with_claude(run)
}

/// With Claude Code, and no other client.
fn with_claude(run: Run) -> Run {
    let run = run.script("../bin/claude", "#!/bin/sh\n");
    let path = format!("{}:/usr/bin:/bin", run.at("../bin").display());
    run.env("PATH", path)
}

#[test]
fn one_command_finds_the_checks_installs_the_hooks_and_proves_a_refusal() {
    if !needs("make") {
        return;
    }
    let ran = project("setup", "true").code(0).says("FOUND  2 checks").says("passed in ");
    let ran = ran.says("/gate.toml is written and approved\n").says("✓ claude-code hooks wr");
    let ran = ran.says("a test stop was blocked, in ");
    let ran = ran.says("undo        gate uninstall claude-code; rm ").says("next        git add ");
    let ran = ran.says("! gate        is not in PATH: export PATH=\"$PATH:/");
    let before = (ran.file("gate.toml"), ran.file(SETTINGS));
    assert!(before.0.contains("[checks.tests]") && before.1.contains("hook claude-code"));
    let ran = with_claude(ran.again("setup").setup("git add -A && git commit -qm 'Add'")).code(0);
    let ran = ran.says("is there and approved\n                tests: make -s test\n");
    let ran = ran.says("✓ claude-code hooks are in ");
    let ran = ran.says("next        work with claude-code as always");
    assert_eq!((ran.file("gate.toml"), ran.file(SETTINGS)), before);
    let ran = ran.again("uninstall claude-code").code(0);
    assert!(!ran.path("../home/.claude").exists() && !ran.copy_of_gate().exists());
}

#[test]
fn a_folder_that_is_no_project_is_told_and_nothing_is_written() {
    let ran = with_claude(gate("setup")).code(2).tells("is no project: it is in no git repository");
    let ran = ran.tells("hint: cd into a project and `gate setup`").tells("`gate demo` shows");
    assert!(!ran.path("gate.toml").exists() && !ran.path(SETTINGS).exists());
    let home = with_claude(gate("-C ../home setup")).file("../home/Makefile", "test:\n\ttrue\n");
    let ran = home.code(2).tells("it holds everything of yours");
    assert!(!ran.path("../home/gate.toml").exists() && !ran.path(SETTINGS).exists());
}

#[test]
fn settings_of_others_are_left_for_the_person_to_approve() {
    let ours = "[checks.tests]\ncommand = [\"touch\", \"ran\"]\n";
    let run = project("setup", "true").unapproved(ours);
    let ran = run.code(1).says("! gate.toml   ").says("gate.toml is not approved\n");
    let ran = ran.says("a test stop was blocked").says("next        read gate.toml, then approve");
    assert!(!ran.path("ran").exists());
    let ran = ran.again("check --plan").run();
    assert!(ran.stdout.contains("gate trust"), "{}", ran.stdout);
}

#[test]
fn a_person_at_a_terminal_is_shown_what_others_settings_start_and_approves_it() {
    if !needs("python3") {
        return;
    }
    let ours = "[checks.tests]\ncommand = [\"true\"]\n";
    let at_terminal = |words: &str, answer: &str| {
        project(words, "true").unapproved(ours).under(AT_A_TERMINAL).stdin(answer)
    };
    let ran = at_terminal("setup", "n\n").code(1).says("tests: [\"true\"]").says("approve that?");
    ran.says("is not approved");
    at_terminal("setup", "y\n").code(0).says("is there and approved");
}

#[test]
fn under_an_agent_nothing_is_approved() {
    let run = project("setup --no-run", "true").env("CLAUDECODE", "1");
    let ran = run.code(1).tells("not approved yet: ").says("gate.toml is not approved\n");
    ran.says("next        read gate.toml, then approve it with `gate trust`");
}

#[test]
fn a_client_with_broken_settings_does_not_stop_the_others() {
    let run = project("setup claude-code codex --no-run", "true").file(SETTINGS, "{ broken");
    let ran = run.code(1).says("✗ claude-code ").says("settings.json, line 1: ");
    let ran = ran.says("✓ codex       hooks written to ").says("a test stop was blocked");
    assert_eq!(ran.file(SETTINGS), "{ broken");
    assert!(!ran.stdout.contains("gate uninstall claude-code"), "{}", ran.stdout);
}

#[test]
fn tests_that_fail_are_the_next_step() {
    if !needs("make") {
        return;
    }
    let ran = project("setup", "exit 3").code(1).says("a test stop was blocked");
    ran.says("next        repair `tests`, or change the command in gate.toml");
}

#[test]
fn while_nothing_runs_tests_that_stays_the_next_step() {
    let step = "next        name the command that runs your tests in gate.toml";
    let ran = with_claude(gate("setup").file("README.md", "a\n").committed()).code(1).says(step);
    let commit = "git add -A && git commit -qm 'Add gate.toml'";
    let ran = with_claude(ran.again("setup").setup(commit)).code(1).says(step);
    let ran = ran.says("is there and approved\n");
    let ran = ran.again("").code(2).says("! checks      clean_git, integrity; none runs tests\n");
    let ran = ran.says(step);
    ran.again("doctor").code(0).says("note        no required check runs tests: ");
}

#[test]
fn without_a_client_the_next_step_names_a_way() {
    let run = project("setup --no-run", "true").env("PATH", "/usr/bin:/bin");
    let ran = run.code(1).says("next        no client of an agent is found here");
    assert!(ran.path("gate.toml").exists());
    assert!(ran.stdout.contains("undo        rm /"), "{}", ran.stdout);
}

#[test]
fn in_a_folder_of_a_repository_the_root_is_set_up_unless_the_folder_has_tests() {
    let ran = project("-C src setup --no-run", "true").folder("src").code(0);
    assert!(ran.path("gate.toml").exists() && !ran.path("src/gate.toml").exists());
    let ran = project("-C web setup --no-run", "true").file("web/Makefile", "test:\n\ttrue\n");
    let ran = ran.code(0);
    assert!(!ran.path("gate.toml").exists() && ran.path("web/gate.toml").exists());
    let settings = fs::read_to_string(ran.path("web/gate.toml")).unwrap();
    assert!(settings.contains("make"), "{settings}");
}
