//! go test behind something else, without `-json`: the lines that it prints
//! for people.
//!
//! A package that passed without naming its tests counts as one test.

use super::failure::Printed;
use super::{Format, Reader, Status, Stream, Tally, TestReport};

/// Reads go's text.
pub(super) struct GoText {
    tally: Tally,
    seen: bool,
    /// Named tests of the current package, and the failed ones of them.
    named: u64,
    failed: u64,
    printed: Printed,
}

impl GoText {
    pub(super) fn new() -> Self {
        let (tally, printed) = (Tally::new(Format::Go), Printed::default());
        Self { tally, seen: false, named: 0, failed: 0, printed }
    }

    fn take(&mut self, line: &str) {
        if let Some((name, status)) = test(line.trim_start_matches(' ')) {
            self.named += 1;
            self.failed += u64::from(status == Status::Failed);
            self.seen |= status == Status::Failed;
            self.tally.test(name, status);
            self.printed.end(&mut self.tally);
            if status == Status::Failed {
                self.printed.begin(name);
            }
        } else if let Some(package) = package(line, "ok  \t") {
            self.seen = true;
            let is_empty = line.ends_with(" [no tests to run]");
            let number = u64::from(self.named == 0 && !is_empty && !package.is_empty());
            self.tally.count(Status::Passed, number);
            (self.named, self.failed) = (0, 0);
        } else if let Some(package) = package(line, "FAIL\t") {
            self.seen = true;
            if self.failed == 0 {
                self.tally.error(format!("{package} failed outside of its tests"));
            }
            self.printed.end(&mut self.tally);
            (self.named, self.failed) = (0, 0);
        } else if line.starts_with("?   \t") && line.ends_with("\t[no test files]") {
            self.seen = true;
        } else if matches!(line, "FAIL" | "PASS") {
            self.printed.end(&mut self.tally);
        } else {
            self.printed.take(line);
        }
    }
}

/// `--- FAIL: TestName (0.00s)`.
fn test(line: &str) -> Option<(&str, Status)> {
    let (word, rest) = line.strip_prefix("--- ")?.split_once(": ")?;
    let status = match word {
        "PASS" => Status::Passed,
        "FAIL" => Status::Failed,
        "SKIP" => Status::Skipped,
        _ => return None,
    };
    let (name, time) = rest.split_once(" (")?;
    let is_time = time.strip_suffix("s)").is_some_and(|seconds| seconds.parse::<f64>().is_ok());
    (is_time && !name.is_empty() && !name.contains(' ')).then_some((name, status))
}

/// The package of `ok`, `FAIL` with a time, `(cached)` or a reason after it.
fn package<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(word)?;
    let (name, about) = rest.split_once(['\t', ' '])?;
    let seconds = about.split(['\t', ' ']).next()?.strip_suffix('s');
    let is_timed = seconds.is_some_and(|seconds| seconds.parse::<f64>().is_ok());
    let has_run = is_timed || about.starts_with("(cached)");
    let is_broken = word == "FAIL\t" && about.starts_with('[') && about.ends_with(" failed]");
    ((has_run || is_broken) && !name.is_empty()).then_some(name)
}

impl Reader for GoText {
    fn line(&mut self, _stream: Stream, line: &str) {
        if line.len() <= 2_000 {
            self.take(line);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        self.printed.end(&mut self.tally);
        self.seen.then(|| self.tally.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{comes_to, report};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        comes_to(GoText::new(), text, expected);
    }

    #[test]
    fn go_wrote() {
        check(include_str!("fixtures/text/go.txt"), "Fail: 2 of 3 failed: TestBad, TestBad/sub");
        check(include_str!("fixtures/text/go-v.txt"), "Fail: 2 of 4 failed: TestBad, TestBad/sub");
        check(include_str!("fixtures/text/go-build.txt"), "Fail: 1 test passed, but");
        check("ok  \texample.com/s/b\t(cached)", "Pass: 1 passed");
        check("ok  \texample.com/s/b\t0.003s\tcoverage: [no statements]", "Pass: 1 passed");
        check("ok  \texample.com/s/b\t0.002s [no tests to run]", "Fail: no test was executed");
        check("?   \texample.com/s/c\t[no test files]", "Fail: no test was executed");
    }

    #[test]
    fn what_only_looks_like_go_is_none() {
        for text in ["ok", "FAIL", "FAIL\tx", "--- FAIL: it", "ok  \tall", "--- PASS: A (0.00s)"] {
            assert_eq!(report(GoText::new(), text), None, "{text}");
        }
    }
}
