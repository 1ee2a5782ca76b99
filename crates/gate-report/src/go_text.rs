//! go test behind another command, without `-json`: the lines that it prints for people.
//!
//! A package that passed without naming its tests counts as one test.

use super::failure::FailureText;
use super::{Format, Reader, Status, Stream, Tally, TestReport};

/// Longer lines are no part of go's text.
const MAX_LINE_BYTES: usize = 2_000;

/// Reads go's text.
pub(super) struct GoText {
    tally: Tally,
    is_recognised: bool,
    /// Named tests of the current package, and the failed ones of them.
    named_tests: u64,
    failed_tests: u64,
    failure_text: FailureText,
}

impl GoText {
    pub(super) fn new() -> Self {
        Self {
            tally: Tally::new(Format::Go),
            is_recognised: false,
            named_tests: 0,
            failed_tests: 0,
            failure_text: FailureText::default(),
        }
    }

    fn take(&mut self, line: &str) {
        if let Some((name, status)) = test_result(line.trim_start_matches(' ')) {
            self.named_tests += 1;
            self.failed_tests += u64::from(status == Status::Failed);
            // `--- PASS` alone could be the text of another tool.
            self.is_recognised |= status == Status::Failed;
            self.tally.add_test(name, status);
            self.failure_text.end(&mut self.tally);
            if status == Status::Failed {
                self.failure_text.begin(name);
            }
        } else if let Some(package) = ended_package(line, "ok  \t") {
            self.is_recognised = true;
            let is_empty = line.ends_with(" [no tests to run]");
            let is_one_test = self.named_tests == 0 && !is_empty && !package.is_empty();
            self.tally.count(Status::Passed, u64::from(is_one_test));
            (self.named_tests, self.failed_tests) = (0, 0);
        } else if let Some(package) = ended_package(line, "FAIL\t") {
            self.is_recognised = true;
            if self.failed_tests == 0 {
                self.tally.add_error(format!("{package} failed outside of its tests"));
            }
            self.failure_text.end(&mut self.tally);
            (self.named_tests, self.failed_tests) = (0, 0);
        } else if line.starts_with("?   \t") && line.ends_with("\t[no test files]") {
            self.is_recognised = true;
        } else if matches!(line, "FAIL" | "PASS") {
            self.failure_text.end(&mut self.tally);
        } else {
            self.failure_text.take(line);
        }
    }
}

/// `--- FAIL: TestName (0.00s)`.
fn test_result(line: &str) -> Option<(&str, Status)> {
    let (word, name_and_time) = line.strip_prefix("--- ")?.split_once(": ")?;
    let status = match word {
        "PASS" => Status::Passed,
        "FAIL" => Status::Failed,
        "SKIP" => Status::Skipped,
        _ => return None,
    };
    let (name, time) = name_and_time.split_once(" (")?;
    let is_time = time.strip_suffix("s)").is_some_and(|seconds| seconds.parse::<f64>().is_ok());
    (is_time && !name.is_empty() && !name.contains(' ')).then_some((name, status))
}

/// The package in `ok` or `FAIL`, behind which a time, `(cached)` or a reason stands.
fn ended_package<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let (name, remark) = line.strip_prefix(word)?.split_once(['\t', ' '])?;
    let seconds = remark.split(['\t', ' ']).next()?.strip_suffix('s');
    let is_timed = seconds.is_some_and(|seconds| seconds.parse::<f64>().is_ok());
    let has_run = is_timed || remark.starts_with("(cached)");
    let is_broken = word == "FAIL\t" && remark.starts_with('[') && remark.ends_with(" failed]");
    ((has_run || is_broken) && !name.is_empty()).then_some(name)
}

impl Reader for GoText {
    fn line(&mut self, _stream: Stream, line: &str) {
        if line.len() <= MAX_LINE_BYTES {
            self.take(line);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        self.failure_text.end(&mut self.tally);
        self.is_recognised.then(|| self.tally.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{comes_to, report};

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
