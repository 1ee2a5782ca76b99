//! The table for a person: a line a row. In a terminal that is too narrow for it, a row is an
//! entry of a few lines.

use anstyle::{AnsiColor, Style};
use gate_core::decide::signal::Status;
use gate_transcript::Format;

use super::{Layout, why};
use crate::render::text::plain;
use crate::replay::{Judged, ReplayRecord, ReplayVerdict};

/// The widest column of files, in characters.
const MAX_FILE_WIDTH: usize = 80;

/// The longest file's name at a terminal, in characters; longer ones lack their middle.
const MAX_NAME_CHARS: usize = 60;

/// The narrowest column of files at a terminal, in characters. Shorter names need less.
const MIN_NAME_CHARS: usize = 16;

/// The longest reason if the terminal's width is not known, in characters.
const DEFAULT_REASON_CHARS: usize = 100;

/// The narrowest column of reasons, in characters.
const MIN_REASON_CHARS: usize = 20;

/// The columns of the table that differ with the terminal's width.
struct Columns {
    /// True if the format is shown.
    has_format: bool,
    /// The width of names of files.
    file: usize,
    /// The longest reason, in characters.
    reason: usize,
}

/// The names of the columns; none above entries.
pub(super) fn head(layout: &Layout) -> Option<String> {
    let columns = Columns::new(layout)?;
    let style = Style::new().bold();
    let cells = Cells {
        verdict: "VERDICT",
        judged: "LABEL",
        signal: "SIGNAL",
        score: "SCORE",
        format: "FORMAT",
        iteration: "ITER",
        file: "FILE",
    };
    Some(format!("{style}{}  WHY{style:#}", cells.joined(layout, &columns)))
}

/// One row.
pub(super) fn row(layout: &Layout, row: &ReplayRecord) -> String {
    let score = row.indicators.as_ref().map(|hits| format!("{}/{}", hits.score, hits.threshold));
    let format =
        row.transcript.as_ref().map(|transcript| transcript.format.as_deref().unwrap_or("-"));
    let cells = Cells {
        verdict: row.verdict.map_or("unread", ReplayVerdict::name),
        judged: row.judged.map_or("", judged),
        signal: row.signal.as_ref().map_or("-", |signal| status(signal.status)),
        score: score.as_deref().unwrap_or("-"),
        format: format.unwrap_or("-"),
        iteration: &row.iteration.to_string(),
        file: &plain(&row.file),
    };
    let style = style(row);
    let Some(columns) = Columns::new(layout) else {
        return cells.entry(style, &why::short(row));
    };
    let name = match layout.columns {
        Some(_) => without_middle(cells.file, columns.file),
        None => cells.file.to_owned(),
    };
    let text = Cells { file: &name, ..cells }.joined(layout, &columns);
    let why = gate_core::text::brief(&why::short(row), columns.reason.saturating_sub(1));
    let end = layout.verdict_width().min(text.len());
    let line = format!("{style}{}{style:#}{}  {why}", &text[..end], &text[end..]);
    line.trim_end().to_owned()
}

/// A verdict beside its label: a wrong one stands out without colour.
fn judged(judged: Judged) -> &'static str {
    match judged {
        Judged::Right => "right",
        Judged::FalseExit => "FALSE EXIT",
        Judged::MissedExit => "MISSED",
        Judged::Unclear => "unclear",
    }
}

struct Cells<'a> {
    verdict: &'a str,
    judged: &'a str,
    signal: &'a str,
    score: &'a str,
    format: &'a str,
    iteration: &'a str,
    file: &'a str,
}

impl Cells<'_> {
    fn joined(&self, layout: &Layout, columns: &Columns) -> String {
        let Self { verdict, judged, signal, score, format, iteration, file } = self;
        let first = layout.verdict_width();
        let judged = if layout.labels { format!("{judged:<10}  ") } else { String::new() };
        let (formats, files) = (format_width(), columns.file);
        let format =
            if columns.has_format { format!("{format:<formats$}  ") } else { String::new() };
        format!(
            "{verdict:<first$}  {judged}{signal:<8}  {score:>5}  {format}{iteration:>4}  \
             {file:<files$}"
        )
    }

    /// The row, if there is no room for a table.
    fn entry(&self, style: Style, why: &str) -> String {
        let Self { verdict, judged, signal, score, format, iteration, file } = self;
        let judged = if judged.is_empty() { String::new() } else { format!("{judged}  ") };
        format!(
            "{style}{verdict}{style:#}  {judged}{file}\n  signal {signal}, score {score}, \
             {format}, iteration {iteration}\n  {why}"
        )
    }
}

impl Columns {
    /// The columns that fit; none if the terminal is too narrow for a table.
    fn new(layout: &Layout) -> Option<Self> {
        let Some(terminal) = layout.columns else {
            let file = layout.file_width.clamp(4, MAX_FILE_WIDTH);
            return Some(Self { has_format: true, file, reason: DEFAULT_REASON_CHARS });
        };
        let longest = layout.file_width.clamp(4, MAX_NAME_CHARS);
        [true, false].into_iter().find_map(|has_format| {
            let others = layout.other_columns(has_format) + 2 + MIN_REASON_CHARS;
            let room = terminal.checked_sub(others)?;
            let file = longest.min(room);
            let is_wide_enough = file >= longest.min(MIN_NAME_CHARS);
            let reason = MIN_REASON_CHARS + room - file;
            is_wide_enough.then_some(Self { has_format, file, reason })
        })
    }
}

impl Layout {
    /// The width of the columns before the names of files.
    fn other_columns(&self, has_format: bool) -> usize {
        let columns = Columns { has_format, file: 0, reason: 0 };
        let (verdict, judged, signal, score) = ("", "", "", "");
        let (format, iteration, file) = ("", "", "");
        let empty = Cells { verdict, judged, signal, score, format, iteration, file };
        empty.joined(self, &columns).chars().count()
    }

    /// The width of the longest verdict that may be shown.
    fn verdict_width(&self) -> usize {
        let widest = ReplayVerdict::ALL
            .into_iter()
            .filter(|verdict| self.checks || *verdict != ReplayVerdict::ExitIfChecksPass);
        widest.map(|verdict| verdict.name().len()).max().unwrap_or_default()
    }
}

fn format_width() -> usize {
    Format::ALL.iter().map(|format| format.name().len()).max().unwrap_or_default()
}

/// At most so many characters of a name: its beginning and its end.
fn without_middle(name: &str, most: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    let first = (most - 1) / 2;
    let last = most - 1 - first;
    let head: String = name.chars().take(first).collect();
    let tail: String = name.chars().skip(length - last).collect();
    format!("{head}…{tail}")
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Complete => "complete",
        Status::Continue => "continue",
        Status::Blocked => "blocked",
        Status::Absent => "absent",
        Status::Invalid => "invalid",
    }
}

fn style(row: &ReplayRecord) -> Style {
    let color = match (row.judged, row.verdict) {
        (Some(Judged::FalseExit | Judged::MissedExit), _) => AnsiColor::Red,
        (_, Some(ReplayVerdict::Exit | ReplayVerdict::ExitIfChecksPass)) => AnsiColor::Green,
        (_, Some(ReplayVerdict::Continue)) => return Style::new(),
        (_, Some(ReplayVerdict::Blocked | ReplayVerdict::Tripped)) => AnsiColor::Yellow,
        (_, None) => AnsiColor::Red,
    };
    Style::new().fg_color(Some(color.into()))
}

#[cfg(test)]
mod tests {
    use super::without_middle;

    #[test]
    fn a_long_name_lacks_its_middle() {
        assert_eq!(without_middle("abcdefgh", 8), "abcdefgh");
        assert_eq!(without_middle("abcdefghi", 8), "abc…fghi");
        assert_eq!(without_middle("äöüäöüäöü", 7), "äöü…äöü");
    }
}
