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
//!
//! Sources: snarktank/ralph, ralph-claude-code, ralph-tui 0.x, and the plain
//! shell loops that people write.

use anstream::adapter::strip_str;

use super::Cut;

/// The longest header, in bytes.
pub(super) const LONGEST: usize = 400;

/// How many lines may come before the first header: a runner's banner.
const BANNER: usize = 30;

/// How many lines a box may have between its rules.
const BOX: usize = 5;

/// How many marks make a rule, and how many a side of a decorated line.
const RULE: usize = 10;
const SIDE: usize = 2;

/// What a header counts.
const WORDS: [&str; 4] = ["iteration", "loop", "cycle", "round"];

/// How many words may come before that.
const BEFORE: usize = 3;

/// What lines are decorated with.
const DECORATION: &str = "=-*~#_━═─—";

/// The header of one loop, with the number of the iteration that it began.
#[derive(Debug)]
pub(super) struct Loop {
    header: Header,
    /// The last number; none before the first header.
    number: Option<u64>,
    /// Whether the line before was a rule, and whether it was a box's title.
    rule: bool,
    inside: Option<usize>,
}

/// What is the same in all headers of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Header {
    kind: Kind,
    /// What decorates the line; nothing in a box.
    mark: Option<char>,
    /// What stands before the number, in lower case.
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
    pub(super) fn of(head: &[u8]) -> Option<Self> {
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
        Some(Self { header, number: None, rule: false, inside: None })
    }

    pub(super) fn judge(&mut self, line: &[u8]) -> Cut {
        // Most lines are known by their first byte to be neither.
        if self.inside.is_none() && !self.rule && !may_matter(line) {
            return if self.number.is_none() { Cut::Drop } else { Cut::No };
        }
        let line = plain(line);
        let rule = std::mem::replace(&mut self.rule, is_rule(&line));
        if let Some(left) = self.inside {
            self.inside = left.checked_sub(1).filter(|_| !self.rule);
            if self.rule {
                return Cut::Drop;
            }
        }
        match self.number_of(&line, rule) {
            Some(number) if self.follows(number) => {
                self.number = Some(number);
                self.inside = (self.header.kind == Kind::Boxed).then_some(BOX);
                if self.header.kind == Kind::Tui { Cut::Before } else { Cut::After }
            }
            // What comes before the first header is the runner's banner.
            _ if self.number.is_none() => Cut::Drop,
            _ => Cut::No,
        }
    }

    /// The number of a header of this loop.
    fn number_of(&self, line: &str, below_rule: bool) -> Option<u64> {
        let (header, number) = titled(line, self.header.kind == Kind::Tui)?;
        let placed = header.kind != Kind::Boxed || below_rule;
        (placed && header == self.header).then_some(number)
    }

    /// Whether an iteration may have this number: a log that is printed by an
    /// agent in it has the numbers of those before.
    fn follows(&self, number: u64) -> bool {
        match (self.number, self.header.kind) {
            (None, _) | (_, Kind::Logged) => true,
            (Some(last), Kind::Tui) => number > last,
            (Some(last), Kind::Line | Kind::Boxed) => number == last.saturating_add(1),
        }
    }
}

/// A line as a header, and its number.
fn titled(line: &str, tui: bool) -> Option<(Header, u64)> {
    if tui && let Some(number) = line.strip_prefix("# Iteration ") {
        let number = number.strip_suffix(" Log")?.parse().ok()?;
        return Some((Header { kind: Kind::Tui, mark: None, before: String::new() }, number));
    }
    let (bare, logged) = unlogged(line);
    let (mark, inner) = inside(bare).unzip();
    let (before, number) = counted(inner.unwrap_or(bare))?;
    let kind = match (mark, logged) {
        (Some(_), true) => Kind::Logged,
        (Some(_), false) => Kind::Line,
        (None, _) => Kind::Boxed,
    };
    Some((Header { kind, mark, before }, number))
}

/// The mark that decorates a line on both sides, and what stands between.
fn inside(line: &str) -> Option<(char, &str)> {
    let decoration = |c: char| DECORATION.contains(c);
    let mark = line.chars().next().filter(|&c| decoration(c) && c != '#')?;
    let inner = line.trim_start_matches(mark);
    let bare = inner.trim_end_matches(mark);
    let long = |cut: usize| cut >= SIDE * mark.len_utf8();
    (long(line.len() - inner.len()) && long(inner.len() - bare.len()))
        .then_some((mark, bare.trim()))
}

/// What stands before the number that a title counts by, and the number.
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

/// Whether a header may go on like this after its number: with the number of
/// all, a time, a remark in brackets; not with words.
fn goes_on(after: &str) -> bool {
    let next = after.trim_start();
    let marks = ['/', ':', '(', '[', '-', '–', '—', '|'];
    next.is_empty() || next.starts_with(marks) || (next != after && next.starts_with("of "))
}

/// A line without what a logger puts before it: `[time] [LEVEL]`.
fn unlogged(line: &str) -> (&str, bool) {
    let mut rest = line;
    while let Some((_, after)) = rest.strip_prefix('[').and_then(|it| it.split_once(']')) {
        rest = after.trim_start();
    }
    (rest, rest.len() < line.len())
}

/// Whether a logger has written this line.
fn is_logged(line: &str) -> bool {
    line.strip_prefix('[').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        && unlogged(line).1
}

/// A row of one mark.
fn is_rule(line: &str) -> bool {
    let Some(mark) = line.chars().next().filter(|&c| DECORATION.contains(c)) else { return false };
    line.chars().all(|c| c == mark) && line.chars().count() >= RULE
}

/// Whether the line stands below a rule and above another.
fn is_boxed(lines: &[String], at: usize) -> bool {
    let above = at.checked_sub(1).is_some_and(|above| is_rule(&lines[above]));
    above && lines.iter().skip(at + 1).take(BOX).any(|line| is_rule(line))
}

/// The line without terminal escapes and space around it.
fn plain(line: &[u8]) -> String {
    let line = &line[..line.len().min(LONGEST)];
    strip_str(&String::from_utf8_lossy(line)).to_string().trim().to_owned()
}

/// Whether the line may be a header or a rule, by its first byte.
fn may_matter(line: &[u8]) -> bool {
    let first = line.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
    // Decoration that is not ASCII begins with the byte E2.
    let marks = b"=-*~#_[\x1b\xe2";
    first.is_some_and(|byte| marks.contains(byte))
}
