//! The iterations of a file that has many of them, in one row.

use std::collections::BTreeMap;

use super::why;
use crate::replay::{Judged, ReplayRecord, ReplayVerdict};
use gate_core::text::counted;

/// The most iterations of a file that have rows of their own.
pub(crate) const MAX_ROWS: usize = 3;

/// The rows of one file, up to the next file.
#[derive(Default)]
pub(crate) struct FileRows {
    /// The first rows.
    rows: Vec<ReplayRecord>,
    /// The row that stands for all: the last one, with the worst judgement.
    last: ReplayRecord,
    count: usize,
    verdicts: BTreeMap<&'static str, usize>,
}

impl FileRows {
    pub(crate) fn is_of(&self, file: &str) -> bool {
        self.count > 0 && self.last.file == file
    }

    pub(crate) fn add(&mut self, row: &ReplayRecord) {
        if self.count < MAX_ROWS {
            self.rows.push(row.clone());
        }
        let judged = [self.last.judged, row.judged].into_iter().flatten().max_by_key(badness);
        self.last = ReplayRecord { judged, ..row.clone() };
        self.count += 1;
        *self.verdicts.entry(row.verdict.map_or("unread", ReplayVerdict::name)).or_default() += 1;
    }

    /// The file takes one row.
    pub(crate) fn is_folded(&self) -> bool {
        self.count > MAX_ROWS
    }

    /// The rows to show, each with its reason.
    pub(crate) fn shown(&self) -> Vec<(&ReplayRecord, String)> {
        if !self.is_folded() {
            return self.rows.iter().map(|row| (row, why::short(row))).collect();
        }
        let verdicts = self.verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}"));
        let verdicts = verdicts.collect::<Vec<_>>().join(", ");
        let summary = format!("last of {}: {verdicts}", counted(self.count, "iteration"));
        vec![(&self.last, summary)]
    }
}

fn badness(judged: &Judged) -> u8 {
    match judged {
        Judged::Right => 0,
        Judged::Unclear => 1,
        Judged::MissedExit => 2,
        Judged::FalseExit => 3,
    }
}
