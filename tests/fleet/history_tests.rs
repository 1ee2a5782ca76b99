//! Histories that are right, and one that is wrong in each way.

use super::history::{Answer, Asked, Body, Call, Record, faults, unknown};

fn call(worker: usize, (begin, end): (u64, u64), asked: Asked, answer: Answer) -> Call {
    Call { worker, begin, end, asked, answer }
}

fn claim(worker: usize, times: (u64, u64), lease: &str) -> Call {
    let (item, lease) = ("W-1".to_owned(), lease.to_owned());
    call(worker, times, Asked::Claim, Answer::Lease { item, lease, lasts: 100 })
}

fn submit(worker: usize, times: (u64, u64), lease: &str, answer: Answer) -> Call {
    let (item, lease) = ("W-1".to_owned(), lease.to_owned());
    call(worker, times, Asked::Submit { item, lease }, answer)
}

fn release(worker: usize, times: (u64, u64), lease: &str) -> Call {
    let (item, lease) = ("W-1".to_owned(), lease.to_owned());
    call(worker, times, Asked::Release { item, lease }, Answer::Done)
}

fn recorded(seq: u64) -> Answer {
    Answer::Recorded { seq, decision: None }
}

fn check(iteration: u64, seq: u64, id: &str) -> Call {
    let answer = Answer::Recorded { seq, decision: Some(id.to_owned()) };
    call(0, (0, 9), Asked::Check { run: "r".to_owned(), iteration }, answer)
}

fn step(seq: u64, lease: &str) -> Record {
    Record { seq, body: Body::Step { item: "W-1".to_owned(), lease: lease.to_owned() } }
}

fn decision(seq: u64, id: &str, iteration: u64) -> Record {
    let (id, run) = (id.to_owned(), "r".to_owned());
    Record { seq, body: Body::Decision { id, run, iteration } }
}

/// The only fault begins so.
#[track_caller]
fn wrong(calls: &[Call], ledger: &[Record], expected: &str) {
    let found = faults(calls, ledger);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(expected), "{found:?}");
}

#[test]
fn a_history_that_is_right_has_no_fault() {
    let calls = [
        claim(1, (0, 10), "a"),
        // While it is submitted, somebody else may get the next phase.
        submit(1, (20, 40), "a", recorded(2)),
        claim(2, (25, 35), "b"),
        release(2, (50, 60), "b"),
        claim(1, (55, 58), "c"),
        // It has expired by then, at 155, and its late submit is refused.
        claim(2, (140, 160), "d"),
        submit(1, (170, 180), "c", Answer::Refused),
        check(1, 1, "x"),
    ];
    let ledger = [decision(1, "x", 1), step(2, "a")];
    assert_eq!(faults(&calls, &ledger), Vec::<String>::new());
}

#[test]
fn an_item_that_two_have_is_found() {
    wrong(&[claim(1, (0, 10), "a"), claim(2, (20, 30), "b")], &[], "W-1 was held twice");
    let calls =
        [claim(1, (0, 10), "a"), claim(2, (20, 30), "b"), submit(1, (31, 40), "a", recorded(1))];
    wrong(&calls, &[step(1, "a")], "W-1 was held twice");
    wrong(&[claim(1, (0, 10), "a"), claim(2, (200, 210), "a")], &[], "lease a of W-1: given twice");
}

#[test]
fn what_was_acknowledged_and_is_missing_is_found() {
    let submitted = [submit(1, (20, 40), "a", recorded(1))];
    wrong(&submitted, &[], "an acknowledged submit is missing");
    wrong(&submitted, &[step(1, "b")], "an acknowledged submit is missing");
    let elsewhere = [decision(1, "x", 1), step(2, "a")];
    wrong(&submitted, &elsewhere, "an acknowledged submit is missing");
    wrong(&[check(1, 1, "x")], &[], "an acknowledged decision is missing");
    wrong(&[check(1, 1, "x")], &[decision(1, "y", 1)], "an acknowledged decision is missing");
    wrong(&[check(1, 1, "x")], &[decision(1, "x", 2)], "an acknowledged decision is missing");
}

#[test]
fn what_stands_twice_is_found() {
    let again = |iteration, id| [decision(1, "x", 1), decision(2, id, iteration)];
    wrong(&[], &again(1, "y"), "iteration 1 of r: twice");
    wrong(&[check(1, 1, "x")], &again(2, "x"), "decision x: twice");
    wrong(&[], &[step(1, "a"), step(2, "a")], "step of W-1 by lease a: twice");
    wrong(&[], &[step(1, "a"), step(3, "b")], "record 3 stands where 2 belongs");
}

#[test]
fn a_refusal_that_did_happen_is_found() {
    let refused = submit(1, (0, 10), "a", Answer::Refused);
    wrong(&[refused], &[step(1, "a")], "a refused submit is recorded");
}

#[test]
fn what_nobody_knows_is_counted_and_may_be_there_or_not() {
    let lost = submit(1, (0, 10), "a", Answer::Unknown("no answer".to_owned()));
    for ledger in [vec![], vec![step(1, "a")]] {
        assert_eq!(faults(std::slice::from_ref(&lost), &ledger), Vec::<String>::new());
    }
    assert_eq!(unknown(&[lost, check(1, 1, "x")]).len(), 1);
}

#[test]
fn an_answer_to_another_question_is_found() {
    wrong(&[call(1, (0, 9), Asked::Claim, Answer::Done)], &[], "an answer to another question");
}
