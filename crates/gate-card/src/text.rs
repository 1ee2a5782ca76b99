//! Captured text, made fit for a card.

use std::time::Duration;

use gate_core::text;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The longest row of a card, in characters.
const MAX_ROW_CHARS: usize = 200;

/// The whole text on one line.
pub fn plain(text: &str) -> String {
    without_ci_commands(&text::brief(text, usize::MAX))
}

/// The text, fit for one row of a card.
pub fn brief(text: &str) -> String {
    without_ci_commands(&text::brief(text, MAX_ROW_CHARS))
}

/// A text of several lines, each fit for a terminal.
pub fn lines(text: &str) -> String {
    without_ci_commands(&text::clean_lines(text))
}

/// At most `max_chars` characters of a name, which is 1 or more: its beginning, `…` and its end.
pub fn without_middle(name: &str, max_chars: usize) -> String {
    let length = name.chars().count();
    if length <= max_chars {
        return name.to_owned();
    }
    let head_length = (max_chars - 1) / 2;
    let tail_length = max_chars - 1 - head_length;
    let tail = name.chars().skip(length - tail_length);
    name.chars().take(head_length).chain(['…']).chain(tail).collect()
}

/// The rows of a table, a line each, with cells of equal width. Cells of the columns `left` (from 0)
/// are aligned to the left, and all others to the right.
pub fn aligned(rows: &[Vec<String>], left: &[usize]) -> Vec<String> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let lines = rows.iter().map(|row| {
        let cells = row.iter().enumerate().map(|(column, cell)| match left.contains(&column) {
            true => format!("{cell:<0$}", width(column)),
            false => format!("{cell:>0$}", width(column)),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    lines.collect()
}

/// A length of time, in its two largest units.
pub fn span(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1}s", time.as_secs_f64()),
        seconds @ 10..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        seconds => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A time (RFC 3339) to the minute, in the person's time zone. A text that is no time is
/// returned as it is.
pub fn local_time(time: &str) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => in_zone(time, TimeZone::system()),
        Err(_) => brief(time),
    }
}

/// A time (RFC 3339) to the second, with the offset of the person's time zone. A text that
/// is no time is returned as it is.
pub fn local_seconds(time: &str) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => with_offset(time, TimeZone::system()),
        Err(_) => brief(time),
    }
}

fn with_offset(time: Timestamp, zone: TimeZone) -> String {
    let time = time.to_zoned(zone);
    let offset = if time.offset().is_zero() { "Z" } else { "%:z" };
    time.strftime(&format!("%Y-%m-%dT%H:%M:%S{offset}")).to_string()
}

/// A time of today, to the second, in the person's time zone.
pub fn clock(time: Timestamp) -> String {
    time.to_zoned(TimeZone::system()).strftime("%H:%M:%S").to_string()
}

fn in_zone(time: Timestamp, zone: TimeZone) -> String {
    time.to_zoned(zone).strftime("%Y-%m-%d %H:%M").to_string()
}

/// The text without commands of a CI that reads them from the output of programs: `##[`
/// anywhere, `::` at the beginning of a line, white space apart.
///
/// Source: the runner of GitHub Actions, which takes both.
pub fn without_ci_commands(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let line = line.replace("##[", "## [");
        let indent_length = line.len() - line.trim_start().len();
        match line[indent_length..].strip_prefix("::") {
            Some(command) => format!("{}: :{command}", &line[..indent_length]),
            None => line,
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use jiff::tz::{Offset, TimeZone};

    use super::{in_zone, local_time, with_offset, without_ci_commands, without_middle};

    #[test]
    fn a_long_name_lacks_its_middle() {
        assert_eq!(without_middle("abcdefgh", 8), "abcdefgh");
        assert_eq!(without_middle("abcdefghi", 8), "abc…fghi");
        assert_eq!(without_middle("äöüäöüäöü", 7), "äöü…äöü");
    }

    #[test]
    fn a_time_is_the_persons_and_has_no_nanoseconds() {
        let time = "2026-03-01T22:07:38.921141799Z".parse().unwrap();
        let zone = TimeZone::fixed(Offset::constant(2));
        assert_eq!(in_zone(time, zone.clone()), "2026-03-02 00:07");
        assert_eq!(with_offset(time, zone), "2026-03-02T00:07:38+02:00");
        assert_eq!(with_offset(time, TimeZone::UTC), "2026-03-01T22:07:38Z");
        assert_eq!(local_time("soon"), "soon");
    }

    #[test]
    fn a_ci_finds_no_command() {
        let text = "a\n  ::set-env name=A::b\n##[error]x ##[add-mask]y\nfoo::bar\n";
        let harmless = "a\n  : :set-env name=A::b\n## [error]x ## [add-mask]y\nfoo::bar\n";
        assert_eq!(without_ci_commands(text), harmless);
        assert_eq!(without_ci_commands(harmless), harmless);
    }
}
