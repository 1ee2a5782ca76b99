//! Mocha: the numbers at the end of what it prints, which Cypress took over.
//! There is no report format of its own; it counts as lines do.

use super::{Format, Reader, Status, Stream, Tally, TestReport};

/// Reads mocha's numbers.
pub(super) struct MochaText {
    tally: Tally,
    seen: bool,
    /// Whether only numbers were told since `passing`.
    told: bool,
}

impl MochaText {
    pub(super) fn new() -> Self {
        Self { tally: Tally::new(Format::Tap), seen: false, told: false }
    }

    fn take(&mut self, line: &str) {
        if let Some(number) = passing(line) {
            (self.seen, self.told) = (true, true);
            self.tally.count(Status::Passed, number);
        } else if let Some(number) = number(line, " pending").filter(|_| self.told) {
            self.tally.count(Status::Skipped, number);
        } else if let Some(number) = number(line, " failing").filter(|_| self.told) {
            self.tally.count(Status::Failed, number);
        } else {
            self.told &= line.trim().is_empty();
        }
    }
}

/// `  3 passing (12ms)`.
fn passing(line: &str) -> Option<u64> {
    let (before, time) = line.strip_suffix(')')?.split_once(" (")?;
    let unit = time.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_time = unit.len() < time.len() && matches!(unit, "ms" | "s" | "m" | "h" | "d");
    number(before, " passing").filter(|_| is_time)
}

/// A line that holds a number, this word, and nothing else.
fn number(line: &str, word: &str) -> Option<u64> {
    let number = line.strip_prefix("  ")?.strip_suffix(word)?;
    number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Reader for MochaText {
    fn line(&mut self, _stream: Stream, line: &str) {
        self.take(line);
    }

    fn finish(self: Box<Self>) -> Option<TestReport> {
        self.seen.then(|| self.tally.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{comes_to, report};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        comes_to(MochaText::new(), text, expected);
    }

    #[test]
    fn mocha_wrote() {
        let fail = "Fail: 1 of 2 failed, although the command ended with code 0";
        check(include_str!("fixtures/text/mocha-fail.txt"), fail);
        check(include_str!("fixtures/text/mocha.txt"), "Pass: 1 passed");
        check(include_str!("fixtures/text/mocha-zero.txt"), "Fail: no test was executed");
    }

    #[test]
    fn what_only_looks_like_mocha_is_none() {
        for text in ["3 passing (1ms)", "  3 passing", "  3 failing", "  all passing (1ms)"] {
            assert_eq!(report(MochaText::new(), text), None, "{text}");
        }
    }
}
