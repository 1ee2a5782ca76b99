//! The totals below the rows.

use std::time::Duration;

use super::super::super::accuracy::By;
use super::super::{Layout, Totals};
use super::{Grouping, judged, labelled, layout, place};
use crate::replay::{Changed, Judged, ReplayRecord, ReplayVerdict};
use gate_core::Failure;

fn table() -> Layout {
    layout(false, Grouping::File)
}

/// The totals of these rows, all shown, one a file.
fn totals(rows: &[ReplayRecord]) -> Totals {
    let mut totals = Totals::default();
    rows.iter().for_each(|row| totals.add(row, By::Agent));
    (totals.files, totals.read) = (rows.len(), rows.len());
    totals.shown = rows.len() as u64;
    totals.elapsed = Duration::from_millis(1_260);
    totals
}

#[track_caller]
fn check(totals: &Totals, layout: &Layout, expected: &[&str]) {
    assert_eq!(totals.lines(layout), [&[""], expected].concat());
}

fn unread() -> ReplayRecord {
    ReplayRecord { error: Some(Failure::usage("x", "gone")), ..place("x") }
}

#[test]
fn one_is_shown_in_the_singular() {
    let exit = judged("a", ReplayVerdict::Exit);
    check(
        &totals(std::slice::from_ref(&exit)),
        &table(),
        &["1 iteration in 1 file, 100 bytes in 1.3 s", "  1 exit"],
    );
    let rows = [exit, judged("b", ReplayVerdict::Blocked), unread()];
    check(
        &totals(&rows),
        &table(),
        &["2 iterations in 3 files, 200 bytes in 1.3 s", "  1 exit, 1 blocked, 1 unread"],
    );
    check(&totals(&[]), &table(), &["0 iterations in 0 files, 0 bytes in 1.3 s"]);
}

#[test]
fn what_was_left_out_is_shown() {
    let rows = [judged("a", ReplayVerdict::Continue), judged("b", ReplayVerdict::Continue)];
    let mut totals = totals(&rows);
    (totals.files, totals.read, totals.shown, totals.interrupted) = (9, 5, 1, true);
    (totals.other, totals.binary, totals.unknown) = (4, 2, 1);
    check(
        &totals,
        &table(),
        &[
            "interrupted, 5 of 9 files",
            "2 iterations in 2 files (1 not shown), 200 bytes in 1.3 s",
            "  2 continue",
            "  passed over: 4 by name, 2 binary, 1 JSON of no known format; name a file to see it",
            "  no transcript has an exit signal: `gate audit` shows what stood behind the claims",
        ],
    );
    (totals.interrupted, totals.other, totals.unknown) = (false, 0, 0);
    let lines = totals.lines(&table());
    assert_eq!(lines[lines.len() - 2], "  passed over: 2 binary; name a file to see it");
}

#[test]
fn changed_verdicts_are_counted_where_there_is_an_earlier_replay() {
    let changed = Some(Changed { from: None, to: Some(ReplayVerdict::Exit) });
    let rows = [ReplayRecord { changed, ..judged("a", ReplayVerdict::Exit) }];
    let compared = Layout { compared: true, ..table() };
    let mut totals = totals(&rows);
    let last = |totals: &Totals| totals.lines(&compared).pop().unwrap();
    assert_eq!(last(&totals), "  1 verdict changed");
    totals.gone = 3;
    assert_eq!(last(&totals), "  1 verdict changed, 3 not there any more");
    assert_eq!(totals.lines(&table()).pop().unwrap(), "  1 exit");
}

#[test]
fn right_and_wrong_are_counted_by_format() {
    let exit = || judged("a", ReplayVerdict::Exit);
    let rows = [
        labelled(exit(), Judged::Right),
        labelled(exit(), Judged::FalseExit),
        labelled(exit(), Judged::FalseExit),
        labelled(exit(), Judged::Unclear),
        labelled(unread(), Judged::MissedExit),
        exit(),
    ];
    let labels = Layout { labels: true, ..table() };
    let mut totals = totals(&rows);
    totals.idle = 1;
    let lines = totals.lines(&labels);
    let expected = [
        "",
        "AGENT   iterations  exits  right  false exit  missed exit  unclear",
        "text             5      5      1           2            0        1",
        "unread           1      0      0           0            1        0",
        "all              6      5      1           2            1        1",
        "precision 33 % (1 of 3; 6–79 %): exits that are right",
        "recall    50 % (1 of 2; 9–91 %): finished work that is let go",
        "1 label judges nothing",
    ];
    assert_eq!(lines[lines.len() - expected.len()..], expected);
    assert_eq!(totals.wrong(), 3);
    totals.idle = 2;
    assert_eq!(totals.lines(&labels).pop().unwrap(), "2 labels judge nothing");
}
