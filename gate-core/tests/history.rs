//! The ledger replayed: what decisions, steps and acts leave behind follows
//! from them again, and what was edited does not.
#![allow(clippy::expect_used, reason = "a test says what it expects")]

#[path = "history/writer.rs"]
mod writer;

use gate_core::decide::breaker::Act;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;
use gate_core::decide::run_state::RunState;
use gate_core::history::{Divergence, History, Owner, State, kind};
use gate_core::ledger::{Body, Chain, Record};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use writer::{Kind, POLICIES, Step, Writer, known};

fn step() -> impl Strategy<Value = Step> {
    let kinds = [
        Kind::Passes,
        Kind::Claims,
        Kind::Claims,
        Kind::Works,
        Kind::Unsure,
        Kind::Silent,
        Kind::LimitNotice,
        Kind::Denied,
        Kind::Forced,
    ];
    let decides = (select(kinds.to_vec()), 0..2_u8, 0..2_usize, 0..3_u8, any::<bool>());
    prop_oneof![
        8 => decides.prop_map(|(kind, task, policy, tree, fresh)| Step::Decide {
            kind, task, policy, tree, new_run: fresh && tree == 0,
        }),
        1 => (
            0..2_u8,
            select(&[Act::Reset, Act::Trip, Act::Isolate][..]),
            select(&[Owner::Task, Owner::Loop][..]),
        )
            .prop_map(|(task, act, owner)| Step::Operate { task, act, owner }),
        1 => Just(Step::Flag),
        2 => select(&[-40_i64, 1, 31, 61, 600, 800][..]).prop_map(Step::Wait),
        1 => (0..2_u8).prop_map(|task| Step::Crash { task }),
    ]
}

fn ledger(steps: &[Step]) -> Writer {
    written(steps, false)
}

fn written(steps: &[Step], is_old: bool) -> Writer {
    let mut writer = Writer::default();
    writer.is_old = is_old;
    steps.iter().for_each(|step| writer.take(step));
    writer
}

fn replay(records: &[Record]) -> Result<History, Divergence> {
    let mut history = History::default();
    records.iter().try_for_each(|record| history.apply(record, &known))?;
    Ok(history)
}

/// The records with one body edited, and the chain sealed again.
fn edited(records: &[Record], at: usize, edit: impl FnOnce(&mut Value)) -> Vec<Record> {
    let mut records = records.to_vec();
    let mut body = Value::from(records[at].body.clone());
    edit(&mut body);
    records[at].body = Body::new(&body).expect("a body");
    let mut chain = Chain::default();
    for index in 0..records.len() {
        if index > 0 {
            records[index].prev = records[index - 1].hash();
        }
        chain.push(&records[index].clone().seal()).expect("a chain that holds");
    }
    records
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_prefix_replays_to_what_its_last_records_hold(
        steps in vec(step(), 0..40),
        is_old in any::<bool>(),
    ) {
        let writer = written(&steps, is_old);
        let (mut one, mut two) = (History::default(), History::default());
        for record in &writer.records {
            prop_assert_eq!(one.apply(record, &known), Ok(()));
            prop_assert_eq!(two.apply(record, &known), Ok(()));
            prop_assert_eq!(&one, &two);
            if let Some(state) = record.body.get("state") {
                let read: State = serde_json::from_value(state.clone()).expect("a state");
                let (owner, name) = read.key();
                prop_assert_eq!(one.breaker(owner, name), Some(&read.breaker));
                if let Some(name) = state["loop"].as_str().filter(|_| read.run.is_some()) {
                    let run = serde_json::to_value(one.run(name)).expect("plain data");
                    prop_assert_eq!(&run, &state["run"]);
                }
            }
        }
        prop_assert!(one.undecided().is_empty());
    }

    #[test]
    fn a_state_that_was_edited_does_not_follow(steps in vec(step(), 1..25), which in any::<Index>()) {
        let records = ledger(&steps).records;
        let with_state: Vec<_> =
            (0..records.len()).filter(|&at| records[at].body.get("state").is_some()).collect();
        prop_assume!(!with_state.is_empty());
        let at = *which.get(&with_state);
        for edit in edits(&records[at]) {
            let pointer = edit.0;
            let forged = edited(&records, at, |body| {
                *body.pointer_mut(pointer).expect("a place") = edit.1;
            });
            let divergence = replay(&forged).expect_err(pointer);
            prop_assert!(divergence.seq as usize > at, "{}: {}", pointer, divergence);
        }
    }

    #[test]
    fn without_its_policy_a_decision_is_taken_as_it_stands(steps in vec(step(), 1..25)) {
        let records = ledger(&steps).records;
        let mut history = History::default();
        for record in &records {
            prop_assert_eq!(history.apply(record, &|_| None), Ok(()));
        }
        let decided = records.iter().filter(|record| record.body.get("decision").is_some());
        let decided: Vec<_> = decided.map(|record| record.seq).collect();
        prop_assert_eq!(history.undecided(), &decided[..]);
    }
}

/// Each field of the breaker and of the run, as it is not.
fn edits(record: &Record) -> Vec<(&'static str, Value)> {
    let state = record.body.get("state").expect("a state");
    let other = |pointer: &'static str| {
        let (_, path) = pointer.split_once("/state").expect("a pointer into the state");
        let new = match state.pointer(path)? {
            Value::Number(number) => json!(number.as_u64()? + 1),
            Value::Bool(truth) => json!(!truth),
            Value::String(text) if text == "closed" => json!("half_open"),
            Value::String(text) if path == "/breaker/state" && text != "closed" => json!("closed"),
            _ => return None,
        };
        Some((pointer, new))
    };
    let places = [
        "/state/breaker/state",
        "/state/breaker/level",
        "/state/breaker/calm",
        "/state/breaker/resets",
        "/state/iteration",
        "/state/run/iteration",
        "/state/run/ended",
        "/state/run/resets",
        "/state/run/passed_in_a_row",
        "/state/run/counters/no_exit",
        "/state/run/counters/refused",
        "/state/run/spent/tokens",
        "/state/run/last/wall_ms",
    ];
    places.into_iter().filter_map(other).collect()
}

const CLAIM: Step =
    Step::Decide { kind: Kind::Claims, task: 0, policy: 0, tree: 1, new_run: false };

/// Two refused claims trip the first policy; then an hour passes, and a probe
/// passes.
fn story() -> Vec<Record> {
    let pass = Step::Decide { kind: Kind::Passes, task: 0, policy: 0, tree: 1, new_run: false };
    ledger(&[CLAIM, CLAIM, Step::Wait(31), pass]).records
}

#[test]
fn a_breaker_that_opens_and_closes_leaves_these_records() {
    let records = story();
    let kinds: Vec<_> = records.iter().map(|record| record.kind.as_str()).collect();
    let (blocked, step) = (kind::BLOCKED, kind::TRANSITION);
    assert_eq!(kinds, [blocked, blocked, step, step, kind::PASSED, step]);
    assert!(replay(&records).is_ok());
    assert_eq!(POLICIES.len(), 2);
}

/// What is found where the story's record is edited like this.
fn found(at: usize, edit: impl FnOnce(&mut Value)) -> String {
    replay(&edited(&story(), at, edit)).expect_err("an edit").to_string()
}

#[test]
fn a_divergence_names_the_record_and_what_differs() {
    let verdict = found(0, |body| body["decision"]["verdict"] = json!("tripped"));
    assert_eq!(
        verdict,
        "record 1: /decision/verdict is \"tripped\", and \"continue\" was expected"
    );
    let level = found(2, |body| body["state"]["breaker"]["level"] = json!(0));
    assert_eq!(level, "record 3: /state/breaker/level is 0, and 1 was expected");
    let probe = found(3, |body| body["state"]["breaker"]["trip"]["message"] = json!("\u{1b}[2J"));
    assert!(
        probe.starts_with("record 4: /state/breaker/trip/message is \"\\u001b[2J\""),
        "{probe}"
    );
}

#[test]
fn a_record_that_was_taken_out_or_put_in_is_missed() {
    for gone in 0..5 {
        let mut records = story();
        records.remove(gone);
        assert!(replay(&records).is_err(), "without record {}", gone + 1);
        let mut records = story();
        records.insert(gone + 1, records[gone].clone());
        assert!(replay(&records).is_err(), "record {} twice", gone + 1);
    }
}

#[test]
fn a_step_that_is_missing_is_missed_by_whatever_comes_next() {
    for next in [CLAIM, Step::Operate { task: 0, act: Act::Reset, owner: Owner::Loop }] {
        let mut records = ledger(&[CLAIM, CLAIM, next]).records;
        records.remove(2);
        let told = replay(&records).expect_err("a step is missing").to_string();
        assert!(told.contains("the breaker's step trip, which the decision before made"), "{told}");
    }
}

/// What is found where the third decision rests on a forged run.
fn forged(first: Kind, forge: fn(&RunState, &mut RunState)) -> String {
    let decide = |kind| Step::Decide { kind, task: 0, policy: 1, tree: 2, new_run: false };
    let mut writer = ledger(&[decide(Kind::Works), decide(first)]);
    writer.forge = Some(forge);
    writer.take(&decide(Kind::Works));
    replay(&writer.records).expect_err("a forged run").to_string()
}

#[test]
fn a_decision_rests_on_the_run_that_was_left() {
    let told = forged(Kind::Works, |_, run| run.counters.no_exit = 0);
    assert_eq!(told, "record 3: /decision/memory/run/counters/no_exit is 0, and 2 was expected");
}

#[test]
fn a_run_that_ended_does_not_go_on() {
    let told = forged(Kind::Passes, |last, run| *run = last.clone());
    assert_eq!(
        told,
        "record 3: /decision/memory/run is one that has ended, and a new one was expected"
    );
}

#[test]
fn a_record_stands_under_its_own_names() {
    let task = found(0, |body| body["decision"]["task"] = json!("7"));
    assert_eq!(task, "record 1: /state/task is \"\", and \"7\" was expected");
    let mut records = story();
    records[0].kind = kind::PASSED.to_owned();
    let told = replay(&records).expect_err("no exit").to_string();
    assert!(told.starts_with("record 1: type is \"exit_gate_passed\""), "{told}");
}

#[test]
fn a_step_needs_the_decision_that_makes_it() {
    let told = found(3, |body| body["event"] = json!("probe_passed"));
    assert!(told.contains("/event is probe_passed from open to half_open"), "{told}");
    let event = found(3, |body| {
        body["from"] = json!("half_open");
        body["to"] = json!("closed");
        body["event"] = json!("probe_passed");
    });
    assert!(event.contains("a step that no decision makes"), "{event}");
}

#[test]
fn a_step_and_an_act_concern_no_run() {
    let told = found(3, |body| body["state"]["run"] = json!(RunState::default()));
    assert!(told.starts_with("record 4: /state/run is {"), "{told}");
    let told = found(3, |body| body["state"]["owner"] = json!("task"));
    assert_eq!(told, "record 4: /state/loop is \"loop-\", and absent was expected");
}

#[test]
fn even_without_its_policy_a_decision_does_not_close_an_open_breaker() {
    let records = ledger(&[CLAIM, CLAIM, CLAIM]).records;
    let forged = edited(&records, 3, |body| body["state"]["breaker"] = json!({"state": "closed"}));
    let mut history = History::default();
    let told = forged.iter().find_map(|record| history.apply(record, &|_| None).err());
    let told = told.expect("an edit").to_string();
    assert_eq!(told, "record 4: /state/breaker/state is closed, and a step from open was expected");
}

#[test]
fn a_body_that_cannot_be_read_follows_from_nothing() {
    for (at, key) in [(0, "decision"), (0, "state"), (2, "event"), (2, "state"), (3, "from")] {
        let told = found(at, |body| body[key] = json!(7));
        assert!(told.contains(&format!("/{key} is unreadable")), "{told}");
    }
}

#[test]
fn what_one_loop_trips_holds_no_other_loop_and_what_an_operator_holds_holds_all() {
    let other = Step::Decide { kind: Kind::Works, task: 1, policy: 0, tree: 0, new_run: false };
    let writer = ledger(&[CLAIM, CLAIM, other.clone()]);
    let last = Value::from(writer.records.last().expect("a record").body.clone());
    assert_eq!(last["decision"]["verdict"], json!("continue"));
    let isolate = Step::Operate { task: 1, act: Act::Isolate, owner: Owner::Task };
    let writer = ledger(&[isolate, other]);
    let last = Value::from(writer.records.last().expect("a record").body.clone());
    assert_eq!(last["decision"]["verdict"], json!("tripped"));
    assert_eq!(last["state"]["breaker"]["state"], json!("closed"), "its own");
    assert!(replay(&writer.records).is_ok());
}

#[test]
fn a_ledger_of_an_older_gate_is_gone_on_with() {
    let mut writer = written(&[CLAIM, CLAIM], true);
    writer.is_old = false;
    writer.take(&CLAIM);
    let decided = writer.records.iter().rev().find(|record| record.body.get("decision").is_some());
    let last = Value::from(decided.expect("a decision").body.clone());
    assert_eq!(last["decision"]["iteration"], json!(3), "the run goes on");
    assert!(replay(&writer.records).is_ok());
}

#[test]
fn what_rests_on_a_rule_that_is_gone_is_taken_as_it_stands() {
    let asks = |body: &mut Value| {
        body["decision"]["reasons"] =
            json!([{ "code": "untested-change", "check": "tests", "message": "no test needs it" }]);
        body["decision"]["memory"]["run"]["asked_for_test"] = json!(false);
        body["state"]["run"]["asked_for_test"] = json!(true);
    };
    let warns = |body: &mut Value| {
        body["decision"]["warnings"] = json!([{ "code": "change-without-test", "message": "a" }]);
    };
    let looks = |body: &mut Value| {
        let looked = Evidence::new("noticed", Mode::Warn, Outcome::Fail);
        body["decision"]["evidence"] = json!([looked]);
    };
    let edits: [&dyn Fn(&mut Value); 3] = [&asks, &warns, &looks];
    for edit in edits {
        let history = replay(&edited(&story(), 0, edit)).expect("an old record");
        assert_eq!(history.undecided(), [1]);
    }
    // A check of this name that runs a command is none of gate's own.
    let told = found(0, |body| {
        let mut ran = Evidence::new("noticed", Mode::Warn, Outcome::Fail);
        ran.argv = vec!["true".to_owned()];
        body["decision"]["evidence"] = json!([ran]);
    });
    assert!(told.starts_with("record 1: /decision/"), "{told}");
}
