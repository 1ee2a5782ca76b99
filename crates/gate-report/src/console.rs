//! Summaries that test runners print for people: the rules of `console.toml`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexBuilder};
use serde::Deserialize;

use super::failure::FailureText;
use super::{Budget, Format, Reader, Status, Stream, Tally, TestReport};

const PACK: &str = include_str!("console.toml");

/// Longer lines are no part of a summary.
const MAX_LINE_BYTES: usize = 2_000;

/// Most failed tests whose messages are stored.
const MAX_MESSAGES: usize = 20;

/// Most bytes of a rule's lazily built automaton.
const REGEX_CACHE_BYTES: usize = 1 << 18;

// A test ensures that the pack can be read.
static RUNNERS: LazyLock<Vec<Runner>> = LazyLock::new(|| {
    let pack: Pack = toml::from_str(PACK).unwrap_or_default();
    pack.runner
});

#[derive(Default, Deserialize)]
struct Pack {
    runner: Vec<Runner>,
}

#[derive(Deserialize)]
struct Runner {
    #[cfg(test)]
    name: String,
    format: Format,
    #[serde(default)]
    passed: Vec<String>,
    #[serde(default)]
    failed: Vec<String>,
    #[serde(default)]
    skipped: Vec<String>,
    incomplete: Option<String>,
    /// The status of the tests that a run announced and did not count.
    #[serde(rename = "rest")]
    uncounted: Option<Status>,
    failed_outside: Option<String>,
    heading: Option<Pattern>,
    message_begins: Option<Pattern>,
    message_ends: Option<Pattern>,
    rule: Vec<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    regex: Pattern,
    #[serde(default)]
    begins: bool,
    #[serde(default)]
    ends: bool,
    #[serde(default)]
    in_run: bool,
    error: Option<String>,
    problem: Option<String>,
    #[serde(default)]
    is_hint: bool,
    #[serde(default)]
    outside: bool,
}

/// A regular expression that is compiled as it is read.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Pattern(Regex);

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(regex: String) -> Result<Self, String> {
        RegexBuilder::new(&regex)
            .dfa_size_limit(REGEX_CACHE_BYTES)
            .build()
            .map(Self)
            .map_err(|error| format!("{regex}: {error}"))
    }
}

fn is_match(pattern: Option<&Pattern>, line: &str) -> bool {
    pattern.is_some_and(|pattern| pattern.0.is_match(line))
}

impl Runner {
    fn status(&self, word: &str) -> Option<Status> {
        let words = [
            (Status::Passed, &self.passed),
            (Status::Failed, &self.failed),
            (Status::Skipped, &self.skipped),
        ];
        let (status, _) =
            words.into_iter().find(|(_, words)| words.iter().any(|listed| listed == word))?;
        Some(status)
    }
}

/// A run that has started and not ended.
struct Run {
    /// The number of tests that it announced.
    total: Option<u64>,
    counted: u64,
}

/// Reads the summary of one runner.
pub(super) struct Console {
    runner: &'static Runner,
    tally: Tally,
    budget: Budget,
    run: Option<Run>,
    has_result: bool,
    /// Failed tests, by the counts.
    failures: u64,
    failed_tests: BTreeSet<String>,
    has_failed_outside: bool,
    /// The previous line was the heading that names of failed tests need; or they need no heading.
    is_after_heading: bool,
    /// The messages of failed tests, in their order.
    failure_texts: Vec<FailureText>,
    position: Position,
}

/// The place of a line among the messages of failed tests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// In no message.
    Outside,
    /// A failed test was named; its message has not begun.
    Ahead,
    Inside,
}

impl Console {
    /// The readers of a format.
    pub(super) fn readers(format: Format) -> Vec<Box<dyn Reader>> {
        let mut readers: Vec<Box<dyn Reader>> = Vec::new();
        for runner in RUNNERS.iter().filter(|runner| runner.format == format) {
            readers.push(Box::new(Self::new(runner)));
        }
        readers
    }

    fn new(runner: &'static Runner) -> Self {
        Self {
            runner,
            tally: Tally::new(runner.format),
            budget: Budget::new(),
            run: None,
            has_result: false,
            failures: 0,
            failed_tests: BTreeSet::new(),
            has_failed_outside: false,
            is_after_heading: runner.heading.is_none(),
            failure_texts: Vec::new(),
            position: Position::Outside,
        }
    }

    fn take(&mut self, line: &str) {
        let runner = self.runner;
        self.take_message_line(line);
        for rule in &runner.rule {
            let is_applicable = self.run.is_some() || !rule.in_run;
            if is_applicable
                && let Some(matched) = MatchedLine::new(line, &rule.regex)
                && self.apply(rule, &matched)
            {
                break;
            }
        }
        if let Some(heading) = &runner.heading {
            self.is_after_heading = heading.0.is_match(line);
        }
    }

    /// A message reaches from the line that begins it to the one that ends it.
    fn take_message_line(&mut self, line: &str) {
        match self.position {
            Position::Outside => {}
            Position::Ahead => {
                if is_match(self.runner.message_begins.as_ref(), line) {
                    self.position = Position::Inside;
                }
            }
            Position::Inside if is_match(self.runner.message_ends.as_ref(), line) => {
                self.position = Position::Outside;
            }
            Position::Inside => {
                if let Some(failure_text) = self.failure_texts.last_mut() {
                    failure_text.take(line);
                }
            }
        }
    }

    /// Returns false if the line only looks like one of the rule's: its numbers cannot be
    /// read.
    fn apply(&mut self, rule: &Rule, line: &MatchedLine<'_>) -> bool {
        let Some(counts) = line.counts() else { return false };
        let total = match line.get("total").map(str::parse) {
            Some(Err(_)) => return false,
            Some(Ok(total)) => Some(total),
            None => None,
        };
        if rule.begins {
            self.begin_run(total);
        }
        counts.into_iter().for_each(|(number, word)| self.count(word, number));
        if rule.ends {
            self.end_run(true);
        }
        if let Some(name) = line.get("name") {
            self.add_failed_test(name);
        }
        if let Some(error) = &rule.error {
            self.tally.add_error(line.filled(error));
        }
        if let Some(problem) = &rule.problem {
            self.tally.add_problem(line.filled(problem));
        }
        self.has_failed_outside |= rule.outside;
        let is_note = rule.error.is_some() || (rule.problem.is_some() && !rule.is_hint);
        // Without a rule for incomplete runs, the borders of a run may be lines of any tool.
        let is_border = (rule.begins || rule.ends) && self.runner.incomplete.is_some();
        self.has_result |= is_note || is_border || rule.outside;
        true
    }

    fn begin_run(&mut self, total: Option<u64>) {
        // Without a total, a run begins with each of its files.
        if total.is_some() {
            self.end_run(false);
        }
        self.run = Some(Run { total, counted: 0 });
    }

    fn count(&mut self, word: &str, number: u64) {
        let Some(status) = self.runner.status(word) else { return };
        if let Some(run) = &mut self.run {
            run.counted = run.counted.saturating_add(number);
        }
        match status {
            // They are counted at the end, each with its name where the text gives one.
            Status::Failed => self.failures = self.failures.saturating_add(number),
            _ => self.tally.count(status, number),
        }
        self.has_result = true;
    }

    fn end_run(&mut self, is_whole: bool) {
        let Some(Run { total, counted }) = self.run.take() else { return };
        let is_complete = match (total, self.runner.uncounted) {
            (Some(total), Some(status)) if is_whole => {
                self.tally.count(status, total.saturating_sub(counted));
                true
            }
            (Some(total), None) => total == counted,
            _ => is_whole,
        };
        if let Some(incomplete) = &self.runner.incomplete
            && !is_complete
        {
            let total = total.unwrap_or(0).to_string();
            let problem = incomplete.replace("{total}", &total);
            self.tally.add_problem(problem.replace("{counted}", &counted.to_string()));
        }
    }

    fn add_failed_test(&mut self, name: &str) {
        let name = name.trim_end().replace(" › ", " > ");
        if !self.is_after_heading || !self.budget.reserve(&name) {
            return;
        }
        let has_message =
            self.runner.message_ends.is_some() && self.failure_texts.len() < MAX_MESSAGES;
        if has_message && !self.failed_tests.contains(&name) {
            let mut failure_text = FailureText::default();
            failure_text.begin(&name);
            self.failure_texts.push(failure_text);
            self.position = match self.runner.message_begins {
                Some(_) => Position::Ahead,
                None => Position::Inside,
            };
        }
        self.failed_tests.insert(name);
    }

    fn add_failures(&mut self) {
        let most = usize::try_from(self.failures).unwrap_or(usize::MAX);
        for name in self.failed_tests.iter().take(most) {
            self.tally.add_test(name, Status::Failed);
            self.failures -= 1;
        }
        self.failure_texts.iter_mut().for_each(|failure_text| failure_text.end(&mut self.tally));
        let has_failed_test = self.tally.so_far().failed > 0 || self.failures > 0;
        self.tally.count(Status::Failed, self.failures);
        if let Some(error) = &self.runner.failed_outside
            && self.has_failed_outside
            && !has_failed_test
        {
            self.tally.add_error(error);
        }
    }
}

impl Reader for Console {
    fn line(&mut self, _stream: Stream, line: &str) {
        if line.len() <= MAX_LINE_BYTES {
            self.take(line);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        self.end_run(false);
        self.add_failures();
        self.has_result.then(|| self.tally.finish())
    }
}

/// A line that a rule matches.
struct MatchedLine<'l>(Captures<'l>);

impl<'l> MatchedLine<'l> {
    fn new(line: &'l str, Pattern(regex): &Pattern) -> Option<Self> {
        regex.captures(line).map(Self)
    }

    fn get(&self, name: &str) -> Option<&'l str> {
        self.0.name(name).map(|part| part.as_str())
    }

    /// The numbers and words of its counts; `None` if a number cannot be read.
    fn counts(&self) -> Option<Vec<(u64, &'l str)>> {
        if let (Some(number), Some(word)) = (self.get("number"), self.get("word")) {
            return Some(vec![(number.parse().ok()?, word)]);
        }
        let Some(list) = self.get("counts").filter(|list| !list.is_empty()) else {
            return Some(Vec::new());
        };
        let counts = list.split(" (").next().unwrap_or(list);
        counts.split([',', '|']).map(|count| number_and_word(count.trim())).collect()
    }

    /// The text, in which captures replace `{note}`, `{word}` and `{number}`.
    fn filled(&self, text: &str) -> String {
        ["note", "word", "number"].iter().fold(text.to_owned(), |text, name| {
            text.replace(&format!("{{{name}}}"), self.get(name).unwrap_or_default())
        })
    }
}

/// Reads `1 failed` or `failures=1`.
fn number_and_word(count: &str) -> Option<(u64, &str)> {
    let (number, word) = match count.split_once('=') {
        Some((word, number)) => (number, word),
        None => count.split_once(' ')?,
    };
    Some((number.parse().ok()?, word))
}

#[cfg(test)]
mod tests;
