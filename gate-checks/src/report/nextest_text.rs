//! cargo-nextest behind something else: its summary, on the standard error or
//! wherever that was sent.
//!
//! It has only the numbers, and the names of the failed and the flaky tests.

use std::collections::BTreeSet;

use super::{Budget, Format, Reader, Status, Stream, Tally, TestReport};

/// Reads nextest's text.
pub(super) struct NextestText {
    tally: Tally,
    budget: Budget,
    failed: BTreeSet<String>,
    begun: bool,
    ended: bool,
}

impl NextestText {
    pub(super) fn new() -> Self {
        Self {
            tally: Tally::new(Format::Nextest),
            budget: Budget::new(),
            failed: BTreeSet::new(),
            begun: false,
            ended: false,
        }
    }

    fn summary(&mut self, summary: &Summary) {
        let failed = std::mem::take(&mut self.failed);
        let named = failed.iter().take(usize::try_from(summary.failed).unwrap_or(usize::MAX));
        let named = named.map(|id| self.tally.test(id, Status::Failed)).count() as u64;
        self.tally.count(Status::Failed, summary.failed - named);
        self.tally.count(Status::Passed, summary.passed);
        self.tally.count(Status::Skipped, summary.skipped);
        if !summary.whole || summary.passed.saturating_add(summary.failed) != summary.run {
            self.tally.problem("nextest did not run, or did not count, all its tests");
        }
        self.ended = true;
    }

    /// Reports a run that began and printed no summary.
    fn incomplete(&mut self) {
        if self.begun && !self.ended {
            self.tally.problem(UNFINISHED);
        }
    }
}

pub(super) const UNFINISHED: &str = "nextest ended without its summary";

/// `Starting 4 tests across 1 binary (3 tests skipped)`.
pub(super) fn is_banner(line: &str) -> bool {
    let Some(rest) = line.trim().strip_prefix("Starting ") else { return false };
    let Some((number, rest)) = rest.split_once(" test") else { return false };
    let across = rest.strip_prefix('s').unwrap_or(rest);
    number.parse::<u64>().is_ok() && across.starts_with(" across ") && across.contains(" binar")
}

impl Reader for NextestText {
    fn line(&mut self, _stream: Stream, line: &str) {
        let line = line.trim();
        if line.len() > 2_000 {
            return;
        }
        if is_banner(line) {
            self.incomplete();
            (self.begun, self.ended) = (true, false);
        } else if let Some(id) = flaky(line) {
            self.tally.flaky(&id);
        } else if let Some(summary) = Summary::parse(line) {
            self.summary(&summary);
        } else if let Some(id) = failure(line)
            && self.budget.takes(&id)
        {
            self.failed.insert(id);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        self.incomplete();
        (self.begun || self.ended).then(|| self.tally.finish())
    }
}

/// `Summary [ 0.2s] 7/9 tests run: 6 passed (1 flaky, 1 slow), 1 failed, 2 skipped`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// Tests that were run.
    pub(super) run: u64,
    /// All selected tests were run.
    whole: bool,
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Summary {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("Summary [")?.split_once("] ")?.1;
        let (run, results) = rest.split_once(" run: ")?;
        let run = run.strip_suffix(" tests").or_else(|| run.strip_suffix(" test"))?;
        let (run, all) = run.split_once('/').unwrap_or((run, run));
        let mut summary = Self { run: run.parse().ok()?, whole: run == all, ..Self::default() };
        for result in without_remarks(results).split(", ") {
            let (number, word) = result.trim().split_once(' ')?;
            let number: u64 = number.parse().ok()?;
            match word.trim() {
                "passed" => summary.passed = number,
                "skipped" => summary.skipped = number,
                _ => summary.failed = summary.failed.saturating_add(number),
            }
        }
        Some(summary)
    }
}

/// The text without what stands in brackets.
fn without_remarks(text: &str) -> String {
    let mut depth = 0_u32;
    let kept = text.chars().filter(|c| {
        depth += u32::from(*c == '(');
        let keep = depth == 0;
        depth -= u32::from(*c == ')' && depth > 0);
        keep
    });
    kept.collect()
}

/// `FAIL [   0.063s] (9/9) package::binary test`.
fn failure(line: &str) -> Option<String> {
    let (word, rest) = line.split_once(" [")?;
    let fails = matches!(word, "FAIL" | "TIMEOUT" | "ABORT" | "XFAIL") || word.starts_with("SIG");
    if fails { named(rest) } else { None }
}

/// `FLAKY 2/3 [   0.004s] (4/4) package::binary test`.
fn flaky(line: &str) -> Option<String> {
    let (tries, rest) = line.strip_prefix("FLAKY ")?.split_once(" [")?;
    let is_tries = tries.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/');
    if is_tries { named(rest) } else { None }
}

/// The test that stands behind a time.
fn named(rest: &str) -> Option<String> {
    let name = rest.split_once("] ")?.1;
    let name = match name.split_once(") ") {
        Some((number, name)) if number.starts_with('(') => name,
        _ => name,
    };
    let (binary, test) = name.trim().split_once(' ')?;
    Some(format!("{binary}::{test}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{outcome, report};

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
