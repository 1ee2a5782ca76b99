//! The Test Anything Protocol: versions 12 to 14.
//!
//! A version line begins a document, and several may follow each other. In
//! each the plan stands first or last, once; points are numbered in order;
//! subtests are indented by four spaces or stand in braces; a block of
//! diagnostics reaches from `---` to `...`. The points without subtests are
//! the tests.

use super::failure::FailureText;
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
    /// A line was seen that only the protocol contains.
    is_recognised: bool,
    /// The document began with a version.
    has_version: bool,
    /// The diagnostics of the latest point, if it failed.
    failure_text: FailureText,
    in_stack: bool,
    /// The command is known to write the protocol.
    is_expected: bool,
}

/// One document or subtest.
#[derive(Default)]
struct Level {
    name: Option<String>,
    plan: Option<u64>,
    points: u64,
    /// The number of the latest point.
    last_number: u64,
    failed_points: u64,
    /// The subtest is in braces behind its own point.
    is_braced: bool,
    /// The name of that point, if it failed.
    failed_parent: Option<String>,
}

/// A test point.
struct Point<'a> {
    is_ok: bool,
    number: Option<u64>,
    name: &'a str,
    /// Skipped, or to do.
    is_excused: bool,
    /// A subtest in braces follows.
    opens_subtest: bool,
}

impl<'a> Point<'a> {
    /// `not ok 3 - name # todo`, of which only the result has to be there.
    fn parse(text: &'a str) -> Option<Self> {
        let (is_ok, numbered) = match text.strip_prefix("not ok") {
            Some(numbered) => (false, numbered),
            None => (true, text.strip_prefix("ok")?),
        };
        if !numbered.is_empty() && !numbered.starts_with(' ') {
            return None;
        }
        let (digits, description) = split_digits(numbered.trim_start());
        let head = description.strip_suffix('{');
        let head = head.filter(|head| head.is_empty() || head.ends_with(' '));
        let described = head.map_or(description, str::trim_end);
        let directive = directive(described);
        let title = described[..directive.unwrap_or(described.len())].trim();
        let title = title.strip_prefix("- ").unwrap_or(title);
        Some(Self {
            is_ok,
            number: digits.parse().ok(),
            // vitest appends how long the test took.
            name: title.rsplit_once(" # time=").map_or(title, |(name, _)| name),
            is_excused: directive.is_some(),
            opens_subtest: head.is_some(),
        })
    }

    fn status(&self) -> Status {
        match (self.is_excused, self.is_ok) {
            (true, _) => Status::Skipped,
            (false, true) => Status::Passed,
            (false, false) => Status::Failed,
        }
    }
}

impl Tap {
    /// For a command that writes the protocol.
    pub(super) fn new() -> Self {
        Self { is_expected: true, ..Self::optional() }
    }

    /// For a command that may write the protocol: it does if a version, a plan or a numbered failure
    /// is seen.
    pub(super) fn optional() -> Self {
        Self {
            tally: Tally::new(Format::Tap),
            levels: vec![Level::default()],
            block: None,
            is_recognised: false,
            has_version: false,
            failure_text: FailureText::default(),
            in_stack: false,
            is_expected: false,
        }
    }

    fn take(&mut self, line: &str) {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let text = line[indent..].trim_end();
        if let Some(block) = self.block {
            if text == "..." && indent == block {
                self.block = None;
            } else {
                self.diagnostic_line(line.trim_end(), indent > block);
            }
        } else if text == "---" && indent % 4 == 2 {
            self.block = Some(indent);
        } else if indent.is_multiple_of(4) {
            self.document_line(indent / 4, text);
        }
    }

    /// A line of a block. Node writes the frames of a stack there without their `at`.
    fn diagnostic_line(&mut self, line: &str, is_nested: bool) {
        let text = line.trim_start();
        self.in_stack = text == "stack: |-" || (self.in_stack && is_nested);
        if self.in_stack && is_nested {
            self.failure_text.take(&format!("    at {text}"));
        } else if !NOISE.iter().any(|key| text.starts_with(key)) {
            self.failure_text.take(line);
        }
    }

    fn document_line(&mut self, depth: usize, text: &str) {
        if depth == 0 && is_version(text) {
            self.begin_document();
        } else if depth == 0 && is_error(text) {
            self.tally.add_error(text.trim_start_matches("# "));
        } else if text == "}" {
            self.close_to(depth + 1);
        } else if let Some(announced) = planned_points(text) {
            self.take_plan(depth, announced);
        } else if let Some(name) = text.strip_prefix("# Subtest") {
            self.begin_subtest(depth, name.trim_start_matches(':').trim());
        } else if let Some(point) = Point::parse(text) {
            self.take_point(depth, &point);
        } else if let Some(note) = text.strip_prefix("# ") {
            self.failure_text.take(note);
        }
    }

    /// A version begins a document: the one before it is whole or broken by itself.
    fn begin_document(&mut self) {
        let previous = &self.levels[0];
        if self.has_version || previous.plan.is_some() || previous.points > 0 {
            self.end_document();
            self.levels = vec![Level::default()];
        }
        self.is_recognised = true;
        self.has_version = true;
    }

    fn end_document(&mut self) {
        self.close_to(1);
        let document = std::mem::take(&mut self.levels[0]);
        if document.plan.is_none() && document.points == 0 {
            self.tally.add_problem("the plan is missing");
        }
        self.end_level(&document);
    }

    /// A subtest is announced at its parent's depth, or at its own.
    fn begin_subtest(&mut self, depth: usize, name: &str) {
        if depth + 1 == self.levels.len() && depth + 1 < MAX_DEPTH {
            self.levels.push(Level { name: Some(name.to_owned()), ..Level::default() });
        }
    }

    /// Goes to a depth. False for a line that is indented deeper than a subtest can be: it is no part
    /// of the protocol.
    fn enter_depth(&mut self, depth: usize) -> bool {
        if depth == self.levels.len() && depth < MAX_DEPTH {
            self.levels.push(Level::default());
        }
        depth < self.levels.len()
    }

    fn take_plan(&mut self, depth: usize, announced: u64) {
        if !self.enter_depth(depth) {
            return;
        }
        self.is_recognised |= depth == 0;
        self.close_to(depth + 1);
        if depth == 0 && self.levels[0].points > 0 {
            // Notes behind the last plan are node's totals.
            self.failure_text.close();
        }
        if self.levels[depth].plan.replace(announced).is_some() {
            self.tally.add_problem("there is more than one plan");
        }
    }

    fn take_point(&mut self, depth: usize, point: &Point<'_>) {
        if !self.enter_depth(depth) {
            return;
        }
        self.failure_text.end(&mut self.tally);
        let subtest = self.levels.get(depth + 1);
        // A subtest that was announced and holds nothing has no results.
        let has_subtest = subtest.is_some_and(|level| level.points > 0 || level.plan.is_some());
        let subtest_failed = subtest.is_some_and(|level| level.failed_points > 0);
        self.close_to(depth + 1);
        self.count_point(depth, point);
        let status = point.status();
        self.is_recognised |= depth == 0 && status == Status::Failed && point.number.is_some();
        self.levels[depth].failed_points += u64::from(status == Status::Failed);
        let id = self.test_id(depth, point);
        if point.opens_subtest && depth + 1 < MAX_DEPTH {
            let failed_parent = (status == Status::Failed).then_some(id);
            let name = Some(point.name.to_owned());
            self.levels.push(Level { name, is_braced: true, failed_parent, ..Level::default() });
        } else if !has_subtest && status == Status::Passed && file::is_script(point.name) {
            // Node reports every file it ran. One that only helps the tests holds no test.
            if file::is_test_script(point.name) {
                self.tally.add_problem(format!("{id} ended without reporting a test"));
            }
        } else if !has_subtest || (status == Status::Failed && !subtest_failed) {
            self.tally.add_test(&id, status);
            if status == Status::Failed {
                self.failure_text.begin(&id);
            }
        }
    }

    /// Counts a point, and looks at its number.
    fn count_point(&mut self, depth: usize, point: &Point<'_>) {
        let level = &mut self.levels[depth];
        level.points += 1;
        let expected = level.last_number.saturating_add(1);
        level.last_number = point.number.unwrap_or(expected);
        if level.last_number != expected {
            self.tally.add_problem(format!("test {expected} is out of order: `{}`", point.name));
        }
    }

    fn test_id(&self, depth: usize, point: &Point<'_>) -> String {
        let parents = self.levels[1..=depth].iter().filter_map(|level| level.name.as_deref());
        let number = self.levels[depth].points.to_string();
        let name = if point.name.is_empty() { number.as_str() } else { point.name };
        let path: Vec<_> = parents.chain([name]).collect();
        path.join(" > ").replace("\\#", "#")
    }

    /// Ends the levels below a depth.
    fn close_to(&mut self, depth: usize) {
        while self.levels.len() > depth.max(1) {
            if let Some(level) = self.levels.pop() {
                self.end_level(&level);
            }
        }
    }

    /// Reports what a level lacks when it ends.
    fn end_level(&mut self, level: &Level) {
        if let Some(id) = &level.failed_parent
            && level.failed_points == 0
        {
            self.tally.add_test(id, Status::Failed);
        }
        let name = level.name.as_deref().map(|name| format!(" of `{name}`")).unwrap_or_default();
        match level.plan {
            None if level.points == 0 && !level.is_braced => {}
            None => self.tally.add_problem(format!("the plan{name} is missing")),
            Some(plan) if plan != level.points => {
                let points = level.points;
                self.tally.add_problem(format!(
                    "the plan{name} is {plan} tests, and {points} were reported"
                ));
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
        if !self.is_recognised && !self.is_expected {
            return None;
        }
        if self.block.is_some() {
            self.tally.add_problem("a block of diagnostics does not end");
        }
        self.end_document();
        self.failure_text.end(&mut self.tally);
        Some(self.tally.finish())
    }
}

/// The run was given up, or node notes an error that no test caught.
fn is_error(text: &str) -> bool {
    let uncaught_error = " asynchronous activity after the test ended";
    text.starts_with("Bail out!") || (text.starts_with("# ") && text.contains(uncaught_error))
}

fn is_version(text: &str) -> bool {
    let version = text.strip_prefix("TAP version ");
    version.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The number in `1..N`, behind which a reason or a comment may stand.
fn planned_points(text: &str) -> Option<u64> {
    let (number, remark) = split_digits(text.strip_prefix("1..")?);
    let is_plan = remark.is_empty() || remark.starts_with('#');
    if is_plan { number.parse().ok() } else { None }
}

/// The digits that a text begins with, and what follows them without its first spaces.
fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// Byte at which `# SKIP` or `# todo` begins, in any case. An escaped `#` is part of the name.
fn directive(text: &str) -> Option<usize> {
    let marks = text.match_indices('#').map(|(index, _)| index);
    let mut marks = marks.filter(|mark| !text[..*mark].ends_with('\\'));
    marks.find(|mark| {
        let remark = text[mark + 1..].trim_start();
        let word: String = remark.chars().take(4).collect();
        word.eq_ignore_ascii_case("skip") || word.eq_ignore_ascii_case("todo")
    })
}
