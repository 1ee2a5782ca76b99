//! The laws of every store, whatever the database: each law is a test of both databases.

use std::thread;

use gate_cli::store::StoreError;
use gate_core::ledger::{Draft, Head};
use serde_json::json;

use crate::support::shelf::{
    PROJECT, Shelf, append, append_to, chain, decision, draft, head, look, work,
};

/// Each law as two tests: `sqlite::LAW` and `postgres::LAW`.
macro_rules! laws {
    ($($law:ident),* $(,)?) => {
        mod sqlite {
            $(#[test] fn $law() { super::$law(&crate::support::shelf::Shelf::sqlite()); })*
        }
        mod postgres {
            $(#[test] fn $law() {
                let shelf = crate::support::shelf::Shelf::postgres();
                shelf.iter().for_each(super::$law);
            })*
        }
    };
}
pub(crate) use laws;

laws! {
    nothing_is_there_at_first,
    records_come_back_as_they_went_in,
    the_latest_and_the_named_are_found,
    an_id_may_be_shortened,
    an_iteration_is_decided_once,
    a_policy_is_kept_once,
    what_is_not_committed_is_undone,
    an_error_that_is_passed_over_keeps_nothing,
    two_who_write_see_each_other,
    many_who_write_lose_nothing,
    a_look_is_of_one_moment,
    projects_do_not_see_each_other,
    any_text_stands_in_a_body,
    names_that_cannot_be_kept_are_refused,
    numbers_are_kept_to_their_limit,
}

fn nothing_is_there_at_first(shelf: &Shelf) {
    let mut store = shelf.open_marked();
    look(&mut store, |view| {
        assert_eq!(view.head()?, Head::EMPTY);
        assert_eq!(view.entry(1)?, None);
        assert_eq!(view.entries(0, 10)?, []);
        assert_eq!(view.latest_of_loop("a")?, None);
        assert_eq!(view.latest_of_task("")?, None);
        assert_eq!(view.decision("a", 1)?, None);
        assert_eq!(view.decision_by_id("a")?, None);
        assert_eq!(view.policy("a")?, None);
        Ok(())
    })
    .unwrap();
    work(&mut store, |_| Ok(())).unwrap();
    assert_eq!(head(&mut store).unwrap(), Head::EMPTY);
}

fn records_come_back_as_they_went_in(shelf: &Shelf) {
    let drafts = [decision("a", 1), draft(None, &json!({"to": "open"})), decision("a", 2)];
    let mut store = shelf.open();
    let first = append(&mut store, drafts[0].clone()).unwrap();
    let later = work(&mut store, |transaction| {
        let second = transaction.append(drafts[1].clone())?;
        assert_eq!(transaction.head()?, second.head());
        assert_eq!(transaction.entry(2)?, Some(second.clone()));
        Ok([second, transaction.append(drafts[2].clone())?])
    });
    let records = [&[first][..], &later.unwrap()[..]].concat();
    assert_eq!(records[0], Head::EMPTY.follow(drafts[0].clone()));
    // The next connection reads the same records.
    let mut store = shelf.open();
    assert_eq!(chain(&mut store), records);
    let (page, absent) =
        look(&mut store, |view| Ok((view.entries(2, 1)?, view.entry(4)?))).unwrap();
    assert_eq!((page.as_slice(), absent), (&records[1..2], None));
}

fn the_latest_and_the_named_are_found(shelf: &Shelf) {
    let mut store = shelf.open();
    let untasked = draft(None, &json!({"state": {"task": ""}}));
    let in_loop = draft(None, &json!({"state": {"task": "42", "loop": "a"}}));
    for draft in [decision("a", 1), decision("a", 2), decision("b", 1), untasked, in_loop] {
        append(&mut store, draft).unwrap();
    }
    look(&mut store, |view| {
        let seq =
            |sealed: Option<gate_core::ledger::Sealed>| sealed.map(|sealed| sealed.record.seq);
        assert_eq!(seq(view.latest_of_loop("a")?), Some(2), "a decision alone");
        assert_eq!(seq(view.latest_of_loop("b")?), Some(3));
        assert_eq!(seq(view.latest_of_loop("c")?), None);
        assert_eq!(seq(view.latest_of_task("")?), Some(4));
        assert_eq!(seq(view.latest_of_task("42")?), None, "a loop's");
        assert_eq!(seq(view.latest_step_of_loop("a")?), Some(5), "no decision");
        assert_eq!(seq(view.latest_step_of_loop("b")?), None);
        assert_eq!(seq(view.decision("a", 1)?), Some(1));
        assert_eq!(seq(view.decision("a", 3)?), None);
        assert_eq!(seq(view.decision("a\0", u64::MAX)?), None);
        Ok(())
    })
    .unwrap();
}

fn an_id_may_be_shortened(shelf: &Shelf) {
    let mut store = shelf.open();
    let ids = ["0a1b", "0a1c", "0A1B", "%_é1", "0a"];
    for (id, iteration) in ids.iter().zip(1..) {
        let state = json!({"iteration": iteration});
        let body = json!({"decision": {"decision_id": id}, "state": state});
        append(&mut store, draft(Some("r"), &body)).unwrap();
    }
    let mut seq = |id: &str| {
        let sealed = look(&mut store, |view| view.decision_by_id(id)).unwrap();
        sealed.map(|sealed| sealed.record.seq)
    };
    assert_eq!(["0a1b", "0a1c", "0a"].map(&mut seq), [Some(1), Some(2), Some(5)], "whole");
    assert_eq!(["0A", "%", "%_é"].map(&mut seq), [Some(3), Some(4), Some(4)], "begun");
    assert_eq!(["0", "0a1", "_", "", "\0", "0a1bx"].map(&mut seq), [None; 6]);
}

fn an_iteration_is_decided_once(shelf: &Shelf) {
    let mut store = shelf.open();
    append(&mut store, decision("a", 1)).unwrap();
    let taken = StoreError::Taken { run: "a".to_owned(), iteration: 1 };
    assert_eq!(append(&mut store, decision("a", 1)), Err(taken));
    append(&mut store, decision("a", 2)).unwrap();
    append(&mut store, decision("b", 1)).unwrap();
    assert_eq!(chain(&mut store).len(), 3);
}

fn a_policy_is_kept_once(shelf: &Shelf) {
    let mut store = shelf.open();
    let text = "{\"threshold\":2,\n \"pack\":\"é\"}";
    work(&mut store, |transaction| {
        transaction.keep_policy("d1", text)?;
        transaction.keep_policy("d1", "another text")?;
        transaction.keep_policy("d2", "")
    })
    .unwrap();
    work(&mut store, |transaction| transaction.keep_policy("d1", "a third text")).unwrap();
    let policy = |id| move |view: &mut gate_cli::store::View<'_>| view.policy(id);
    assert_eq!(look(&mut store, policy("d1")).unwrap().as_deref(), Some(text));
    assert_eq!(look(&mut store, policy("d2")).unwrap().as_deref(), Some(""));
    assert_eq!(look(&mut store, policy("d")).unwrap(), None);
}

fn what_is_not_committed_is_undone(shelf: &Shelf) {
    let mut store = shelf.open_marked();
    append(&mut store, decision("a", 1)).unwrap();
    let mut transaction = store.begin(PROJECT).unwrap();
    transaction.append(decision("a", 2)).unwrap();
    transaction.keep_policy("d", "text").unwrap();
    drop(transaction);
    // Others do not wait until this store is used again.
    append(&mut shelf.open_marked(), decision("a", 2)).unwrap();
    assert_eq!(look(&mut store, |view| view.policy("d")).unwrap(), None);
    append(&mut store, decision("a", 3)).unwrap();
    assert_eq!(chain(&mut shelf.open_marked()).len(), 3);
}

fn an_error_that_is_passed_over_keeps_nothing(shelf: &Shelf) {
    let mut store = shelf.open();
    append(&mut store, decision("a", 1)).unwrap();
    let taken = StoreError::Taken { run: "a".to_owned(), iteration: 1 };
    let kept = work(&mut store, |transaction| {
        transaction.append(decision("a", 2))?;
        assert_eq!(transaction.append(decision("a", 1)), Err(taken.clone()));
        Ok(())
    });
    assert_eq!(kept, Err(taken));
    assert_eq!(chain(&mut store).len(), 1);
}

fn two_who_write_see_each_other(shelf: &Shelf) {
    let (mut one, mut two) = (shelf.open_marked(), shelf.open_marked());
    for iteration in (1..10).step_by(2) {
        append(&mut one, decision("a", iteration)).unwrap();
        append(&mut two, decision("a", iteration + 1)).unwrap();
        assert_eq!(head(&mut one).unwrap().seq, iteration + 1);
    }
    assert_eq!(chain(&mut one), chain(&mut two));
}

fn many_who_write_lose_nothing(shelf: &Shelf) {
    let (writers, iterations) = (8, 50);
    thread::scope(|scope| {
        for writer in 0..writers {
            scope.spawn(move || {
                let mut store = shelf.open_marked();
                for iteration in 1..=iterations {
                    append(&mut store, decision(&format!("w{writer}"), iteration)).unwrap();
                }
            });
        }
    });
    let records = chain(&mut shelf.open_marked());
    assert_eq!(records.len() as u64, writers * iterations);
}

fn a_look_is_of_one_moment(shelf: &Shelf) {
    let (mut reader, mut writer) = (shelf.open(), shelf.open());
    append(&mut reader, decision("a", 1)).unwrap();
    look(&mut reader, |view| {
        let records = view.entries(0, 10)?;
        append(&mut writer, decision("a", 2))?;
        assert_eq!(view.entries(0, 10)?, records);
        assert_eq!(view.entry(2)?, None);
        Ok(())
    })
    .unwrap();
    assert_eq!(head(&mut reader).unwrap().seq, 2);
}

fn projects_do_not_see_each_other(shelf: &Shelf) {
    let mut store = shelf.open_marked();
    append(&mut store, decision("a", 1)).unwrap();
    append_to(&mut store, "other", decision("a", 1)).unwrap();
    append_to(&mut store, "other", decision("a", 2)).unwrap();
    assert_eq!(chain(&mut store).len(), 1);
    let mut view = store.view("other").unwrap();
    assert_eq!(view.entries(0, 10).unwrap().len(), 2);
    assert_eq!(view.latest_of_loop("a").unwrap().unwrap().record.seq, 2);
}

fn any_text_stands_in_a_body(shelf: &Shelf) {
    let texts = [
        "\0",
        "a\u{1}\n\t\u{7f}\u{85}b",
        "\u{202e}é e\u{301} 木 🦀 \u{10ffff}",
        "'; DROP",
        "\\u0000 $1 ?1",
    ];
    let large = "é\"\\\n".repeat(200_000);
    let body =
        json!({"texts": texts, "large": large, "\0key": [null, true, -9_007_199_254_740_991_i64]});
    let mut store = shelf.open();
    let appended = append(&mut store, draft(None, &body)).unwrap();
    let with_odd_names = Draft { actor: "木 'or' $1".to_owned(), ..decision("🦀 é", 1) };
    append(&mut store, with_odd_names).unwrap();
    let mut store = shelf.open();
    assert_eq!(chain(&mut store)[0], appended);
    let latest = look(&mut store, |view| view.latest_of_loop("🦀 é")).unwrap();
    assert_eq!(latest.unwrap().record.actor, "木 'or' $1");
}

fn names_that_cannot_be_kept_are_refused(shelf: &Shelf) {
    let mut store = shelf.open();
    let bad = || "a\0b".to_owned();
    let state = |key: &str, value: &str| draft(None, &json!({"state": {key: value}}));
    let drafts = [
        ("time", Draft { time: bad(), ..decision("a", 1) }),
        ("type", Draft { kind: bad(), ..decision("a", 1) }),
        ("run", Draft { run: Some(bad()), ..decision("a", 1) }),
        ("actor", Draft { actor: "a\u{9b}".to_owned(), ..decision("a", 1) }),
        ("task", state("task", "a\nb")),
        ("loop", state("loop", &"x".repeat(1025))),
        ("decision_id", draft(None, &json!({"decision": {"decision_id": "\u{1b}"}}))),
    ];
    for (column, draft) in drafts {
        let refused = append(&mut store, draft);
        let Err(StoreError::Unfit { column: named, .. }) = refused else { panic!("{column}") };
        assert_eq!(named, column);
    }
    let refused = store.begin("a\0").map(drop);
    assert!(matches!(refused, Err(StoreError::Unfit { column: "project", .. })));
    let refused = work(&mut store, |transaction| transaction.keep_policy("d", "\0"));
    assert!(matches!(refused, Err(StoreError::Unfit { column: "text", .. })));
    let long = "é".repeat(512);
    let at_limit = draft(
        Some(&long),
        &json!({"state": {"task": long, "loop": long, "iteration": 1}, "decision": {"decision_id": long}}),
    );
    append_to(&mut store, &long, at_limit).unwrap();
    assert_eq!(chain(&mut store), [], "{PROJECT} holds none of it");
}

fn numbers_are_kept_to_their_limit(shelf: &Shelf) {
    let mut store = shelf.open();
    // The largest integer that every JSON parser reads exactly.
    let largest = (1 << 53) - 1;
    append(&mut store, decision("a", largest)).unwrap();
    let sealed = look(&mut store, |view| view.decision("a", largest)).unwrap();
    assert_eq!(sealed.unwrap().record.seq, 1);
    let absent = look(&mut store, |view| Ok((view.entry(u64::MAX)?, view.entries(u64::MAX, 1)?)));
    assert_eq!(absent.unwrap(), (None, Vec::new()));
}
