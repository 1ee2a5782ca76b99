//! The rows of one folder or session together.

use gate_core::scan::Transcript;

use super::super::Report;
use super::{Grouping, judged, labelled, layout, place};
use crate::replay::{Changed, Judged, ReplayRecord, ReplayVerdict};
use gate_core::Failure;

/// A group of JSON: its name, its last verdict, and its numbers.
fn group(line: &str) -> String {
    let group: serde_json::Value = serde_json::from_str(line).unwrap();
    let text = |name: &str| group[name].as_str().unwrap_or("-").to_owned();
    let names = [
        "iterations",
        "exits",
        "blocked",
        "errors",
        "false_exits",
        "missed_exits",
        "changed",
        "bytes",
    ];
    let numbers = names.map(|name| group[name].to_string()).join(",");
    format!("{},{},{numbers}", text("group"), text("last"))
}

/// The lines of a report, without the totals.
fn lines(json: bool, grouping: Grouping, rows: &[ReplayRecord]) -> Vec<String> {
    let mut report = Report::new(layout(json, grouping));
    assert_eq!(report.head(), [""; 0]);
    for row in rows {
        assert_eq!(report.row(row, true).unwrap(), [""; 0], "a group is printed whole");
    }
    let lines = report.end().unwrap();
    lines.into_iter().take_while(|line| !line.is_empty()).collect()
}

fn in_session(session: Option<&str>, row: ReplayRecord) -> ReplayRecord {
    let mut transcript = Transcript::default();
    transcript.session = session.map(str::to_owned);
    ReplayRecord { transcript: Some(transcript), ..row }
}

#[test]
fn a_folder_is_named_as_the_files_are() {
    let rows = ["a.log", "./b.log", "t/u/c.log", "/d.log", "t/u/e.log"]
        .map(|file| judged(file, ReplayVerdict::Continue));
    let groups: Vec<_> =
        lines(true, Grouping::Folder, &rows).iter().map(|line| group(line)).collect();
    let names: Vec<_> = groups.iter().map(|group| group.split(',').next().unwrap()).collect();
    assert_eq!(names, [".", "t/u", "/"]);
}

#[test]
fn a_group_has_the_verdict_over_its_last_iteration_that_was_read() {
    let changed = Some(Changed { from: None, to: None });
    let wrong = |judged_as, row| labelled(row, judged_as);
    let rows = [
        wrong(Judged::FalseExit, judged("t/a", ReplayVerdict::ExitIfChecksPass)),
        wrong(Judged::MissedExit, judged("t/b", ReplayVerdict::Continue)),
        wrong(Judged::Unclear, judged("t/c", ReplayVerdict::Blocked)),
        ReplayRecord { changed, error: Some(Failure::usage("x", "y")), ..place("t/d") },
    ];
    let groups: Vec<_> =
        lines(true, Grouping::Folder, &rows).iter().map(|line| group(line)).collect();
    assert_eq!(groups, ["t,blocked,3,1,1,1,1,1,1,300"]);
}

#[test]
fn a_session_goes_across_files_and_a_file_without_one_is_its_own() {
    let rows = [
        in_session(Some("s"), judged("a", ReplayVerdict::Continue)),
        in_session(None, judged("b", ReplayVerdict::Continue)),
        in_session(Some("s"), judged("c", ReplayVerdict::Exit)),
        place("b"),
        place("d"),
    ];
    let groups: Vec<_> =
        lines(true, Grouping::Session, &rows).iter().map(|line| group(line)).collect();
    let expected =
        ["s,exit,2,1,0,0,0,0,0,200", "b,continue,1,0,0,0,0,0,0,100", "d,-,0,0,0,0,0,0,0,0"];
    assert_eq!(groups, expected);
}

#[test]
fn the_table_has_columns_for_the_options() {
    let rows =
        [judged("t/a", ReplayVerdict::Exit), judged("u\u{1b}[2Ju/a", ReplayVerdict::Blocked)];
    let expected = [
        "LAST     ITERATIONS  EXITS  BLOCKED  ERRORS  GROUP",
        "exit              1      1        0       0  t",
        "blocked           1      0        1       0  uu",
    ];
    assert_eq!(lines(false, Grouping::Folder, &rows), expected);
    let mut report = Report::new(super::super::Layout {
        labels: true,
        compared: true,
        ..layout(false, Grouping::Folder)
    });
    report.row(&rows[0], true).unwrap();
    let expected =
        "LAST  ITERATIONS  EXITS  BLOCKED  ERRORS  FALSE EXITS  MISSED EXITS  CHANGED  GROUP";
    assert_eq!(report.end().unwrap()[0], expected);
}
