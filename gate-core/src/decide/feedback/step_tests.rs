//! The next step, by what the output, the checks and their records say.

use serde_json::{Value, json};

use super::*;
use crate::decide::evidence::{Evidence, Outcome};
use crate::decide::reason::{Warning, WarningCode};
use crate::decide::signal::UNREAD;

fn claimed(evidence: Vec<Evidence>) -> Input {
    let signal = Signal { status: Status::Complete, ..Signal::absent() };
    Input { evidence, ..Input::new(signal, Vec::new()) }
}

fn step(verdict: Verdict, code: ReasonCode, input: &Input) -> String {
    let reason = Reason::for_check(code, "tests", "tests failed");
    next(verdict, &[reason], input).unwrap()
}

/// The step after a failed check with this record.
#[track_caller]
fn check(record: Evidence, expected: &str) {
    let input = claimed(vec![record]);
    let next_step = step(Verdict::Continue, ReasonCode::RequiredCheckFailed, &input);
    assert_eq!(next_step, expected);
}

fn ran(argv: &[&str], summary: &str) -> Evidence {
    let failed = Evidence::new("tests", Mode::Require, Outcome::Fail);
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    Evidence { argv, summary: summary.to_owned(), ..failed }
}

#[test]
fn a_failed_command_is_given_as_a_person_would_type_it() {
    check(ran(&["make"], "exit code 2"), "make tests pass: `make`");
    check(ran(&["cargo", "test", "lib"], "exit code 2"), "make tests pass: `cargo test lib`");
    let shell = ["bash", "-euo", "pipefail", "-c", "make && make test"];
    check(ran(&shell, "exit code 2"), "make tests pass: `make && make test`");
    check(ran(&["/opt/gate-check-x"], "too slow"), "make tests pass: too slow");
    check(ran(&[], "too slow"), "make tests pass: too slow");
    check(ran(&[], ""), "make tests pass");
}

#[test]
fn a_criterion_that_is_not_met_is_the_next_step() {
    let with = |criteria: Value| Evidence {
        detail: Some(json!({ "criteria": criteria })),
        ..ran(&["make"], "1 of 3 met")
    };
    let one = |state: &str, text: &str| json!({ "state": state, "text": text });
    let met = one("met", "It starts.");
    for state in ["open", "not-met"] {
        let criteria = json!([met, one(state, "It stops."), one("open", "It sleeps.")]);
        check(with(criteria), "meet the criterion: It stops.");
    }
    check(with(json!([met])), "make tests pass: `make`");
    check(with(json!([one("open", "")])), "make tests pass: `make`");
}

#[test]
fn the_advice_of_the_first_finding_that_decides_is_the_next_step() {
    let finding = |severity: &str, file: &str, line: Option<u64>| {
        json!({ "rule": "r", "severity": severity, "file": file, "line": line,
                "message": "a test is skipped", "hint": format!("{severity} it") })
    };
    let with = |findings: Value| Evidence {
        detail: Some(json!({ "findings": findings })),
        ..ran(&[], "t.rs:3: a test is skipped [r]")
    };
    let warning = finding("warn", "t.rs", Some(1));
    let found = json!([warning, { "torn": true }, finding("block", "t.rs", Some(3))]);
    check(with(found.clone()), "t.rs:3: block it");
    check(with(json!([finding("tamper", ".", None), warning])), "tamper it");
    check(with(json!([warning])), "make tests pass: t.rs:3: a test is skipped [r]");
    // A program's own words are no advice of gate's.
    let command = Evidence { argv: vec!["make".to_owned()], ..with(found) };
    check(command, "make tests pass: `make`");
}

#[test]
fn an_output_of_an_unknown_format_needs_its_agent_s_name() {
    let next_step = |code| {
        let warnings = vec![Warning::new(code, "")];
        let mut input = Input { warnings, ..Input::new(Signal::absent(), Vec::new()) };
        input.observed.output = 1;
        step(Verdict::Continue, ReasonCode::SignalAbsent, &input)
    };
    let expected = "name the agent whose output it is: `--format`, in `gate run` `--agent`, \
                    takes its name";
    assert_eq!(next_step(WarningCode::UnknownFormat), expected);
    assert!(next_step(WarningCode::InputProblem).starts_with("add the output of `gate prompt`"));
}

#[test]
fn a_signal_in_a_transcript_that_is_cut_is_checked_again() {
    let input = Input::new(Signal::absent(), Vec::new());
    let next_step = |why: &str| {
        next(Verdict::Continue, &[Reason::new(ReasonCode::SignalInvalid, why)], &input).unwrap()
    };
    assert_eq!(
        next_step(&format!("line 2: {UNREAD}")),
        "check again when the transcript is whole: a part of it could not be read"
    );
    assert!(next_step("two values for one key").starts_with("give a whole exit signal"));
}

#[test]
fn sealed_tests_are_run_by_a_person_once_they_have_refused_for_the_last_time() {
    let next_step = |verdict| step(verdict, ReasonCode::SealedTestsFailed, &claimed(Vec::new()));
    assert_eq!(next_step(Verdict::Continue), "compare the work with each requirement of the task");
    assert_eq!(
        next_step(Verdict::Blocked),
        "run the sealed tests by hand, and tell the agent what is missing; \
         then `gate check --new-run`"
    );
}
