//! The totals of all rows.

use std::collections::BTreeMap;
use std::time::Duration;

use gate_core::text::readable_size;

use super::{Layout, counted, seconds};
use crate::replay::{Judged, ReplayRecord, ReplayVerdict};

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
    /// By format: right, false exits, missed exits, unclear ones.
    formats: BTreeMap<String, Tally>,
}

type Tally = BTreeMap<Judged, u64>;

const COLUMNS: [(Judged, &str); 4] = [
    (Judged::Right, "right"),
    (Judged::FalseExit, "false exit"),
    (Judged::MissedExit, "missed exit"),
    (Judged::Unclear, "unclear"),
];

impl Totals {
    pub(super) fn add(&mut self, row: &ReplayRecord) {
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
        if let Some(judged) = row.judged {
            let format = row.transcript.as_ref().and_then(|transcript| transcript.format.clone());
            let tally = self.formats.entry(format.unwrap_or_default()).or_default();
            *tally.entry(judged).or_default() += 1;
        }
    }

    /// True if there is no row at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The number of false and missed exits.
    pub(crate) fn wrong(&self) -> u64 {
        self.judged(Judged::FalseExit) + self.judged(Judged::MissedExit)
    }

    fn judged(&self, judged: Judged) -> u64 {
        self.formats.values().filter_map(|tally| tally.get(&judged)).sum()
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
        lines.push(self.all());
        lines.extend(self.verdicts());
        lines.extend(self.passed_over());
        if layout.compared {
            lines.push(self.compared());
        }
        if layout.labels {
            lines.extend(self.by_format());
        }
        lines
    }

    fn all(&self) -> String {
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

    /// Right and wrong by format.
    fn by_format(&self) -> Vec<String> {
        let names = self.formats.keys().map(|format| name(format).len());
        let width = names.chain([6]).max().unwrap_or_default();
        let titles = COLUMNS.map(|(_, title)| title.to_owned());
        let mut lines = vec![String::new(), label_line("LABELS", width, &titles)];
        for (format, tally) in &self.formats {
            let cells =
                COLUMNS.map(|(judged, _)| tally.get(&judged).copied().unwrap_or(0).to_string());
            lines.push(label_line(name(format), width, &cells));
        }
        let sums = COLUMNS.map(|(judged, _)| self.judged(judged).to_string());
        lines.push(label_line("all", width, &sums));
        if self.idle > 0 {
            lines.push(counted(self.idle as u64, "label judges nothing", "labels judge nothing"));
        }
        lines
    }
}

fn label_line(first: &str, width: usize, cells: &[String; 4]) -> String {
    let [right, wrong, missed, unclear] = cells;
    format!("{first:<width$}  {right:>6}  {wrong:>10}  {missed:>11}  {unclear:>7}")
}

fn name(format: &str) -> &str {
    if format.is_empty() { "unread" } else { format }
}
