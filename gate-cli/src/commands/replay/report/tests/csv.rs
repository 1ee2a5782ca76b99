//! Comma-separated values: every column under its name, and empty where nothing is known.

use gate_core::decide::signal::Status;

use super::super::csv::{head, record, row};
use super::{judged, miss, near, observing, place, reason, signal};
use crate::failure::Failure;
use crate::replay::{Changed, Judged, Label, ReplayRecord, ReplayVerdict};

/// The columns of a row that are not empty, with their names.
fn cells(record: &ReplayRecord) -> Vec<(String, String)> {
    let text = format!("{}\n{}\n", head().unwrap(), row(record).unwrap());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().unwrap().clone();
    let rows: Vec<_> = reader.records().map(|row| row.unwrap()).collect();
    assert_eq!(rows.len(), 1, "{text}");
    let all = names.iter().zip(rows[0].iter()).filter(|(_, value)| !value.is_empty());
    all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[track_caller]
fn check(record: &ReplayRecord, expected: &[(&str, &str)]) {
    let cells = cells(record);
    let cells: Vec<_> = cells.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(cells, expected);
}

#[test]
fn every_column_stands_under_its_name() {
    let mut transcript = observing(&[("ls", 0), ("make", 2)]);
    transcript.format = Some("codex".to_owned());
    transcript.session = Some("s-1".to_owned());
    let row = ReplayRecord {
        iteration: 3,
        first_line: 40,
        signal: Some(near(vec![miss(2, "x")], signal(Status::Complete, 12))),
        reasons: vec![reason("one"), reason("two")],
        next: Some("go, \"on\"".to_owned()),
        transcript: Some(transcript),
        label: Some(Label::ClaimsDone),
        ambiguous: true,
        judged: Some(Judged::FalseExit),
        changed: Some(Changed { from: Some(ReplayVerdict::Tripped), to: None }),
        duration_ms: 7,
        ..judged("t/a, \"b\".log", ReplayVerdict::Exit)
    };
    let expected = [
        ("file", "t/a, \"b\".log"),
        ("iteration", "3"),
        ("first_line", "40"),
        ("verdict", "exit"),
        ("signal", "complete"),
        ("source", "exit_status"),
        ("line", "12"),
        ("score", "1"),
        ("threshold", "2"),
        ("format", "codex"),
        ("session", "s-1"),
        ("reasons", "signal-absent signal-absent"),
        ("near_misses", "1"),
        ("commands", "2"),
        ("label", "claims-done"),
        ("ambiguous", "true"),
        ("judged", "false-exit"),
        ("was", "tripped"),
        ("why", "was tripped; exit_status, line 12; observed: 2 commands"),
        ("next", "go, \"on\""),
        ("bytes", "100"),
        ("duration_ms", "7"),
    ];
    check(&row, &expected);
}

#[test]
fn of_a_file_that_was_not_read_little_is_known() {
    let row = ReplayRecord {
        changed: Some(Changed { from: None, to: None }),
        error: Some(Failure::usage("input-unreadable", "cannot read a.log: gone")),
        ..place("a.log")
    };
    let expected = [
        ("file", "a.log"),
        ("iteration", "1"),
        ("first_line", "1"),
        ("ambiguous", "false"),
        ("was", "none"),
        ("why", "was not there; gone"),
        ("error", "input-unreadable"),
        ("bytes", "0"),
        ("duration_ms", "0"),
    ];
    check(&row, &expected);
}

#[test]
fn a_value_is_quoted_where_it_has_to_be() {
    let joined = |values: [&str; 2]| record(values).unwrap();
    assert_eq!(joined(["a", "b c"]), "a,b c");
    assert_eq!(joined(["a,b", "say \"no\""]), "\"a,b\",\"say \"\"no\"\"\"");
    assert_eq!(joined(["two\nlines", ""]), "\"two\nlines\",");
}
