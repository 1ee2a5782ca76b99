//! cargo-nextest behind another command: its summary, on the standard error or wherever that was
//! sent.
//!
//! It has only the numbers, and the names of the failed and the flaky tests.

use std::collections::BTreeSet;

use super::{Budget, Format, Reader, Status, Stream, Tally, TestReport};

/// Longer lines are no part of nextest's text.
const MAX_LINE_BYTES: usize = 2_000;

/// Reads nextest's text.
pub(super) struct NextestText {
    tally: Tally,
    budget: Budget,
    failed_tests: BTreeSet<String>,
    has_begun: bool,
    has_summary: bool,
}

impl NextestText {
    pub(super) fn new() -> Self {
        Self {
            tally: Tally::new(Format::Nextest),
            budget: Budget::new(),
            failed_tests: BTreeSet::new(),
            has_begun: false,
            has_summary: false,
        }
    }

    fn add_summary(&mut self, summary: &Summary) {
        // A test may itself have printed lines of failures: no more names count than tests failed.
        let most = usize::try_from(summary.failed).unwrap_or(usize::MAX);
        let failed_tests: Vec<_> =
            std::mem::take(&mut self.failed_tests).into_iter().take(most).collect();
        failed_tests.iter().for_each(|id| self.tally.add_test(id, Status::Failed));
        self.tally.count(Status::Failed, summary.failed - failed_tests.len() as u64);
        self.tally.count(Status::Passed, summary.passed);
        self.tally.count(Status::Skipped, summary.skipped);
        if !summary.is_whole || summary.passed.saturating_add(summary.failed) != summary.run {
            self.tally.add_problem("nextest did not run, or did not count, all its tests");
        }
        self.has_summary = true;
    }

    /// Reports a run that began and printed no summary.
    fn report_missing_summary(&mut self) {
        if self.has_begun && !self.has_summary {
            self.tally.add_problem(UNFINISHED);
        }
    }
}

/// The problem of a run without a summary.
pub(super) const UNFINISHED: &str = "nextest ended without its summary";

/// `Starting 4 tests across 1 binary (3 tests skipped)`.
pub(super) fn is_banner(line: &str) -> bool {
    let Some(counts) = line.trim().strip_prefix("Starting ") else { return false };
    let Some((number, behind)) = counts.split_once(" test") else { return false };
    let binaries = behind.strip_prefix('s').unwrap_or(behind);
    number.parse::<u64>().is_ok() && binaries.starts_with(" across ") && binaries.contains(" binar")
}

impl Reader for NextestText {
    fn line(&mut self, _stream: Stream, line: &str) {
        let line = line.trim();
        if line.len() > MAX_LINE_BYTES {
            return;
        }
        if is_banner(line) {
            self.report_missing_summary();
            self.has_begun = true;
            self.has_summary = false;
        } else if let Some(id) = flaky_test(line) {
            self.tally.add_flaky(&id);
        } else if let Some(summary) = Summary::parse(line) {
            self.add_summary(&summary);
        } else if let Some(id) = failed_test(line)
            && self.budget.reserve(&id)
        {
            self.failed_tests.insert(id);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        self.report_missing_summary();
        (self.has_begun || self.has_summary).then(|| self.tally.finish())
    }
}

/// `Summary [ 0.2s] 7/9 tests run: 6 passed (1 flaky, 1 slow), 1 failed, 2 skipped`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// Tests that were run.
    pub(super) run: u64,
    /// All selected tests were run.
    is_whole: bool,
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Summary {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (_time, counts) = line.strip_prefix("Summary [")?.split_once("] ")?;
        let (tests, results) = counts.split_once(" run: ")?;
        let numbers = tests.strip_suffix(" tests").or_else(|| tests.strip_suffix(" test"))?;
        let (run, selected) = numbers.split_once('/').unwrap_or((numbers, numbers));
        let run_tests = run.parse().ok()?;
        let mut summary = Self { run: run_tests, is_whole: run == selected, ..Self::default() };
        for result in without_remarks(results).split(", ") {
            let (number, word) = result.trim().split_once(' ')?;
            let number: u64 = number.parse().ok()?;
            match word.trim() {
                "passed" => summary.passed = number,
                "skipped" => summary.skipped = number,
                // `failed`, `timed out`, `exec failed`: each is a failure.
                _ => summary.failed = summary.failed.saturating_add(number),
            }
        }
        Some(summary)
    }
}

/// The text without what stands in brackets.
fn without_remarks(text: &str) -> String {
    let mut depth = 0_u32;
    let outside = text.chars().filter(|c| {
        depth += u32::from(*c == '(');
        let is_outside = depth == 0;
        depth -= u32::from(*c == ')' && depth > 0);
        is_outside
    });
    outside.collect()
}

/// `FAIL [   0.063s] (9/9) package::binary test`.
fn failed_test(line: &str) -> Option<String> {
    let (word, time_and_name) = line.split_once(" [")?;
    let is_failure =
        matches!(word, "FAIL" | "TIMEOUT" | "ABORT" | "XFAIL") || word.starts_with("SIG");
    if is_failure { name_behind_time(time_and_name) } else { None }
}

/// `FLAKY 2/3 [   0.004s] (4/4) package::binary test`.
fn flaky_test(line: &str) -> Option<String> {
    let (tries, time_and_name) = line.strip_prefix("FLAKY ")?.split_once(" [")?;
    let is_tries = tries.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/');
    if is_tries { name_behind_time(time_and_name) } else { None }
}

/// The test in `   0.063s] (9/9) package::binary test`, whose number may be missing.
fn name_behind_time(time_and_name: &str) -> Option<String> {
    let (_time, numbered) = time_and_name.split_once("] ")?;
    let name = match numbered.split_once(") ") {
        Some((number, name)) if number.starts_with('(') => name,
        _ => numbered,
    };
    let (binary, test) = name.trim().split_once(' ')?;
    Some(format!("{binary}::{test}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{outcome, report};

    #[test]
    fn summaries() {
        let check = |line, expected| {
            let found = Summary::parse(line)
                .map(|value| (value.run, value.passed, value.failed, value.skipped));
            assert_eq!(found, expected, "{line}");
        };
        check("Summary [   0.079s] 9 tests run: 9 passed, 2 skipped", Some((9, 9, 0, 2)));
        check("Summary [ 1s] 7/9 tests run: 6 passed, 1 failed, 2 skipped", Some((7, 6, 1, 2)));
        check(
            "Summary [ 1s] 1 test run: 1 passed (1 flaky, 1 slow), 0 skipped",
            Some((1, 1, 0, 0)),
        );
        check(
            "Summary [ 1s] 3 tests run: 1 passed, 1 timed out, 1 exec failed",
            Some((3, 1, 2, 0)),
        );
        check("Summary [ 1s] nothing", None);
    }

    #[test]
    fn banners() {
        for line in [
            "    Starting 4 tests across 2 binaries",
            "Starting 1 test across 1 binary (3 tests skipped)",
        ] {
            assert!(is_banner(line), "{line}");
        }
        for line in ["Starting tests", "Starting 4 tests", "Starting 4 tests across 2 browsers"] {
            assert!(!is_banner(line), "{line}");
        }
    }

    #[test]
    fn what_nextest_really_wrote() {
        let check = |text: &str, expected: &str| {
            let events = |line: &&str| line.starts_with("2> ");
            let text: Vec<_> = text.lines().filter(events).collect();
            let report = report(NextestText::new(), &text.join("\n"));
            let (outcome, summary) = outcome(report.as_ref(), 0);
            let found = format!("{outcome:?}: {summary}");
            assert!(found.starts_with(expected), "{found}");
        };
        check(include_str!("fixtures/nextest/pass.txt"), "Pass: 11 passed, 2 skipped");
        let failed = "Fail: 1 of 7 failed: sample::integration::broken, although";
        check(include_str!("fixtures/nextest/fail.txt"), failed);
        check(include_str!("fixtures/nextest/flaky.txt"), "Pass: 11 passed");
        check(include_str!("fixtures/nextest/zero.txt"), "Fail: no test was executed");
        let killed = "2>     Starting 9 tests across 3 binaries";
        check(killed, "Inconclusive: exit code 0, but the report is incomplete: nextest ended");
        assert_eq!(report(NextestText::new(), "2> Summary of all"), None);
    }
}
