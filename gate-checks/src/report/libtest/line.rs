//! The lines that a test program prints.

use crate::report::Status;

/// A line.
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
    pub(super) ok: bool,
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

    /// The numbers.
    pub(super) fn each(&self) -> [(Status, u64); 3] {
        [Status::Passed, Status::Failed, Status::Skipped].map(|status| (status, self.count(status)))
    }

    /// Number of all tests.
    pub(super) fn sum(&self) -> u64 {
        self.each().iter().fold(0, |sum, (_, number)| sum.saturating_add(*number))
    }
}

/// Understands a line.
pub(super) fn parse(line: &str) -> Line<'_> {
    let line = line.trim_end();
    if let Some(rest) = line.strip_prefix("test ") {
        return match rest.strip_prefix("result: ") {
            Some(result) => totals(result).map_or(Line::Other, Line::Result),
            None => test(rest),
        };
    }
    match line {
        "failures:" => Line::Failures,
        "successes:" => Line::Successes,
        line => running(line)
            .or_else(|| quiet(line))
            .or_else(|| output(line))
            .unwrap_or_else(|| indented(line)),
    }
}

fn running(line: &str) -> Option<Line<'_>> {
    let rest = line.strip_prefix("running ")?;
    let number = rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test"))?;
    number.parse().ok().map(Line::Running)
}

/// In quiet text only a failure has a line: `name --- FAILED`.
fn quiet(line: &str) -> Option<Line<'_>> {
    let name = line.strip_suffix(" --- FAILED")?;
    (!name.starts_with(' ')).then(|| Line::Test(bare(name), Status::Failed))
}

fn output(line: &str) -> Option<Line<'_>> {
    let head = line.strip_prefix("---- ")?.strip_suffix(" ----")?;
    Some(Line::Output(bare(head.strip_suffix(" stdout").unwrap_or(head))))
}

fn indented(line: &str) -> Line<'_> {
    match line.strip_prefix("    ") {
        Some(name) if !name.starts_with(' ') && !name.is_empty() => Line::Indented(name),
        _ => Line::Other,
    }
}

fn test(rest: &str) -> Line<'_> {
    // A program that was cut off leaves its line without a space at the end.
    let Some((name, result)) = rest.split_once(" ...") else { return Line::Other };
    let name = bare(name);
    match status(result.trim()) {
        Some(status) => Line::Test(name, status),
        None => Line::TestStart(name),
    }
}

fn status(result: &str) -> Option<Status> {
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
fn bare(name: &str) -> &str {
    let ways = [" - should panic", " - compile fail", " - compile"];
    ways.iter().find_map(|way| name.strip_suffix(way)).unwrap_or(name)
}

/// The number before a word in `3 passed; 1 failed; …`.
fn number(numbers: &str, word: &str) -> Option<u64> {
    let part = numbers.split("; ").find_map(|part| part.strip_suffix(word))?;
    part.trim().parse().ok()
}

fn totals(result: &str) -> Option<Totals> {
    let (ok, numbers) = match result.strip_prefix("ok. ") {
        Some(numbers) => (true, numbers),
        None => (false, result.strip_prefix("FAILED. ")?),
    };
    let measured = number(numbers, " measured").unwrap_or(0);
    Some(Totals {
        ok,
        failed: number(numbers, " failed")?,
        passed: number(numbers, " passed")?.saturating_add(measured),
        ignored: number(numbers, " ignored")?,
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
        let totals = Totals { ok: true, failed: 0, passed: 4, ignored: 2 };
        assert_eq!(parse(result), Line::Result(totals));
        assert_eq!(parse("test result: ok. 1 passed; 0 failed"), Line::Other);
    }
}
