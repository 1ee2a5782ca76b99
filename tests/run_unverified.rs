//! `gate run` without checks, and what the operator says to it beside that.

use serde_json::Value;

use crate::run::{SAYS, project};
use crate::support::{Run, gate};

/// A project without checks, and an agent of these lines.
fn bare(words: &str, agent: &str) -> Run {
    gate(&format!("run --task t1 --prompt PROMPT.md {words} --json -- ./agent.sh"))
        .file("PROMPT.md", "Mend it.\n")
        .script("agent.sh", &format!("#!/bin/sh\ncat >seen\n{agent}"))
}

#[test]
fn a_night_without_checks_ended_at_the_agents_first_word() {
    let ran = bare("", SAYS).code(2).tells("no check is configured");
    assert_eq!(ran.json()["code"], "no-checks");
    assert!(ran.json()["hint"].as_str().unwrap().contains("`gate init`"), "{}", ran.stdout);
    assert!(!ran.path("seen").exists(), "no agent was started");
    let words = "run --task t1 --prompt PROMPT.md --unverified --json -- ./agent.sh";
    let ran = ran.again(words).code(0);
    assert_eq!(ran.json()["stopped_by"], "completed");
    ran.again("ledger export").code(0).says("\"unverified\"");
}

#[test]
fn checks_that_run_elsewhere_are_none_here() {
    let settings = "[checks.tests]\ncommand = [\"true\"]\nwhen = [\"hook\"]\n";
    bare("", SAYS).settings(settings).code(2).tells("no check is configured to run here");
}

#[test]
fn an_agent_cannot_do_without_checks() {
    let unverified = bare("--unverified", SAYS).env("GATE_RUN", "r").code(2);
    assert_eq!(unverified.json()["code"], "under-an-agent");
}

#[test]
fn what_an_agent_delegates_is_as_unverified_as_its_own_loop() {
    let agent = format!(
        "gate run --task child --prompt PROMPT.md --json -- ./child.sh >child.json 2>child.err\n{SAYS}"
    );
    let ran = bare("--unverified", &agent)
        .script("child.sh", &format!("#!/bin/sh\n{SAYS}"))
        .with_gate_in_path()
        .code(0);
    let child: Value = serde_json::from_str(&ran.file("child.json"))
        .unwrap_or_else(|_| panic!("{}", ran.file("child.err")));
    assert_eq!(child["stopped_by"], "completed");
}

#[test]
fn a_loop_could_not_be_forced_to_its_end() {
    let words = "run --task t1 --prompt PROMPT.md --force-complete --json -- ./agent.sh";
    let ran = project("echo 'I go on.'\n").words(words).code(2).tells("--reason");
    let args = ["run", "--task", "t1", "--force-complete", "--reason", "it ships", "--json", "--"];
    let ran = ran.again("").args(args).args(["./agent.sh"]).setup("echo x >seen").code(2);
    ran.tells("nobody says what the task t1 is");
}

#[test]
fn a_forced_loop_ends_after_one_iteration_and_the_reason_is_recorded() {
    let args = ["--force-complete", "--reason", "it ships", "--json", "--", "./agent.sh"];
    let run = project("echo 'I go on.'\n").words("run --task t1 --prompt PROMPT.md");
    let ran = run.args(args).code(0);
    let end = ran.json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"completed".into(), &1.into()));
    let ran = ran.again("ledger export").code(0).says("\"it ships\"");
    let args = ["--force-complete", "--reason", "it ships", "--", "./agent.sh"];
    let ran = ran.again("run --task t1").args(args).env("GATE_RUN", "r").code(2);
    ran.tells("--force-complete");
}

#[test]
fn a_loop_takes_a_threshold_from_its_operator() {
    let agent = format!("touch fixed\n{SAYS}");
    let words = "run --task t1 --prompt PROMPT.md --max-iterations 1 --exit-threshold 9 --json -- ./agent.sh";
    let ran = project(&agent).words(words).code(1);
    assert_eq!(ran.json()["stopped_by"], "max-iterations");
    let words = words.replace('9', "1");
    let ran = ran.again(&words).env("GATE_RUN", "r").code(2).tells("--exit-threshold");
    ran.again(&words).code(0);
}
