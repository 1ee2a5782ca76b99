//! What a run of these tests prints at its end about those that it skipped.

use std::process::Command;

#[test]
fn the_end_of_a_run_counts_what_was_skipped() {
    let mut tests = Command::new(std::env::current_exe().unwrap());
    let absent = ["GATE_CLIENTS", "GATE_CI", "NEXTEST"];
    let tests = absent.iter().fold(&mut tests, |tests, name| tests.env_remove(name));
    let output = tests.args(["--ignored", "clients::in_droid"]).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let count = stdout.split_once("running ").unwrap().1.split(' ').next().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let summary = format!("SKIPPED {count}: droid: GATE_CLIENTS names no folder that holds it\n");
    assert!(count != "0" && stderr == summary, "{stdout}{stderr}");
}
