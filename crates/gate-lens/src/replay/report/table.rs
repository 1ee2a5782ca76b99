//! The table for a person: a line a row. In a terminal that is too narrow for it, a row is an
//! entry of a few lines.

use anstyle::{AnsiColor, Style};
use gate_core::decide::signal::Status;
use gate_transcript::Format;

use super::Layout;
use crate::replay::{Judged, ReplayRecord, ReplayVerdict};
use gate_card::text::{plain, without_middle};

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

/// The columns of the table, in their order.
const TITLES: [&str; COLUMNS] = ["VERDICT", "LABEL", "SIGNAL", "SCORE", "FORMAT", "ITER", "FILE"];
const COLUMNS: usize = 7;

/// The columns whose cells end below each other.
const NUMBERS: [usize; 2] = [3, 5];

/// The columns that fit.
struct Columns {
    /// Their widths in characters; none for one that is not shown.
    widths: [Option<usize>; COLUMNS],
    /// The longest name of a file, in characters.
    file: usize,
    /// The longest reason, in characters.
    reason: usize,
}

/// The names of the columns; none above entries.
pub(crate) fn head(layout: &Layout) -> Option<String> {
    let titles = Columns::new(layout)?.joined(&TITLES);
    let style = Style::new().bold();
    Some(format!("{style}{titles}  WHY{style:#}"))
}

/// One row, with its reason.
pub(crate) fn row(layout: &Layout, row: &ReplayRecord, why: &str) -> String {
    let verdict = row.verdict.map_or("unread", ReplayVerdict::name);
    let judged = row.judged.map_or("", judged);
    let signal = row.signal.as_ref().map_or("-", |signal| status(signal.status));
    let score = row.indicators.as_ref().map(|hits| format!("{}/{}", hits.score, hits.threshold));
    let score = score.as_deref().unwrap_or("-");
    let format = row.transcript.as_ref().and_then(|transcript| transcript.format.as_deref());
    let (format, iteration) = (format.unwrap_or("-"), row.iteration.to_string());
    let (file, style) = (plain(&row.file), style(row));
    let Some(columns) = Columns::new(layout) else {
        let judged = if judged.is_empty() { String::new() } else { format!("{judged}  ") };
        return format!(
            "{style}{verdict}{style:#}  {judged}{file}\n  signal {signal}, score {score}, \
             {format}, iteration {iteration}\n  {why}"
        );
    };
    let file = if layout.columns.is_some() { without_middle(&file, columns.file) } else { file };
    let text = columns.joined(&[verdict, judged, signal, score, format, &iteration, &file]);
    let why = gate_core::text::brief(why, columns.reason.saturating_sub(1));
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

impl Columns {
    /// The columns that fit; none if the terminal is too narrow for a table.
    fn new(layout: &Layout) -> Option<Self> {
        let columns = |has_format: bool, file, reason| {
            let judged = layout.labels.then_some(10);
            let format = has_format.then(format_width);
            let verdict = Some(layout.verdict_width());
            let widths = [verdict, judged, Some(8), Some(5), format, Some(4), Some(file)];
            Self { widths, file, reason }
        };
        let Some(terminal) = layout.columns else {
            let file = layout.file_width.clamp(4, MAX_FILE_WIDTH);
            return Some(columns(true, file, DEFAULT_REASON_CHARS));
        };
        let longest = layout.file_width.clamp(4, MAX_NAME_CHARS);
        [true, false].into_iter().find_map(|has_format| {
            let others = columns(has_format, 0, 0).joined(&[""; COLUMNS]).len();
            let room = terminal.checked_sub(others + 2 + MIN_REASON_CHARS)?;
            // Names take no more than half of what both columns have.
            let half = (room + MIN_REASON_CHARS) / 2;
            let file = longest.min(room.min(half.max(MIN_NAME_CHARS)));
            let is_wide_enough = file >= longest.min(MIN_NAME_CHARS);
            is_wide_enough.then(|| columns(has_format, file, MIN_REASON_CHARS + room - file))
        })
    }

    fn joined(&self, cells: &[&str; COLUMNS]) -> String {
        let cells =
            cells.iter().zip(self.widths).enumerate().filter_map(|(column, (cell, width))| {
                let width = width?;
                let is_number = NUMBERS.contains(&column);
                Some(if is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") })
            });
        cells.collect::<Vec<_>>().join("  ")
    }
}

impl Layout {
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
