//! `gate tune`: a proposal from labels or marks, which changes nothing.

use serde_json::{Value, json};

use crate::support::{DONE, Run, UNDONE, gate};

/// An honest end with one indicator.
const CLAIM: &str = "The endpoint is in place and all tests pass.\n\nEXIT_STATUS: COMPLETE\n";

/// An honest end with a promise of the project's own.
const PROMISE: &str =
    "The endpoint is in place and all tests pass.\n\n<promise>SHIPPED</promise>\n";

fn labels(all: &[(&str, &str)]) -> String {
    all.iter()
        .map(|(file, label)| json!({"file": file, "label": label}).to_string() + "\n")
        .collect()
}

fn tune(settings: &str, labelled: &[(&str, &str, &str)]) -> Run {
    let mut run = gate("tune --json --labels l.jsonl").settings(settings);
    for (file, text, _) in labelled {
        run = run.file(file, text);
    }
    let named: Vec<_> = labelled.iter().map(|(file, _, label)| (*file, *label)).collect();
    run.file("l.jsonl", labels(&named))
}

const STRICT: &str = "# ours\n[exit_gate]\nindicator_threshold = 3 # high\n";

#[test]
fn a_threshold_that_misses_exits_is_proposed_lower_and_is_not_written() {
    let all = [("a", CLAIM, "exit"), ("b", UNDONE, "continue")];
    let ran = tune(STRICT, &all).code(0);
    let record = ran.json();
    assert_eq!(
        record["changes"],
        json!([{"key": "exit_gate.indicator_threshold", "from": "3", "to": "1"}])
    );
    assert_eq!(
        (&record["now"]["missed_exits"], &record["after"]["missed_exits"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(
        record["differences"],
        json!([{"name": "a, iteration 1", "label": "exit", "ends": true}])
    );
    assert_eq!(
        (&record["few"], &record["exits"], &record["others"]),
        (&json!(true), &json!(1), &json!(1))
    );
    let diff = record["diff"].as_str().unwrap();
    assert!(diff.contains("-indicator_threshold = 3 # high\n+indicator_threshold = 1"), "{diff}");
    let rows = record["thresholds"].as_array().unwrap().iter();
    let rows: Vec<_> = rows
        .map(|row| json!([row["threshold"], row["in_force"], row["exits"], row["missed_exits"]]))
        .collect();
    assert_eq!(rows, [json!([0, false, 1, 0]), json!([1, false, 1, 0]), json!([2, false, 0, 1])]);
    assert_eq!(ran.file("gate.toml"), STRICT);
    let ran = ran.again("tune --labels l.jsonl").code(0);
    let ran = ran.says("PROPOSAL  exit_gate.indicator_threshold = 1");
    let ran = ran.says("threshold 1: precision 100 %");
    ran.says("fewer than 30 of a kind").says("a, iteration 1: ends then (label exit)");
}

#[test]
fn what_lets_unfinished_work_go_is_not_proposed() {
    let all = [("a", CLAIM, "exit"), ("b", &CLAIM.replace("endpoint", "page"), "continue")];
    let record = tune(STRICT, &all).code(0).json();
    assert_eq!((&record["changes"], &record["diff"]), (&json!([]), &json!("")));
    assert_eq!(record["now"], record["after"]);
}

#[test]
fn a_promise_of_finished_work_alone_is_proposed_as_a_phrase() {
    let all = [("a", PROMISE, "exit"), ("b", PROMISE, "exit"), ("c", UNDONE, "continue")];
    let record = tune("", &all).code(0).json();
    let change =
        json!([{"key": "signal.promise.phrases", "from": "COMPLETE", "to": "COMPLETE, SHIPPED"}]);
    assert_eq!(record["changes"], change);
    assert_eq!(record["after"]["missed_exits"], 0);
    let diff = record["diff"].as_str().unwrap();
    assert!(diff.contains("+[signal.promise]\n+phrases = [\"COMPLETE\", \"SHIPPED\"]"), "{diff}");
    let all = [("a", PROMISE, "exit"), ("b", PROMISE, "continue")];
    assert_eq!(tune("", &all).code(0).json()["changes"], json!([]));
}

#[test]
fn settings_that_are_right_are_left_alone() {
    let ran = tune("", &[("a", DONE, "exit"), ("b", UNDONE, "continue")]).code(0);
    assert_eq!(ran.json()["changes"], json!([]));
    ran.again("tune --labels l.jsonl").code(0).says("NO PROPOSAL  the settings in force judge");
}

#[test]
fn marked_decisions_are_decided_again() {
    let run = gate("check a --json").file("a", CLAIM).settings(STRICT);
    let ran = run.code(1).again("tune --ledger").code(0).says("no labelled transcript was found");
    let ran = ran.again("wrong 1 --reason green").code(0).again("tune --ledger --json").code(0);
    let record: Value = ran.json();
    assert_eq!(record["changes"][0]["to"], "1");
    assert_eq!(record["differences"][0]["ends"], true);
}

#[test]
fn it_needs_labels_or_the_ledger_and_names_a_file_that_is_gone() {
    gate("tune").code(2);
    gate("tune --ledger --labels l").file("l", "").code(2);
    let ran = gate("tune --labels l").file("l", "{\"file\":\"a\",\"label\":\"good\"}\n").code(2);
    ran.tells("l: line 1").tells("expected one of exit");
}

#[test]
fn a_phrase_is_proposed_before_the_double_condition_is_given_up() {
    let bare = "I looked at the endpoint.\n\nEXIT_STATUS: COMPLETE\n";
    let settings = "[exit_gate]\nindicator_threshold = 2\n";
    let shipped = "The endpoint is complete. All tests pass.\n\n<promise>SHIPPED</promise>\n";
    let all = [
        ("a", shipped, "exit"),
        ("b", shipped, "exit"),
        ("c", bare, "exit"),
        ("d", UNDONE, "continue"),
    ];
    let record = tune(settings, &all).code(0).json();
    let changes = record["changes"].as_array().unwrap();
    assert!(changes.iter().any(|change| change["to"] == "COMPLETE, SHIPPED"), "{record}");
    let thresholds =
        changes.iter().filter(|change| change["key"] == "exit_gate.indicator_threshold");
    assert!(thresholds.into_iter().all(|change| change["to"] != "0"), "{record}");
    assert!(
        tune(settings, &[("c", bare, "exit")]).code(0).json()["changes"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}
