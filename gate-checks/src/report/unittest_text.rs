//! Python's unittest: the end of what it prints, which Django, nose2 and trial
//! took over. There is no report format of its own; it counts as lines do.

use std::collections::BTreeSet;

use super::{Budget, Format, Reader, Status, Stream, Tally, TestReport};

/// Reads unittest's text.
pub(super) struct UnittestText {
    tally: Tally,
    budget: Budget,
    /// How many tests ran, while the result is missing.
    ran: Option<u64>,
    seen: bool,
    /// Whether the line before was a double rule, and what failed since.
    ruled: bool,
    failed: BTreeSet<String>,
}

impl UnittestText {
    pub(super) fn new() -> Self {
        Self {
            tally: Tally::new(Format::Tap),
            budget: Budget::new(),
            ran: None,
            seen: false,
            ruled: false,
            failed: BTreeSet::new(),
        }
    }

    fn take(&mut self, line: &str) {
        if let Some(number) = ran(line) {
            self.missing();
            (self.ran, self.seen) = (Some(number), true);
        } else if let (Some(number), Some((ok, counts))) = (self.ran, result(line)) {
            self.ran = None;
            self.ended(number, ok, &counts);
        } else if let Some(name) = failure(line).filter(|_| self.ruled)
            && self.budget.takes(name)
        {
            self.failed.insert(name.to_owned());
        }
        self.ruled = line.len() >= 70 && line.bytes().all(|byte| byte == b'=');
    }

    fn ended(&mut self, ran: u64, ok: bool, counts: &[(&str, u64)]) {
        let sum = |words: &[&str]| {
            let these = counts.iter().filter(|(word, _)| words.contains(word));
            these.fold(0_u64, |sum, (_, number)| sum.saturating_add(*number))
        };
        let failed = sum(&["failures", "errors", "unexpected successes", "unexpectedSuccesses"]);
        let skipped = sum(&["skipped", "expected failures", "skips", "expectedFailures", "todos"]);
        let names = std::mem::take(&mut self.failed);
        let named: Vec<_> = names.iter().take(usize::try_from(failed).unwrap_or(0)).collect();
        named.iter().for_each(|name| self.tally.test(name, Status::Failed));
        self.tally.count(Status::Failed, failed - named.len() as u64);
        self.tally.count(Status::Skipped, skipped);
        let passed = ran.saturating_sub(failed).saturating_sub(skipped);
        self.tally.count(Status::Passed, passed);
        if !ok && failed == 0 {
            self.tally.error("unittest failed outside of its tests");
        }
    }

    fn missing(&mut self) {
        if self.ran.take().is_some() {
            self.tally.problem("unittest ended without its result");
        }
    }
}

/// `Ran 3 tests in 0.001s`.
fn ran(line: &str) -> Option<u64> {
    let (number, rest) = line.strip_prefix("Ran ")?.split_once(' ')?;
    let time = rest.strip_prefix("tests in ").or_else(|| rest.strip_prefix("test in "))?;
    let (whole, part) = time.strip_suffix('s')?.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    number.parse().ok().filter(|_| digits(whole) && digits(part) && part.len() == 3)
}

/// `OK`, or `FAILED (failures=1, skipped=2)`.
fn result(line: &str) -> Option<(bool, Vec<(&str, u64)>)> {
    let (word, counts) = match line.strip_suffix(')').and_then(|line| line.split_once(" (")) {
        Some((word, counts)) => (word, counts),
        None => (line, ""),
    };
    let ok = matches!(word, "OK" | "PASSED" | "NO TESTS RAN");
    let pair = |count: &'_ str| -> Option<(usize, u64)> {
        let (word, number) = count.split_once('=')?;
        Some((word.len(), number.parse().ok()?))
    };
    let all = counts.split(", ").filter(|count| !count.is_empty());
    let all: Option<Vec<_>> =
        all.map(|count| pair(count).map(|(end, number)| (&count[..end], number))).collect();
    all.filter(|_| ok || word == "FAILED").map(|counts| (ok, counts))
}

/// The name below a rule: `FAIL: test_a (module.Class.test_a)`.
fn failure(line: &str) -> Option<&str> {
    line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "))
}

impl Reader for UnittestText {
    fn line(&mut self, _stream: Stream, line: &str) {
        if line.len() <= 2_000 {
            self.take(line);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        self.missing();
        self.seen.then(|| self.tally.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{comes_to, report};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        comes_to(UnittestText::new(), text, expected);
    }

    #[test]
    fn unittest_wrote() {
        let failed = "Fail: 2 of 3 failed: test_b (test_u.T.test_b), test_c (test_u.T.test_c)";
        check(include_str!("fixtures/text/unittest-fail.txt"), failed);
        check(include_str!("fixtures/text/unittest.txt"), "Pass: 1 passed, 1 skipped");
        check(include_str!("fixtures/text/unittest-zero.txt"), "Fail: no test was executed");
        check("Ran 0 tests in 0.000s\n\nNO TESTS RAN", "Fail: no test was executed");
        check("Ran 1 test in 0.001s\n\nFAILED (unexpected successes=1)", "Fail: 1 of 1 failed");
        check("Ran 3 tests in 0.001s\n\nFAILED", "Fail: 3 tests passed, but");
        check("Ran 3 tests in 0.001s\n", "Inconclusive");
    }

    #[test]
    fn what_only_looks_like_unittest_is_none() {
        for text in ["OK", "FAILED (failures=1)", "Ran 3 tests in 2 s", "Ran 3 tests in 0.1s"] {
            assert_eq!(report(UnittestText::new(), text), None, "{text}");
        }
    }
}
