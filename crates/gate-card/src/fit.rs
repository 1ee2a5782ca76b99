//! Lines that are no longer than the terminal.

use std::io::IsTerminal;

use gate_platform::AsStream;
use terminal_size::terminal_size_of;
use textwrap::Options;

/// The fewest columns that text is wrapped at.
pub const MIN_COLUMNS: usize = 40;

/// The columns by `COLUMNS`, or of the terminal that stdout is; `None` if it is no terminal.
pub fn stdout_columns() -> Option<usize> {
    columns(std::io::stdout())
}

/// The columns by `COLUMNS`, or of the terminal that stderr is; `None` if it is no terminal.
pub fn stderr_columns() -> Option<usize> {
    columns(std::io::stderr())
}

fn columns(stream: impl IsTerminal + AsStream) -> Option<usize> {
    let variable = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let columns = match variable {
        Some(columns) => columns,
        None if stream.is_terminal() => usize::from(terminal_size_of(stream)?.0.0),
        None => return None,
    };
    Some(columns.max(MIN_COLUMNS))
}

/// The text with each longer line wrapped by words; unchanged without columns.
///
/// A wrapped line goes on below its own text: behind the first gap of two spaces, if that is
/// in the left half, as the text of a label is.
pub fn fitted(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (content, line_break) = match line.strip_suffix('\n') {
            Some(content) => (content, "\n"),
            None => (line, ""),
        };
        if textwrap::core::display_width(content) <= columns {
            fitted.push_str(content);
        } else {
            let indent = " ".repeat(hanging_indent(content, columns));
            let options = Options::new(columns).subsequent_indent(&indent);
            fitted.push_str(&textwrap::wrap(content, options).join("\n"));
        }
        fitted.push_str(line_break);
    }
    fitted
}

/// The columns before the second line of a wrapped line.
fn hanging_indent(line: &str, columns: usize) -> usize {
    let line_indent = leading_spaces(line);
    let gap = line[line_indent..].find("  ").map(|offset| line_indent + offset);
    let text_column = gap.map(|gap| {
        let (label, text) = line.split_at(gap);
        textwrap::core::display_width(label) + leading_spaces(text)
    });
    text_column.filter(|column| *column <= columns / 2).unwrap_or(line_indent + 2)
}

fn leading_spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(fitted(text, Some(40)), expected);
    }

    #[test]
    fn a_long_line_goes_on_below_its_own_text() {
        check("short\n", "short\n");
        check(
            "gate: cannot read nope.log: No such file or directory\n",
            "gate: cannot read nope.log: No such file\n  or directory\n",
        );
        check(
            "  taken     at noon, above the commit that was made last\n",
            "  taken     at noon, above the commit\n            that was made last\n",
        );
        check(
            "    a message for everybody who works on this project",
            "    a message for everybody who works on\n      this project",
        );
    }

    #[test]
    fn a_word_that_is_longer_than_the_terminal_is_broken() {
        let text = fitted(&format!("baseline {}\n", "a1".repeat(40)), Some(40));
        assert!(text.lines().all(|line| line.len() <= 40), "{text}");
    }

    #[test]
    fn what_a_program_reads_stays_on_its_line() {
        let line = format!("{}\n", "word ".repeat(40));
        assert_eq!(fitted(&line, None), line);
    }
}
