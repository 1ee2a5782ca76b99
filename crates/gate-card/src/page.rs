//! A page for a person: a head line, then rows of a label and a text.
//!
//! At a terminal, texts wrap by words with a hanging indent, so that no line is longer
//! than the terminal. Elsewhere lines stay whole, so that programs find them.

use anstyle::{AnsiColor, Style};
use gate_core::decide::evidence::Outcome;
use textwrap::Options;

use crate::fit::{MIN_COLUMNS, stdout_columns};
use crate::text::{plain, without_ci_commands};

/// The column of the labels, behind two spaces, the mark and a space.
const LABEL_COLUMN: usize = 4;

/// The spaces between the longest label and its text.
const LABEL_GAP: usize = 2;

/// The column of the texts in most pages.
const TEXT_COLUMN: usize = 16;

/// A terminal with fewer columns is narrow: texts follow their labels at once.
const WIDE_COLUMNS: usize = 60;

/// The hanging indent in a narrow terminal.
const NARROW_INDENT: usize = 6;

/// The columns of a finding's words.
const FINDING_WIDTH: usize = 12;

/// The mark before a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// As it has to be.
    Good,
    /// Not as it has to be.
    Bad,
    /// Neither good nor bad, or not known.
    Unsure,
    /// No mark.
    None,
}

/// Text for a person, of so many columns.
#[derive(Debug)]
pub struct Page {
    text: String,
    /// `None` for lines of any length.
    columns: Option<usize>,
    /// The column of the texts, if the terminal is wide enough.
    text_column: usize,
}

impl Mark {
    /// The mark of a check with this outcome.
    pub fn from_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Pass => Self::Good,
            Outcome::Fail | Outcome::Tamper => Self::Bad,
            Outcome::Inconclusive | Outcome::Skipped => Self::Unsure,
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Bad => "✗",
            Self::Unsure => "!",
            Self::None => " ",
        }
    }

    /// Its colour at a terminal.
    pub fn color(self) -> Option<AnsiColor> {
        match self {
            Self::Good => Some(AnsiColor::Green),
            Self::Bad => Some(AnsiColor::Red),
            Self::Unsure => Some(AnsiColor::Yellow),
            Self::None => None,
        }
    }

    fn style(self) -> Style {
        Style::new().fg_color(self.color().map(Into::into))
    }
}

impl Default for Page {
    fn default() -> Self {
        Self::new()
    }
}

impl Page {
    /// A page for stdout.
    pub fn new() -> Self {
        Self::with_columns(stdout_columns())
    }

    /// A page of so many columns; `None` for lines of any length.
    pub fn with_columns(columns: Option<usize>) -> Self {
        let columns = columns.map(|columns| columns.max(MIN_COLUMNS));
        Self { text: String::new(), columns, text_column: TEXT_COLUMN }
    }

    /// The page with labels of at most so many characters.
    pub fn with_labels(self, max_chars: usize) -> Self {
        Self { text_column: LABEL_COLUMN + max_chars + LABEL_GAP, ..self }
    }

    /// The text, with its colours.
    pub fn into_text(self) -> String {
        self.text
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// The first word in the mark's colour, then a sentence.
    pub fn head(&mut self, mark: Mark, word: &str, sentence: &str) {
        let word = &plain(word);
        let style = mark.style().bold();
        let indent = " ".repeat(self.hanging_indent(2));
        self.wrapped(word, style, &format!("{word}  "), &indent, sentence, Style::new());
    }

    /// Text from the first column on.
    pub fn text(&mut self, text: &str) {
        self.wrapped("", Style::new(), "", "", text, Style::new());
    }

    /// A label and its text, on one line or several.
    pub fn row(&mut self, label: &str, text: &str) {
        self.marked(Mark::None, label, text);
    }

    /// A row for each of these texts, the label before the first.
    pub fn rows(&mut self, label: &str, texts: impl IntoIterator<Item: AsRef<str>>) {
        for (number, text) in texts.into_iter().enumerate() {
            self.row(if number == 0 { label } else { "" }, text.as_ref());
        }
    }

    /// A row with a mark in its colour.
    pub fn marked(&mut self, mark: Mark, label: &str, text: &str) {
        let start = format!("  {}", mark.sign());
        let label = plain(label);
        let indent = self.hanging_indent(self.text_column);
        let is_wide = indent == self.text_column;
        let padded_label = match indent.checked_sub(LABEL_COLUMN) {
            Some(width) if is_wide => format!("{label:<width$}"),
            // At the column of the labels, the text would read as a label.
            Some(width) if label.is_empty() => " ".repeat(width),
            _ => format!("{label}  "),
        };
        // A label that is longer than its column still ends before its text.
        let is_too_long = is_wide && padded_label.len() > indent - LABEL_COLUMN;
        let gap = if is_too_long { "  " } else { "" };
        let prefix = format!("{start} {padded_label}{gap}");
        self.wrapped(&start, mark.style(), &prefix, &" ".repeat(indent), text, Style::new());
    }

    /// A line of a list without labels.
    pub fn item(&mut self, text: &str) {
        self.wrapped("", Style::new(), "  ", "    ", text, Style::new());
    }

    /// An entry of a list: its start, in which `highlight` stands in a style, then a text.
    pub fn line(&mut self, start: &str, highlight: &str, style: Style, text: &str) {
        self.highlighted(start, highlight, style, NARROW_INDENT, text);
    }

    /// A finding: one or two words in their colour, then a text; without words, more text.
    pub fn finding(&mut self, words: &str, mark: Mark, text: &str) {
        let start = format!("  {words:<FINDING_WIDTH$}");
        let indent = self.hanging_indent(start.len());
        self.highlighted(&start, words, mark.style(), indent, text);
    }

    fn highlighted(
        &mut self,
        start: &str,
        highlight: &str,
        style: Style,
        indent: usize,
        text: &str,
    ) {
        let line_start = self.text.len();
        self.wrapped("", Style::new(), start, &" ".repeat(indent), text, Style::new());
        // The style comes after the wrapping, which would count its characters.
        let highlight = highlight.trim_end();
        if let Some(offset) = self.text[line_start..].find(highlight)
            && !highlight.is_empty()
        {
            let range = line_start + offset..line_start + offset + highlight.len();
            self.text.replace_range(range, &format!("{style}{highlight}{style:#}"));
        }
    }

    /// A line below a row, dimmed.
    pub fn detail(&mut self, text: &str) {
        let indent = " ".repeat(self.hanging_indent(self.text_column));
        self.wrapped("", Style::new(), &indent, &indent, text, Style::new().dimmed());
    }

    /// A line of quoted output below a detail.
    pub fn quote(&mut self, text: &str) {
        let indent = " ".repeat(self.hanging_indent(self.text_column) + 2);
        self.wrapped("", Style::new(), &indent, &indent, text, Style::new().dimmed());
    }

    /// The columns of a hanging indent, which is `wide_indent` in a wide terminal.
    fn hanging_indent(&self, wide_indent: usize) -> usize {
        match self.columns {
            Some(columns) if columns < WIDE_COLUMNS => wide_indent.min(NARROW_INDENT),
            _ => wide_indent,
        }
    }

    /// Adds lines: `prefix` before the first one, which begins with `start` in its style;
    /// `indent` before the others.
    fn wrapped(
        &mut self,
        start: &str,
        start_style: Style,
        prefix: &str,
        indent: &str,
        text: &str,
        text_style: Style,
    ) {
        let text = plain(text);
        let options = Options::new(self.columns.unwrap_or(usize::MAX))
            .initial_indent(prefix)
            .subsequent_indent(indent);
        for (number, line) in textwrap::wrap(&text, options).iter().enumerate() {
            // A line's new beginning may be a command of CI.
            let harmless_line = &without_ci_commands(line);
            let styled_line = if number == 0 {
                let text = harmless_line.strip_prefix(start).unwrap_or(harmless_line);
                format!("{start_style}{start}{start_style:#}{}", styled(text, text_style))
            } else {
                styled(harmless_line, text_style)
            };
            self.text.push_str(styled_line.trim_end());
            self.text.push('\n');
        }
    }
}

/// The line in a style, except its indent.
fn styled(line: &str, style: Style) -> String {
    let text = line.trim_start();
    let indent = &line[..line.len() - text.len()];
    format!("{indent}{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(columns: Option<usize>) -> String {
        let mut page = Page::with_columns(columns);
        page.head(Mark::Bad, "NOT DONE", "the tests of the shop failed, and the build as well");
        page.blank();
        page.marked(Mark::Bad, "tests", "1 of 2 failed in a place with a rather long description");
        page.detail("tests/test_cart.py:9");
        page.marked(Mark::Good, "acceptance_criteria", "all 12 are met");
        page.row("next", "fix test_discount");
        anstream::adapter::strip_str(&page.into_text()).to_string()
    }

    #[test]
    fn texts_wrap_by_words_below_themselves() {
        let expected = "\
NOT DONE  the tests of the shop failed, and the build as
  well

  ✗ tests       1 of 2 failed in a place with a rather long
                description
                tests/test_cart.py:9
  ✓ acceptance_criteria  all 12 are met
    next        fix test_discount
";
        assert_eq!(page(Some(60)), expected);
    }

    #[test]
    fn in_a_narrow_terminal_texts_follow_their_labels() {
        let expected = "\
NOT DONE  the tests of the shop failed,
  and the build as well

  ✗ tests  1 of 2 failed in a place with
      a rather long description
      tests/test_cart.py:9
  ✓ acceptance_criteria  all 12 are met
    next  fix test_discount
";
        assert_eq!(page(Some(20)), expected);
    }

    #[test]
    fn in_a_narrow_terminal_a_row_without_a_label_stands_below_the_text() {
        let mut page = Page::with_columns(Some(40));
        page.row("policy", "blake3:ab");
        page.row("", "check integrity (required), check tests");
        page.marked(Mark::Bad, "", "the hook is not run");
        let text = anstream::adapter::strip_str(&page.into_text()).to_string();
        let expected = "    policy  blake3:ab\n      check integrity (required), check\n      tests\n  \
                        ✗   the hook is not run\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn without_a_terminal_lines_stay_whole() {
        assert_eq!(page(None).lines().count(), 6);
    }

    #[test]
    fn no_word_of_a_page_is_obeyed_by_a_terminal_or_by_ci() {
        let mut page = Page::with_columns(Some(40));
        page.head(Mark::None, "a\u{1b}[2Jb\u{1b}]0;title\u{7}.log", "(text)");
        page.row("x\u{1b}[2J", "aaaaaaaaaaaaaa bbbbbbbbbbb ::error::deploy now");
        let text = page.into_text();
        assert!(text.starts_with("\u{1b}[1mab.log\u{1b}[0m  (text)\n"), "{text:?}");
        assert!(!text.contains("\u{1b}[2J"), "{text:?}");
        assert!(text.lines().all(|line| !line.trim_start().starts_with("::")), "{text}");
    }

    #[test]
    fn a_word_that_is_longer_than_a_line_is_broken() {
        let mut page = Page::with_columns(Some(40));
        page.row("log", &"/a".repeat(60));
        let text = page.into_text();
        assert!(text.lines().all(|line| line.len() <= 40), "{text}");
    }
}
