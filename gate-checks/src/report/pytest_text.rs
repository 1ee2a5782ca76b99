//! pytest that none of our options reached: the results in its text alone.
//!
//! Only the last line of each session counts tests, without their names. A session is broken if it
//! has no such line, if it was interrupted, or if its line counts fewer tests than were collected.

use super::pytest::{is_sum, selected};
use super::{Status, Tally};

/// The sums of all sessions.
#[derive(Default)]
pub(super) struct Sessions {
    passed: u64,
    failed: u64,
    skipped: u64,
    errors: u64,
    /// A session began and has no last line yet.
    open: bool,
    selected: Option<u64>,
    ended: u64,
    broken: bool,
}

impl Sessions {
    /// Takes a line.
    pub(super) fn take(&mut self, line: &str) {
        if line.starts_with("====") && line.contains(" test session starts ") {
            self.broken |= self.open;
            self.open = true;
        } else if is_sum(line) {
            self.sum(line);
        } else if let Some(number) = selected(line) {
            self.open = true;
            self.selected = Some(number);
        } else if line.starts_with("!!!") && line.trim_end().ends_with("!!!") {
            self.broken = true;
        }
    }

    /// True if there was a session and every one is whole.
    pub(super) fn are_whole(&self) -> bool {
        self.ended > 0 && !self.open && !self.broken
    }

    /// Adds their counts to the report.
    pub(super) fn add_to(&self, tally: &mut Tally) {
        tally.count(Status::Passed, self.passed);
        tally.count(Status::Failed, self.failed);
        tally.count(Status::Skipped, self.skipped);
        if self.errors > 0 {
            tally.error(format!("pytest counts errors: {}", self.errors));
        }
    }

    fn sum(&mut self, line: &str) {
        let before = self.counted();
        let counts =
            line.trim_matches(['=', ' ']).rsplit_once(" in ").map_or("", |(counts, _)| counts);
        for count in counts.split(", ") {
            let Some((number, what)) = count.split_once(' ') else { continue };
            let counter = match what {
                "passed" | "xpassed" => &mut self.passed,
                "skipped" | "xfailed" => &mut self.skipped,
                what if what.ends_with("failed") => &mut self.failed,
                what if what.starts_with("error") => &mut self.errors,
                _ => continue,
            };
            *counter = counter.saturating_add(number.parse().unwrap_or(0));
        }
        let counted = self.counted().saturating_sub(before);
        self.broken |= self.selected.take().is_some_and(|selected| selected > counted);
        self.open = false;
        self.ended += 1;
    }

    fn counted(&self) -> u64 {
        let counters = [self.passed, self.failed, self.skipped, self.errors];
        counters.iter().fold(0, |sum, counter| sum.saturating_add(*counter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Format, judge};

    #[track_caller]
    fn check(text: &str, whole: bool, expected: &str) {
        let mut sessions = Sessions::default();
        text.lines().for_each(|line| sessions.take(line));
        assert_eq!(sessions.are_whole(), whole, "{text}");
        let mut tally = Tally::new(Format::Pytest);
        sessions.add_to(&mut tally);
        let judged = judge(Some(&tally.finish()), Some(0), None);
        let found = format!("{:?}: {}", judged.outcome, judged.summary);
        assert!(found.starts_with(expected), "{found}\n{text}");
    }

    #[test]
    fn last_lines() {
        check("=== 3 passed, 1 skipped in 0.1s ===", true, "Pass: 3 passed, 1 skipped");
        check("2 passed, 1 xfailed, 1 xpassed in 0.10s", true, "Pass: 3 passed, 1 skipped");
        check("= 1 failed, 2 passed, 5 warnings in 62.02s (0:01:02) =", true, "Fail: 1 of 3");
        check("= 2 passed, 2 errors in 0.02s =", true, "Fail: 2 tests passed, but");
        check("== no tests ran in 0.00s ==", true, "Fail: no test was executed");
        check("== 3 deselected in 0.00s ==", true, "Fail: no test was executed");
        check("1 passed in 0.01s\n2 passed in 0.01s", true, "Pass: 3 passed");
        check("1 failed in 0.01s\n2 passed in 0.01s", true, "Fail: 1 of 3 failed");
    }

    #[test]
    fn sessions_that_are_not_whole() {
        let begin = "==== test session starts ====\ncollected 3 items";
        let passed = "==== 3 passed in 0.01s ====";
        check(&format!("{begin}\n{passed}"), true, "Pass: 3 passed");
        check(begin, false, "Fail: no test was executed");
        check("test_a.py ...", false, "Fail: no test was executed");
        check(&format!("{begin}\n== 2 passed in 0.01s =="), false, "");
        check(&format!("{begin}\n{passed}\n{begin}"), false, "");
        check(&format!("{begin}\n{begin}\n{passed}"), false, "");
        check(&format!("!!!! KeyboardInterrupt !!!!\n{passed}"), false, "");
    }
}
