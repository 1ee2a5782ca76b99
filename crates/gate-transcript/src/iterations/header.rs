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
const HEADER: usize = 400;

/// Lines that may come before the first header: a runner's banner.
const BANNER: usize = 30;

/// Lines that a box may have between its rules.
const BOX: usize = 5;

/// Marks that make a rule, or one side of a decorated line.
const RULE: usize = 10;
const SIDE: usize = 2;

/// Words for the thing that a header counts.
const WORDS: [&str; 4] = ["iteration", "loop", "cycle", "round"];

/// Words that may come before the counted one.
const BEFORE: usize = 3;

/// Characters that decorate lines.
const DECORATION: &str = "=-*~#_━═─—";

/// The header of one loop, with the number of the iteration that it began.
#[derive(Debug)]
pub(super) struct Loop {
    header: Header,
    /// The last number; none before the first header.
    number: Option<u64>,
    /// The first number.
    first: u64,
    /// The number of the last header that was taken for a shown one.
    shown: Option<u64>,
    /// Tracks text that the agent shows.
    quoted: Quoted,
    /// The latest time that the runner's logger wrote.
    time: String,
    /// True if the line before was a rule; and true if it was the title of a box.
    rule: bool,
    inside: Option<usize>,
}

/// The features that all headers of a loop share.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Header {
    kind: Kind,
    /// Indentation, in bytes.
    indent: usize,
    /// The decoration; `None` in a box.
    mark: Option<char>,
    /// Text before the number, in lower case.
    before: String,
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
        let logged = lines.iter().find(|line| !line.is_empty()).is_some_and(|line| is_logged(line));
        let most = if logged { lines.len() } else { BANNER };
        let header = (0..lines.len().min(most)).find_map(|at| {
            let (header, _) = titled(&lines[at], at == 0)?;
            let fits = match header.kind {
                Kind::Logged => logged,
                Kind::Line | Kind::Tui => true,
                Kind::Boxed => is_boxed(&lines, at),
            };
            fits.then_some(header)
        })?;
        Some(Self {
            header,
            number: None,
            first: 0,
            shown: None,
            quoted: Quoted::default(),
            time: String::new(),
            rule: false,
            inside: None,
        })
    }

    pub(super) fn judge(&mut self, line: &[u8]) -> Cut {
        // Most lines are known by their first byte to be neither.
        if self.inside.is_none() && !self.rule && !may_matter(line) {
            return self.agents(line);
        }
        if line.len() > HEADER {
            (self.rule, self.inside) = (false, None);
            return self.agents(line);
        }
        let text = plain(line);
        let rule = std::mem::replace(&mut self.rule, is_rule(&text));
        if let Some(left) = self.inside {
            self.inside = if self.rule { None } else { left.checked_sub(1) };
            if self.rule {
                return Cut::Drop;
            }
        }
        let Some(number) = self.number_of(&text, rule) else { return self.other(line, &text) };
        let follows = self.follows(number);
        if self.number.is_some() && self.quoted.holds() {
            self.shown = if follows { Some(number) } else { self.shown };
            return Cut::No;
        }
        if follows { self.begin(number) } else { Cut::No }
    }

    /// An iteration begins with this header.
    fn begin(&mut self, number: u64) -> Cut {
        if self.number.is_none() {
            self.first = number;
        }
        (self.number, self.shown) = (Some(number), None);
        self.quoted = Quoted::default();
        self.inside = (self.header.kind == Kind::Boxed).then_some(BOX);
        if self.header.kind == Kind::Tui { Cut::Before } else { Cut::After }
    }

    /// A line that may have been a header, and is none.
    fn other(&mut self, line: &[u8], text: &str) -> Cut {
        if self.number.is_some() && self.is_runners(text) {
            return Cut::No;
        }
        self.agents(line)
    }

    /// True if a line is the runner's own. Its logger writes into what it shows of
    /// the agent's words, and ends it; a log that an agent shows is from before.
    fn is_runners(&mut self, text: &str) -> bool {
        match self.header.kind {
            Kind::Boxed => self.rule,
            Kind::Logged if is_logged(text) && stamp(text) >= self.time.as_str() => {
                stamp(text).clone_into(&mut self.time);
                self.quoted = Quoted::default();
                true
            }
            _ => false,
        }
    }

    /// A line of an iteration; what comes before the first header is the
    /// runner's banner.
    fn agents(&mut self, line: &[u8]) -> Cut {
        if self.number.is_none() {
            return Cut::Drop;
        }
        self.quoted.line(line);
        Cut::No
    }

    /// The number of a header of this loop.
    fn number_of(&self, line: &str, below_rule: bool) -> Option<u64> {
        let (header, number) = titled(line, self.header.kind == Kind::Tui)?;
        let placed = header.kind != Kind::Boxed || below_rule;
        (placed && header == self.header).then_some(number)
    }

    /// True if an iteration may have this number: a log that is printed by an agent in it has the
    /// numbers of those before. A header that was taken for a shown one may have been a true one,
    /// so that the one after it counts as well; and a log that began with 1 does so again if its
    /// loop was started again.
    fn follows(&self, number: u64) -> bool {
        let Some(last) = self.number else { return true };
        match self.header.kind {
            Kind::Logged => true,
            Kind::Tui => number > last,
            Kind::Line | Kind::Boxed => {
                let mut before = [Some(last), self.shown].into_iter().flatten();
                let is_next = before.any(|before| number == before.saturating_add(1));
                let is_restart = number == 1 && self.first == 1 && last > 1;
                is_next || is_restart
            }
        }
    }
}

/// A line as a header, and its number.
fn titled(line: &str, tui: bool) -> Option<(Header, u64)> {
    if tui && let Some(number) = line.strip_prefix("# Iteration ") {
        let number = number.strip_suffix(" Log")?.parse().ok()?;
        let header = Header { kind: Kind::Tui, indent: 0, mark: None, before: String::new() };
        return Some((header, number));
    }
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let (bare, logged) = unlogged(text);
    let (mark, inner) = inside(bare).unzip();
    let (before, number) = counted(inner.unwrap_or(bare))?;
    let kind = match (mark, logged) {
        (Some(_), true) => Kind::Logged,
        (Some(_), false) => Kind::Line,
        (None, _) => Kind::Boxed,
    };
    Some((Header { kind, indent, mark, before }, number))
}

/// The mark that decorates a line on both sides, and what stands between.
fn inside(line: &str) -> Option<(char, &str)> {
    let mark = line.chars().next().filter(|&c| is_decoration(c) && c != '#')?;
    let inner = line.trim_start_matches(mark);
    let bare = inner.trim_end_matches(mark);
    let (left, right) = (line.len() - inner.len(), inner.len() - bare.len());
    let is_title = left.min(right) >= SIDE * mark.len_utf8();
    is_title.then_some((mark, bare.trim()))
}

fn is_decoration(c: char) -> bool {
    DECORATION.contains(c)
}

/// Text before the number that a title counts by, and the number.
fn counted(title: &str) -> Option<(String, u64)> {
    let digit = title.find(|c: char| c.is_ascii_digit())?;
    let (before, rest) = title.split_at(digit);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, after) = rest.split_at(end);
    let words: Vec<_> = before.split_whitespace().collect();
    let word = before.trim_end_matches(['#', ' ', ':']).rsplit(' ').next()?;
    let known = WORDS.iter().any(|known| word.eq_ignore_ascii_case(known));
    let few = words.len() <= BEFORE + 2;
    (known && few && goes_on(after)).then(|| Some((before.to_lowercase(), number.parse().ok()?)))?
}

/// True if a header may go on like this after its number: with the number of
/// all, a time, a remark in brackets; not with words.
fn goes_on(after: &str) -> bool {
    let next = after.trim_start();
    let marks = ['/', ':', '(', '[', '-', '–', '—', '|'];
    next.is_empty() || next.starts_with(marks) || (next != after && next.starts_with("of "))
}

/// A line without what a logger puts before it: `[time] [LEVEL]`.
fn unlogged(line: &str) -> (&str, bool) {
    let mut rest = line;
    while let Some((_, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        rest = after.trim_start();
    }
    (rest, rest.len() < line.len())
}

fn is_logged(line: &str) -> bool {
    let line = line.trim_start();
    line.strip_prefix('[').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        && unlogged(line).1
}

/// The time that a logger has put before this line.
fn stamp(line: &str) -> &str {
    line.trim_start().trim_start_matches('[').split(']').next().unwrap_or_default()
}

/// A row of one mark.
fn is_rule(line: &str) -> bool {
    let line = line.trim_start();
    let Some(mark) = line.chars().next().filter(|&c| DECORATION.contains(c)) else { return false };
    line.chars().all(|c| c == mark) && line.chars().count() >= RULE
}

fn is_boxed(lines: &[String], at: usize) -> bool {
    let above = at.checked_sub(1).is_some_and(|above| is_rule(&lines[above]));
    above && lines.iter().skip(at + 1).take(BOX).any(|line| is_rule(line))
}

/// The line without terminal escapes and space at its end.
fn plain(line: &[u8]) -> String {
    let line = &line[..line.len().min(HEADER)];
    strip_str(&String::from_utf8_lossy(line)).to_string().trim_end().to_owned()
}

fn may_matter(line: &[u8]) -> bool {
    let first = line.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
    // Decoration that is not ASCII begins with the byte E2.
    let marks = b"=-*~#_[\x1b\xe2";
    first.is_some_and(|byte| marks.contains(byte))
}

#[cfg(test)]
mod tests;
