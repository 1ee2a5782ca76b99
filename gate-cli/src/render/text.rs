//! Captured text, made fit for a card.

use std::time::Duration;

use gate_core::text;

/// The longest row of a card, in characters.
const ROW: usize = 200;

/// The whole text on one line.
pub(crate) fn plain(text: &str) -> String {
    obeyed_by_none(&text::brief(text, usize::MAX))
}

/// The text, fit for one row of a card.
pub(crate) fn brief(text: &str) -> String {
    obeyed_by_none(&text::brief(text, ROW))
}

/// A text of several lines, each fit for a terminal.
pub(super) fn lines(text: &str) -> String {
    let end = |line: &str| if line.ends_with('\n') { "\n" } else { "" };
    let lines = text.split_inclusive('\n');
    let lines: String =
        lines.map(|line| text::clean(line.trim_end_matches('\n')) + end(line)).collect();
    obeyed_by_none(&lines)
}

/// A length of time, in its two largest units.
pub(super) fn span(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1}s", time.as_secs_f64()),
        seconds @ 10..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        seconds => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A text in which a CI that reads commands from what programs print finds none:
/// `##[` anywhere, `::` where a line begins, white space apart.
///
/// Source: the runner of GitHub Actions, which takes both.
pub(super) fn obeyed_by_none(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let line = line.replace("##[", "## [");
        let begins = line.len() - line.trim_start().len();
        match line[begins..].strip_prefix("::") {
            Some(rest) => format!("{}: :{rest}", &line[..begins]),
            None => line,
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::obeyed_by_none;

    #[test]
    fn a_ci_finds_no_command() {
        let text = "a\n  ::set-env name=A::b\n##[error]x ##[add-mask]y\nfoo::bar\n";
        let harmless = "a\n  : :set-env name=A::b\n## [error]x ## [add-mask]y\nfoo::bar\n";
        assert_eq!(obeyed_by_none(text), harmless);
        assert_eq!(obeyed_by_none(harmless), harmless);
    }
}
