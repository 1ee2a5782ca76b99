//! jest and vitest behind something else, such as `npm test`: the summaries
//! that they print for people.
//!
//! Only the numbers are told, and the names of what failed.

use std::collections::BTreeSet;

use super::{Budget, Format, Reader, Status, Stream, Tally, TestReport, file};

/// Reads the summaries of jest or of vitest.
pub(super) struct JsText {
    tally: Tally,
    budget: Budget,
    failed: BTreeSet<String>,
    failures: u64,
    failed_files: u64,
    begun: bool,
    ended: bool,
    take: fn(&mut Self, &str),
}

impl JsText {
    /// jest's text.
    pub(super) fn jest() -> Self {
        Self::new(Format::Jest, Self::jest_line)
    }

    /// vitest's text.
    pub(super) fn vitest() -> Self {
        Self::new(Format::Vitest, Self::vitest_line)
    }

    fn new(format: Format, take: fn(&mut Self, &str)) -> Self {
        Self {
            tally: Tally::new(format),
            budget: Budget::new(),
            failed: BTreeSet::new(),
            failures: 0,
            failed_files: 0,
            begun: false,
            ended: false,
            take,
        }
    }

    fn jest_line(&mut self, line: &str) {
        if let Some(file) = line.strip_prefix("PASS ").or_else(|| line.strip_prefix("FAIL ")) {
            let path = file.split(" (").next().unwrap_or(file).trim();
            if file::is_script(path) {
                (self.begun, self.ended) = (true, false);
            }
        } else if let Some(results) = line.strip_prefix("Test Suites: ") {
            self.files(results);
        } else if let Some(results) = line.strip_prefix("Tests: ") {
            self.results(results);
        } else if line == "No tests found, exiting with code 0" {
            self.ended = true;
        } else if let Some(name) = line.trim_start().strip_prefix("● ") {
            self.jest_failure(name);
        }
    }

    fn jest_failure(&mut self, name: &str) {
        if name.trim_start().starts_with("process.exit called with") {
            self.tally.problem(name.trim());
        } else if name != "Test suite failed to run" {
            self.failure(&name.replace(" › ", " > "));
        }
    }

    fn vitest_line(&mut self, line: &str) {
        let line = line.trim();
        if line.starts_with("RUN  v") {
            (self.begun, self.ended) = (true, false);
        } else if let Some(results) = line.strip_prefix("Test Files  ") {
            self.files(results);
        } else if let Some(results) = line.strip_prefix("Tests  ") {
            self.results(results);
        } else if line == "No test files found, exiting with code 0" {
            self.ended = true;
        } else if let Some(name) = line.strip_prefix("FAIL  ").filter(|it| it.contains(" > ")) {
            self.failure(name);
        } else if line.starts_with("Vitest caught ") && line.contains(" unhandled error") {
            self.tally.error(line);
        }
    }

    fn failure(&mut self, name: &str) {
        if self.budget.takes(name) {
            self.failed.insert(name.to_owned());
        }
    }

    fn files(&mut self, results: &str) {
        let failed = numbers(results).into_iter().flatten().filter(|(_, word)| word == "failed");
        self.failed_files += failed.map(|(number, _)| number).sum::<u64>();
    }

    fn results(&mut self, results: &str) {
        let Some(numbers) = numbers(results) else {
            self.ended |= results.trim() == "no tests";
            return;
        };
        for (number, word) in numbers {
            match word.as_str() {
                "passed" | "expected fail" => self.tally.count(Status::Passed, number),
                "failed" => self.failures = self.failures.saturating_add(number),
                "total" => {}
                _ => self.tally.count(Status::Skipped, number),
            }
        }
        self.ended = true;
    }

    fn sum(&mut self) {
        let most = usize::try_from(self.failures).unwrap_or(usize::MAX);
        let named = self.failed.iter().take(most);
        let named = named.map(|name| self.tally.test(name, Status::Failed)).count() as u64;
        self.tally.count(Status::Failed, self.failures - named);
        if self.failed_files > 0 && self.failures == 0 {
            self.tally.error("a test file failed outside of its tests");
        }
        if self.begun && !self.ended {
            self.tally.problem("the summary of the tests is missing");
        }
    }
}

impl Reader for JsText {
    fn line(&mut self, _stream: Stream, line: &str) {
        if line.len() <= 2_000 {
            (self.take)(self, line);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        self.sum();
        let report = self.tally.so_far();
        let seen = self.begun || self.ended || !report.is_empty() || !report.problems.is_empty();
        seen.then(|| self.tally.finish())
    }
}

/// `1 failed, 8 passed, 9 total` or `1 failed | 8 passed (9)`.
fn numbers(results: &str) -> Option<Vec<(u64, String)>> {
    let results = results.split(" (").next().unwrap_or(results);
    let number = |part: &str| {
        let (number, word) = part.trim().split_once(' ')?;
        Some((number.parse().ok()?, word.to_owned()))
    };
    results.split([',', '|']).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{outcome, report};

    #[track_caller]
    fn check(reader: JsText, text: &str, expected: &str) {
        let report = report(reader, text);
        let (outcome, summary) = outcome(report.as_ref(), 0);
        let found = format!("{outcome:?}: {summary}");
        assert!(found.starts_with(expected), "{found}\n{report:#?}");
    }

    #[test]
    fn jest_wrote() {
        let check = |text, expected| check(JsText::jest(), text, expected);
        check(include_str!("fixtures/jest/pass.txt"), "Pass: 8 passed, 2 skipped");
        check(include_str!("fixtures/jest/fail.txt"), "Fail: 1 of 8 failed: group > inner > ü");
        let import = "Fail: 7 tests passed, but there was an error outside of tests: a test file";
        check(include_str!("fixtures/jest/import.txt"), import);
        check(include_str!("fixtures/jest/zero.txt"), "Fail: no test was executed (10 skipped)");
        let exit = "Inconclusive: exit code 0, but the report is incomplete: process.exit called";
        check(include_str!("fixtures/jest/exit.txt"), exit);
        check("No tests found, exiting with code 0", "Fail: no test was executed");
        check("PASS src/a.test.ts (5.1 s)", "Inconclusive");
    }

    #[test]
    fn vitest_wrote() {
        let check = |text, expected| check(JsText::vitest(), text, expected);
        check(include_str!("fixtures/vitest/pass.txt"), "Pass: 10 passed, 2 skipped");
        let failed = "Fail: 1 of 10 failed: a.test.js > group > inner > ü";
        check(include_str!("fixtures/vitest/fail.txt"), failed);
        let reject =
            "Fail: 10 tests passed, but there was an error outside of tests: Vitest caught";
        check(include_str!("fixtures/vitest/reject.txt"), reject);
        let after = "Fail: 10 tests passed, but there was an error outside of tests: a test file";
        check(include_str!("fixtures/vitest/after.txt"), after);
        check(" RUN  v4.1.12 /project", "Inconclusive");
    }

    #[test]
    fn what_only_looks_like_a_summary_is_none() {
        for text in ["PASS", "PASS all of it", "Tests: 3, Assertions: 5.", "Tests  are fine", "● a"]
        {
            assert_eq!(report(JsText::jest(), text), None, "{text}");
            assert_eq!(report(JsText::vitest(), text), None, "{text}");
        }
    }
}
