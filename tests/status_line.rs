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
fn the_end_of_a_pause_is_told_in_the_persons_time_to_the_minute() {
    let is_minute = |text: &str| {
        let rest = text.split_once("until 20").unwrap().1;
        let end = rest.split([':', ',', '\n']).next().unwrap_or_default();
        !rest.contains(['T', 'Z', '.']) && end.len() == "26-11-28 14".len()
    };
    let ran = gate("off --for 1h").settings(SETTINGS).code(0);
    assert!(is_minute(&ran.stdout), "{}", ran.stdout);
    let ran = ran.again("status").code(0);
    assert!(is_minute(ran.stdout.lines().next().unwrap()), "{}", ran.stdout);
    let ran = ran.again("log").code(0);
    let line = ran.stdout.lines().find(|line| line.contains("hooks off")).unwrap();
    assert!(is_minute(line), "{}", ran.stdout);
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
