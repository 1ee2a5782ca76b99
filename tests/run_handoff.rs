//! The handoff that `gate run` leaves where the work is not done.

use std::fs;

use serde_json::Value;

use crate::support::{DONE, Run, STUCK, each, gate};

const RED: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"test -e fixed\"]\n";

/// A loop around an agent that works, commits, and ends with these words.
fn project(work: &str, says: &str) -> Run {
    let agent = format!("#!/bin/sh\ncat >/dev/null\n{work}\ncat says\n");
    gate("run --task t1 --prompt PROMPT.md --json -- ./agent.sh")
        .settings(RED)
        .file("PROMPT.md", "\n# Mend the importer\n\nBoth layouts.\n")
        .file("says", says)
        .script("agent.sh", &agent)
        .committed()
}

/// The handoff that the end names, as JSON.
fn left(end: &Value) -> Value {
    let path = end["handoff"].as_str().unwrap();
    let run = end["runs"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert_eq!(path, format!("{}/runs/{run}/handoff.md", end["folder"].as_str().unwrap()));
    let text = fs::read_to_string(path).unwrap();
    let ran = gate("handoff convert --to json -").stdin(text).code(1);
    serde_json::from_str(&ran.stdout).unwrap()
}

const WORK: &str = "echo x >>work.rs; git add work.rs\n\
                    git -c user.name=a -c user.email=a@b.c commit -qm work; echo y >>rest.rs";

#[test]
fn a_loop_that_is_blocked_leaves_one() {
    let ran = project(WORK, STUCK).code(1);
    let end = ran.json();
    assert_eq!(end["stopped_by"], "blocked");
    let handoff = left(&end);
    assert_eq!(handoff["objective"], "Mend the importer");
    assert_eq!(handoff["changed_files"], serde_json::json!(["rest.rs", "work.rs"]));
    let risks = each(&handoff, "open_risks", "risk");
    assert!(risks[0].contains("sample files are not readable"), "{risks:?}");
    // No check was run, and none is made up.
    assert_eq!(each(&handoff, "verification", "command"), ["..."]);
    let card = ran.again("run --task t1 -- ./agent.sh").code(1);
    card.says("\n    handoff     /").says("/handoff.md\n");
}

#[test]
fn a_loop_that_is_tripped_leaves_one() {
    let ran = project("", DONE).code(1);
    let end = ran.json();
    assert_eq!(end["stopped_by"], "tripped");
    let handoff = left(&end);
    assert_eq!(each(&handoff, "verification", "command"), ["test -e fixed"]);
    assert_eq!(each(&handoff, "verification", "result"), ["FAIL"]);
    let risks = each(&handoff, "open_risks", "risk");
    // Behind an open breaker no agent is started, and the handoff is the same.
    let again = ran.again("run --task t1 --json -- ./agent.sh").code(1).json();
    assert_eq!((&again["handoff"], &again["iterations"]), (&end["handoff"], &0.into()));
    assert!(!risks.is_empty() && !risks.contains(&"..."), "{risks:?}");
}

#[test]
fn what_the_agent_wrote_stays() {
    let work = "folder=$(sed -n 's/^JRUN_RUN_FOLDER=//p' prompt)\n\
                printf '## Handoff\\n- objective: my own\\n' >\"$folder/handoff.md\"";
    let agent = format!("#!/bin/sh\ncat >prompt\n{work}\ncat says\n");
    let ran = project("", STUCK).script("agent.sh", &agent).code(1);
    assert_eq!(left(&ran.json())["objective"], "my own");
}

#[test]
fn a_loop_that_is_done_leaves_none() {
    let ran = project("touch fixed", DONE).code(0);
    let end = ran.json();
    assert_eq!((&end["stopped_by"], &end["handoff"]), (&"completed".into(), &Value::Null));
    let ran = ran.again("run --task t1 --json -- no-such-agent").code(1);
    assert_eq!(ran.json()["handoff"], Value::Null);
}
