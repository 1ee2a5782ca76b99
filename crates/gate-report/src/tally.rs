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
    free_bytes: usize,
}

impl Budget {
    /// As much as a report may remember itself.
    pub(super) fn new() -> Self {
        Self { free_bytes: MAX_NAME_BYTES }
    }

    /// Takes a text's bytes from the budget; false if there is no room.
    pub(super) fn reserve(&mut self, text: &str) -> bool {
        let has_room = cost(text) <= self.free_bytes;
        if has_room {
            self.free_bytes -= cost(text);
        }
        has_room
    }

    /// Gives the bytes of a text back that is forgotten.
    pub(super) fn release(&mut self, text: &str) {
        self.free_bytes += cost(text);
    }
}

/// About what it costs to remember a text: many short names cost more than their letters, for the
/// string and the collection around each.
fn cost(text: &str) -> usize {
    text.len() + 128
}

/// A report that grows.
#[derive(Debug)]
pub(super) struct Tally {
    report: TestReport,
    name_bytes: usize,
    /// Tests beyond the bounds: counted, their names not stored.
    unnamed_tests: u64,
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
        Self { report, name_bytes: 0, unnamed_tests: 0 }
    }

    /// A test with a name.
    pub(super) fn add_test(&mut self, id: &str, status: Status) {
        self.count(status, 1);
        let id = cut(id);
        if self.report.tests.len() >= MAX_TESTS || self.name_bytes + id.len() > MAX_NAME_BYTES {
            self.unnamed_tests += 1;
            return;
        }
        self.name_bytes += id.len();
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
    pub(super) fn add_flaky(&mut self, id: &str) {
        add_note(&mut self.report.flaky, id);
    }

    /// Something that went wrong outside of tests.
    pub(super) fn add_error(&mut self, text: impl AsRef<str>) {
        add_note(&mut self.report.errors, text.as_ref());
    }

    /// The text of a failing test, or without its name of an error outside of tests.
    pub(super) fn add_failure(&mut self, failure: TestFailure) {
        let failures = &mut self.report.failures;
        // A test's first text tells how it began to fail. Errors outside of tests have no name to
        // compare: each is one of its own.
        let is_repeated =
            failure.test.is_some() && failures.iter().any(|earlier| earlier.test == failure.test);
        if failures.len() < MAX_FAILURES && !is_repeated && !failure.message.trim().is_empty() {
            let end = failure.message.floor_char_boundary(MAX_FAILURE_BYTES);
            let message = failure.message[..end].to_owned();
            failures.push(TestFailure { message, ..failure });
        }
    }

    /// A reason why the report is incomplete or broken.
    pub(super) fn add_problem(&mut self, text: impl AsRef<str>) {
        add_note(&mut self.report.problems, text.as_ref());
    }

    /// Takes over the results of another report.
    pub(super) fn absorb(&mut self, report: &TestReport) {
        let counts = [
            (Status::Passed, report.passed),
            (Status::Failed, report.failed),
            (Status::Skipped, report.skipped),
        ];
        for (status, count) in counts {
            self.count(status, count.saturating_sub(report.named(status).count() as u64));
        }
        report.tests.iter().for_each(|test| self.add_test(&test.id, test.status));
        report.flaky.iter().for_each(|id| self.add_flaky(id));
        report.errors.iter().for_each(|text| self.add_error(text));
        report.problems.iter().for_each(|text| self.add_problem(text));
        report.failures.iter().for_each(|failure| self.add_failure(failure.clone()));
    }

    /// The unfinished report.
    pub(super) fn so_far(&self) -> &TestReport {
        &self.report
    }

    /// The whole report.
    pub(super) fn finish(mut self) -> TestReport {
        if self.unnamed_tests > 0 {
            let named_tests = self.report.tests.len();
            self.add_problem(format!(
                "{} more tests than the {named_tests} whose names are kept",
                self.unnamed_tests
            ));
        }
        self.report
    }
}

/// Stores a note once, while there is room. The first one always has room, so that a problem is
/// never lost altogether.
fn add_note(notes: &mut Vec<String>, text: &str) {
    let text = cut(text.trim());
    if notes.len() < MAX_NOTES && !notes.contains(&text) {
        notes.push(text);
    }
}

/// A text of bounded length, without what was meant for a terminal.
fn cut(text: &str) -> String {
    // Colours go when a text is cleaned: with twice the bytes, what is left still fills the bound.
    let cleaned = clean(&text[..text.floor_char_boundary(2 * MAX_TEXT_BYTES)]);
    match cleaned.len() <= MAX_TEXT_BYTES {
        true => cleaned,
        false => format!("{}…", &cleaned[..cleaned.floor_char_boundary(MAX_TEXT_BYTES)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_bound_are_counted_and_told() {
        let mut tally = Tally::new(Format::Tap);
        (0..MAX_TESTS + 3).for_each(|n| tally.add_test(&n.to_string(), Status::Passed));
        let report = tally.finish();
        assert_eq!((report.tests.len(), report.passed), (MAX_TESTS, MAX_TESTS as u64 + 3));
        assert!(report.problems[0].starts_with("3 more tests"), "{:?}", report.problems);
    }

    #[test]
    fn notes_are_bounded_in_number_and_length() {
        let mut tally = Tally::new(Format::Tap);
        tally.add_error("ß".repeat(100_000));
        (0..10_000).for_each(|n| tally.add_error(n.to_string()));
        let errors = tally.finish().errors;
        assert_eq!(errors.len(), MAX_NOTES);
        assert!(errors[0].len() <= MAX_TEXT_BYTES + '…'.len_utf8());
    }

    #[test]
    fn what_is_remembered_is_bounded_until_it_is_forgotten() {
        let (mut budget, half) = (Budget::new(), "x".repeat(MAX_NAME_BYTES / 2));
        assert!(budget.reserve(&half));
        assert!(!budget.reserve(&half));
        budget.release(&half);
        assert!(budget.reserve(&half));
    }

    #[test]
    fn absorbing_keeps_counts_without_names() {
        let mut libtest_tally = Tally::new(Format::Libtest);
        libtest_tally.add_test("a", Status::Failed);
        libtest_tally.count(Status::Passed, 7);
        let mut tally = Tally::new(Format::Tap);
        tally.absorb(&libtest_tally.finish());
        let report = tally.finish();
        assert_eq!((report.passed, report.failed, report.tests.len()), (7, 1, 1));
    }
}
