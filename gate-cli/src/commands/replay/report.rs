//! The output of `gate replay`: rows, groups, totals, and each wrong verdict explained.

mod bar;
mod group;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod totals;
mod why;

use std::time::Duration;

pub(crate) use self::bar::Bar;
pub(crate) use self::group::Grouping;
use self::group::Groups;
pub(crate) use self::summary::{Measured, SUMMARY};
pub(crate) use self::totals::Totals;
use super::accuracy::By;
use crate::failure::Failure;
pub(crate) use crate::render::fit::stdout_columns;
use crate::render::json_line;
use crate::render::text::plain;
use crate::replay::ReplayRecord;

/// Wrong verdicts that are explained at most.
const MAX_EXPLAINED: usize = 100;

/// The form of the report.
#[derive(Debug)]
pub(crate) struct Layout {
    /// True if each row is one JSON object; false for the table of a person.
    pub(crate) json: bool,
    pub(crate) grouping: Grouping,
    /// True if checks are configured.
    pub(crate) checks: bool,
    /// True if there are labels.
    pub(crate) labels: bool,
    /// The property by which verdicts are counted apart, if one was named.
    pub(crate) by: Option<By>,
    /// True if there is an earlier replay to compare with.
    pub(crate) compared: bool,
    /// The width of the longest file's name, in characters.
    pub(crate) file_width: usize,
    /// The columns of the terminal; none if lines may have any length.
    pub(crate) columns: Option<usize>,
}

/// The report, row after row.
pub(crate) struct Report {
    pub(crate) layout: Layout,
    pub(crate) totals: Totals,
    groups: Groups,
    /// Explanations of wrong verdicts.
    wrong: Vec<String>,
}

impl Report {
    pub(crate) fn new(layout: Layout) -> Self {
        let groups = Groups::new(layout.grouping);
        Self { layout, totals: Totals::default(), groups, wrong: Vec::new() }
    }

    /// The lines above the rows.
    pub(crate) fn head(&self) -> Vec<String> {
        let is_table = !self.layout.json && !self.is_grouped();
        let head = if is_table { table::head(&self.layout) } else { None };
        head.into_iter().collect()
    }

    /// Counts a row; the lines to print at once.
    pub(crate) fn row(&mut self, row: &ReplayRecord, shown: bool) -> Result<Vec<String>, Failure> {
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
        Ok(vec![match self.layout.json {
            true => json_line(row)?.trim_end().to_owned(),
            false => table::row(&self.layout, row),
        }])
    }

    /// The lines below the rows.
    pub(crate) fn end(&mut self) -> Result<Vec<String>, Failure> {
        let mut lines = match (self.is_grouped(), self.layout.json) {
            (false, _) => Vec::new(),
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
                crate::render::diagnose(&format!("gate: {}\n", self.totals.interruption()));
            }
        }
        Ok(lines)
    }

    fn is_grouped(&self) -> bool {
        self.layout.grouping != Grouping::File
    }
}

/// Text that may hold names of files, for a person.
pub(crate) fn shown(text: &str) -> String {
    plain(text)
}

/// A time, for a person.
fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// A number with what it counts.
fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
