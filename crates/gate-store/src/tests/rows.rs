//! Rows are read with distrust: they have to agree with their bodies.

use gate_core::exit::WorkPhase;
use gate_core::ledger::{Body, Draft, Head, Sealed};
use serde_json::json;

use super::super::error::StoreError;
use super::super::item::{self, LeaseColumns};
use super::super::row::{proven, read};
use super::super::sql::Cell;
use super::text;
use gate_core::Failure;

/// A decision's record, and the row that holds it.
pub(super) fn sealed() -> Sealed {
    let state = json!({ "task": "42", "loop": "nightly", "iteration": 3 });
    Head::EMPTY.follow(Draft {
        time: "2026-11-02T10:00:00Z".to_owned(),
        kind: "exit_gate_blocked".to_owned(),
        run: Some("nightly#2".to_owned()),
        actor: "gate".to_owned(),
        body: Body::new(&json!({ "decision": { "decision_id": "d-1" }, "state": state })).unwrap(),
    })
}

pub(super) fn cells(sealed: &Sealed) -> Vec<Cell> {
    let Sealed { record, hash } = sealed;
    vec![
        Cell::Integer(1),
        Cell::Integer(i64::from(record.v)),
        text(&record.time),
        text(&record.kind),
        text("nightly#2"),
        text(&record.actor),
        text(&record.body.canonical()),
        text(&record.prev.to_string()),
        text(&hash.to_string()),
        text("42"),
        text("nightly"),
        Cell::Integer(3),
        text("d-1"),
    ]
}

/// The message about a row with another value in one column.
#[track_caller]
fn check(at: usize, cell: Cell, message: &str) {
    let mut cells = cells(&sealed());
    cells[at] = cell;
    assert_eq!(read(cells).unwrap_err().to_string(), message);
}

#[test]
fn a_row_is_read_as_it_was_written() {
    let sealed = sealed();
    assert_eq!(read(cells(&sealed)), Ok(sealed.clone()));
    assert_eq!(proven(sealed.clone()), Ok(sealed.clone()));
    let mut edited = sealed;
    edited.record.actor = "eve".to_owned();
    let error = proven(edited).unwrap_err();
    assert_eq!(error.to_string(), "record 1, column `hash`: it is not the hash of the record");
}

#[test]
fn a_value_of_another_kind_is_named_with_its_column() {
    check(2, Cell::Integer(7), "record 1, column `time`: text is expected, not a number");
    check(4, Cell::Other("bytes"), "record 1, column `run`: text is expected, not bytes");
    check(1, text("1"), "record 1, column `v`: a number is expected, not text");
    check(1, Cell::Other("a float"), "record 1, column `v`: a number is expected, not a float");
    check(1, Cell::Null, "record 1, column `v`: it is empty");
    check(1, Cell::Integer(-1), "record 1, column `v`: -1 is out of range");
    check(5, Cell::Null, "record 1, column `actor`: it is empty");
    check(0, Cell::Integer(-7), "column `seq`: -7 is out of range");
    check(0, Cell::Null, "column `seq`: it is empty");
    check(7, text("c0ffee"), "record 1, column `prev`: it is no hash");
}

#[test]
fn a_column_that_the_body_contradicts_is_damage() {
    let foreign = |column| format!("record 1, column `{column}`: it is not what the body says");
    check(9, text("43"), &foreign("task"));
    check(9, Cell::Null, &foreign("task"));
    check(10, text(""), &foreign("loop"));
    check(11, Cell::Integer(4), &foreign("iteration"));
    check(11, Cell::Integer(-3), &foreign("iteration"));
    check(11, Cell::Null, &foreign("iteration"));
    check(12, text("d-2"), &foreign("decision_id"));
    check(6, text("{}"), &foreign("task"));
    let spaced = sealed().record.body.canonical().replacen(':', ": ", 1);
    check(6, text(&spaced), "record 1, column `body`: it is not spelled canonically");
}

/// A work item's row, with a lease until the first second of 1970.
fn item_cells() -> Vec<Cell> {
    vec![
        text("W-1"),
        text("Mend it"),
        text(""),
        text("BLOCKED"),
        text("DRAFT"),
        Cell::Integer(2),
        Cell::Integer(1),
        Cell::Integer(4),
        text("l-1"),
        text("ann"),
        Cell::Integer(0),
        Cell::Integer(1_000),
        Cell::Integer(0),
        Cell::Integer(1),
    ]
}

#[test]
fn an_item_is_read_with_its_latest_lease() {
    let item = item::read(item_cells()).unwrap();
    assert_eq!((item.work.id.as_str(), item.added, item.seq), ("W-1", 1, 4));
    assert_eq!(item.work.state.blocked_in, Some(WorkPhase::Draft));
    assert_eq!(LeaseColumns::new(&item), LeaseColumns { id: "l-1", renewals: 1, released: 0 });
    let lease = item.lease.clone().unwrap();
    assert_eq!(lease.expires_at.map(|at| at.as_millisecond()), Some(1_000));
    let mut released = item_cells();
    released[12] = Cell::Integer(1);
    let released = item::read(released).unwrap();
    assert_eq!(LeaseColumns::new(&released), LeaseColumns { id: "l-1", renewals: 1, released: 1 });
    assert_eq!(released.lease.unwrap().expires_at, None);
    let mut free = item_cells();
    free[8..12].clone_from_slice(&[Cell::Null, Cell::Null, Cell::Null, Cell::Integer(0)]);
    let free = item::read(free).unwrap();
    assert_eq!(free.lease, None);
    assert_eq!(LeaseColumns::new(&free), LeaseColumns::default());
}

#[test]
fn an_item_that_contradicts_itself_is_damage() {
    for (at, cell, message) in [
        (3, text("DONE"), "column `phase`: `DONE` is no phase"),
        (4, text("draft"), "column `blocked_in`: `draft` is no phase"),
        (5, Cell::Integer(-1), "column `transitions`: -1 is out of range"),
        (8, Cell::Null, "column `lease`: it is empty"),
        (9, Cell::Null, "column `actor`: it is empty"),
        (10, Cell::Null, "column `issued_at`: it is empty"),
        (11, Cell::Integer(i64::MAX), "column `expires_at`: 9223372036854775807 is out of range"),
        (13, Cell::Null, "column `renewals`: it is empty"),
    ] {
        let mut cells = item_cells();
        cells[at] = cell;
        assert_eq!(item::read(cells).unwrap_err().to_string(), message);
    }
}

#[test]
fn damage_and_loss_are_distinguished_from_passing_faults() {
    let place = || "/s/gate.db".to_owned();
    let reason = || "disk full".to_owned();
    for (error, code, exit_code) in [
        (StoreError::Unwritable { path: place(), reason: reason() }, "state-unwritable", 5),
        (StoreError::Exists { path: place() }, "file-exists", 2),
        (StoreError::corrupt("a page"), "state-corrupt", 5),
        (StoreError::Newer { version: 9, newest_known: 4 }, "state-newer", 5),
        (StoreError::Older { place: place(), version: 3, written: 4 }, "state-older", 5),
        (StoreError::Busy { place: place() }, "state-busy", 5),
        (StoreError::Changed { id: "W-1".to_owned() }, "state-busy", 5),
        (StoreError::Unreachable { place: place(), reason: reason() }, "state-unreachable", 5),
        (StoreError::Refused { place: place(), reason: reason() }, "state-refused", 5),
        (StoreError::Uncertain { place: place(), reason: reason() }, "state-uncertain", 5),
        (StoreError::BadAddress { reason: reason() }, "database-address", 2),
        (StoreError::NoPostgres, "database-unsupported", 2),
        (StoreError::Unfit { column: "run", reason: reason() }, "usage", 2),
        (StoreError::Taken { run: "r".to_owned(), iteration: 1 }, "state", 5),
    ] {
        let message = error.to_string();
        let failure = Failure::from(error);
        assert_eq!((failure.code.as_str(), failure.exit_code), (code, exit_code), "{message}");
        assert_eq!(failure.message, message);
    }
}
