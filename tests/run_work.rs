//! `gate run --work`: a loop over one phase of a work item.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::run::wait;
use crate::support::{Ran, gate};

const SETTINGS: &str = "[work]\nci = [\"tests\"]\n[checks.tests]\n\
    command = [\"sh\", \"-c\", \"test -e fixed\"]\n";

pub(crate) const WORDS: &str = "run --work --actor worker --json --max-iterations 4 -- ./agent.sh";

/// A project with an item in a phase, and an agent of these lines.
pub(crate) fn project(phase: &str, agent: &str) -> Ran {
    let added = gate(&format!("work add W-1 --title Parser --phase {phase} --file task.md"));
    let ran = added
        .settings(SETTINGS)
        .file("task.md", "Read the new layout too.\n")
        .script("agent.sh", &format!("#!/bin/sh\ncat >>prompts\n{agent}\n"));
    ran.code(0)
}

/// An agent's last words: the phase has ended so.
pub(crate) fn says(phase: &str, reason: &str, notes: &str) -> String {
    format!(
        "printf 'All tasks are completed.\\n\\n{{\"protocol\":\"apm2_agent_exit\",\"version\":\"1.0.0\",\
         \"phase_completed\":\"{phase}\",\"exit_reason\":\"{reason}\",\"notes\":\"{notes}\"}}\\n'"
    )
}

/// What gate says, which ends with this code.
#[track_caller]
fn said(ran: &Ran, words: &str, code: i32) -> String {
    let output = ran.beside(words).env("AGENT_EXIT_PROTOCOL_ENABLED", "true").output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{words}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn looped(ran: &Ran, words: &str, code: i32) -> Value {
    serde_json::from_str(&said(ran, words, code)).unwrap()
}

pub(crate) fn shown(ran: &Ran) -> Value {
    looped(ran, "work show W-1 --json", 0)
}

/// A loop that runs beside.
fn beside(ran: &Ran, words: &str) -> Child {
    let mut runner = ran.beside(words);
    let runner = runner.env("AGENT_EXIT_PROTOCOL_ENABLED", "1").stdout(Stdio::piped());
    runner.stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_phase_ends_with_the_agents_signal_and_ci_judges_it() {
    let ran = project(
        "implementation",
        &format!(
            "test -e once && touch fixed\ntouch once\n{}",
            says("IMPLEMENTATION", "completed", "read both")
        ),
    );
    let end = looped(&ran, WORDS, 0);
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"completed".into(), &2.into()));
    let work = &end["work"];
    assert_eq!(work["next_phase"], "READY_FOR_REVIEW", "{work}");
    assert_eq!((&work["submitted"], &work["phase"]), (&true.into(), &"IMPLEMENTATION".into()));
    let item = shown(&ran);
    assert_eq!((&item["phase"], &item["lease"]), (&"READY_FOR_REVIEW".into(), &Value::Null));
    let prompts = ran.file("prompts");
    for part in ["Work item W-1: Parser", "Read the new layout too.", "Its phase is IMPLEMENTATION"]
    {
        assert!(prompts.contains(part), "{part}: {prompts}");
    }
    let log = said(&ran, "log", 0);
    assert!(log.contains("IMPLEMENTATION to CI_PENDING, completed: read both"), "{log}");
    said(&ran, "ledger verify", 0);
    // Whoever comes next is told what was said.
    fs::write(
        ran.path("agent.sh"),
        format!("#!/bin/sh\ncat >told\n{}", says("READY_FOR_REVIEW", "completed", "n")),
    )
    .unwrap();
    looped(&ran, WORDS, 0);
    assert!(ran.file("told").contains("Its phase is READY_FOR_REVIEW"));
}

#[test]
fn another_spelling_of_the_signal_ends_the_phase_too() {
    let says =
        "printf 'All tasks are completed.\\n\\nEXIT_STATUS: COMPLETE\\nEXIT_REASON: it is said\\n'";
    let ran = project("draft", &format!("touch fixed\n{says}"));
    let end = looped(&ran, WORDS, 0);
    assert_eq!(end["work"]["next_phase"], "IMPLEMENTATION");
    assert!(said(&ran, "log", 0).contains("completed: it is said"));
}

#[test]
fn blocked_work_says_why_and_is_told_to_whoever_goes_on() {
    let ran = project("implementation", &says("IMPLEMENTATION", "blocked", "no credentials"));
    let end = looped(&ran, WORDS, 1);
    assert_eq!(
        (&end["stopped_by"], &end["work"]["next_phase"]),
        (&"blocked".into(), &"BLOCKED".into())
    );
    assert!(end["handoff"].is_string());
    assert_eq!(shown(&ran)["blocked_in"], "IMPLEMENTATION");
    looped(&ran, WORDS, 1);
    said(&ran, "work unblock W-1 --reason vaulted", 0);
    fs::write(ran.path("agent.sh"), "#!/bin/sh\ncat >told\n").unwrap();
    looped(&ran, "run --work W-1 --json --max-iterations 1 -- ./agent.sh", 1);
    assert!(ran.file("told").contains("> vaulted"), "{}", ran.file("told"));
}

#[test]
fn what_is_not_done_goes_back() {
    let ran = project("implementation", &says("IMPLEMENTATION", "completed", "n"));
    let end = looped(&ran, WORDS, 1);
    assert_eq!((&end["success"], &end["work"]["submitted"]), (&false.into(), &false.into()));
    let item = shown(&ran);
    assert_eq!((&item["phase"], &item["claimable"]), (&"IMPLEMENTATION".into(), &true.into()));
}

#[test]
fn a_signal_of_another_phase_is_refused() {
    let ran = project("review", &format!("touch fixed\n{}", says("DRAFT", "completed", "n")));
    let end = looped(&ran, WORDS, 1);
    let refused = end["work"]["refused"].as_str().unwrap();
    assert_eq!(refused, "phase mismatch: exit signal claims 'DRAFT' but session is in 'REVIEW'");
    assert_eq!((&end["success"], &shown(&ran)["phase"]), (&false.into(), &"REVIEW".into()));
}

#[test]
fn where_there_is_nothing_to_do_no_agent_is_started() {
    let ran = project("ci_pending", "touch started");
    let end = looped(&ran, WORDS, 1);
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"no-work".into(), &0.into()));
    assert!(!ran.path("started").exists());
    ran.again(WORDS).code(2).tells("AGENT_EXIT_PROTOCOL_ENABLED=false");
}

#[test]
fn a_loop_waits_for_work() {
    let ran = project(
        "ci_pending",
        &format!("touch fixed\n{}", says("READY_FOR_REVIEW", "completed", "n")),
    );
    let runner = beside(&ran, "run --work --wait 60s --json -- ./agent.sh");
    said(&ran, "work ci W-1 --result passed", 0);
    let ended = runner.wait_with_output().unwrap();
    let end: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(
        (ended.status.code(), &end["work"]["next_phase"]),
        (Some(0), &"REVIEW".into()),
        "{end}"
    );
}

#[test]
fn a_lease_that_is_lost_ends_the_loop() {
    let ran = project("implementation", "touch begun\nsleep 300");
    let runner = beside(&ran, "run --work --actor worker --ttl 20s --json -- ./agent.sh");
    wait(|| ran.path("begun").exists());
    said(&ran, "work release W-1 --actor worker", 0);
    let ended = runner.wait_with_output().unwrap();
    let end: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((ended.status.code(), &end["stopped_by"]), (Some(1), &"lease-lost".into()));
    assert_eq!(shown(&ran)["phase"], "IMPLEMENTATION");
}

#[test]
fn a_runner_that_is_killed_keeps_nothing_for_ever() {
    let ran = project("implementation", "touch begun\nsleep 300");
    let mut runner = beside(&ran, "run --work --actor worker --ttl 8s --json -- ./agent.sh");
    wait(|| ran.path("begun").exists());
    said(&ran, "work claim --actor other", 1);
    runner.kill().unwrap();
    runner.wait().unwrap();
    said(&ran, "work claim --actor other --wait 60s", 0);
}

#[test]
fn a_claim_from_before_the_lease_is_none() {
    let ran = project("implementation", "echo 'I looked at it.'; exit 1");
    said(&ran, "work add W-2 --phase review", 0);
    let end = looped(&ran, "run --work W-2 --json --max-iterations 1 -- ./agent.sh", 1);
    let folder = PathBuf::from(end["folder"].as_str().unwrap());
    fs::write(ran.path("fixed"), "").unwrap();
    fs::write(folder.join("DONE"), "").unwrap();
    let end = looped(&ran, "run --work W-2 --json --max-iterations 1 -- ./agent.sh", 1);
    assert_eq!((&end["success"], &end["iterations"]), (&false.into(), &1.into()), "{end}");
    assert!(!folder.join("DONE").exists());
}

#[test]
fn an_agent_that_ends_the_phase_itself_ends_the_loop() {
    let signal = r#"{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"completed"}"#;
    let submit = format!(
        "echo '{signal}' | {} exit submit --work W-1 --actor worker >submitted\nsleep 300",
        env!("CARGO_BIN_EXE_gate")
    );
    let ran = project("implementation", &submit);
    let words = "run --work --actor worker --ttl 20s --json -- ./agent.sh";
    let end = looped(&ran, words, 1);
    assert!(ran.file("submitted").starts_with("ACCEPTED"), "{}", ran.file("submitted"));
    assert_eq!(end["stopped_by"], "lease-lost");
    assert_eq!(
        (&end["work"]["next_phase"], &end["success"]),
        (&"CI_PENDING".into(), &false.into())
    );
}

#[test]
fn another_lease_of_the_same_actor_is_another_lease() {
    let ran = project(
        "implementation",
        &format!("touch begun\nsleep 1\ntouch fixed\n{}", says("IMPLEMENTATION", "completed", "n")),
    );
    let runner = beside(&ran, "run --work --actor worker --json -- ./agent.sh");
    wait(|| ran.path("begun").exists());
    said(&ran, "work release W-1 --actor worker", 0);
    said(&ran, "work claim W-1 --actor worker", 0);
    let ended = runner.wait_with_output().unwrap();
    let end: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((ended.status.code(), &end["success"]), (Some(1), &false.into()), "{end}");
    assert_eq!(shown(&ran)["phase"], "IMPLEMENTATION");
}
