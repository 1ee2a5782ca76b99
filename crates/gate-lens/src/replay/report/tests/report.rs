//! The report as a whole: what is shown at once, and what stands at its end.

use super::super::Report;
use super::{Grouping, Layout, judged, labelled, layout, place};
use crate::replay::{Judged, ReplayRecord, ReplayVerdict};
use gate_core::Failure;

fn report(json: bool) -> Report {
    Report::new(layout(json, Grouping::File))
}

#[test]
fn a_row_that_is_not_shown_is_counted() {
    let mut report = report(true);
    let row = judged("a.log", ReplayVerdict::Exit);
    assert_eq!(report.row(&row, false).unwrap(), [""; 0]);
    assert!(!report.totals.is_empty());
    let shown = report.row(&row, true).unwrap();
    assert!(shown[0].contains(r#""file":"a.log""#), "{shown:?}");
    assert_eq!(report.end().unwrap(), [""; 0], "values alone, for a program");
}

#[test]
fn a_json_row_is_one_line_without_escapes() {
    let mut report = report(true);
    let row = judged("a\u{1b}[2J\n.log", ReplayVerdict::Blocked);
    let lines = report.row(&row, true).unwrap();
    assert_eq!(lines.len(), 1);
    assert!(!lines[0].contains(['\u{1b}', '\n']), "{}", lines[0]);
    let value: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(value["file"], "a\u{1b}[2J\n.log");
    assert_eq!(value["verdict"], "blocked");
    assert_eq!(report.head(), [""; 0]);
}

#[test]
fn a_hundred_wrong_verdicts_are_explained_and_more_are_counted() {
    let explained = |count: usize| {
        let mut report = report(false);
        for number in 0..count {
            let row = judged(&format!("{number}.log"), ReplayVerdict::Exit);
            report.row(&labelled(row, Judged::FalseExit), false).unwrap();
        }
        let row = judged("unclear.log", ReplayVerdict::Continue);
        report.row(&labelled(row, Judged::Unclear), false).unwrap();
        let lines = report.end().unwrap();
        let explained = lines.iter().filter(|line| line.starts_with("FALSE EXIT  ")).count();
        (explained, lines.last().unwrap().clone())
    };
    let (all, last) = explained(100);
    assert!(all == 100 && last.starts_with("FALSE EXIT  99.log"), "{last}");
    assert_eq!(explained(102), (100, "\nand 2 more: see them with --only wrong".to_owned()));
}

#[test]
fn the_worst_code_of_a_file_that_was_not_read_is_kept() {
    let mut report = report(false);
    let unread = |failure| ReplayRecord { error: Some(failure), ..place("a") };
    for failure in [
        Failure::usage("input-unreadable", "gone"),
        Failure::internal("input-unreadable", "no permission"),
        Failure::usage("input-unreadable", "gone"),
    ] {
        report.row(&unread(failure), true).unwrap();
    }
    assert_eq!(report.totals.code, 5);
}

#[test]
fn a_file_with_many_iterations_has_one_row_at_a_terminal() {
    let log = |verdict, iteration| ReplayRecord { iteration, ..judged("loop.log", verdict) };
    let mut rows: Vec<_> = (1..=9).map(|number| log(ReplayVerdict::Continue, number)).collect();
    rows.extend([log(ReplayVerdict::Exit, 10), judged("b.log", ReplayVerdict::Exit)]);
    let layout = Layout { folded: true, ..layout(false, Grouping::File) };
    let mut report = Report::new(layout);
    let mut lines = Vec::new();
    for row in &rows {
        lines.extend(report.row(row, true).unwrap());
    }
    lines.extend(report.end().unwrap());
    let lines: Vec<_> =
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
    let of_log: Vec<_> = lines.iter().filter(|line| line.contains("loop.log")).collect();
    assert_eq!(of_log.len(), 1, "{lines:?}");
    assert!(of_log[0].ends_with("last of 10 iterations: 9 continue, 1 exit"), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("b.log")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("more than 3 iterations (1 file)")), "{lines:?}");
}
