//! Sums a report up while it is read, within bounds.

use gate_core::decide::test_failure::TestFailure;
use gate_core::text::clean;

use super::{Format, Status, Test, TestReport};

/// Most tests that are stored by name.
const MAX_TESTS: usize = 200_000;

/// Most bytes of names that are stored.
const MAX_NAME_BYTES: usize = 64 << 20;

/// Most errors, problems and flaky tests, of each.
const MAX_NOTES: usize = 200;

/// Most failures whose texts are stored, and the most bytes of each.
const MAX_FAILURES: usize = 20;
const MAX_FAILURE_BYTES: usize = 16 << 10;

/// Longest name or note.
const MAX_TEXT_BYTES: usize = 1_000;

/// Bytes that a reader may still store of things that are not in the report yet.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// As much as a report may remember itself.
    pub(super) fn new() -> Self {
        Self { left: MAX_NAME_BYTES }
    }

    /// Takes a text from the budget; false if there is no room. Each text has an overhead.
    pub(super) fn takes(&mut self, text: &str) -> bool {
        let fits = cost(text) <= self.left;
        self.left -= if fits { cost(text) } else { 0 };
        fits
    }

    /// This is forgotten.
    pub(super) fn regains(&mut self, text: &str) {
        self.left += cost(text);
    }
}

/// About what it costs to remember a text, in whatever it is kept.
fn cost(text: &str) -> usize {
    text.len() + 128
}

/// A report that grows.
#[derive(Debug)]
pub(super) struct Tally {
    report: TestReport,
    bytes: usize,
    dropped: u64,
}

impl Tally {
    /// An empty report.
    pub(super) fn new(format: Format) -> Self {
        let report = TestReport {
            format,
            tests: Vec::new(),
            passed: 0,
            failed: 0,
            skipped: 0,
            flaky: Vec::new(),
            errors: Vec::new(),
            problems: Vec::new(),
            failures: Vec::new(),
        };
        Self { report, bytes: 0, dropped: 0 }
    }

    /// A test with a name.
    pub(super) fn test(&mut self, id: &str, status: Status) {
        self.count(status, 1);
        let id = cut(id);
        if self.report.tests.len() >= MAX_TESTS || self.bytes + id.len() > MAX_NAME_BYTES {
            self.dropped += 1;
            return;
        }
        self.bytes += id.len();
        self.report.tests.push(Test { id, status });
    }

    /// Tests of which only the number is known.
    pub(super) fn count(&mut self, status: Status, number: u64) {
        let counter = match status {
            Status::Passed => &mut self.report.passed,
            Status::Failed => &mut self.report.failed,
            Status::Skipped => &mut self.report.skipped,
        };
        *counter = counter.saturating_add(number);
    }

    /// A test that passed when the runner tried again.
    pub(super) fn flaky(&mut self, id: &str) {
        note(&mut self.report.flaky, id);
    }

    /// Something that went wrong outside of tests.
    pub(super) fn error(&mut self, text: impl AsRef<str>) {
        note(&mut self.report.errors, text.as_ref());
    }

    /// The text of a failing test, or without its name of an error outside of tests.
    pub(super) fn failure(&mut self, failure: TestFailure) {
        let known = &mut self.report.failures;
        let is_new =
            !known.iter().any(|other| other.test == failure.test && failure.test.is_some());
        if known.len() < MAX_FAILURES && is_new && !failure.message.trim().is_empty() {
            let end = failure.message.floor_char_boundary(MAX_FAILURE_BYTES);
            let message = failure.message[..end].to_owned();
            known.push(TestFailure { message, ..failure });
        }
    }

    /// A reason why the report is incomplete or broken.
    pub(super) fn problem(&mut self, text: impl AsRef<str>) {
        note(&mut self.report.problems, text.as_ref());
    }

    /// Takes over the results of another report.
    pub(super) fn absorb(&mut self, other: &TestReport) {
        let counts = [
            (Status::Passed, other.passed),
            (Status::Failed, other.failed),
            (Status::Skipped, other.skipped),
        ];
        for (status, count) in counts {
            self.count(status, count.saturating_sub(other.named(status).count() as u64));
        }
        other.tests.iter().for_each(|test| self.test(&test.id, test.status));
        other.flaky.iter().for_each(|id| self.flaky(id));
        other.errors.iter().for_each(|text| self.error(text));
        other.problems.iter().for_each(|text| self.problem(text));
        other.failures.iter().for_each(|failure| self.failure(failure.clone()));
    }

    /// The unfinished report.
    pub(super) fn so_far(&self) -> &TestReport {
        &self.report
    }

    /// The whole report.
    pub(super) fn finish(mut self) -> TestReport {
        if self.dropped > 0 {
            let kept = self.report.tests.len();
            self.problem(format!(
                "{} more tests than the {kept} whose names are kept",
                self.dropped
            ));
        }
        self.report
    }
}

/// Remembers a note, once, while there is room. There is always one.
fn note(notes: &mut Vec<String>, text: &str) {
    let text = cut(text.trim());
    if notes.len() < MAX_NOTES && !notes.contains(&text) {
        notes.push(text);
    }
}

/// A text of bounded length, without what was meant for a terminal.
fn cut(text: &str) -> String {
    let text = clean(&text[..text.floor_char_boundary(2 * MAX_TEXT_BYTES)]);
    match text.len() <= MAX_TEXT_BYTES {
        true => text,
        false => format!("{}…", &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_bound_are_counted_and_told() {
        let mut tally = Tally::new(Format::Tap);
        (0..MAX_TESTS + 3).for_each(|n| tally.test(&n.to_string(), Status::Passed));
        let report = tally.finish();
        assert_eq!((report.tests.len(), report.passed), (MAX_TESTS, MAX_TESTS as u64 + 3));
        assert!(report.problems[0].starts_with("3 more tests"), "{:?}", report.problems);
    }

    #[test]
    fn notes_are_bounded_in_number_and_length() {
        let mut tally = Tally::new(Format::Tap);
        tally.error("ß".repeat(100_000));
        (0..10_000).for_each(|n| tally.error(n.to_string()));
        let errors = tally.finish().errors;
        assert_eq!(errors.len(), MAX_NOTES);
        assert!(errors[0].len() <= MAX_TEXT_BYTES + '…'.len_utf8());
    }

    #[test]
    fn what_is_remembered_is_bounded_until_it_is_forgotten() {
        let (mut budget, half) = (Budget::new(), "x".repeat(MAX_NAME_BYTES / 2));
        assert!(budget.takes(&half));
        assert!(!budget.takes(&half));
        budget.regains(&half);
        assert!(budget.takes(&half));
    }

    #[test]
    fn absorbing_keeps_counts_without_names() {
        let mut other = Tally::new(Format::Libtest);
        other.test("a", Status::Failed);
        other.count(Status::Passed, 7);
        let mut tally = Tally::new(Format::Tap);
        tally.absorb(&other.finish());
        let report = tally.finish();
        assert_eq!((report.passed, report.failed, report.tests.len()), (7, 1, 1));
    }
}
