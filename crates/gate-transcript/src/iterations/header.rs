//! A loop's header: the line that a runner prints before each iteration.
//!
//! These are headers, with any of the words `iteration`, `loop`, `cycle` and
//! `round`:
//!
//! ```text
//! === Iteration 3 of 10 ===        [2026-01-09 10:00:00] [LOOP] === Starting Loop #3 ===
//! --- Loop #3 ---                  ═══ Iteration 3 ═══
//! =================                # Iteration 3 Log
//!   My Iteration 3/10
//! =================
//! ```
//!
//! Decoration on both sides, or rules above and below: a heading in Markdown is
//! none. The last kind is ralph-tui's, whose reader knows the lines that follow.
//! What an agent shows of a log is no header; see the file `quoted.rs`.
//!
//! Sources: snarktank/ralph, ralph-claude-code, ralph-tui 0.x, and the plain
//! shell loops that people write.

use anstream::adapter::strip_str;

use super::Cut;
use super::quoted::Quoted;

/// The longest line that is looked at, in bytes: one that introduces a log may
/// be a whole paragraph.
pub(super) const MAX_LINE_BYTES: usize = 64 << 10;

/// The longest header, in bytes.
const MAX_HEADER_BYTES: usize = 400;

/// Lines that may come before the first header: a runner's banner.
const MAX_BANNER_LINES: usize = 30;

/// Lines that a box may have between its rules.
const MAX_BOX_LINES: usize = 5;

/// The least marks that make a rule, or one side of a decorated line.
const MIN_RULE_MARKS: usize = 10;
const MIN_SIDE_MARKS: usize = 2;

/// The words for a pass through a loop, which a header counts.
const COUNTED_WORDS: [&str; 4] = ["iteration", "loop", "cycle", "round"];

/// Words that may come before the counted one.
const MAX_WORDS_BEFORE: usize = 3;

/// Characters that decorate lines.
const DECORATION: &str = "=-*~#_━═─—";

/// The header of one loop, with the number of the iteration that it began.
#[derive(Debug)]
pub(super) struct Loop {
    header: Header,
    /// The last number; `None` before the first header.
    last_number: Option<u64>,
    first_number: u64,
    /// The number of the last header that was taken for text that the agent shows.
    shown_number: Option<u64>,
    quoted: Quoted,
    /// The latest time that the runner's logger wrote.
    last_time: String,
    /// The line before was a rule.
    below_rule: bool,
    /// The lines that a box, whose title came, may still have before its lower rule.
    box_lines_left: Option<usize>,
}

/// A line that is a header, with its number.
struct Title {
    header: Header,
    number: u64,
}

/// The features that all headers of a loop share.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Header {
    kind: Kind,
    /// Indentation, in bytes.
    indent: usize,
    /// The decoration; `None` in a box.
    mark: Option<char>,
    /// The text before the number, in lower case.
    label: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Decorated on both sides.
    Line,
    /// The same in the log of a runner that puts the time before each line.
    Logged,
    /// Between rules.
    Boxed,
    /// ralph-tui's.
    Tui,
}

impl Loop {
    /// The loop whose log begins like this.
    pub(super) fn detect(head: &[u8]) -> Option<Self> {
        let lines: Vec<_> = head.split(|&byte| byte == b'\n').map(plain).collect();
        let first_line = lines.iter().find(|line| !line.is_empty());
        let is_log = first_line.is_some_and(|line| is_logged(line));
        // A logger marks its own lines, so that its banner may be of any length.
        let banner_lines = if is_log { lines.len() } else { MAX_BANNER_LINES };
        let header = (0..lines.len().min(banner_lines)).find_map(|at| {
            let Title { header, .. } = title(&lines[at], at == 0)?;
            let is_placed = match header.kind {
                Kind::Logged => is_log,
                Kind::Line | Kind::Tui => true,
                Kind::Boxed => is_boxed(&lines, at),
            };
            is_placed.then_some(header)
        })?;
        Some(Self {
            header,
            last_number: None,
            first_number: 0,
            shown_number: None,
            quoted: Quoted::default(),
            last_time: String::new(),
            below_rule: false,
            box_lines_left: None,
        })
    }

    pub(super) fn judge(&mut self, line: &[u8]) -> Cut {
        // Most lines are known by their first byte to be neither.
        if self.box_lines_left.is_none() && !self.below_rule && !may_matter(line) {
            return self.agent_line(line);
        }
        if line.len() > MAX_HEADER_BYTES {
            self.below_rule = false;
            self.box_lines_left = None;
            return self.agent_line(line);
        }
        let text = plain(line);
        let below_rule = std::mem::replace(&mut self.below_rule, is_rule(&text));
        if let Some(lines_left) = self.box_lines_left {
            self.box_lines_left = if self.below_rule { None } else { lines_left.checked_sub(1) };
            if self.below_rule {
                return Cut::Drop;
            }
        }
        let Some(number) = self.header_number(&text, below_rule) else {
            return self.headless_line(line, &text);
        };
        let is_next = self.is_next(number);
        if self.last_number.is_some() && self.quoted.hides_header() {
            self.shown_number = if is_next { Some(number) } else { self.shown_number };
            return Cut::No;
        }
        if is_next { self.begin(number) } else { Cut::No }
    }

    /// An iteration begins with this header.
    fn begin(&mut self, number: u64) -> Cut {
        if self.last_number.is_none() {
            self.first_number = number;
        }
        self.last_number = Some(number);
        self.shown_number = None;
        self.quoted = Quoted::default();
        self.box_lines_left = (self.header.kind == Kind::Boxed).then_some(MAX_BOX_LINES);
        if self.header.kind == Kind::Tui { Cut::Before } else { Cut::After }
    }

    /// A line that may have been a header, and is not one.
    fn headless_line(&mut self, line: &[u8], text: &str) -> Cut {
        if self.last_number.is_some() && self.is_runner_line(text) {
            return Cut::No;
        }
        self.agent_line(line)
    }

    /// A line of the runner's own. Its logger writes into what it shows of
    /// the agent's words, and ends it; a log that an agent shows is from before.
    fn is_runner_line(&mut self, text: &str) -> bool {
        match self.header.kind {
            Kind::Boxed => self.below_rule,
            Kind::Logged if is_logged(text) && stamp(text) >= self.last_time.as_str() => {
                stamp(text).clone_into(&mut self.last_time);
                self.quoted = Quoted::default();
                true
            }
            _ => false,
        }
    }

    /// A line of an iteration; what comes before the first header is the
    /// runner's banner.
    fn agent_line(&mut self, line: &[u8]) -> Cut {
        if self.last_number.is_none() {
            return Cut::Drop;
        }
        self.quoted.line(line);
        Cut::No
    }

    /// The number of a header of this loop.
    fn header_number(&self, line: &str, below_rule: bool) -> Option<u64> {
        let Title { header, number } = title(line, self.header.kind == Kind::Tui)?;
        let is_placed = header.kind != Kind::Boxed || below_rule;
        (is_placed && header == self.header).then_some(number)
    }

    /// A number that the next iteration may have: a log that an agent prints has the numbers of
    /// iterations before its own. A header that was taken for a shown one may have been a true one,
    /// so that the one after it counts as well; and a log that began with 1 does so again if its
    /// loop was started again.
    fn is_next(&self, number: u64) -> bool {
        let Some(last_number) = self.last_number else { return true };
        match self.header.kind {
            Kind::Logged => true,
            Kind::Tui => number > last_number,
            Kind::Line | Kind::Boxed => {
                let mut previous = [Some(last_number), self.shown_number].into_iter().flatten();
                let is_successor = previous.any(|previous| number == previous.saturating_add(1));
                let is_restart = number == 1 && self.first_number == 1 && last_number > 1;
                is_successor || is_restart
            }
        }
    }
}

/// A line read as a header. `may_be_tui` allows ralph-tui's, with which a log has to begin.
fn title(line: &str, may_be_tui: bool) -> Option<Title> {
    if may_be_tui && let Some(number) = line.strip_prefix("# Iteration ") {
        let number = number.strip_suffix(" Log")?.parse().ok()?;
        let header = Header { kind: Kind::Tui, indent: 0, mark: None, label: String::new() };
        return Some(Title { header, number });
    }
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let message = without_log_prefix(text);
    let decorated = message.unwrap_or(text);
    let (mark, inner) = undecorated(decorated).unzip();
    let (label, number) = label_and_number(inner.unwrap_or(decorated))?;
    let kind = match mark {
        Some(_) if message.is_some() => Kind::Logged,
        Some(_) => Kind::Line,
        None => Kind::Boxed,
    };
    Some(Title { header: Header { kind, indent, mark, label }, number })
}

/// The mark that decorates a line on both sides, and the text between.
fn undecorated(line: &str) -> Option<(char, &str)> {
    // A heading of Markdown begins like a decorated line.
    let mark = line.chars().next().filter(|&char| DECORATION.contains(char) && char != '#')?;
    let inner = line.trim_start_matches(mark);
    let title = inner.trim_end_matches(mark);
    let (left, right) = (line.len() - inner.len(), inner.len() - title.len());
    let is_title = left.min(right) >= MIN_SIDE_MARKS * mark.len_utf8();
    is_title.then_some((mark, title.trim()))
}

/// The text before the number that a title counts by, in lower case, and the number.
fn label_and_number(title: &str) -> Option<(String, u64)> {
    let digit = title.find(|char: char| char.is_ascii_digit())?;
    let (label, from_number) = title.split_at(digit);
    let number_end = from_number.find(|char: char| !char.is_ascii_digit());
    let (number, ending) = from_number.split_at(number_end.unwrap_or(from_number.len()));
    let last_word = label.trim_end_matches(['#', ' ', ':']).rsplit(' ').next()?;
    let counts = COUNTED_WORDS.iter().any(|word| last_word.eq_ignore_ascii_case(word));
    // Two more: the counted word itself, and a `#` that may stand alone.
    let is_short = label.split_whitespace().count() <= MAX_WORDS_BEFORE + 2;
    if !counts || !is_short || !may_end_header(ending) {
        return None;
    }
    Some((label.to_lowercase(), number.parse().ok()?))
}

/// A text that may come after a header's number: the number of all, a time, a remark in
/// brackets; no words.
fn may_end_header(ending: &str) -> bool {
    let text = ending.trim_start();
    let marks = ['/', ':', '(', '[', '-', '–', '—', '|'];
    text.is_empty() || text.starts_with(marks) || (text != ending && text.starts_with("of "))
}

/// A line without the marks that a logger puts before it, `[time] [LEVEL]`; `None` if it has
/// no such marks.
fn without_log_prefix(line: &str) -> Option<&str> {
    let mut text = line;
    while let Some((_, message)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        text = message.trim_start();
    }
    (text.len() < line.len()).then_some(text)
}

fn is_logged(line: &str) -> bool {
    let line = line.trim_start();
    let in_brackets = line.strip_prefix('[');
    in_brackets.is_some_and(|text| text.starts_with(|char: char| char.is_ascii_digit()))
        && without_log_prefix(line).is_some()
}

/// The time that a logger has put before this line.
fn stamp(line: &str) -> &str {
    line.trim_start().trim_start_matches('[').split(']').next().unwrap_or_default()
}

/// A row of one mark.
fn is_rule(line: &str) -> bool {
    let line = line.trim_start();
    let Some(mark) = line.chars().next().filter(|&char| DECORATION.contains(char)) else {
        return false;
    };
    line.chars().all(|char| char == mark) && line.chars().count() >= MIN_RULE_MARKS
}

fn is_boxed(lines: &[String], at: usize) -> bool {
    let is_below_rule = at.checked_sub(1).is_some_and(|above| is_rule(&lines[above]));
    is_below_rule && lines.iter().skip(at + 1).take(MAX_BOX_LINES).any(|line| is_rule(line))
}

/// The line without terminal escapes and space at its end.
fn plain(line: &[u8]) -> String {
    let line = &line[..line.len().min(MAX_HEADER_BYTES)];
    strip_str(&String::from_utf8_lossy(line)).to_string().trim_end().to_owned()
}

fn may_matter(line: &[u8]) -> bool {
    let first_byte = line.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
    // Decoration that is not ASCII begins with the byte E2.
    let marks = b"=-*~#_[\x1b\xe2";
    first_byte.is_some_and(|byte| marks.contains(byte))
}

#[cfg(test)]
mod tests;
