//! The totals of all rows.

use std::collections::BTreeMap;
use std::time::Duration;

use gate_core::text::readable_size;

use super::super::accuracy::{Accuracy, By};
use super::summary::{self, ReplaySummary};
use super::{Layout, counted, seconds};
use crate::replay::{ReplayRecord, ReplayVerdict};

/// The totals of a replay.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// The number of files, and of those that were read.
    pub(crate) files: usize,
    pub(crate) read: usize,
    /// Files in folders that are no transcripts: by their names, because they
    /// are no text, because they are JSON of no known format.
    pub(crate) other: u64,
    pub(crate) binary: u64,
    pub(crate) unknown: u64,
    /// Labels that judge nothing.
    pub(crate) idle: usize,
    /// Rows of the earlier replay that have no counterpart.
    pub(crate) gone: usize,
    pub(crate) interrupted: bool,
    pub(crate) elapsed: Duration,
    /// The worst exit code of a file that could not be read.
    pub(crate) code: u8,
    /// Rows that were shown.
    pub(crate) shown: u64,
    rows: u64,
    bytes: u64,
    errors: u64,
    changed: u64,
    verdicts: BTreeMap<ReplayVerdict, u64>,
    all: Accuracy,
    groups: BTreeMap<String, Accuracy>,
}

impl Totals {
    pub(super) fn add(&mut self, row: &ReplayRecord, by: By) {
        self.rows += 1;
        self.bytes += row.bytes;
        self.changed += u64::from(row.changed.is_some());
        if let Some(verdict) = row.verdict {
            *self.verdicts.entry(verdict).or_default() += 1;
        }
        if let Some(error) = &row.error {
            self.errors += 1;
            self.code = self.code.max(error.exit_code);
        }
        if row.verdict.is_some() || row.judged.is_some() {
            self.all.add(row);
            self.groups.entry(by.group(row)).or_default().add(row);
        }
    }

    /// True if there is no row at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The number of false and missed exits.
    pub(crate) fn wrong(&self) -> u64 {
        self.all.wrong()
    }

    pub(super) fn interruption(&self) -> String {
        format!("interrupted, {} of {}", self.read, counted(self.files as u64, "file", "files"))
    }

    /// The totals, for a person.
    pub(super) fn lines(&self, layout: &Layout) -> Vec<String> {
        let mut lines = vec![String::new()];
        if self.interrupted {
            lines.push(self.interruption());
        }
        lines.push(self.rows());
        lines.extend(self.verdicts());
        lines.extend(self.passed_over());
        if layout.compared {
            lines.push(self.compared());
        }
        lines.extend(self.accuracy(layout));
        lines
    }

    fn rows(&self) -> String {
        let passed = (self.binary + self.unknown) as usize;
        let files = counted(self.read.saturating_sub(passed) as u64, "file", "files");
        let rows = counted(self.rows - self.errors, "iteration", "iterations");
        let hidden = match self.rows.saturating_sub(self.shown) {
            0 => String::new(),
            hidden => format!(" ({hidden} not shown)"),
        };
        format!(
            "{rows} in {files}{hidden}, {} in {}",
            readable_size(self.bytes),
            seconds(self.elapsed)
        )
    }

    fn verdicts(&self) -> Option<String> {
        let verdicts =
            self.verdicts.iter().map(|(verdict, count)| format!("{count} {}", verdict.name()));
        let errors = (self.errors > 0).then(|| format!("{} unread", self.errors));
        let parts: Vec<_> = verdicts.chain(errors).collect();
        (!parts.is_empty()).then(|| format!("  {}", parts.join(", ")))
    }

    fn passed_over(&self) -> Option<String> {
        let kinds = [
            (self.other, "by name"),
            (self.binary, "binary"),
            (self.unknown, "JSON of no known format"),
        ];
        let kinds = kinds.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<_> = kinds.map(|(count, kind)| format!("{count} {kind}")).collect();
        (!parts.is_empty())
            .then(|| format!("  passed over: {}; name a file to see it", parts.join(", ")))
    }

    fn compared(&self) -> String {
        let gone = match self.gone {
            0 => String::new(),
            gone => format!(", {gone} not there any more"),
        };
        format!("  {} changed{gone}", counted(self.changed, "verdict", "verdicts"))
    }

    /// Right and wrong verdicts by group, and the shares that they predict for later ones.
    fn accuracy(&self, layout: &Layout) -> Vec<String> {
        let mut lines = match layout.by {
            None if !layout.labels => return Vec::new(),
            by => summary::table(by.unwrap_or_default(), &self.groups, &self.all, layout.labels),
        };
        if self.idle > 0 {
            lines.push(counted(self.idle as u64, "label judges nothing", "labels judge nothing"));
        }
        lines
    }

    /// All numbers, for a program.
    pub(super) fn summary(&self, layout: &Layout) -> ReplaySummary {
        ReplaySummary::new(layout, &self.groups, &self.all)
    }
}
