//! A change behind gate's back, in either database, is noticed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use gate_cli::store::{MarkFile, StoreError};
use gate_core::ledger::{Head, Sealed};
use serde_json::json;

use crate::store::laws;
use crate::support::shelf::{
    PROJECT, Shelf, append, append_to, chain, decision, draft, head, look, names, work,
};

laws! {
    a_row_that_contradicts_itself_is_named,
    a_row_that_its_hash_does_not_fit_carries_no_decision,
    a_step_that_its_hash_does_not_fit_holds_nobody,
    a_row_that_moved_is_noticed,
    tables_of_a_newer_gate_are_left_alone,
    a_missing_table_is_damage,
    a_removed_ledger_is_lost,
    a_cut_tail_is_lost,
    a_replaced_record_is_lost,
    a_ledger_may_be_ahead_of_its_mark,
    a_mark_moves_with_what_is_kept_alone,
    a_mark_that_says_nothing_is_none,
    a_mark_is_private_and_no_link_is_followed,
    a_ledger_begins_anew_where_a_person_asks,
}

/// A ledger with decisions 1 and 2 of the loop `a`, and 3 of another.
fn filled(shelf: &Shelf) -> Vec<Sealed> {
    let mut store = shelf.open_marked();
    for draft in [decision("a", 1), decision("a", 2), decision("b", 1)] {
        append(&mut store, draft).unwrap();
    }
    chain(&mut store)
}

/// The number and the column that an error names.
#[track_caller]
fn named<T: std::fmt::Debug>(result: Result<T, StoreError>) -> (Option<u64>, String) {
    match result {
        Err(StoreError::Corrupt { seq, column, .. }) => (seq, column.unwrap_or_default()),
        other => panic!("{other:?}"),
    }
}

fn a_row_that_contradicts_itself_is_named(shelf: &Shelf) {
    filled(shelf);
    let mut store = shelf.open();
    for (column, expression, named_column) in [
        ("body", "body || ' '", "body"),
        ("body", "replace(body, ',', ', ')", "body"),
        ("body", "'no JSON'", "body"),
        ("body", "'[]'", "body"),
        ("body", "replace(body, '\"iteration\":2', '\"iteration\":2.5')", "body"),
        ("body", "'{}'", "task"),
        ("body", "replace(body, '\"a\"', '\"c\"')", "loop"),
        ("task", "'43'", "task"),
        ("task", "NULL", "task"),
        ("loop", "'b'", "loop"),
        ("loop", "NULL", "loop"),
        ("iteration", "7", "iteration"),
        ("iteration", "-2", "iteration"),
        ("iteration", "NULL", "iteration"),
        ("decision_id", "'a-3'", "decision_id"),
        ("decision_id", "NULL", "decision_id"),
        ("prev", "'genesis'", "prev"),
        ("hash", "upper(hash)", "hash"),
        ("v", "-1", "v"),
    ] {
        let old_values =
            shelf.run(&format!("SELECT CAST({column} AS TEXT) FROM ledger WHERE seq = 2"));
        shelf.tamper(2, column, expression);
        let expected = (Some(2), named_column.to_owned());
        assert_eq!(
            named(look(&mut store, |view| view.entry(2))),
            expected,
            "{column} = {expression}"
        );
        assert_eq!(named(look(&mut store, |view| view.entries(0, 9))), expected, "{column}");
        let is_number = ["iteration", "v"].contains(&column);
        let quoted = format!("'{}'", old_values[0].replace('\'', "''"));
        shelf.tamper(2, column, if is_number { &old_values[0] } else { &quoted });
    }
    assert_eq!(chain(&mut store).len(), 3);
}

fn a_step_that_its_hash_does_not_fit_holds_nobody(shelf: &Shelf) {
    filled(shelf);
    let mut store = shelf.open();
    for state in [json!({"task": "42"}), json!({"task": "42", "loop": "b"})] {
        append(&mut store, draft(None, &json!({ "state": state }))).unwrap();
    }
    for seq in [4, 5] {
        shelf.tamper(seq, "actor", "'person'");
    }
    let expected = |seq| (Some(seq), "hash".to_owned());
    assert_eq!(named(look(&mut store, |view| view.latest_of_task("42"))), expected(4));
    assert_eq!(named(look(&mut store, |view| view.latest_step_of_loop("b"))), expected(5));
    let kind = "exit_gate_blocked";
    assert_eq!(named(look(&mut store, |view| view.entries_of_type(kind, 9))), expected(5));
}

fn a_row_that_its_hash_does_not_fit_carries_no_decision(shelf: &Shelf) {
    let all = filled(shelf);
    let mut store = shelf.open();
    let other_hash = format!("'{}'", all[0].hash);
    for (column, expression) in [
        ("time", "'2026-11-22T10:00:01Z'"),
        ("type", "'exit_gate_passed'"),
        ("run", "'c'"),
        ("run", "NULL"),
        ("actor", "'person'"),
        ("v", "2"),
        ("prev", &other_hash),
        ("hash", &other_hash),
        ("body", "replace(body, 'continue', 'exit')"),
    ] {
        let old_values =
            shelf.run(&format!("SELECT CAST({column} AS TEXT) FROM ledger WHERE seq = 3"));
        shelf.tamper(3, column, expression);
        let expected = (Some(3), "hash".to_owned());
        assert_eq!(named(look(&mut store, |view| view.head())), expected, "{column}");
        assert_eq!(named(look(&mut store, |view| view.latest_of_loop("b"))), expected, "{column}");
        assert_eq!(
            named(look(&mut store, |view| view.decision_by_id("b-1"))),
            expected,
            "{column}"
        );
        assert_eq!(named(append(&mut store, decision("a", 3))), expected, "{column}");
        if column != "run" {
            assert_eq!(named(look(&mut store, |view| view.decision("b", 1))), expected, "{column}");
        }
        // A verification of the chain reads the record as it is.
        assert!(look(&mut store, |view| view.entry(3)).unwrap().is_some(), "{column}");
        let old_value = &old_values[0];
        let is_number = column == "v";
        let restored = if is_number { old_value.clone() } else { format!("'{old_value}'") };
        shelf.tamper(3, column, &restored);
    }
    assert_eq!(chain(&mut store), all);
}

fn a_row_that_moved_is_noticed(shelf: &Shelf) {
    filled(shelf);
    shelf.tamper(3, "seq", "9");
    let mut store = shelf.open_marked();
    assert_eq!(named(head(&mut store)), (Some(9), "hash".to_owned()));
    shelf.tamper(9, "project", "'other'");
    assert!(matches!(head(&mut store), Err(StoreError::Lost { .. })));
}

fn tables_of_a_newer_gate_are_left_alone(shelf: &Shelf) {
    filled(shelf);
    shelf.run("INSERT INTO gate_schema VALUES (99)");
    let mut store = shelf.open();
    let newer = StoreError::Newer { version: 99, newest_known: 4 };
    assert_eq!(head(&mut store), Err(newer.clone()));
    assert_eq!(append(&mut store, decision("a", 3)), Err(newer.clone()));
    assert_eq!(store.renew(PROJECT), Err(newer));
    assert_eq!(shelf.run("SELECT count(*) FROM ledger"), ["3"]);
}

fn a_missing_table_is_damage(shelf: &Shelf) {
    for table in ["policies", "ledger", "gate_schema"] {
        filled(shelf);
        shelf.run(&format!("ALTER TABLE {table} RENAME TO gone"));
        let mut store = shelf.open();
        let kept = work(&mut store, |transaction| {
            transaction.keep_policy("d", "text")?;
            transaction.append(decision("a", 3))
        });
        assert!(matches!(kept, Err(StoreError::Corrupt { .. })), "{table}: {kept:?}");
        let read = look(&mut store, |view| Ok((view.policy("d")?, view.head()?)));
        assert!(matches!(read, Err(StoreError::Corrupt { .. })), "{table}: {read:?}");
        shelf.run(&format!("ALTER TABLE gone RENAME TO {table}"));
        shelf.run("DELETE FROM ledger");
        fs::remove_dir_all(shelf.heads()).unwrap();
    }
}

/// The loss is an error for readers and for writers.
#[track_caller]
fn is_lost(shelf: &Shelf, marked_head: Head, ledger_head: Head) {
    let lost = StoreError::Lost { marked_head, ledger_head };
    let mut store = shelf.open_marked();
    assert_eq!(head(&mut store), Err(lost.clone()));
    assert_eq!(append(&mut store, decision("z", 1)), Err(lost.clone()));
    assert_eq!(head(&mut shelf.open_marked()), Err(lost));
}

fn a_removed_ledger_is_lost(shelf: &Shelf) {
    let all = filled(shelf);
    shelf.run("DELETE FROM ledger");
    is_lost(shelf, all[2].head(), Head::EMPTY);
    shelf.run("DROP VIEW gate_decisions");
    shelf.run("DROP TABLE work; DROP TABLE ledger; DROP TABLE policies; DROP TABLE gate_schema");
    shelf.run("DROP TABLE gate_additions");
    is_lost(shelf, all[2].head(), Head::EMPTY);
}

fn a_cut_tail_is_lost(shelf: &Shelf) {
    let all = filled(shelf);
    shelf.run("DELETE FROM ledger WHERE seq = 3");
    is_lost(shelf, all[2].head(), all[1].head());
    assert_eq!(chain(&mut shelf.open()), all[..2], "without marks the rest is seen");
}

fn a_replaced_record_is_lost(shelf: &Shelf) {
    let all = filled(shelf);
    shelf.run("DELETE FROM ledger WHERE seq = 3");
    let mut unmarked = shelf.open();
    let replacement = append(&mut unmarked, decision("c", 1)).unwrap();
    is_lost(shelf, all[2].head(), replacement.head());
    let last = append(&mut unmarked, decision("c", 2)).unwrap();
    is_lost(shelf, all[2].head(), last.head());
    // The marked hash in the row does not help: it is not the hash of the record.
    shelf.tamper(3, "hash", &format!("'{}'", all[2].hash));
    is_lost(shelf, all[2].head(), last.head());
}

fn a_ledger_may_be_ahead_of_its_mark(shelf: &Shelf) {
    filled(shelf);
    append(&mut shelf.open(), decision("a", 3)).unwrap();
    let mut store = shelf.open_marked();
    assert_eq!(head(&mut store).unwrap().seq, 4);
    append(&mut store, decision("a", 4)).unwrap();
    assert_eq!(chain(&mut store).len(), 5);
}

fn a_mark_moves_with_what_is_kept_alone(shelf: &Shelf) {
    let all = filled(shelf);
    let mut store = shelf.open_marked();
    let marked_head = |place: &str| MarkFile::new(&shelf.heads(), place, PROJECT).head();
    assert_eq!(marked_head(store.place()), Some(all[2].head()));
    let mut transaction = store.begin(PROJECT).unwrap();
    transaction.append(decision("a", 3)).unwrap();
    drop(transaction);
    assert_eq!(marked_head(store.place()), Some(all[2].head()));
    let next = append(&mut store, decision("a", 3)).unwrap();
    assert_eq!(marked_head(store.place()), Some(next.head()));
    assert_eq!(
        (marked_head("elsewhere"), MarkFile::new(&shelf.heads(), store.place(), "other").head()),
        (None, None)
    );
}

fn a_mark_that_says_nothing_is_none(shelf: &Shelf) {
    filled(shelf);
    let mark = shelf.heads().join(&names(&shelf.heads())[0]);
    let content = fs::read(&mark).unwrap();
    shelf.run("DELETE FROM ledger WHERE seq = 3");
    let torn = [&content[..19], b"9", &content[20..]].concat();
    for text in [&torn, &b""[..], b"\0\0\0\0", b"3 short\n", &content[..40], &[0xff; 103]] {
        fs::write(&mark, text).unwrap();
        assert_eq!(head(&mut shelf.open_marked()).unwrap().seq, 2);
    }
    // The next record is marked again, over any content.
    fs::write(&mark, [b'x'; 200]).unwrap();
    append(&mut shelf.open_marked(), decision("a", 3)).unwrap();
    shelf.run("DELETE FROM ledger WHERE seq = 3");
    assert!(matches!(head(&mut shelf.open_marked()), Err(StoreError::Lost { .. })));
}

fn a_mark_is_private_and_no_link_is_followed(shelf: &Shelf) {
    filled(shelf);
    let mark = shelf.heads().join(&names(&shelf.heads())[0]);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&shelf.heads()), mode(&mark)), (0o700, 0o600));
    let victim = shelf.heads().join("victim");
    fs::write(&victim, "untouched").unwrap();
    fs::remove_file(&mark).unwrap();
    symlink(&victim, &mark).unwrap();
    append(&mut shelf.open_marked(), decision("a", 3)).unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
    assert_eq!(head(&mut shelf.open_marked()).unwrap().seq, 4);
}

fn a_ledger_begins_anew_where_a_person_asks(shelf: &Shelf) {
    filled(shelf);
    shelf.run("DELETE FROM ledger WHERE seq = 3");
    let mut store = shelf.open_marked();
    append_to(&mut store, "other", decision("a", 1)).unwrap();
    assert!(matches!(head(&mut store), Err(StoreError::Lost { .. })));
    store.renew(PROJECT).unwrap();
    assert_eq!(head(&mut store).unwrap(), Head::EMPTY);
    let first = append(&mut store, draft(None, &json!({"act": "breaker_reset"}))).unwrap();
    append(&mut store, decision("a", 1)).unwrap();
    assert_eq!((first.record.seq, chain(&mut store).len()), (1, 2));
    // The records that were set aside are still there, and so are those of other projects.
    let kept =
        shelf.run("SELECT seq FROM ledger WHERE project LIKE 'shop (set aside: %' ORDER BY seq");
    assert_eq!(kept, ["1", "2"]);
    assert_eq!(store.view("other").unwrap().head().unwrap().seq, 1);
}
