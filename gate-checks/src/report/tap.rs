//! The Test Anything Protocol: versions 12 to 14.
//!
//! A version line begins a document, and several may follow each other. In
//! each the plan stands first or last, once; points are numbered in order;
//! subtests are indented by four spaces or stand in braces; a block of
//! diagnostics reaches from `---` to `...`. The points without subtests are
//! the tests.

use super::failure::Printed;
use super::{Format, Reader, Status, Stream, Tally, TestReport, file};

/// Deepest nesting of subtests.
const MAX_DEPTH: usize = 32;

/// Keys of diagnostics that explain nothing.
const NOISE: &[&str] = &[
    "duration_ms:",
    "type:",
    "location:",
    "failureType:",
    "code:",
    "name:",
    "operator:",
    "stack: |-",
];

/// Reads the protocol.
pub(super) struct Tap {
    tally: Tally,
    levels: Vec<Level>,
    /// The indentation of the block of diagnostics that is being passed over.
    block: Option<usize>,
    seen: bool,
    /// The document began with a version.
    versioned: bool,
    /// The diagnostics of the latest point, if it failed.
    printed: Printed,
    in_stack: bool,
    certain: bool,
}

/// One document or subtest.
#[derive(Default)]
struct Level {
    name: Option<String>,
    plan: Option<u64>,
    skipped: bool,
    points: u64,
    /// The number of the latest point.
    number: u64,
    failed: u64,
    /// The subtest is in braces behind its own point; and that point's name, if it failed.
    braced: bool,
    parent_failed: Option<String>,
}

/// A test point.
struct Point<'a> {
    ok: bool,
    number: Option<u64>,
    name: &'a str,
    excused: bool,
    opens: bool,
}

impl Point<'_> {
    fn status(&self) -> Status {
        match (self.excused, self.ok) {
            (true, _) => Status::Skipped,
            (false, true) => Status::Passed,
            (false, false) => Status::Failed,
        }
    }
}

impl Tap {
    /// The protocol is known to be written.
    pub(super) fn new() -> Self {
        Self { certain: true, ..Self::perhaps() }
    }

    /// It may be written: it is if a version, a plan or a numbered failure is seen.
    pub(super) fn perhaps() -> Self {
        Self {
            tally: Tally::new(Format::Tap),
            levels: vec![Level::default()],
            block: None,
            seen: false,
            versioned: false,
            printed: Printed::default(),
            in_stack: false,
            certain: false,
        }
    }

    fn take(&mut self, line: &str) {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let text = line[indent..].trim_end();
        if let Some(block) = self.block {
            if text == "..." && indent == block {
                self.block = None;
            } else {
                self.diagnostic(line.trim_end(), indent > block);
            }
        } else if text == "---" && indent % 4 == 2 {
            self.block = Some(indent);
        } else if indent.is_multiple_of(4) {
            self.at(indent / 4, text);
        }
    }

    /// A line of a block. Node writes the frames of a stack there without their `at`.
    fn diagnostic(&mut self, line: &str, is_nested: bool) {
        self.in_stack = line.trim_start() == "stack: |-" || (self.in_stack && is_nested);
        let text = line.trim_start();
        if self.in_stack && is_nested {
            self.printed.take(&format!("    at {text}"));
        } else if !NOISE.iter().any(|key| text.starts_with(key)) {
            self.printed.take(line);
        }
    }

    fn at(&mut self, depth: usize, text: &str) {
        if depth == 0 && is_version(text) {
            self.version();
        } else if depth == 0 && is_error(text) {
            self.tally.error(text.trim_start_matches("# "));
        } else if text == "}" {
            self.close_to(depth + 1);
        } else if let Some(plan) = plan(text) {
            self.plan(depth, plan);
        } else if let Some(name) = text.strip_prefix("# Subtest") {
            self.subtest(depth, name.trim_start_matches(':').trim());
        } else if let Some(point) = point(text) {
            self.point(depth, &point);
        } else if let Some(note) = text.strip_prefix("# ") {
            self.printed.take(note);
        }
    }

    /// A version begins a document: the one before it is whole or broken by itself.
    fn version(&mut self) {
        let before = &self.levels[0];
        if self.versioned || before.plan.is_some() || before.points > 0 {
            self.close();
            self.levels = vec![Level::default()];
        }
        (self.seen, self.versioned) = (true, true);
    }

    /// Ends the document.
    fn close(&mut self) {
        self.close_to(1);
        let whole = std::mem::take(&mut self.levels[0]);
        if whole.plan.is_none() && whole.points == 0 {
            self.tally.problem("the plan is missing");
        }
        self.ended(&whole);
    }

    /// A subtest is announced at its parent's depth, or at its own.
    fn subtest(&mut self, depth: usize, name: &str) {
        if depth + 1 == self.levels.len() && depth + 1 < MAX_DEPTH {
            self.levels.push(Level { name: Some(name.to_owned()), ..Level::default() });
        }
    }

    /// Goes to a depth; `false`: nothing of the protocol stands there.
    fn reach(&mut self, depth: usize) -> bool {
        if depth == self.levels.len() && depth < MAX_DEPTH {
            self.levels.push(Level::default());
        }
        depth < self.levels.len()
    }

    fn plan(&mut self, depth: usize, (number, skipped): (u64, bool)) {
        if !self.reach(depth) {
            return;
        }
        self.seen |= depth == 0;
        self.close_to(depth + 1);
        if depth == 0 && self.levels[0].points > 0 {
            // Notes behind the last plan are node's totals.
            self.printed.close();
        }
        let level = &mut self.levels[depth];
        if level.plan.replace(number).is_some() {
            self.tally.problem("there is more than one plan");
        }
        self.levels[depth].skipped = skipped;
    }

    fn point(&mut self, depth: usize, point: &Point<'_>) {
        if !self.reach(depth) {
            return;
        }
        self.printed.end(&mut self.tally);
        // A subtest that was announced and holds nothing has no results.
        let inner = self
            .levels
            .get(depth + 1)
            .is_some_and(|inner| inner.points > 0 || inner.plan.is_some());
        let inner_failed = self.levels.get(depth + 1).is_some_and(|inner| inner.failed > 0);
        self.close_to(depth + 1);
        self.number(depth, point);
        let status = point.status();
        self.seen |= depth == 0 && status == Status::Failed && point.number.is_some();
        self.levels[depth].failed += u64::from(status == Status::Failed);
        let id = self.id(depth, point);
        if point.opens && depth + 1 < MAX_DEPTH {
            let parent_failed = (status == Status::Failed).then_some(id);
            let name = Some(point.name.to_owned());
            self.levels.push(Level { name, braced: true, parent_failed, ..Level::default() });
        } else if !inner && status == Status::Passed && file::is_script(point.name) {
            // What only helps the tests holds none.
            if file::is_test_script(point.name) {
                self.tally.problem(format!("{id} ended without reporting a test"));
            }
        } else if !inner || (status == Status::Failed && !inner_failed) {
            self.tally.test(&id, status);
            if status == Status::Failed {
                self.printed.begin(&id);
            }
        }
    }

    /// Counts a point, and looks at its number.
    fn number(&mut self, depth: usize, point: &Point<'_>) {
        let level = &mut self.levels[depth];
        level.points += 1;
        let expected = level.number.saturating_add(1);
        level.number = point.number.unwrap_or(expected);
        if level.number != expected {
            self.tally.problem(format!("test {expected} is out of order: `{}`", point.name));
        }
    }

    fn id(&self, depth: usize, point: &Point<'_>) -> String {
        let above = self.levels[1..=depth].iter().filter_map(|level| level.name.as_deref());
        let number = self.levels[depth].points.to_string();
        let own = if point.name.is_empty() { number.as_str() } else { point.name };
        let path: Vec<_> = above.chain([own]).collect();
        path.join(" > ").replace("\\#", "#")
    }

    /// Ends the levels below a depth.
    fn close_to(&mut self, depth: usize) {
        while self.levels.len() > depth.max(1) {
            if let Some(level) = self.levels.pop() {
                self.ended(&level);
            }
        }
    }

    fn ended(&mut self, level: &Level) {
        if let Some(id) = &level.parent_failed
            && level.failed == 0
        {
            self.tally.test(id, Status::Failed);
        }
        let name = level.name.as_deref().map(|name| format!(" of `{name}`")).unwrap_or_default();
        match level.plan {
            None if level.points == 0 && !level.braced => {}
            None => self.tally.problem(format!("the plan{name} is missing")),
            Some(plan) if plan != level.points => {
                let found = level.points;
                let what = format!("the plan{name} is {plan} tests, and {found} were reported");
                self.tally.problem(what);
            }
            Some(_) => {}
        }
    }
}

impl Reader for Tap {
    fn line(&mut self, stream: Stream, line: &str) {
        if stream == Stream::Stdout {
            self.take(line);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        if !self.seen && !self.certain {
            return None;
        }
        if self.block.is_some() {
            self.tally.problem("a block of diagnostics does not end");
        }
        self.close();
        self.printed.end(&mut self.tally);
        Some(self.tally.finish())
    }
}

/// True for the end of a run, and for node's notes about errors that no test caught.
fn is_error(text: &str) -> bool {
    let uncaught = " asynchronous activity after the test ended";
    text.starts_with("Bail out!") || (text.starts_with("# ") && text.contains(uncaught))
}

fn is_version(text: &str) -> bool {
    let version = text.strip_prefix("TAP version ");
    version.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// `1..N`, and whether all of it is skipped.
fn plan(text: &str) -> Option<(u64, bool)> {
    let rest = text.strip_prefix("1..")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let after = rest[end..].trim_start();
    let number = rest[..end].parse().ok()?;
    match after {
        "" => Some((number, false)),
        after if after.starts_with('#') => Some((number, directive(after).is_some())),
        _ => None,
    }
}

fn point(text: &str) -> Option<Point<'_>> {
    let (ok, rest) = match text.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix("ok")?),
    };
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..end].parse().ok();
    let rest = rest[end..].trim_start();
    let (rest, opens) = match rest.strip_suffix('{') {
        Some(before) if before.is_empty() || before.ends_with(' ') => (before.trim_end(), true),
        _ => (rest, false),
    };
    let directive = directive(rest);
    let name = rest[..directive.unwrap_or(rest.len())].trim();
    let name = name.strip_prefix("- ").unwrap_or(name);
    let name = name.rsplit_once(" # time=").map_or(name, |(name, _)| name);
    Some(Point { ok, number, name, excused: directive.is_some(), opens })
}

/// Byte at which `# SKIP` or `# todo` begins, in any case; an escaped mark is none.
fn directive(text: &str) -> Option<usize> {
    let marks = text.match_indices('#').map(|(at, _)| at);
    let mut marks = marks.filter(|at| !text[..*at].ends_with('\\'));
    marks.find(|at| {
        let word = text[at + 1..].trim_start();
        let word: String = word.chars().take(4).collect::<String>().to_ascii_lowercase();
        word == "skip" || word == "todo"
    })
}
