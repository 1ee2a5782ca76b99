//! The lines that a test program prints.

use crate::Status;

/// A line, understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// `running N tests`.
    Running(u64),
    /// `test name ... ok`.
    Test(&'a str, Status),
    /// `test name ... `, and then something that is no result.
    TestStart(&'a str),
    /// `failures:`.
    Failures,
    /// `---- name stdout ----`: the output of this test follows.
    Output(&'a str),
    /// `successes:`: the output of tests that passed follows.
    Successes,
    /// A line that is indented by four spaces.
    Indented(&'a str),
    /// `test result: …`.
    Result(Totals),
    /// Something else.
    Other,
}

/// The numbers of a `test result:` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Totals {
    /// The program calls it ok.
    pub(super) is_ok: bool,
    pub(super) failed: u64,
    passed: u64,
    ignored: u64,
}

impl Totals {
    /// Number of tests with this status; benchmarks that ran have passed.
    pub(super) fn count(&self, status: Status) -> u64 {
        match status {
            Status::Passed => self.passed,
            Status::Failed => self.failed,
            Status::Skipped => self.ignored,
        }
    }

    pub(super) fn by_status(&self) -> [(Status, u64); 3] {
        [Status::Passed, Status::Failed, Status::Skipped].map(|status| (status, self.count(status)))
    }

    /// Number of all tests.
    pub(super) fn sum(&self) -> u64 {
        self.by_status().iter().fold(0, |sum, (_, number)| sum.saturating_add(*number))
    }
}

/// Understands a line.
pub(super) fn parse(line: &str) -> Line<'_> {
    let text = line.trim_end();
    if let Some(name_and_result) = text.strip_prefix("test ") {
        return match name_and_result.strip_prefix("result: ") {
            Some(result) => parse_totals(result).map_or(Line::Other, Line::Result),
            None => parse_test(name_and_result),
        };
    }
    match text {
        "failures:" => Line::Failures,
        "successes:" => Line::Successes,
        _ => parse_running(text)
            .or_else(|| parse_quiet_failure(text))
            .or_else(|| parse_output_head(text))
            .unwrap_or_else(|| parse_indented(text)),
    }
}

fn parse_running(line: &str) -> Option<Line<'_>> {
    let tests = line.strip_prefix("running ")?;
    let number = tests.strip_suffix(" tests").or_else(|| tests.strip_suffix(" test"))?;
    number.parse().ok().map(Line::Running)
}

/// In quiet text only a failure has a line: `name --- FAILED`.
fn parse_quiet_failure(line: &str) -> Option<Line<'_>> {
    let name = line.strip_suffix(" --- FAILED")?;
    (!name.starts_with(' ')).then(|| Line::Test(without_mark(name), Status::Failed))
}

fn parse_output_head(line: &str) -> Option<Line<'_>> {
    let head = line.strip_prefix("---- ")?.strip_suffix(" ----")?;
    Some(Line::Output(without_mark(head.strip_suffix(" stdout").unwrap_or(head))))
}

fn parse_indented(line: &str) -> Line<'_> {
    match line.strip_prefix("    ") {
        Some(name) if !name.starts_with(' ') && !name.is_empty() => Line::Indented(name),
        _ => Line::Other,
    }
}

fn parse_test(name_and_result: &str) -> Line<'_> {
    // A program that was cut off leaves its line without a space at the end.
    let Some((marked_name, result)) = name_and_result.split_once(" ...") else {
        return Line::Other;
    };
    let name = without_mark(marked_name);
    match parse_status(result.trim()) {
        Some(status) => Line::Test(name, status),
        None => Line::TestStart(name),
    }
}

fn parse_status(result: &str) -> Option<Status> {
    // `ok <0.012s>`, where times are reported.
    let word = result.split_once(" <").map_or(result, |(word, _)| word);
    match word {
        "ok" => Some(Status::Passed),
        "FAILED" | "FAILED (time limit exceeded)" => Some(Status::Failed),
        "ignored" => Some(Status::Skipped),
        _ if result.starts_with("ignored, ") => Some(Status::Skipped),
        _ if result.starts_with("bench: ") => Some(Status::Passed),
        _ => None,
    }
}

/// A test's name without what libtest says about how it is run.
fn without_mark(name: &str) -> &str {
    let marks = [" - should panic", " - compile fail", " - compile"];
    marks.iter().find_map(|mark| name.strip_suffix(mark)).unwrap_or(name)
}

/// The number before a word in `3 passed; 1 failed; …`.
fn number_before(numbers: &str, word: &str) -> Option<u64> {
    let number = numbers.split("; ").find_map(|count| count.strip_suffix(word))?;
    number.trim().parse().ok()
}

fn parse_totals(result: &str) -> Option<Totals> {
    let (is_ok, numbers) = match result.strip_prefix("ok. ") {
        Some(numbers) => (true, numbers),
        None => (false, result.strip_prefix("FAILED. ")?),
    };
    let measured = number_before(numbers, " measured").unwrap_or(0);
    Some(Totals {
        is_ok,
        failed: number_before(numbers, " failed")?,
        passed: number_before(numbers, " passed")?.saturating_add(measured),
        ignored: number_before(numbers, " ignored")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_their_results() {
        let check =
            |line, name, status| assert_eq!(parse(line), Line::Test(name, status), "{line}");
        check("test a::b ... ok", "a::b", Status::Passed);
        check("test a ... ok <0.012s>", "a", Status::Passed);
        check("test a - should panic ... ok", "a", Status::Passed);
        check("test a ... FAILED", "a", Status::Failed);
        check("test a ... ignored, needs a - network", "a", Status::Skipped);
        check(
            "test src/lib.rs - add (line 11) - compile fail ... ok",
            "src/lib.rs - add (line 11)",
            Status::Passed,
        );
        check("test b ... bench:          12 ns/iter (+/- 1)", "b", Status::Passed);
        check("a::b --- FAILED", "a::b", Status::Failed);
    }

    #[test]
    fn a_name_without_its_result() {
        for line in ["test a ... ", "test a ...", "test a ... hello", "test a ... okay"] {
            assert_eq!(parse(line), Line::TestStart("a"), "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_a_line() {
        assert_eq!(parse("---- a::b stdout ----"), Line::Output("a::b"));
        for line in ["running 3 tests from x.ts", "test", "testing", "running many tests", "ok"] {
            assert_eq!(parse(line), Line::Other, "{line}");
        }
    }

    #[test]
    fn a_result_needs_all_its_numbers() {
        let result = "test result: ok. 1 passed; 0 failed; 2 ignored; 3 measured; 9 filtered out";
        let totals = Totals { is_ok: true, failed: 0, passed: 4, ignored: 2 };
        assert_eq!(parse(result), Line::Result(totals));
        assert_eq!(parse("test result: ok. 1 passed; 0 failed"), Line::Other);
    }
}
