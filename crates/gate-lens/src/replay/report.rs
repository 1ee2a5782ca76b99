//! The output of `gate replay`: rows, groups, totals, and each wrong verdict explained.

mod fold;
mod group;
mod table;
#[cfg(test)]
mod tests;
mod why;

use std::collections::BTreeMap;
use std::time::Duration;

use gate_core::decide::signal::Status;
use gate_core::text::{counted, readable_size};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use self::fold::FileRows;
pub use self::group::Grouping;
use self::group::Groups;
use super::accuracy::{self, Accuracy, By, ReplaySummary};
use crate::replay::{ReplayRecord, ReplayVerdict, SUMMARY};
use gate_card::json_line;
use gate_core::Failure;

/// Wrong verdicts that are explained at most.
const MAX_EXPLAINED: usize = 100;

/// The form of the report.
#[derive(Debug)]
pub struct Layout {
    /// Each row is one JSON object; else the rows are a table for a person.
    pub json: bool,
    /// The rows that are shown together.
    pub grouping: Grouping,
    /// The iterations of a file take one row in the table, where they are many.
    pub folded: bool,
    /// Checks are configured.
    pub checks: bool,
    /// There are labels.
    pub labels: bool,
    /// The property by which verdicts are counted apart, if one was named.
    pub by: Option<By>,
    /// There is an earlier replay to compare with.
    pub compared: bool,
    /// The width of the longest file's name, in characters.
    pub file_width: usize,
    /// The columns of the terminal; none if lines may have any length.
    pub columns: Option<usize>,
}

/// The report, row after row.
pub struct Report {
    /// Its form.
    pub layout: Layout,
    /// The counts so far.
    pub totals: Totals,
    groups: Groups,
    /// The rows of the file that is being read, if files are folded.
    file_rows: FileRows,
    /// Explanations of wrong verdicts.
    wrong: Vec<String>,
}

impl Report {
    /// A report of this form, without rows.
    pub fn new(layout: Layout) -> Self {
        let groups = Groups::new(layout.grouping);
        let file_rows = FileRows::default();
        Self { layout, totals: Totals::default(), groups, file_rows, wrong: Vec::new() }
    }

    /// The lines above the rows.
    pub fn head(&self) -> Vec<String> {
        let is_table = !self.layout.json && !self.is_grouped();
        let head = if is_table { table::head(&self.layout) } else { None };
        head.into_iter().collect()
    }

    /// Counts a row; the lines to print at once.
    pub fn row(&mut self, row: &ReplayRecord, shown: bool) -> Result<Vec<String>, Failure> {
        self.totals.add(row, self.layout.by.unwrap_or_default());
        if row.judged.is_some_and(|judged| judged.is_wrong()) && self.wrong.len() < MAX_EXPLAINED {
            self.wrong.push(why::explained(row));
        }
        if !shown {
            return Ok(Vec::new());
        }
        self.totals.shown += 1;
        if self.is_grouped() {
            self.groups.add(row);
            return Ok(Vec::new());
        }
        if self.layout.json {
            return Ok(vec![json_line(row)?.trim_end().to_owned()]);
        }
        if !self.layout.folded {
            return Ok(vec![table::row(&self.layout, row, &why::short(row))]);
        }
        let lines = if self.file_rows.is_of(&row.file) { Vec::new() } else { self.end_file() };
        self.file_rows.add(row);
        Ok(lines)
    }

    /// The lines of the file whose rows have all come.
    fn end_file(&mut self) -> Vec<String> {
        let file = std::mem::take(&mut self.file_rows);
        self.totals.folded += u64::from(file.is_folded());
        let shown = file.shown().into_iter();
        shown.map(|(row, why)| table::row(&self.layout, row, &why)).collect()
    }

    /// The lines below the rows.
    pub fn end(&mut self) -> Result<Vec<String>, Failure> {
        let mut lines = match (self.is_grouped(), self.layout.json) {
            (false, _) => self.end_file(),
            (true, true) => self.groups.json()?,
            (true, false) => self.groups.table(&self.layout),
        };
        if !self.layout.json {
            lines.extend(self.totals.lines(&self.layout));
            for wrong in std::mem::take(&mut self.wrong) {
                lines.extend([String::new(), wrong]);
            }
            let more = self.totals.wrong().saturating_sub(MAX_EXPLAINED as u64);
            if more > 0 {
                lines.push(format!("\nand {more} more: see them with --only wrong"));
            }
        } else {
            if self.layout.by.is_some() {
                lines.push(json_line(&self.totals.summary(&self.layout))?.trim_end().to_owned());
            }
            if self.totals.interrupted {
                gate_card::diagnose(&format!("gate: {}\n", self.totals.interruption()));
            }
        }
        Ok(lines)
    }

    fn is_grouped(&self) -> bool {
        self.layout.grouping != Grouping::File
    }
}

/// The totals of a replay.
#[derive(Debug, Default)]
pub struct Totals {
    /// The number of files, and of those that were read.
    pub files: usize,
    /// Files that were read to their end.
    pub read: usize,
    /// Files in folders that are no transcripts: by their names, because they
    /// are no text, because they are JSON of no known format.
    pub other: u64,
    /// Files that hold no text.
    pub binary: u64,
    /// Files of JSON in no known format.
    pub unknown: u64,
    /// Labels that judge nothing.
    pub idle: usize,
    /// Rows of the earlier replay that have no counterpart.
    pub gone: usize,
    /// A signal ended the replay early.
    pub interrupted: bool,
    /// The time that reading took.
    pub elapsed: Duration,
    /// The worst exit code of a file that could not be read.
    pub code: u8,
    /// Rows that were shown.
    pub shown: u64,
    /// Files whose iterations have one row.
    folded: u64,
    rows: u64,
    bytes: u64,
    errors: u64,
    changed: u64,
    /// Rows without a signal or what is almost one.
    silent: u64,
    verdicts: BTreeMap<ReplayVerdict, u64>,
    all: Accuracy,
    groups: BTreeMap<String, Accuracy>,
}

impl Totals {
    fn add(&mut self, row: &ReplayRecord, by: By) {
        self.rows += 1;
        self.bytes += row.bytes;
        self.changed += u64::from(row.changed.is_some());
        let is_silent = row
            .signal
            .as_ref()
            .is_some_and(|signal| signal.status == Status::Absent && signal.near_misses.is_empty());
        self.silent += u64::from(is_silent);
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

    /// There is no row at all.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The number of false and missed exits.
    pub fn wrong(&self) -> u64 {
        self.all.wrong()
    }

    fn interruption(&self) -> String {
        format!("interrupted, {} of {}", self.read, counted(self.files, "file"))
    }

    /// The totals, for a person.
    fn lines(&self, layout: &Layout) -> Vec<String> {
        let mut lines = vec![String::new()];
        if self.interrupted {
            lines.push(self.interruption());
        }
        lines.push(self.rows());
        lines.extend(self.verdicts());
        lines.extend(self.folded());
        lines.extend(self.passed_over());
        let goes_on = self.verdicts.keys().all(|verdict| *verdict == ReplayVerdict::Continue);
        if goes_on && self.silent > 0 && self.silent == self.rows - self.errors {
            let audit = "`gate audit` shows what stood behind the claims";
            lines.push(format!("  no transcript has an exit signal: {audit}"));
        }
        if layout.compared {
            lines.push(self.compared());
        }
        lines.extend(self.accuracy(layout));
        lines
    }

    fn rows(&self) -> String {
        let passed = (self.binary + self.unknown) as usize;
        let files = counted(self.read.saturating_sub(passed), "file");
        let rows = counted(self.rows - self.errors, "iteration");
        let hidden = match self.rows.saturating_sub(self.shown) {
            0 => String::new(),
            hidden => format!(" ({hidden} not shown)"),
        };
        let (size, seconds) = (readable_size(self.bytes), self.elapsed.as_secs_f64());
        format!("{rows} in {files}{hidden}, {size} in {seconds:.1} s")
    }

    fn verdicts(&self) -> Option<String> {
        let verdicts =
            self.verdicts.iter().map(|(verdict, count)| format!("{count} {}", verdict.name()));
        let errors = (self.errors > 0).then(|| format!("{} unread", self.errors));
        let parts: Vec<_> = verdicts.chain(errors).collect();
        (!parts.is_empty()).then(|| format!("  {}", parts.join(", ")))
    }

    fn folded(&self) -> Option<String> {
        let (files, most) = (counted(self.folded as usize, "file"), fold::MAX_ROWS);
        let each = "--json shows each iteration, --only some of them";
        (self.folded > 0)
            .then(|| format!("  one row a file with more than {most} iterations ({files}): {each}"))
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
        format!("  {} changed{gone}", counted(self.changed, "verdict"))
    }

    /// Right and wrong verdicts by group, and the shares that they predict for later ones.
    fn accuracy(&self, layout: &Layout) -> Vec<String> {
        let mut lines = match layout.by {
            None if !layout.labels => return Vec::new(),
            by => accuracy::table(by.unwrap_or_default(), &self.groups, &self.all, layout.labels),
        };
        match self.idle {
            0 => {}
            1 => lines.push("1 label judges nothing".to_owned()),
            idle => lines.push(format!("{idle} labels judge nothing")),
        }
        lines
    }

    /// All numbers, for a program.
    fn summary(&self, layout: &Layout) -> ReplaySummary {
        ReplaySummary {
            schema: SUMMARY,
            by: layout.by.unwrap_or_default(),
            groups: self.groups.iter().map(|(name, group)| (name.clone(), group.into())).collect(),
            all: (&self.all).into(),
        }
    }
}

/// The progress of a replay for a person at a terminal, on stderr. Elsewhere nothing is shown.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar for so many bytes.
    pub fn new(bytes: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
        let style = "{wide_bar} {percent}%, {msg}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Moves to so many bytes and files. A file may grow while it is read.
    pub fn show(&self, bytes: u64, files: usize, all: usize) {
        if bytes > self.0.length().unwrap_or_default() {
            self.0.set_length(bytes);
        }
        self.0.set_message(format!("{files} of {all} files"));
        self.0.set_position(bytes);
    }

    /// Prints something while the bar is hidden.
    pub fn hidden<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    /// Takes it away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}
