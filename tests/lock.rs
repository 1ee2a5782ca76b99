//! A run that is locked is decided by one policy.

use crate::support::{DONE, UNDONE, each, gate, judge};

#[test]
fn a_locked_run_is_decided_by_one_policy_whoever_approves_another() {
    let ran = judge("check --json out.log", UNDONE).settings("[budget]\niterations = 7\n").code(1);
    let ran = ran.again("lock --json").code(0);
    let lock = ran.json();
    assert_eq!(lock["schema"], "gate.lock.v1");
    let ran = ran.again("check --json out.log").code(1);
    assert_eq!(ran.json()["policy_digest"], lock["policy"]);
    assert_eq!(each(&ran.json(), "reasons", "code")[0], "signal-continue");
    let ran = ran.again("check --json --exit-threshold 0 out.log").file("out.log", DONE).code(1);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["tampered"]);
    assert_eq!(ran.json()["policy_digest"], lock["policy"], "decided by what it went by");
    let ran = ran.again("check --json out.log").settings("[budget]\niterations = 8\n").code(1);
    let summary = ran.json()["evidence"][0]["summary"].as_str().unwrap().to_owned();
    assert!(summary.contains("locked") && summary.contains("gate lock --release"), "{summary}");
    let ran = ran.again("lock --release").code(0).says("locked to no policy");
    ran.again("check out.log").code(0).again("ledger verify").code(0);
}

#[test]
fn the_next_run_may_be_locked_and_the_one_after_it_is_free() {
    let ran =
        gate("lock --run n").settings("").file("out.log", DONE).code(0).says("run n is locked");
    let ran = ran.again("check --run n --json --exit-threshold 0 out.log").code(1);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["tampered"]);
    let ran = ran.again("check --run other --exit-threshold 0 out.log").code(0);
    let ran = ran.again("check --run n out.log").code(0);
    let ran = ran.again("check --run n --exit-threshold 0 out.log").code(0);
    ran.again("log").code(0).says("locked");
}

#[test]
fn a_lock_is_of_the_whole_policy_wherever_parts_of_it_run() {
    let settings = "[checks.a]\ncommand = [\"true\"]\nwhen = [\"run\"]\n";
    let ran = gate("lock").settings(settings).file("out.log", DONE).committed().code(0);
    ran.again("check --json out.log").code(0);
}
