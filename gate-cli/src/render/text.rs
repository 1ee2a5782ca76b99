//! Captured text, made fit for a card.

use std::time::Duration;

use gate_core::text;

/// The longest row of a card, in characters.
const MAX_ROW_CHARS: usize = 200;

/// The whole text on one line.
pub(crate) fn plain(text: &str) -> String {
    without_ci_commands(&text::brief(text, usize::MAX))
}

/// The text, fit for one row of a card.
pub(crate) fn brief(text: &str) -> String {
    without_ci_commands(&text::brief(text, MAX_ROW_CHARS))
}

/// A text of several lines, each fit for a terminal.
pub(super) fn lines(text: &str) -> String {
    let mut cleaned = String::new();
    for line in text.split_inclusive('\n') {
        cleaned.push_str(&text::clean(line.trim_end_matches('\n')));
        if line.ends_with('\n') {
            cleaned.push('\n');
        }
    }
    without_ci_commands(&cleaned)
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

/// The text without commands of a CI that reads them from the output of programs: `##[`
/// anywhere, `::` at the beginning of a line, white space apart.
///
/// Source: the runner of GitHub Actions, which takes both.
pub(super) fn without_ci_commands(text: &str) -> String {
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
    use super::without_ci_commands;

    #[test]
    fn a_ci_finds_no_command() {
        let text = "a\n  ::set-env name=A::b\n##[error]x ##[add-mask]y\nfoo::bar\n";
        let harmless = "a\n  : :set-env name=A::b\n## [error]x ## [add-mask]y\nfoo::bar\n";
        assert_eq!(without_ci_commands(text), harmless);
        assert_eq!(without_ci_commands(harmless), harmless);
    }
}
