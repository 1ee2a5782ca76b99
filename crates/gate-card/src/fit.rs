//! Lines that are no longer than the terminal.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use terminal_size::terminal_size_of;
use textwrap::Options;

/// The fewest columns that text is wrapped at.
pub const MIN_COLUMNS: usize = 40;

/// The columns of the terminal that stdout is, or of `COLUMNS`; none if it is no terminal.
pub fn stdout_columns() -> Option<usize> {
    columns(std::io::stdout())
}

/// The columns of the terminal that stderr is, or of `COLUMNS`; none if it is no terminal.
pub fn stderr_columns() -> Option<usize> {
    columns(std::io::stderr())
}

fn columns(stream: impl IsTerminal + AsFd) -> Option<usize> {
    let wanted = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let columns = match wanted {
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
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        if textwrap::core::display_width(line) <= columns {
            fitted.push_str(line);
        } else {
            let indent = " ".repeat(hanging(line, columns));
            let options = Options::new(columns).subsequent_indent(&indent);
            fitted.push_str(&textwrap::wrap(line, options).join("\n"));
        }
        fitted.push_str(end);
    }
    fitted
}

/// The columns before the second line of a wrapped line.
fn hanging(line: &str, columns: usize) -> usize {
    let own = line.len() - line.trim_start_matches(' ').len();
    let gap = line[own..].find("  ").map(|at| own + at);
    let text = gap.map(|gap| {
        let label = &line[..gap];
        let spaces = line[gap..].len() - line[gap..].trim_start_matches(' ').len();
        textwrap::core::display_width(label) + spaces
    });
    text.filter(|&text| text <= columns / 2).unwrap_or(own + 2)
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
