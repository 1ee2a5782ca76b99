//! The table: each value below its column's name, whatever columns there are.

use super::super::table::{self, head};
use super::super::{Layout, why};
use super::{Grouping, judged, labelled, layout, place};
use crate::replay::{Judged, ReplayRecord, ReplayVerdict};
use gate_core::Failure;

fn row(layout: &Layout, record: &ReplayRecord) -> String {
    table::row(layout, record, &why::short(record))
}

/// A line without colours.
fn plain(line: &str) -> String {
    anstream::adapter::strip_str(line).to_string()
}

/// The values of a row, each with the name of the column that it stands below.
fn cells(layout: &Layout, record: &ReplayRecord) -> Vec<(String, String)> {
    let (head, row) = (plain(&head(layout).unwrap()), plain(&row(layout, record)));
    let names: Vec<_> = head.split_whitespace().collect();
    let mut starts: Vec<_> = names.iter().map(|name| head.find(name).unwrap()).collect();
    // Numbers end with the name of their column.
    for (name, start) in names.iter().zip(&mut starts).filter(|(name, _)| is_number(name)) {
        *start = start.saturating_sub(5 - name.len().min(5));
    }
    let ends = starts.iter().skip(1).copied().chain([row.chars().count()]);
    let cut = |from: usize, to: usize| {
        row.chars().skip(from).take(to.saturating_sub(from)).collect::<String>()
    };
    let values = starts.iter().zip(ends).map(|(from, to)| cut(*from, to).trim().to_owned());
    names.iter().map(|name| (*name).to_owned()).zip(values).collect()
}

fn is_number(name: &str) -> bool {
    matches!(name, "SCORE" | "ITER")
}

#[track_caller]
fn check(layout: &Layout, record: &ReplayRecord, expected: &[(&str, &str)]) {
    let cells = cells(layout, record);
    let cells: Vec<_> = cells.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(cells, expected, "{}", plain(&row(layout, record)));
}

#[test]
fn values_stand_below_their_names() {
    let table = layout(false, Grouping::File);
    let mut exit = judged("a.log", ReplayVerdict::Exit);
    exit.iteration = 112;
    let why = why::short(&exit);
    let values = [
        ("VERDICT", "exit"),
        ("SIGNAL", "absent"),
        ("SCORE", "1/2"),
        ("FORMAT", "text"),
        ("ITER", "112"),
        ("FILE", "a.log"),
        ("WHY", &*why),
    ];
    check(&table, &exit, &values);
    let unread = ReplayRecord { error: Some(Failure::usage("x", "gone")), ..place("é\u{7}.log") };
    let values = [
        ("VERDICT", "unread"),
        ("SIGNAL", "-"),
        ("SCORE", "-"),
        ("FORMAT", "-"),
        ("ITER", "1"),
        ("FILE", "é.log"),
        ("WHY", "gone"),
    ];
    check(&table, &unread, &values);
}

#[test]
fn labels_and_checks_have_room_where_there_are_any() {
    let exit = judged("a.log", ReplayVerdict::Exit);
    let table = Layout { labels: true, checks: true, ..layout(false, Grouping::File) };
    for (judged, word) in [
        (Judged::Right, "right"),
        (Judged::FalseExit, "FALSE EXIT"),
        (Judged::MissedExit, "MISSED"),
        (Judged::Unclear, "unclear"),
    ] {
        let cells = cells(&table, &labelled(exit.clone(), judged));
        assert_eq!(cells[1], ("LABEL".to_owned(), word.to_owned()));
    }
    let assumed = judged("a.log", ReplayVerdict::ExitIfChecksPass);
    let cells = cells(&table, &assumed);
    assert_eq!(cells[0].1, "exit-if-checks-pass");
    assert_eq!(cells[1], ("LABEL".to_owned(), String::new()));
}

#[test]
fn a_wrong_verdict_is_red_whatever_it_says() {
    let table = layout(false, Grouping::File);
    let begins = |record: &ReplayRecord, code: &str| {
        let line = row(&table, record);
        assert!(line.starts_with(code), "{line:?}");
    };
    let exit = judged("a", ReplayVerdict::Exit);
    begins(&exit, "\u{1b}[32mexit");
    begins(&labelled(exit.clone(), Judged::Right), "\u{1b}[32mexit");
    begins(&labelled(exit, Judged::FalseExit), "\u{1b}[31mexit");
    begins(&judged("a", ReplayVerdict::ExitIfChecksPass), "\u{1b}[32mexit-if");
    begins(&judged("a", ReplayVerdict::Continue), "continue");
    let missed = labelled(judged("a", ReplayVerdict::Continue), Judged::MissedExit);
    begins(&missed, "\u{1b}[31mcontinue");
    begins(&judged("a", ReplayVerdict::Tripped), "\u{1b}[33mtripped");
    begins(&place("a"), "\u{1b}[31munread");
}

/// A row of a file with a long name, at a terminal of so many columns.
fn at_columns(columns: usize) -> (Option<String>, String) {
    let file = "runs/2026-11-24-a-rather-long-name/output-000000001.log";
    let table = Layout {
        labels: true,
        columns: Some(columns),
        file_width: file.chars().count(),
        ..layout(false, Grouping::File)
    };
    let record = ReplayRecord { judged: Some(Judged::Right), ..judged(file, ReplayVerdict::Exit) };
    (head(&table).map(|head| plain(&head)), plain(&row(&table, &record)))
}

#[test]
fn no_row_is_longer_than_the_terminal() {
    for columns in [88, 100, 120, 200] {
        let (head, row) = at_columns(columns);
        assert!(head.is_some(), "no table in {columns} columns");
        assert!(row.chars().count() <= columns, "{columns}: {row}");
    }
}

#[test]
fn a_name_that_is_too_long_for_its_column_lacks_its_middle() {
    let (head, row) = at_columns(120);
    let head = head.unwrap();
    assert!(head.contains("FORMAT"), "{head}");
    assert!(row.contains("runs/2026-11") && row.contains("…"), "{row}");
    assert!(row.contains("0001.log "), "{row}");
}

#[test]
fn the_format_goes_first_when_the_terminal_is_narrow() {
    let (head, row) = at_columns(90);
    assert!(!head.unwrap().contains("FORMAT"), "{row}");
}

#[test]
fn a_terminal_that_is_too_narrow_for_a_table_gets_a_list() {
    let (head, row) = at_columns(60);
    assert_eq!(head, None);
    let lines: Vec<_> = row.lines().collect();
    assert_eq!(lines[0], "exit  right  runs/2026-11-24-a-rather-long-name/output-000000001.log");
    assert_eq!(lines[1], "  signal absent, score 1/2, text, iteration 1");
    assert_eq!(lines.len(), 3, "{row}");
}
