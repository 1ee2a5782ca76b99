//! One line for a status bar: what was decided last, and nothing where gate is not set up.

use crate::support::{DONE, UNDONE, gate, judge};

const SETTINGS: &str = "[checks.tests]\ncommand = [\"false\"]\n[breaker]\nno_progress = 0\n";

#[test]
fn where_nothing_is_set_up_the_line_is_empty() {
    gate("status --line").code(0).stdout("\n").stderr("");
}

#[test]
fn the_line_says_the_verdict_the_iteration_and_why() {
    let ran = gate("status --line").settings(SETTINGS).code(0).stdout("gate: no decision yet\n");
    let ran = ran.again("check out.log").file("out.log", DONE).code(1);
    let ran = ran.again("status --line").code(0);
    assert!(ran.stdout.starts_with("gate: NOT DONE #1 · tests failed"), "{}", ran.stdout);
    let ran = ran.again("check out.log").code(1).again("status --line").code(0);
    assert!(ran.stdout.starts_with("gate: NOT DONE #2 · 2 claims refused · "), "{}", ran.stdout);
    let ran = ran.again("off --for 1h").code(0).again("status --line").code(0);
    assert!(ran.stdout.starts_with("gate: off until "), "{}", ran.stdout);
}

#[test]
fn the_line_is_one_line_of_at_most_120_characters() {
    let output = UNDONE.replace("the old layout", &"the ünending \u{1b}[31mlist ".repeat(40));
    let ran = judge("check out.log", &output).settings(SETTINGS).code(1);
    let ran = ran.again("status --line").stdin("a client's JSON").code(0);
    let line = ran.stdout.strip_suffix('\n').unwrap();
    assert_eq!(line.chars().count(), 120, "{line}");
    assert!(!line.contains(['\n', '\u{1b}']) && line.ends_with('…'), "{line}");
    ran.again("status --line --json").code(2);
}
