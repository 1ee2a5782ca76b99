//! The table for a person: a line a row.

use std::io::{self, IsTerminal};

use anstyle::{AnsiColor, Style};
use gate_core::decide::signal::Status;
use gate_core::read::Format;

use super::super::text::plain;
use super::{Layout, why};
use crate::replay::{Judged, ReplayRecord, ReplayVerdict};

/// The widest column of files, in characters.
const MAX_FILE_WIDTH: usize = 80;

/// The longest file's name at a terminal, in characters; longer ones lack their middle.
const MAX_NAME_CHARS: usize = 60;

/// The longest reason if the terminal's width is not known, in characters.
const DEFAULT_REASON_CHARS: usize = 100;

/// The narrowest column of reasons, in characters.
const MIN_REASON_CHARS: usize = 20;

/// The names of the columns.
pub(super) fn head(layout: &Layout) -> String {
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
    format!("{style}{}  WHY{style:#}", cells.joined(layout))
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
        file: &if io::stdout().is_terminal() {
            without_middle(&plain(&row.file), MAX_NAME_CHARS)
        } else {
            plain(&row.file)
        },
    };
    let text = cells.joined(layout);
    let room = width().map_or(DEFAULT_REASON_CHARS, |width| {
        width.saturating_sub(text.chars().count() + 2).max(MIN_REASON_CHARS)
    });
    let why = gate_core::text::brief(&why::short(row), room.saturating_sub(1));
    let style = style(row);
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
    fn joined(&self, layout: &Layout) -> String {
        let Self { verdict, judged, signal, score, format, iteration, file } = self;
        let first = layout.verdict_width();
        let judged = if layout.labels { format!("{judged:<10}  ") } else { String::new() };
        let (formats, files) = (format_width(), layout.file_width.clamp(4, file_width()));
        format!(
            "{verdict:<first$}  {judged}{signal:<8}  {score:>5}  {format:<formats$}  \
             {iteration:>4}  {file:<files$}"
        )
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

fn file_width() -> usize {
    if io::stdout().is_terminal() { MAX_NAME_CHARS } else { MAX_FILE_WIDTH }
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

/// The width of the terminal, if stdout is one.
fn width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|&width| width > 0)
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
