//! `gate check` under settings: thresholds, task types, the agent's exit code,
//! checks.

use serde_json::Value;

use crate::support::{DONE, Run, STUCK, UNDONE, each, judge};

/// A signal that nothing else speaks for.
const BARE: &str = "I looked at it.\n\nEXIT_STATUS: COMPLETE\n";

const CHECKED: &str = "[checks.tests]\ncommand = [\"no-such-program\"]\n";

fn decision(run: Run, code: i32) -> Value {
    run.code(code).json()
}

fn reasons(decision: &Value) -> Vec<&str> {
    each(decision, "reasons", "code")
}

fn warnings(decision: &Value) -> Vec<&str> {
    each(decision, "warnings", "code")
}

#[test]
fn without_checks_one_indicator_is_enough_and_none_is_not() {
    let decision = decision(judge("check --json out.log", BARE), 1);
    assert_eq!(reasons(&decision), ["threshold-not-reached"]);
    assert_eq!(decision["indicators"]["threshold"], 1);
    assert!(warnings(&decision).contains(&"no-evidence"));
    judge("check out.log", DONE).code(0).says("threshold 1: no checks configured");
}

#[test]
fn the_threshold_of_a_flag_holds_for_one_call() {
    judge("check --exit-threshold 0 out.log", BARE).code(0);
    judge("check --exit-threshold 1 out.log", DONE).code(0);
    let strict = decision(judge("check --json --exit-threshold 9 out.log", DONE), 1);
    assert_eq!(strict["indicators"]["threshold"], 9);
    assert_eq!(reasons(&strict), ["threshold-not-reached"]);
}

#[test]
fn no_threshold_makes_work_that_remains_done() {
    judge("check --exit-threshold 0 out.log", UNDONE).code(1);
    judge("check --exit-threshold 0 out.log", STUCK).code(4);
    judge("check --exit-threshold 0 out.log", "").code(1);
}

#[test]
fn a_threshold_from_the_environment_holds_and_is_a_warning() {
    for variable in ["CUB_EXIT_THRESHOLD", "GATE_EXIT_THRESHOLD"] {
        let strict = decision(judge("check --json out.log", DONE).env(variable, "5"), 1);
        assert_eq!(strict["indicators"]["threshold"], 5, "{variable}");
        assert!(warnings(&strict).contains(&"threshold-from-environment"), "{variable}");
        let loose = decision(judge("check --json out.log", BARE).env(variable, "0"), 0);
        assert!(warnings(&loose).contains(&"threshold-from-environment"), "{variable}");
        judge("check out.log", DONE).env(variable, "5").code(1).says(variable);
    }
}

#[test]
fn the_higher_source_of_a_threshold_wins() {
    let strict = "[exit_gate]\nindicator_threshold = 9\n";
    judge("check out.log", DONE).settings(strict).code(1);
    judge("check out.log", DONE).settings(strict).env("CUB_EXIT_THRESHOLD", "1").code(0);
    let both = judge("check out.log", DONE).env("CUB_EXIT_THRESHOLD", "9");
    both.env("GATE_EXIT_THRESHOLD", "1").code(0);
    let run = judge("check --json --exit-threshold 1 out.log", DONE);
    let flagged = decision(run.env("GATE_EXIT_THRESHOLD", "9"), 0);
    assert!(!warnings(&flagged).contains(&"threshold-from-environment"));
}

#[test]
fn an_empty_variable_is_not_set() {
    judge("check out.log", DONE).env("GATE_EXIT_THRESHOLD", "").code(0);
}

#[test]
fn a_threshold_that_nothing_can_reach_is_a_warning() {
    let decision = decision(judge("check --json --exit-threshold 1000 out.log", DONE), 1);
    assert!(warnings(&decision).contains(&"threshold-unreachable"));
}

#[test]
fn a_task_type_has_settings_of_its_own() {
    let settings = "[task_types.release]\nexit_gate.indicator_threshold = 9\n\
                    [task_types.research]\nsignal.accept = [\"promise\"]\n";
    judge("check out.log", DONE).settings(settings).code(0);
    judge("check --task-type release out.log", DONE).settings(settings).code(1);
    judge("check --task-type research out.log", DONE).settings(settings).code(1);
    let run = judge("check --task-type reserch out.log", DONE).settings(settings);
    run.code(2).stops().tells("`reserch`").tells("`research`");
}

#[test]
fn an_agent_that_failed_without_a_signal_has_failed() {
    for code in ["1", "137", "-9"] {
        let words = format!("check --json --agent-exit-code {code} out.log");
        let failed = decision(judge(&words, "It stopped here."), 1);
        assert!(reasons(&failed).contains(&"agent-failed"), "{code}");
        assert!(reasons(&failed).contains(&"signal-absent"), "{code}");
    }
    judge("check --agent-exit-code 1 out.log", STUCK).code(4);
}

#[test]
fn an_agent_that_failed_after_its_signal_is_judged_by_the_rest() {
    let done = decision(judge("check --json --agent-exit-code 1 out.log", DONE), 0);
    assert_eq!(warnings(&done), ["no-evidence", "agent-exit-code"]);
    let bare = decision(judge("check --json --agent-exit-code 1 out.log", BARE), 1);
    assert_eq!(reasons(&bare), ["threshold-not-reached"]);
    let well = decision(judge("check --json --agent-exit-code 0 out.log", DONE), 0);
    assert_eq!(warnings(&well), ["no-evidence"]);
}

#[test]
fn a_required_check_that_cannot_run_forbids() {
    let decision = decision(judge("check --json out.log", DONE).settings(CHECKED), 1);
    assert_eq!(reasons(&decision), ["required-check-inconclusive"]);
    assert_eq!(decision["reasons"][0]["check"], "tests");
    assert_eq!(decision["evidence"][0]["outcome"], "inconclusive");
    assert_eq!(decision["evidence"][0]["argv"], serde_json::json!(["no-such-program"]));
    let card = judge("check out.log", DONE).settings(CHECKED).code(1);
    card.says("tests       no result: no-such-program is not installed");
}

#[test]
fn evidence_that_was_not_asked_for_is_not_missed() {
    for (output, code) in [(UNDONE, 1), (STUCK, 4), ("", 1)] {
        let lazy = decision(judge("check --json out.log", output).settings(CHECKED), code);
        assert_eq!(lazy["evidence"], serde_json::json!([]));
        assert!(!reasons(&lazy).contains(&"check-not-run"));
    }
}

#[test]
fn checks_that_the_operator_left_out_are_told() {
    let run = judge("check --json --no-checks out.log", DONE).settings(CHECKED);
    let decision = decision(run, 0);
    assert!(warnings(&decision).contains(&"checks-not-run"));
    assert_eq!(decision["indicators"]["threshold"], 1);
}

#[test]
fn a_signal_that_is_not_accepted_is_a_near_miss() {
    let settings = "[signal]\naccept = [\"promise\"]\n";
    let decision = decision(judge("check --json out.log", DONE).settings(settings), 1);
    assert_eq!(decision["signal"]["status"], "absent");
    assert_eq!(decision["signal"]["near_misses"][0]["line"], 3);
    assert!(decision["next"].as_str().unwrap().contains("line 3"), "{}", decision["next"]);
}

#[test]
fn several_passing_iterations_in_a_row_are_asked_for() {
    let settings = "[exit_gate]\nconsecutive = 2\n";
    let decision = decision(judge("check --json out.log", DONE).settings(settings), 1);
    assert_eq!(reasons(&decision), ["consecutive-not-reached"]);
}
