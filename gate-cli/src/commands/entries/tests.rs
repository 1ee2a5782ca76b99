//! Records, page after page.

use gate_core::ledger::{Body, Draft};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::settings::Places;

/// A ledger with so many records, of which every tenth is a decision.
fn ledger(count: u64) -> (TempDir, Memory) {
    let folder = tempfile::tempdir().unwrap();
    let (state, data) = (folder.path().join("state"), folder.path().join("data"));
    let places = Places {
        folder: folder.path().to_owned(),
        state: Some(state),
        data: Some(data),
        ..Places::default()
    };
    let mut memory = Memory::open(&places, Some("shop")).unwrap();
    let mut transaction = memory.begin().unwrap();
    for number in 1..=count {
        let kind = if number % 10 == 0 { "exit_gate_blocked" } else { "run_started" };
        let draft = Draft {
            time: "2026-11-02T10:00:00Z".to_owned(),
            kind: kind.to_owned(),
            run: None,
            actor: "gate".to_owned(),
            body: Body::new(&json!({ "n": number })).unwrap(),
        };
        transaction.append(draft).unwrap();
    }
    transaction.commit().unwrap();
    (folder, memory)
}

#[test]
fn every_record_is_shown_once_whatever_the_pages() {
    let (_folder, mut memory) = ledger(150);
    let mut seen = |from| {
        let mut numbers = Vec::new();
        let next = each(&mut memory, from, |sealed| {
            numbers.push(sealed.record.seq);
            Ok(Flow::Continue(()))
        });
        (numbers, next.unwrap())
    };
    assert_eq!(seen(1), ((1..=150).collect(), Some(151)));
    assert_eq!(seen(87), ((87..=150).collect(), Some(151)), "a page that is just full");
    assert_eq!(seen(150), (vec![150], Some(151)));
    assert_eq!(seen(151), (Vec::new(), Some(151)));
}

#[test]
fn a_reader_that_has_seen_enough_ends_it() {
    let (_folder, mut memory) = ledger(70);
    let mut last = 0;
    let ended = each(&mut memory, 1, |sealed| {
        last = sealed.record.seq;
        Ok(if last == 66 { Flow::Break(()) } else { Flow::Continue(()) })
    });
    assert_eq!((ended.unwrap(), last), (None, 66));
    let failed = each(&mut memory, 1, |_| Err(Failure::internal("output-unwritable", "gone")));
    assert_eq!(failed.unwrap_err().code, "output-unwritable");
}

#[test]
fn the_latest_that_are_wanted_are_counted_from_the_end() {
    let (_folder, mut memory) = ledger(150);
    let all = |_: &Sealed| true;
    let decisions = |sealed: &Sealed| sealed.record.kind == "exit_gate_blocked";
    assert_eq!(start(&mut memory, 1, all), Ok(150));
    assert_eq!(start(&mut memory, 64, all), Ok(87));
    assert_eq!(start(&mut memory, 65, all), Ok(86));
    assert_eq!(start(&mut memory, 151, all), Ok(1));
    assert_eq!(start(&mut memory, 1, decisions), Ok(150));
    assert_eq!(start(&mut memory, 8, decisions), Ok(80));
    assert_eq!(start(&mut memory, 15, decisions), Ok(10));
    assert_eq!(start(&mut memory, 16, decisions), Ok(1));
    let (_empty, mut nothing) = ledger(0);
    assert_eq!(start(&mut nothing, 1, all), Ok(1));
}
