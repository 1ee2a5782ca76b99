//! Whatever is changed in a kept ledger is found, in either database: random
//! edits, removals, insertions, swaps and cuts behind gate's back.

use gate_core::ledger::{Chain, Head, Sealed};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::store::laws;
use crate::support::shelf::{Shelf, append, chain, decision, draft, look};

laws! { whatever_is_changed_is_found }

/// How many records there are: decisions, and others between them.
const RECORDS: u64 = 8;

/// Every column, and what is put in its place.
const EDITS: [(&str, &str); 15] = [
    ("seq", "seq + 100"),
    ("v", "v + 1"),
    ("time", "time || '0'"),
    ("type", "type || 's'"),
    ("run", "coalesce(run, '') || 'x'"),
    ("run", "CASE WHEN run IS NULL THEN 'x' END"),
    ("actor", "actor || 'x'"),
    ("body", "replace(body, '}', ',\"z\":1}')"),
    ("body", "body || ' '"),
    ("prev", "replace(replace(replace(prev, '0', 'f'), '1', '0'), '2', '1')"),
    ("hash", "replace(replace(replace(hash, '0', 'f'), '1', '0'), '2', '1')"),
    ("task", "coalesce(task, '') || 'x'"),
    ("loop", "coalesce(loop, '') || 'x'"),
    ("iteration", "coalesce(iteration, 0) + 100"),
    ("decision_id", "coalesce(decision_id, '') || 'x'"),
];

#[derive(Clone, Debug)]
enum Change {
    Edit(u64, (&'static str, &'static str)),
    /// The actor, with a hash of its own that fits.
    Reseal(u64),
    Remove(u64),
    Insert(u64),
    Swap(u64, u64),
    Cut(u64),
}

fn change() -> impl Strategy<Value = Change> {
    let seq = || 1..=RECORDS;
    prop_oneof![
        5 => (seq(), select(&EDITS[..])).prop_map(|(at, edit)| Change::Edit(at, edit)),
        1 => seq().prop_map(Change::Reseal),
        1 => seq().prop_map(Change::Remove),
        1 => seq().prop_map(Change::Insert),
        1 => (seq(), 1..RECORDS).prop_map(|(one, by)| Change::Swap(one, (one + by - 1) % RECORDS + 1)),
        1 => (0..RECORDS).prop_map(Change::Cut),
    ]
}

fn apply(shelf: &Shelf, change: &Change, records: &[Sealed]) {
    match change {
        Change::Edit(at, (column, to)) => {
            shelf.run(&format!("UPDATE ledger SET {column} = {to} WHERE seq = {at}"));
        }
        Change::Reseal(at) => {
            let mut record = records[usize::try_from(at - 1).unwrap()].record.clone();
            record.actor.push('x');
            let (actor, hash) = (&record.actor, record.hash());
            let set = format!("SET actor = '{actor}', hash = '{hash}'");
            shelf.run(&format!("UPDATE ledger {set} WHERE seq = {at}"));
        }
        Change::Remove(at) => {
            shelf.run(&format!("DELETE FROM ledger WHERE seq = {at}"));
        }
        Change::Insert(at) => {
            shelf.run(&format!("UPDATE ledger SET seq = seq + 1000 WHERE seq >= {at}"));
            shelf.run("UPDATE ledger SET seq = seq - 999 WHERE seq > 1000");
            let last = RECORDS + 1;
            let columns = "project, v, time, type, run, actor, body, prev, hash, task";
            let of = if *at == last { 1 } else { at + 1 };
            shelf.run(&format!(
                "INSERT INTO ledger (seq, {columns}) SELECT {at}, {columns} FROM ledger WHERE seq = {of}"
            ));
        }
        Change::Swap(one, other) => {
            for (from, to) in [(*one, 2000), (*other, *one), (2000, *other)] {
                shelf.run(&format!("UPDATE ledger SET seq = {to} WHERE seq = {from}"));
            }
        }
        Change::Cut(at) => {
            shelf.run(&format!("DELETE FROM ledger WHERE seq > {at}"));
        }
    }
}

/// Whether the ledger, read from the store, holds against the known head.
fn holds(shelf: &Shelf, head: Head) -> bool {
    let read = look(&mut shelf.open(), |reading| reading.entries(0, usize::MAX));
    let Ok(records) = read else { return false };
    let mut chain = Chain::new().against(head);
    records.iter().all(|sealed| chain.push(sealed).is_ok()) && chain.end().is_ok()
}

fn whatever_is_changed_is_found(shelf: &Shelf) {
    let mut store = shelf.open();
    for number in 1..=RECORDS / 2 {
        append(&mut store, decision("a", number)).unwrap();
        append(&mut store, draft(None, &json!({ "act": "breaker_reset", "n": number }))).unwrap();
    }
    let records = chain(&mut store);
    let head = records[records.len() - 1].head();
    shelf.run("CREATE TABLE untouched AS SELECT * FROM ledger");
    let mut runner =
        TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(150) });
    let found = runner.run(&change(), |change| {
        prop_assert!(holds(shelf, head), "before {:?}", change);
        apply(shelf, &change, &records);
        prop_assert!(!holds(shelf, head), "{:?} is not found", change);
        shelf.run("DELETE FROM ledger");
        shelf.run("INSERT INTO ledger SELECT * FROM untouched");
        Ok(())
    });
    found.unwrap();
}
