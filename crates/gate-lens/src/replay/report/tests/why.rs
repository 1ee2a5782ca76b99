//! The reason of a row, in short and at length.

use gate_core::decide::signal::{Signal, Status};

use super::super::why::{explained, short};
use super::{judged, labelled, miss, near, observing, place, reason, signal};
use crate::replay::{Changed, Judged, Label, ReplayRecord, ReplayVerdict};
use gate_core::Failure;

#[track_caller]
fn check(row: &ReplayRecord, expected: &str) {
    assert_eq!(short(row), expected);
}

#[test]
fn an_exit_names_its_signal_or_that_none_was_required() {
    let exit = judged("a", ReplayVerdict::Exit);
    let signed = Some(signal(Status::Complete, 12));
    check(&ReplayRecord { signal: signed.clone(), ..exit.clone() }, "exit_status, line 12");
    check(&exit, "no signal required");
    let assumed = vec!["lint".to_owned(), "tests".to_owned()];
    let row = judged("a", ReplayVerdict::ExitIfChecksPass);
    check(&ReplayRecord { signal: signed, assumed, ..row }, "if lint, tests pass");
}

#[test]
fn the_last_near_miss_stands_for_an_absent_signal_alone() {
    let near_misses = vec![miss(3, "a placeholder"), miss(9, "it is negated")];
    let reasons = vec![reason("no signal"), reason("1 of 2")];
    let row = ReplayRecord { reasons, ..judged("a", ReplayVerdict::Continue) };
    check(&row, "no signal");
    let absent = near(near_misses.clone(), Signal::absent());
    let almost = ReplayRecord { signal: Some(absent), ..row.clone() };
    check(&almost, "almost, line 9: it is negated");
    let invalid = near(near_misses, signal(Status::Invalid, 2));
    check(&ReplayRecord { signal: Some(invalid), ..row }, "no signal");
}

#[test]
fn what_changed_comes_first_and_what_was_observed_last() {
    let changed = |from| Some(Changed { from, to: None });
    let row = ReplayRecord {
        reasons: vec![reason("work remains")],
        changed: changed(Some(ReplayVerdict::Exit)),
        transcript: Some(observing(&[("ls", 0)])),
        ..judged("a", ReplayVerdict::Continue)
    };
    check(&row, "was exit; work remains; observed: 1 command");
    let unread = |message: &str| ReplayRecord {
        changed: changed(None),
        error: Some(Failure::usage("input-unreadable", message)),
        ..place("t/a.log")
    };
    check(&unread("cannot read t/a.log: it is a pipe"), "was not there; it is a pipe");
    check(&unread("cannot read t/b.log: it is a pipe"), {
        "was not there; cannot read t/b.log: it is a pipe"
    });
}

/// The commands of a transcript in short.
#[track_caller]
fn check_observed(commands: &[(&str, i32)], expected: &str) {
    let transcript = Some(observing(commands));
    check(&ReplayRecord { transcript, ..place("a") }, expected);
}

#[test]
fn the_last_test_is_shown_among_the_agents_commands() {
    check_observed(&[], "");
    check_observed(&[("ls", 0), ("make", 2)], "observed: 2 commands");
    let both = [("pytest -q", 1), ("cargo test", 101), ("git status", 0)];
    check_observed(&both, "observed: `cargo test` ended 101");
    for command in [
        "cd x && pytest -q",
        "npm run test:unit",
        "./node_modules/.bin/jest --ci",
        "bash -c 'cargo nextest run'",
        "npx vitest@3 run",
        "(ctest)",
    ] {
        check_observed(&[(command, 0)], &format!("observed: `{command}` ended 0"));
    }
    for command in
        ["git add test.rs", "vim tests.py", "pip install pytest-cov", "contest", "ls tests/x"]
    {
        check_observed(&[(command, 0)], "observed: 1 command");
    }
}

#[test]
fn a_false_exit_shows_what_was_taken_for_completion() {
    let row = ReplayRecord {
        signal: Some(signal(Status::Complete, 7)),
        reasons: vec![reason("all conditions hold")],
        label: Some(Label::Continue),
        ..labelled(judged("t/a.log", ReplayVerdict::Exit), Judged::FalseExit)
    };
    let expected = "FALSE EXIT  t/a.log
  expected  label continue
  said      exit, 1 of 2
  because   all conditions hold
  found     line 7: the signal
  found     line 4: done \"All is done.\"";
    assert_eq!(explained(&row), expected);
}

#[test]
fn a_missed_exit_shows_its_last_near_misses_and_what_would_change_it() {
    let near_misses = (1..=4).map(|line| miss(line, "it is quoted")).collect();
    let row = ReplayRecord {
        iteration: 3,
        first_line: 40,
        signal: Some(near(near_misses, Signal::absent())),
        label: Some(Label::Exit),
        next: Some("say it on a line of its own".to_owned()),
        transcript: Some(observing(&[("cargo test", 0)])),
        ..labelled(judged("a\u{1b}[2J.log", ReplayVerdict::Continue), Judged::MissedExit)
    };
    let expected = "MISSED EXIT  a.log, iteration 3 (from line 40)
  expected  label exit
  said      continue, 1 of 2
  almost    line 4: it is quoted: text 4
  almost    line 3: it is quoted: text 3
  almost    line 2: it is quoted: text 2
  observed  `cargo test` ended 0
  next      say it on a line of its own";
    assert_eq!(explained(&row), expected);
}
