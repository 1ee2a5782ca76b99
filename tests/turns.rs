//! What `gate check` remembers: iterations, runs, repetitions, what the
//! operator did.

use serde_json::Value;

use crate::support::{DONE, Ran, UNDONE, each, judge};

/// The run and the iteration of a decision.
fn turn(decision: &Value) -> (String, u64) {
    let run = decision["run"].as_str().expect("a run");
    (run.to_owned(), decision["iteration"].as_u64().expect("a number"))
}

/// `check` once more: its decision.
fn again(ran: Ran, words: &str, output: &str, code: i32) -> (Ran, Value) {
    let ran = ran.again(&format!("check --json {words} out.log")).file("out.log", output);
    let ran = ran.code(code);
    let decision = ran.json();
    (ran, decision)
}

/// The records of the ledger.
fn records(ran: Ran) -> Vec<Value> {
    ran.again("ledger export").code(0).json_lines()
}

#[test]
fn iterations_are_numbered_until_the_run_ends_with_an_exit() {
    let mut ran = judge("check --json out.log", UNDONE).code(1);
    let (first, number) = turn(&ran.json());
    assert_eq!(number, 1);
    for (output, code, expected) in [(UNDONE, 1, 2), (DONE, 0, 3)] {
        let decision;
        (ran, decision) = again(ran, "", output, code);
        assert_eq!(turn(&decision), (first.clone(), expected));
        assert_eq!(decision["ledger"]["seq"], expected);
    }
    let (_, decision) = again(ran, "", UNDONE, 1);
    assert_eq!(turn(&decision), (format!("{first}#2"), 1));
    assert_eq!(decision["breaker"]["counters"]["no_exit"], 1);
}

#[test]
fn tasks_and_named_runs_are_numbered_apart() {
    let ran = judge("check --json --task 7 out.log", UNDONE).code(1);
    assert_eq!(ran.json()["iteration"], 1);
    let (ran, other) = again(ran, "--task 8", UNDONE, 1);
    let (ran, named) = again(ran, "--run nightly", UNDONE, 1);
    let (ran, more) = again(ran, "--run nightly --task 7", UNDONE, 1);
    let (_, first) = again(ran, "--task 7", UNDONE, 1);
    let numbers = [&other, &named, &more, &first].map(|it| it["iteration"].as_u64().unwrap());
    assert_eq!(numbers, [1, 1, 2, 2]);
    assert_eq!(named["run"], "nightly");
}

#[test]
fn the_same_iteration_of_a_run_is_decided_once() {
    let ran = judge("check --json --run r --iteration 4 out.log", UNDONE).code(1);
    let first = ran.json();
    assert_eq!((&first["iteration"], &first["repeated"]), (&4.into(), &false.into()));
    let (ran, repeated) = again(ran, "--run r --iteration 4", DONE, 1);
    assert_eq!(repeated["repeated"], true);
    for key in ["decision_id", "verdict", "reasons", "time", "ledger", "usage", "memory"] {
        assert_eq!(repeated[key], first[key], "{key}");
    }
    assert_eq!(records(ran).len(), 1);
}

#[test]
fn an_earlier_number_is_no_step_back() {
    let ran = judge("check --run r --iteration 4 out.log", UNDONE).code(1);
    let (ran, earlier) = again(ran, "--run r --iteration 2", UNDONE, 1);
    assert_eq!((&earlier["iteration"], &earlier["repeated"]), (&2.into(), &false.into()));
    let (ran, next) = again(ran, "--run r", UNDONE, 1);
    assert_eq!(next["iteration"], 5);
    ran.again("ledger verify").code(0);
}

#[test]
fn a_name_that_is_taken_again_after_an_exit_is_a_new_run() {
    let ran = judge("check --json --run r --iteration 1 out.log", DONE).code(0);
    let exit = ran.json();
    // The caller did not hear the answer, and asks again.
    let (ran, repeated) = again(ran, "--run r --iteration 1", DONE, 0);
    assert_eq!((&repeated["repeated"], &repeated["run"]), (&true.into(), &exit["run"]));
    // The next night: another output must not get the old exit.
    let (ran, new) = again(ran, "--run r --iteration 1", UNDONE, 1);
    assert_eq!((&new["repeated"], &new["run"]), (&false.into(), &"r#2".into()));
    let (_, second) = again(ran, "--run r --iteration 2", UNDONE, 1);
    assert_eq!(turn(&second), ("r#2".to_owned(), 2));
}

#[test]
fn a_new_run_begins_when_it_is_asked_for() {
    let ran = judge("check --json --run r out.log", UNDONE).code(1);
    let (ran, second) = again(ran, "--run r --new-run", UNDONE, 1);
    let (_, third) = again(ran, "--run r", UNDONE, 1);
    assert_eq!((turn(&second), turn(&third)), (("r#2".to_owned(), 1), ("r#2".to_owned(), 2)));
    judge("check --run a#2 out.log", UNDONE).code(2).tells("`#`");
}

#[test]
fn a_dry_run_sees_the_same_and_leaves_nothing() {
    let mut ran = judge("check --json --run r out.log", UNDONE).code(1);
    for _ in 0..3 {
        let decision;
        (ran, decision) = again(ran, "--run r --dry-run", DONE, 0);
        assert_eq!((&decision["iteration"], &decision["ledger"]), (&2.into(), &Value::Null));
    }
    assert_eq!(records(ran).len(), 1);
    // On a fresh machine too.
    let ran = judge("check --json --dry-run out.log", UNDONE).code(1);
    assert_eq!(ran.json()["iteration"], 1);
    ran.again("last").code(5).tells("nothing here yet").stops();
}

#[test]
fn without_state_nothing_is_remembered() {
    let ran = judge("check --json --no-state out.log", UNDONE).code(1);
    let decision = ran.json();
    assert_eq!((&decision["stateful"], &decision["memory"]), (&false.into(), &Value::Null));
    assert_eq!((&decision["run"], &decision["iteration"]), (&Value::Null, &Value::Null));
    ran.again("last").code(5);
}

#[test]
fn several_passing_iterations_in_a_row_are_counted() {
    let settings = "[exit_gate]\nconsecutive = 3\n";
    let ran = judge("check --json out.log", DONE).settings(settings).code(1);
    let first = ran.json();
    assert_eq!(each(&first, "reasons", "code"), ["consecutive-not-reached"]);
    assert_eq!(first["breaker"]["counters"]["refused"], 0);
    let (ran, _) = again(ran, "", DONE, 1);
    let (ran, _) = again(ran, "", UNDONE, 1);
    let (ran, _) = again(ran, "", DONE, 1);
    let (ran, fifth) = again(ran, "", DONE, 1);
    assert_eq!(fifth["passed_in_a_row"], 1);
    let (_, sixth) = again(ran, "", DONE, 0);
    assert_eq!((&sixth["verdict"], &sixth["passed_in_a_row"]), (&"exit".into(), &2.into()));
}

#[test]
fn what_the_operator_did_is_recorded_with_who_did_it() {
    let ran = judge("check --force-complete --reason shipped out.log", UNDONE).code(0);
    let words = "check --no-checks --exit-threshold 3 --config other.toml out.log";
    let ran = ran.again(words).file("other.toml", "").code(1);
    let records = records(ran);
    let acts: Vec<_> = records.iter().filter(|record| record["type"] == "operator_act").collect();
    let named: Vec<_> = acts.iter().map(|it| it["body"]["act"].as_str().unwrap()).collect();
    assert_eq!(named, ["force_complete", "no_checks", "exit_threshold", "config"]);
    let values: Vec<_> = acts.iter().map(|act| &act["body"]["value"]).collect();
    assert_eq!(values, [&"shipped".into(), &Value::Null, &"3".into(), &"other.toml".into()]);
    for act in acts {
        assert!(act["body"]["uid"].is_u64() && act["body"]["parent"]["pid"].is_u64(), "{act}");
        assert!(act["actor"].as_str().unwrap().starts_with("operator:"));
    }
    let forced =
        records.iter().find(|record| record["type"] == "exit_gate_passed").expect("an exit");
    assert_eq!(forced["body"]["decision"]["forced"], true);
}

#[test]
fn the_latest_decision_is_shown_and_ends_with_its_code() {
    let ran = judge("check --task 7 out.log", UNDONE).code(1);
    let ran = ran.again("check --task 8 out.log").file("out.log", DONE).code(0);
    let ran = ran.again("last").code(0).says("DONE").says("8-");
    let ran = ran.again("last --task 7 --json").code(1);
    assert_eq!(ran.json()["task"], "7");
    let ran = ran.again("last -q").code(0).stdout("");
    ran.again("last --task 9").code(5).stops();
}

#[test]
fn an_old_exit_is_not_given_for_work_that_has_changed() {
    let settings = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"test ! -e broken\"]\n";
    let words = "check --json --iteration 1 out.log";
    let ran = judge(words, DONE).settings(settings).committed().code(0);
    let ran = ran.again(words).code(0);
    assert_eq!(ran.json()["repeated"], true, "nothing has changed: the caller did not hear it");
    let ran = ran.again(words).setup("touch broken").code(1);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["required-check-failed"]);
    let ran = ran.again("check --iteration 7 out.log").setup("rm broken").code(0);
    let ran = ran.again("breaker isolate --reason maintenance").code(0);
    ran.again("check --iteration 7 out.log").code(3);
}

#[test]
fn a_forced_exit_is_nobody_elses() {
    let force = "check --json --run r --iteration 1 --force-complete --reason shipped out.log";
    let ran = judge("check --run r --iteration 1 out.log", UNDONE).code(1);
    let ran = ran.again(force).code(0);
    let forced = ran.json();
    assert_eq!((&forced["forced"], &forced["iteration"]), (&true.into(), &2.into()));
    let ran = ran.again("check --json --run r --iteration 2 out.log").code(1);
    assert_eq!((&ran.json()["repeated"], &ran.json()["run"]), (&false.into(), &"r#2".into()));
    judge("check --force-complete --reason   out.log", UNDONE).code(2);
}

#[test]
fn a_caller_that_counts_anew_begins_a_new_run() {
    let ran = judge("check --run r --iteration 1 out.log", UNDONE).code(1);
    let ran = ran.again("check --run r --iteration 2 out.log").code(1);
    let (ran, same) = again(ran, "--run r --iteration 1", UNDONE, 1);
    assert_eq!((&same["repeated"], &same["run"]), (&true.into(), &"r".into()));
    let (_, anew) = again(ran, "--run r --iteration 1", DONE, 0);
    assert_eq!((&anew["repeated"], &anew["run"]), (&false.into(), &"r#2".into()));
}
