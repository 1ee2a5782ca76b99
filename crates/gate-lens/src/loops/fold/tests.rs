//! Loops of one name at several places.

use gate_core::history::kind;
use gate_core::ledger::{Body, Draft, Head, Sealed};
use serde_json::{Value, json};

use super::fold;
use crate::loops::LoopState;

/// The ledger with these records of the run `shop-a`: their types, and their bodies.
fn ledger(records: &[(&str, Value)]) -> Vec<Sealed> {
    let mut head = Head::EMPTY;
    let seal = |(kind, body): &(&str, Value)| {
        let sealed = head.follow(Draft {
            time: "2026-11-02T10:00:00Z".to_owned(),
            kind: (*kind).to_owned(),
            run: Some("shop-a".to_owned()),
            actor: "gate".to_owned(),
            body: Body::new(body).unwrap(),
        });
        head = sealed.head();
        sealed
    };
    records.iter().map(seal).collect()
}

fn start(machine: &str, folder: &str) -> (&'static str, Value) {
    let mark = format!("{machine}{folder}");
    (kind::RUN_STARTED, json!({ "machine": machine, "folder": folder, "lock": mark }))
}

fn end(machine: Option<&str>, folder: &str) -> (&'static str, Value) {
    let mut body = json!({ "folder": folder, "stopped_by": "completed", "message": "" });
    if let Some(machine) = machine {
        body["machine"] = json!(machine);
    }
    (kind::RUN_ENDED, body)
}

/// The states of the loops, and the marks of the locks of those without an end.
#[track_caller]
fn check(records: &[(&str, Value)], expected: &[(LoopState, Option<&str>)]) {
    let loops = fold("shop", &ledger(records)).unwrap();
    let marks = loops.iter().map(|one| one.lock.as_ref().and_then(|lock| lock.mark.as_deref()));
    let states = loops.iter().map(|one| one.state).zip(marks);
    let mut states: Vec<_> = states.collect();
    states.sort_unstable();
    assert_eq!(states, expected);
}

#[test]
fn a_start_or_an_end_at_another_place_is_not_that_of_a_loop() {
    let done = (LoopState::Done, None);
    for (machine, folder) in [("b", "/home/a"), ("a", "/home/b")] {
        let other = format!("{machine}{folder}");
        let open = [(LoopState::Open, Some("a/home/a")), (LoopState::Open, Some(other.as_str()))];
        let both = [start("a", "/home/a"), start(machine, folder)];
        let mut in_order = open;
        in_order.sort_unstable();
        check(&both, &in_order);
        let ended = [both.to_vec(), vec![end(Some(machine), folder)]].concat();
        check(&ended, &[done, open[0]]);
        let both_ended = [ended, vec![end(Some("a"), "/home/a")]].concat();
        check(&both_ended, &[done, done]);
    }
}

#[test]
fn an_end_that_states_no_machine_is_that_of_the_loop_in_its_folder() {
    check(&[start("a", "/home/a"), end(None, "/home/a")], &[(LoopState::Done, None)]);
}

#[test]
fn a_loop_that_is_started_again_in_its_folder_has_died() {
    let mark = Some("a/home/a");
    let twice = [start("a", "/home/a"), start("a", "/home/a")];
    check(&twice, &[(LoopState::Open, mark), (LoopState::Died, None)]);
}
