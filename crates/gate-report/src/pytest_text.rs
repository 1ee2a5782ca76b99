//! The text of pytest. If none of gate's options reached it, the results are in its text alone.
//!
//! Only the last line of each session counts tests, without their names. A session is broken if it
//! has no such line, if it was interrupted, or if its line counts fewer tests than were collected.

use super::{Status, Tally};

/// The sums of all sessions.
#[derive(Default)]
pub(super) struct Sessions {
    passed: u64,
    failed: u64,
    skipped: u64,
    errors: u64,
    /// A session began and has no last line yet.
    is_open: bool,
    /// The tests that the open session selected.
    selected: Option<u64>,
    /// Sessions that began.
    begun: u64,
    /// The number of last lines such as `1 passed in 0.01s`.
    ended: u64,
    has_broken_session: bool,
    /// The tests that the first session selected. Later ones may be sessions that a test runs.
    first_selected: Option<u64>,
    early_exit: Option<EarlyExit>,
}

/// `!!! _pytest.outcomes.Exit: … !!!`: a session was ended early.
struct EarlyExit {
    reason: String,
    /// The number of sessions that had ended before.
    ended_before: u64,
}

impl Sessions {
    /// Takes a line.
    pub(super) fn take(&mut self, line: &str) {
        if line.starts_with("====") && line.contains(" test session starts ") {
            self.begun += 1;
            self.has_broken_session |= self.is_open;
            self.is_open = true;
        } else if is_last_line(line) {
            self.end_session(line);
        } else if let Some(number) = selected_tests(line) {
            self.is_open = true;
            self.selected = Some(number);
            self.first_selected.get_or_insert(number);
        } else if line.starts_with("!!!") {
            self.has_broken_session |= line.trim_end().ends_with("!!!");
            if line.contains("Exit") {
                self.early_exit = Some(EarlyExit {
                    reason: line.trim_matches(['!', ' ']).to_owned(),
                    ended_before: self.ended,
                });
            }
        }
    }

    /// No line of a session was seen.
    pub(super) fn are_silent(&self) -> bool {
        self.begun == 0 && self.ended == 0 && self.first_selected.is_none()
    }

    /// Compares the report with the text. If pytest is the command (`is_command`), one session
    /// counts: others were run by its tests, and it ends last. Then the cache knows better how many
    /// tests it selected, if it knows at all (`is_in_cache`).
    pub(super) fn compare(&self, is_command: bool, is_in_cache: bool, tally: &mut Tally) {
        let report = tally.so_far();
        let reported = report.executed() + report.skipped;
        let has_several = self.begun.max(self.ended) > 1;
        // The command's own session ends last: if more than the next one ended, a test ran the one
        // that was ended early.
        if let Some(EarlyExit { reason, ended_before }) = &self.early_exit
            && (!is_command || self.ended <= ended_before + 1)
        {
            tally.add_problem(format!("the session was ended early: {reason}"));
        }
        if has_several && !is_command {
            tally.add_problem("pytest ran several times and left one report: give it a check each");
        }
        if let Some(selected) = self.first_selected
            && selected > reported
            && !(has_several && is_command && is_in_cache)
        {
            tally.add_problem(format!("pytest selected {selected} tests and reported {reported}"));
        }
    }

    /// There was a session, and every one is whole.
    pub(super) fn are_whole(&self) -> bool {
        self.ended > 0 && !self.is_open && !self.has_broken_session
    }

    /// Adds their counts to the report.
    pub(super) fn add_to(&self, tally: &mut Tally) {
        tally.count(Status::Passed, self.passed);
        tally.count(Status::Failed, self.failed);
        tally.count(Status::Skipped, self.skipped);
        if self.errors > 0 {
            tally.add_error(format!("pytest counts errors: {}", self.errors));
        }
    }

    /// Adds the counts of a session's last line.
    fn end_session(&mut self, line: &str) {
        let counted_before = self.counted();
        let summary = line.trim_matches(['=', ' ']);
        let counts = summary.rsplit_once(" in ").map_or("", |(counts, _time)| counts);
        for count in counts.split(", ") {
            let Some((number, result)) = count.split_once(' ') else { continue };
            let counter = match result {
                "passed" | "xpassed" => &mut self.passed,
                "skipped" | "xfailed" => &mut self.skipped,
                _ if result.ends_with("failed") => &mut self.failed,
                _ if result.starts_with("error") => &mut self.errors,
                _ => continue,
            };
            *counter = counter.saturating_add(number.parse().unwrap_or(0));
        }
        let counted = self.counted().saturating_sub(counted_before);
        self.has_broken_session |= self.selected.take().is_some_and(|selected| selected > counted);
        self.is_open = false;
        self.ended += 1;
    }

    fn counted(&self) -> u64 {
        let counters = [self.passed, self.failed, self.skipped, self.errors];
        counters.iter().fold(0, |sum, counter| sum.saturating_add(*counter))
    }
}

/// `3 passed, 1 skipped in 0.03s`, with or without `=` around it.
pub(super) fn is_last_line(line: &str) -> bool {
    let summary = line.trim_matches(['=', ' ']);
    let Some((counts, time)) = summary.rsplit_once(" in ") else { return false };
    let seconds = time.split(' ').next().and_then(|time| time.strip_suffix('s'));
    let is_timed = seconds.is_some_and(|seconds| seconds.parse::<f64>().is_ok());
    let words = ["passed", "failed", "skipped", "error", "xfailed", "xpassed", "deselected"];
    let first_count = counts.split(", ").next().and_then(|count| count.split_once(' '));
    let counts_tests = first_count.is_some_and(|(number, word)| {
        number.parse::<u64>().is_ok() && words.iter().any(|prefix| word.starts_with(prefix))
    });
    is_timed && (counts_tests || counts == "no tests ran")
}

/// The number of tests that will run, by a line of the text.
pub(super) fn selected_tests(line: &str) -> Option<u64> {
    // `collected 9 items / 2 deselected / 7 selected`; without a choice, only the first.
    if let Some(counts) = line.strip_prefix("collected ") {
        let selected = counts.split(" / ").find(|count| count.ends_with(" selected"));
        return first_number(selected.unwrap_or(counts));
    }
    // With xdist: `2 workers [18 items]`.
    let (workers, items) = line.trim_end().strip_suffix(']')?.split_once(" [")?;
    let has_workers = workers.ends_with(" workers") || workers.ends_with(" worker");
    let number = items.strip_suffix(" items").or_else(|| items.strip_suffix(" item"))?;
    if has_workers { first_number(number) } else { None }
}

fn first_number(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, judge};

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
