//! Stops that are let go, and stops that are refused, by their circumstances.

mod goals;

use serde_json::json;

use super::*;
use crate::config::{Layer, Origin, resolve};
use crate::decide::breaker::Breaker;
use crate::decide::decision::{Decision, judge};
use crate::decide::run_state::{LoopState, RunState};
use crate::decide::signal::{Signal, TokenHalves};
use crate::decide::situation::{FailureShares, Owed, Presence};
use crate::decide::stop::Stop;
use crate::decide::verdict::Verdict;

const TESTS: &str = "[checks.tests]\ncommand = [\"true\"]\n";
const PLAN: &str = "[checks.acceptance_criteria]\nfiles = [\"plan.md\"]\n";

fn policy(settings: &str) -> Policy {
    let text = format!("exit_gate.indicator_threshold = 0\n{settings}");
    let layer = Layer::parse(Origin::Project("gate.toml".into()), &text).unwrap();
    resolve(&[layer], None).unwrap().policy
}

/// A person's session whose work changed.
fn changed() -> Situation {
    Situation { work: Work::Changed, ..Situation::default() }
}

fn record(mode: Mode, check: &str, outcome: Outcome, summary: &str) -> Evidence {
    Evidence { summary: summary.to_owned(), ..Evidence::new(check, mode, outcome) }
}

fn required(check: &str, outcome: Outcome, summary: &str) -> Evidence {
    record(Mode::Require, check, outcome, summary)
}

fn tests(outcome: Outcome) -> Evidence {
    required("tests", outcome, "41 tests")
}

fn stop(status: Status, situation: Situation, evidence: &[Evidence]) -> Input {
    let mut input = Input::new(Signal { status, ..Signal::absent() }, Vec::new());
    input.evidence = evidence.to_vec();
    let situation = Some(situation);
    let agent = "codex".to_owned();
    input.observed.stop = Some(Stop { agent, prompt: None, background: Vec::new(), situation });
    input
}

/// The end of a stop: let go as green, red or not run, or its verdict; and the reasons.
fn ruled(input: &Input, policy: &Policy) -> (String, Vec<String>) {
    let decision = judge(input, policy).decision;
    if decision.released.is_some() {
        assert_eq!((decision.verdict, decision.stop), (Verdict::Continue, true));
        assert_eq!((decision.feedback.as_str(), &decision.next), ("", &None));
    }
    let end = match decision.released {
        Some(Released::Green) => "green",
        Some(Released::Red) => "red",
        Some(Released::NotRun) => "not run",
        Some(Released::Waiting) => "waiting",
        None => decision.verdict.name(),
    };
    (end.to_owned(), messages(&decision))
}

fn messages(decision: &Decision) -> Vec<String> {
    decision.reasons.iter().map(|reason| reason.message.clone()).collect()
}

#[track_caller]
fn check(input: &Input, policy: &Policy, end: &str, expected: &[&str]) {
    let (found, messages) = ruled(input, policy);
    assert_eq!((found.as_str(), messages), (end, names(expected)));
}

fn names(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn shares(check: &str, own: &[&str], before: &[&str], others: &[&str]) -> FailureShares {
    let [own, before, others] = [own, before, others].map(names);
    FailureShares { check: check.to_owned(), own, before, others, ..FailureShares::default() }
}

#[test]
fn a_stop_that_is_let_go_as_it_stands_says_why_and_what_is_still_red() {
    let owed = |red: &[&str]| Some(Owed { red: names(red) });
    let prose = Situation { work: Work::Prose, ..Situation::default() };
    let asks = Situation { asks: true, ..changed() };
    for (status, situation, expected) in [
        (Status::Absent, Situation::default(), "nothing changed since the last prompt or check"),
        (Status::Absent, prose.clone(), "only prose changed"),
        (Status::Continue, changed(), "the agent says that work remains"),
        (Status::Continue, asks.clone(), "the agent asks something"),
        (
            Status::Absent,
            Situation { owed: owed(&["tests::a"]), ..asks.clone() },
            "the agent asks something; tests::a is still red from your earlier change",
        ),
        (
            Status::Continue,
            Situation { owed: owed(&["a", "b", "c", "d"]), ..changed() },
            "the agent says that work remains; \
             4 tests (a, b, c, …) are still red from your earlier change",
        ),
        (Status::Absent, Situation { owed: owed(&[]), ..asks }, "the agent asks something"),
    ] {
        let input = stop(status, situation, &[tests(Outcome::Fail)]);
        check(&input, &policy(TESTS), "not run", &[expected]);
    }
}

#[test]
fn green_work_is_let_go_with_what_passed_and_what_is_open() {
    let both_checks = policy(&format!("{TESTS}{PLAN}"));
    let open = required("acceptance_criteria", Outcome::Fail, "2 of 5 open");
    let evidence = [tests(Outcome::Pass), open];
    let silent = stop(Status::Absent, changed(), &evidence);
    let expected_message = "passed: tests (41 tests); open: acceptance_criteria (2 of 5 open)";
    check(&silent, &both_checks, "green", &[expected_message]);
    let claims = stop(Status::Complete, changed(), &evidence);
    check(&claims, &both_checks, "continue", &["acceptance_criteria failed: 2 of 5 open"]);
    let shown = record(Mode::Warn, "acceptance_criteria", Outcome::Fail, "2 of 5 open");
    let warned = stop(Status::Absent, changed(), &[tests(Outcome::Pass), shown]);
    check(&warned, &policy(TESTS), "green", &["passed: tests (41 tests)"]);
    let green = stop(Status::Complete, changed(), &evidence[..1]);
    check(&green, &policy(TESTS), "green", &["passed: tests (41 tests)"]);
}

#[test]
fn what_was_not_found_out_is_no_pass() {
    let without = stop(Status::Absent, changed(), &[]);
    check(&without, &policy(""), "not run", &["no check is configured here: `gate init`"]);
    check(&without, &policy(PLAN), "not run", &["no check ran"]);
    let slow = required("tests", Outcome::Inconclusive, "it timed out");
    let mute = required("tests", Outcome::Skipped, "");
    for (record, expected) in [(slow, "tests: it timed out"), (mute, "tests: it did not run")] {
        let input = stop(Status::Absent, changed(), &[record]);
        check(&input, &policy(TESTS), "not run", &[expected]);
    }
    let unsure = required("acceptance_criteria", Outcome::Inconclusive, "no such file");
    let both_checks = policy(&format!("{TESTS}{PLAN}"));
    let evidence = [tests(Outcome::Pass), unsure];
    let input = stop(Status::Absent, changed(), &evidence);
    check(&input, &both_checks, "green", &["passed: tests (41 tests)"]);
    let claims = stop(Status::Complete, changed(), &evidence);
    check(&claims, &both_checks, "not run", &["acceptance_criteria: no such file"]);
}

#[test]
fn a_session_answers_for_its_own_failures_alone() {
    let two = policy(&format!("{TESTS}[checks.lint]\ncommand = [\"true\"]\n"));
    let red = [tests(Outcome::Fail), required("lint", Outcome::Fail, "")];
    let by = |failures: &[FailureShares]| Situation { failures: failures.to_vec(), ..changed() };
    let silent = |situation| stop(Status::Absent, situation, &red);
    let lint_failed = "lint failed";
    let tests_failed = "tests failed: 41 tests";
    check(&silent(changed()), &two, "continue", &[lint_failed, tests_failed]);
    let old_lint = shares("lint", &[], &["lint"], &[]);
    let mixed = by(&[old_lint.clone(), shares("tests", &["a"], &["b"], &[])]);
    check(&silent(mixed), &two, "continue", &[tests_failed]);
    let foreign = by(&[old_lint, shares("tests", &[], &["b", "c"], &["d"])]);
    let expected_message = "3 failures (the check lint, b, c) were red before the last prompt; \
                d is red by a change that is not this session's";
    check(&silent(foreign.clone()), &two, "red", &[expected_message]);
    check(&stop(Status::Complete, foreign, &red), &two, "red", &[expected_message]);
}

#[test]
fn a_flaky_test_and_one_whose_past_is_not_known_refuse_nobody() {
    let by = |shares| Situation { failures: vec![shares], ..changed() };
    let ruling = |shares: FailureShares, end, expected_message| {
        let input = stop(Status::Absent, by(shares), &[tests(Outcome::Fail)]);
        check(&input, &policy(TESTS), end, &[expected_message]);
    };
    let shares = || FailureShares { check: "tests".to_owned(), ..FailureShares::default() };
    let flaky = FailureShares { flaky: names(&["a"]), ..shares() };
    ruling(flaky, "green", "a is flaky: failed, and passed when run again");
    let unknown = FailureShares {
        unknown: names(&["a", "b"]),
        problem: Some("no time was left".to_owned()),
        ..shares()
    };
    let expected_message =
        "2 tests (a, b) are red; if before, too, is not known (no time was left)";
    ruling(unknown, "red", expected_message);
}

#[test]
fn changed_tests_are_news_at_every_end() {
    let news = |situation| Situation { changed_tests: names(&["tests/a.py (+1 -2)"]), ..situation };
    let green = stop(Status::Absent, news(changed()), &[tests(Outcome::Pass)]);
    let expected_message = "passed: tests (41 tests); changed tests: tests/a.py (+1 -2)";
    check(&green, &policy(TESTS), "green", &[expected_message]);
    let asks = stop(Status::Absent, news(Situation { asks: true, ..changed() }), &[]);
    let expected_message = "the agent asks something; changed tests: tests/a.py (+1 -2)";
    check(&asks, &policy(TESTS), "not run", &[expected_message]);
}

#[test]
fn older_changes_are_told_and_refuse_nobody_unless_every_turn_is_judged() {
    let owing = Situation { owed: Some(Owed::default()), ..Situation::default() };
    let red = [tests(Outcome::Fail)];
    let expected_message = "tests is still red from your earlier change";
    check(&stop(Status::Absent, owing.clone(), &red), &policy(TESTS), "red", &[expected_message]);
    let always = Situation { always: true, ..owing };
    let input = stop(Status::Absent, always, &red);
    check(&input, &policy(TESTS), "continue", &["tests failed: 41 tests"]);
}

/// The ends of stops in a row, each with these failing tests.
fn in_a_row(headless: bool, failing: &[&[&str]]) -> Vec<String> {
    let policy = policy(&format!("[breaker]\nrefused = 0\nno_progress = 0\n{TESTS}"));
    let run = RunState::default();
    let mut memory = LoopState { breaker: Breaker::default(), hold: None, run };
    let end = |failed: &&[&str]| {
        let detail = Some(json!({ "tests": { "failed_tests": failed } }));
        let record = Evidence { detail, ..tests(Outcome::Fail) };
        let situation = Situation { presence: Some(headless).into(), ..changed() };
        let mut input = stop(Status::Absent, situation, &[record]);
        (input.stateful, input.memory) = (true, Some(memory.clone()));
        let end = ruled(&input, &policy);
        memory = judge(&input, &policy).memory.unwrap();
        if end.0 == "red" { end.1.concat() } else { end.0 }
    };
    failing.iter().map(end).collect()
}

#[test]
fn the_same_failure_refuses_a_person_twice_and_another_one_anew() {
    let (a, b): (&[&str], &[&str]) = (&["a"], &["b", "a"]);
    assert_eq!(
        in_a_row(false, &[a, a, a, a, b, b, b]),
        [
            "continue",
            "continue",
            "a is still red after 2 refusals",
            "a is still red after 2 refusals",
            "continue",
            "continue",
            "2 tests (b, a) are still red after 2 refusals",
        ]
    );
    assert_eq!(in_a_row(true, &[a, a, a, a]), ["continue"; 4]);
    assert_eq!(in_a_row(false, &[b, &["a", "b"], b])[2][..7], *"2 tests");
}

#[test]
fn a_headless_claim_that_a_hook_cannot_measure_is_let_go_unproven() {
    let headless = || Situation { presence: Presence::Nobody, ..changed() };
    let running = Evidence { running: true, ..required("tests", Outcome::Skipped, "") };
    let claims = |evidence: &[Evidence]| stop(Status::Complete, headless(), evidence);
    check(
        &claims(std::slice::from_ref(&running)),
        &policy(TESTS),
        "not run",
        &["tests is still running"],
    );
    let slow = required("tests", Outcome::Inconclusive, "it timed out");
    let mut strict = policy(TESTS);
    strict.exit_gate.threshold = crate::decide::policy::Threshold::Fixed(2);
    check(&claims(&[slow]), &strict, "not run", &["tests gave no result: it timed out"]);
    let unknown = claims(&[required("tests", Outcome::Inconclusive, "")]);
    check(&unknown, &policy(""), "continue", &["tests gave no result"]);
    let needs_exit = Situation { needs_exit: true, ..changed() };
    let silent = stop(Status::Absent, needs_exit, std::slice::from_ref(&running));
    let unsigned = policy(&format!("exit_gate.require_explicit_signal = false\n{TESTS}"));
    check(&silent, &unsigned, "continue", &["tests is still running"]);
    let lint = required("lint", Outcome::Fail, "");
    let both_checks = &["lint failed"];
    check(&claims(&[running.clone(), lint]), &policy(TESTS), "continue", both_checks);
    let mut failed = claims(&[running]);
    failed.signal.problems = names(&["two values"]);
    let (end, _) = ruled(&failed, &policy(TESTS));
    assert_eq!(end, "continue", "its signal contradicts itself");
}

#[test]
fn what_runs_elsewhere_makes_a_green_stop_no_exit() {
    let headless = Situation { presence: Presence::Nobody, ..changed() };
    let green = [tests(Outcome::Pass)];
    let here = stop(Status::Complete, headless.clone(), &green);
    assert_eq!(ruled(&here, &policy(TESTS)).0, "exit");
    let situation = Situation { elsewhere: names(&["deploy", "e2e"]), ..headless };
    let expected_message = "what runs in a hook passed; not run here: deploy, e2e";
    check(
        &stop(Status::Complete, situation.clone(), &green),
        &policy(TESTS),
        "green",
        &[expected_message],
    );
    let red = stop(Status::Complete, situation, &[tests(Outcome::Fail)]);
    check(&red, &policy(TESTS), "continue", &["tests failed: 41 tests"]);
}

#[test]
fn only_a_claim_waits_for_tasks_in_the_background() {
    let with_task = |status| {
        let mut input = stop(status, changed(), &[tests(Outcome::Pass)]);
        input.observed.stop.as_mut().unwrap().background = names(&["npm run dev"]);
        input
    };
    let expected_message = "a background task is still running: npm run dev";
    check(&with_task(Status::Complete), &policy(TESTS), "continue", &[expected_message]);
    check(&with_task(Status::Absent), &policy(TESTS), "green", &["passed: tests (41 tests)"]);
}

#[test]
fn failing_tests_are_those_that_the_report_names_else_the_check() {
    for (detail, expected) in [
        (None, &["tests"][..]),
        (Some(json!({ "tests": { "failed_tests": ["a", "b::c"] } })), &["a", "b::c"]),
        (Some(json!({ "tests": { "failed_tests": ["a", 7, null] } })), &["a"]),
        (Some(json!({ "tests": { "failed_tests": [] } })), &["tests"]),
        (Some(json!({ "tests": { "failed_tests": "a" } })), &["tests"]),
        (Some(json!({ "failed_tests": ["a"] })), &["tests"]),
    ] {
        let record = Evidence { detail, ..tests(Outcome::Fail) };
        assert_eq!(failing_tests(&record), expected, "{:?}", record.detail);
    }
}

#[test]
fn a_stop_that_is_let_go_is_given_no_token_and_counts_no_refusal() {
    let halves = TokenHalves { first: "4fk3".to_owned(), second: "9vp8".to_owned() };
    let mut run = RunState::default();
    run.refusals.blocks = 99;
    let memory = LoopState { breaker: Breaker::default(), hold: None, run };
    let mut input = stop(Status::Absent, changed(), &[tests(Outcome::Pass)]);
    (input.stateful, input.memory, input.next_token) = (true, Some(memory), Some(halves));
    let decision = judge(&input, &policy(TESTS)).decision;
    assert_eq!((decision.verdict, decision.input.next_token), (Verdict::Continue, None));
}
