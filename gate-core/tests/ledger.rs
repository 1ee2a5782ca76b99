//! What holds for any ledger: whatever is changed is found, at its record.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use gate_core::ledger::{Body, Chain, Draft, Fault, Hash, Head, Intact, Problem, Record, Sealed};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// Verifies records that are kept, and the same ones exported, which must
/// come to the same.
fn verify(known: Option<Head>, ledger: &[Sealed]) -> Result<Intact, Problem> {
    let chain = || known.into_iter().fold(Chain::new(), Chain::against);
    let (mut kept, mut exported) = (chain(), chain());
    for sealed in ledger {
        let read = exported.push_line(sealed.to_line().as_bytes());
        assert_eq!(kept.push(sealed).map(|()| sealed.clone()), read);
    }
    assert_eq!(kept.end(), exported.end());
    kept.end()
}

/// The number at which a ledger breaks; 0 where it holds.
fn breaks_at(known: Option<Head>, ledger: &[Sealed]) -> u64 {
    verify(known, ledger).map_or_else(|problem| problem.seq, |_| 0)
}

fn number(index: usize) -> u64 {
    u64::try_from(index).expect("a small number")
}

fn text() -> impl Strategy<Value = String> {
    let chars = vec(any::<char>(), 0..12).prop_map(String::from_iter);
    prop_oneof![2 => chars, 1 => select(&["", "a", "\u{e000}", "\u{10000}", "\0\n\"\\/\u{7f}"][..])
        .prop_map(str::to_owned)]
}

fn value() -> impl Strategy<Value = Value> {
    let whole = -9_007_199_254_740_991..=9_007_199_254_740_991_i64;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        whole.prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let items = vec(inner.clone(), 0..4).prop_map(Value::from);
        let members = btree_map(text(), inner, 0..4);
        prop_oneof![items, members.prop_map(|map| Value::Object(map.into_iter().collect()))]
    })
}

fn body() -> impl Strategy<Value = Body> {
    btree_map(text(), value(), 0..4).prop_map(|map| Body::new(&map).expect("exact integers only"))
}

fn draft() -> impl Strategy<Value = Draft> {
    (text(), text(), option::of(text()), text(), body())
        .prop_map(|(time, kind, run, actor, body)| Draft { time, kind, run, actor, body })
}

fn ledger() -> impl Strategy<Value = Vec<Sealed>> {
    vec(draft(), 1..7).prop_map(chained)
}

fn chained(drafts: Vec<Draft>) -> Vec<Sealed> {
    let mut head = Head::EMPTY;
    let follow = |draft| {
        let sealed = head.follow(draft);
        head = sealed.head();
        sealed
    };
    drafts.into_iter().map(follow).collect()
}

fn head(ledger: &[Sealed]) -> Head {
    ledger.last().map_or(Head::EMPTY, Sealed::head)
}

const FIELDS: [&str; 9] = ["v", "seq", "time", "type", "run", "actor", "body", "prev", "hash"];

/// The record with one field that says something else.
fn edited(sealed: &Sealed, field: &str, by: u32) -> Sealed {
    let other = |text: &str| format!("{text}{by}");
    let other_hash = |hash: Hash| Hash::digest(format!("{hash}{by}").as_bytes());
    let Sealed { mut record, mut hash } = sealed.clone();
    match field {
        "v" => record.v += by,
        "seq" if by.is_multiple_of(2) => record.seq = record.seq.saturating_sub(u64::from(by)),
        "seq" => record.seq += u64::from(by),
        "time" => record.time = other(&record.time),
        "type" => record.kind = other(&record.kind),
        "run" => record.run = if by == 1 && record.run.is_some() { None } else { Some(other("")) },
        "actor" => record.actor = other(&record.actor),
        "body" => {
            let before = Value::from(record.body.clone());
            record.body = Body::new(&json!({ "before": before, "by": by })).expect("a body");
        }
        "prev" => record.prev = other_hash(record.prev),
        _ => hash = other_hash(hash),
    }
    Sealed { record, hash }
}

/// The record with a hash of its own that fits.
fn resealed(sealed: &Sealed) -> Sealed {
    sealed.record.clone().seal()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_nobody_touched_holds(ledger in ledger(), at in any::<Index>()) {
        let known = ledger[at.index(ledger.len())].head();
        for known in [None, Some(Head::EMPTY), Some(known), Some(head(&ledger))] {
            prop_assert_eq!(verify(known, &ledger), Ok(Intact { head: head(&ledger), known }));
        }
    }

    #[test]
    fn an_edit_is_found_at_its_record(
        ledger in ledger(), at in any::<Index>(), field in select(&FIELDS[..]), by in 1_u32..9,
    ) {
        let at = at.index(ledger.len());
        let mut bad = ledger.clone();
        bad[at] = edited(&ledger[at], field, by);
        prop_assume!(bad[at] != ledger[at]);
        prop_assert_eq!(breaks_at(None, &bad), number(at + 1));
    }

    #[test]
    fn an_edit_with_a_hash_that_fits_is_found_at_the_next_record_or_by_the_known_head(
        ledger in ledger(), at in any::<Index>(), field in select(&FIELDS[..8]), by in 1_u32..9,
    ) {
        let at = at.index(ledger.len());
        let mut bad = ledger.clone();
        bad[at] = resealed(&edited(&ledger[at], field, by));
        prop_assume!(bad[at] != ledger[at]);
        let alone = ["v", "seq", "prev"].contains(&field);
        let last = at + 1 == ledger.len();
        let found = if alone || last { at + 1 } else { at + 2 };
        prop_assert_eq!(breaks_at(Some(head(&ledger)), &bad), number(found));
        prop_assert_eq!(breaks_at(None, &bad), if last && !alone { 0 } else { number(found) });
    }

    #[test]
    fn a_history_that_was_written_anew_is_found_by_the_known_head(
        ledger in ledger(), at in any::<Index>(), field in select(&["time", "type", "run", "actor", "body"][..]),
    ) {
        let mut bad = ledger.clone();
        let at = at.index(ledger.len());
        bad[at] = edited(&ledger[at], field, 1);
        let redraft = |sealed: &Sealed| {
            let Record { time, kind, run, actor, body, .. } = sealed.record.clone();
            Draft { time, kind, run, actor, body }
        };
        let bad = chained(bad.iter().map(redraft).collect());
        prop_assert_eq!(breaks_at(None, &bad), 0);
        let problem = verify(Some(head(&ledger)), &bad).expect_err("another history");
        prop_assert_eq!(problem, Problem { seq: number(ledger.len()), fault: Fault::Replaced });
    }

    #[test]
    fn a_removal_is_found_where_records_are_missing(
        ledger in ledger(), from in any::<Index>(), many in 1_usize..3,
    ) {
        let from = from.index(ledger.len());
        let to = (from + many).min(ledger.len());
        let mut bad = ledger.clone();
        bad.drain(from..to);
        let at_the_end = to == ledger.len();
        prop_assert_eq!(breaks_at(Some(head(&ledger)), &bad), number(from + 1));
        prop_assert_eq!(breaks_at(None, &bad), if at_the_end { 0 } else { number(from + 1) });
    }

    #[test]
    fn an_insertion_is_found(ledger in ledger(), at in any::<Index>(), draft in draft()) {
        let at = at.index(ledger.len());
        let mut bad = ledger.clone();
        bad.insert(at, head(&ledger[..at]).follow(draft));
        prop_assume!(bad[at] != ledger[at]);
        let problem = verify(None, &bad).expect_err("one too many");
        prop_assert_eq!(problem.seq, number(at + 2), "what fits is believed, the next does not");
        prop_assert_eq!(problem.fault, Fault::Number { found: number(at + 1) });
    }

    #[test]
    fn a_repetition_is_found(ledger in ledger(), from in any::<Index>(), to in any::<Index>()) {
        let (from, to) = (from.index(ledger.len()), to.index(ledger.len() + 1));
        prop_assume!(to != from);
        let mut bad = ledger.clone();
        bad.insert(to, ledger[from].clone());
        prop_assert_eq!(breaks_at(None, &bad), number(to + 1));
    }

    #[test]
    fn another_order_is_found(ledger in ledger(), one in any::<Index>(), other in any::<Index>()) {
        let (one, other) = (one.index(ledger.len()), other.index(ledger.len()));
        prop_assume!(one != other);
        let mut bad = ledger.clone();
        bad.swap(one, other);
        prop_assert_eq!(breaks_at(None, &bad), number(one.min(other) + 1));
    }

    #[test]
    fn any_changed_byte_of_an_export_is_found_at_its_line(
        ledger in ledger(), at in any::<Index>(), byte in any::<Index>(), new in any::<u8>(),
        edit in select(&["replace", "insert", "remove"][..]),
    ) {
        let mut lines: Vec<_> = ledger.iter().map(|sealed| sealed.to_line().into_bytes()).collect();
        let at = at.index(lines.len());
        let line = &mut lines[at];
        let byte = byte.index(line.len());
        match edit {
            "replace" => line[byte] = new,
            "insert" => line.insert(byte, new),
            _ => drop(line.remove(byte)),
        }
        prop_assume!(*line != ledger[at].to_line().into_bytes());
        let mut chain = Chain::new();
        let found = lines.iter().find_map(|line| chain.push_line(line).err());
        prop_assert_eq!(found.map(|problem| problem.seq), Some(number(at + 1)));
    }

    #[test]
    fn an_export_that_was_read_is_written_the_same(ledger in ledger()) {
        for sealed in ledger {
            let line = sealed.to_line();
            prop_assert!(!line.contains('\n'));
            let read = Sealed::from_line(line.as_bytes());
            prop_assert_eq!(read.as_ref().map(Sealed::to_line), Ok(line));
            prop_assert_eq!(read, Ok(sealed));
        }
    }
}
