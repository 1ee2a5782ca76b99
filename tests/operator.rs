//! What only the operator may say refuses under an agent.
#![cfg(target_os = "linux")]

use std::process::Command;

use crate::support::{DONE, GATE, Ran, Run, gate};

/// All that only a person may say.
pub(crate) const ACTS: [&str; 17] = [
    "check --force-complete --reason x out.log",
    "check --exit-threshold 0 out.log",
    "check --no-checks out.log",
    "check --config mine.toml out.log",
    "breaker reset --reason x",
    "breaker trip --reason x",
    "breaker isolate --reason x",
    "trust",
    "trust --revoke",
    "baseline",
    "baseline --forget",
    "wrong 1 --reason x",
    "approve a::b --reason x",
    "off",
    "goal tax -- true",
    "goal drop",
    "uninstall claude-code",
];

/// A project with a decision, and a program of this name that does what it is told.
fn project(program: &str) -> Ran {
    let run = gate("check out.log").settings("[checks.clean_git]\nmode = \"warn\"\n");
    let run = run.file("out.log", DONE).file("mine.toml", "");
    run.script(program, "#!/bin/sh\n\"$@\"\n").setup("git init -q").code(0)
}

fn ledger(ran: &Ran) -> Vec<u8> {
    ran.beside("ledger export").output().unwrap().stdout
}

/// `gate` with these words, called by a program of the project, with its arguments.
fn called_by(ran: &Ran, program: &str, words: &str) -> Command {
    let plain = ran.beside(words);
    let mut program = program.split_whitespace();
    let mut command = Command::new(ran.path(program.next().unwrap()));
    command.args(program).arg(GATE).args(words.split_whitespace());
    command.current_dir(ran.path("")).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

#[track_caller]
fn is_refused(command: &mut Command, why: &str) {
    let said = command.output().unwrap();
    let stderr = String::from_utf8(said.stderr).unwrap();
    assert_eq!(said.status.code(), Some(2), "{command:?}: {stderr}");
    assert!(stderr.contains("is for the person in charge") && stderr.contains(why), "{stderr}");
    assert!(stderr.contains("terminal of their own"), "{stderr}");
}

#[test]
fn under_an_agents_program_every_act_refuses_and_leaves_no_trace() {
    let ran = project("claude");
    let before = ledger(&ran);
    for words in ACTS {
        is_refused(&mut called_by(&ran, "claude", words), "claude-code (process ");
    }
    assert_eq!(ledger(&ran), before);
    // What is no act of the operator's goes on.
    for words in ["check out.log", "on", "status", "trust --show", "scan out.log", "log"] {
        let said = called_by(&ran, "claude", words).output().unwrap();
        assert_eq!(
            said.status.code(),
            Some(0),
            "{words}: {}",
            String::from_utf8_lossy(&said.stderr)
        );
    }
}

/// Two folders that give the same name to their project have one breaker.
#[test]
fn from_another_folder_no_act_is_given_to_a_project_with_a_name() {
    let ran = project("claude");
    std::fs::create_dir(ran.path("../elsewhere")).unwrap();
    for (settings, words, code) in [
        ("[project]\nid = \"shop\"\n", "breaker reset --reason x", 2),
        ("[[[", "uninstall claude-code", 2),
        ("", "breaker reset --reason x", 0),
    ] {
        std::fs::write(ran.path("../elsewhere/gate.toml"), settings).unwrap();
        let said = called_by(&ran, "claude env -C ../elsewhere", words).output().unwrap();
        let stderr = String::from_utf8_lossy(&said.stderr);
        assert_eq!(said.status.code(), Some(code), "{settings}: {stderr}");
        assert_eq!(stderr.contains("claude-code (process "), code == 2, "{settings}: {stderr}");
    }
}

#[test]
fn a_program_with_another_name_is_no_agents() {
    let ran = project("make-it");
    for words in ACTS {
        let said = called_by(&ran, "make-it", words).output().unwrap();
        assert_ne!(
            said.status.code(),
            Some(2),
            "{words}: {}",
            String::from_utf8_lossy(&said.stderr)
        );
    }
}

#[test]
fn the_marks_of_an_agents_program_refuse() {
    let ran = project("claude");
    let before = ledger(&ran);
    for mark in ["CLAUDECODE", "GEMINI_CLI", "CODEX_THREAD_ID", "QWEN_CODE", "GATE_RUN"] {
        for words in ACTS {
            is_refused(ran.beside(words).env(mark, "1"), &format!("{mark}=1"));
        }
    }
    assert_eq!(ledger(&ran), before);
}

/// Without a check no loop runs.
const CHECKED: &str = "[checks.tests]\ncommand = [\"true\"]\n";

/// A run whose agent prepares it so, and then tries everything: all of it is refused.
#[track_caller]
fn all_is_refused_in_a_run(prepares: &str) {
    let tries =
        ACTS.map(|words| format!("{GATE} {words} >>../said 2>&1; echo \"code $?\" >>../said\n"));
    let tries = tries.concat();
    let agent = format!(
        "#!/bin/sh\ncat >/dev/null\nunset GATE_RUN\n{prepares}\n{tries}\
         git remote remove origin\ngit checkout -q .\nprintf 'EXIT_STATUS: CONTINUE\\n'\n"
    );
    let run: Run = gate("run --task t --prompt P.md --max-iterations 1 --json -- ./agent.sh");
    let run =
        run.settings(CHECKED).file("P.md", "Go.\n").file("out.log", DONE).file("mine.toml", "");
    let ran = run.script("agent.sh", &agent).committed().code(1);
    let said = ran.file("../said");
    assert_eq!(said.matches("code 2\n").count(), ACTS.len(), "{said}");
    assert_eq!(said.matches("gate run started it").count(), ACTS.len(), "{said}");
    let records = ran.again("log --json").code(0).json_lines();
    assert!(records.iter().all(|record| record["actor"] == "gate"), "{records:?}");
}

#[test]
fn the_agent_of_a_run_cannot_give_an_operators_command() {
    all_is_refused_in_a_run("");
}

/// Whose agent it is does not stand where that agent writes.
#[test]
fn an_agent_that_hides_its_run_is_known_all_the_same() {
    for hides in [
        "printf '[run]\\nfolder = \"../elsewhere\"\\n' >gate.toml",
        "printf '[project]\\nid = \"another\"\\n' >gate.toml",
        "git remote add origin https://example.com/another",
        "rm -rf ../home/.local/share/gate/runs/*/t/runs/*",
    ] {
        all_is_refused_in_a_run(hides);
    }
}

#[test]
fn an_agent_that_takes_the_projects_name_elsewhere_is_known_too() {
    let agent = format!(
        "#!/bin/sh\ncat >/dev/null\nunset GATE_RUN\nname=$(git remote get-url origin)\n\
         git remote set-url origin another\ngit init -q ../elsewhere\n\
         git -C ../elsewhere remote add origin \"$name\"\n\
         (cd ../elsewhere && {GATE} breaker reset --reason x >../said 2>&1; echo \"code $?\" >>../said)\n\
         git remote set-url origin \"$name\"\n"
    );
    let run = gate("run --task t --prompt P.md --max-iterations 1 --json -- ./agent.sh");
    let run = run.settings(CHECKED).file("P.md", "Go.\n").script("agent.sh", &agent).committed();
    let ran = run.setup("git remote add origin https://example.com/one").code(1);
    let said = ran.file("../said");
    assert!(said.contains("gate run started it") && said.ends_with("code 2\n"), "{said}");
}

#[test]
fn what_an_agent_lets_gate_write_is_not_approved_by_that() {
    let ran = gate("prompt").file("Makefile", "test:\n\ttrue\n").file("out.log", DONE).code(0);
    let ran = ran.again("init --no-run").env("CLAUDECODE", "1").code(0).tells("not approved yet");
    ran.again("check --all-checks out.log").code(2).tells("is not approved yet");
}

#[test]
fn every_act_that_a_person_gives_is_recorded() {
    let mut ran = project("make-it");
    for (words, kind) in [
        ("trust", "settings_trust"),
        ("off", "hook_switch"),
        ("breaker trip --reason x", "operator_act"),
        ("uninstall claude-code", "operator_act"),
    ] {
        if words.starts_with("uninstall") {
            ran = ran.again("install claude-code").code(0);
        }
        ran = ran.again(words).code(0).again("log -n 1 --json").code(0);
        let record = ran.json();
        assert_eq!(record["type"], kind, "{words}");
        assert!(record["actor"].as_str().unwrap().starts_with("operator:"), "{record}");
    }
}

#[test]
fn the_program_is_called_by_its_path() {
    // A gate that comes first in PATH later is not asked.
    let ran = gate("install claude-code").without_gate_in_path().code(0);
    let settings = ran.file("../home/.claude/settings.json");
    let called = format!("{} hook claude-code", ran.copy_of_gate().display());
    assert!(settings.contains(&called), "{settings}");
}
