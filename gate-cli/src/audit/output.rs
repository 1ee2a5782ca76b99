//! The outcome of a check by what it printed, where its exit code is hidden or unknown.

use std::path::Path;

use gate_checks::report::{self, Reader, Request, Stream};

use super::command::CheckKind;

/// The most bytes of a check's output that are read.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// Words by which builds and lints say that they failed. Lower case.
const FAILURES: [&str; 10] = [
    "error[e",
    "error ts",
    "error: ",
    "build failed",
    "failed to compile",
    "compilation failed",
    "could not compile",
    "syntaxerror",
    "✖ ",
    "problems (",
];

/// Words by which they say that nothing is wrong. Lower case.
const SUCCESSES: [&str; 11] = [
    "finished `",
    "finished dev",
    "finished release",
    "compiled successfully",
    "built in",
    "build succeeded",
    "build success",
    "0 errors",
    "no issues found",
    "all checks passed",
    "found 0 errors",
];

/// Words by which a client says that a command goes on by itself.
const BACKGROUND: [&str; 2] = ["running in background", "running in the background"];

/// Reads the output of a check.
pub(super) struct Output {
    kind: CheckKind,
    reader: Box<dyn Reader>,
    bytes: usize,
    failed: bool,
    succeeded: bool,
    /// The command goes on by itself: its output and exit code are no result.
    pub(super) in_background: bool,
}

impl Output {
    pub(super) fn new(kind: CheckKind) -> Self {
        let nowhere = Path::new("");
        let reader = report::prepare(&Request {
            argv: &[],
            shell: true,
            demanded: None,
            folder: nowhere,
            cwd: nowhere,
            keep_going: false,
        });
        Self {
            kind,
            reader: reader.reader,
            bytes: 0,
            failed: false,
            succeeded: false,
            in_background: false,
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        for line in text.lines() {
            self.bytes += line.len();
            if self.bytes > MAX_OUTPUT_BYTES {
                return;
            }
            let lower = line.to_lowercase();
            self.in_background |= BACKGROUND.iter().any(|words| lower.contains(words));
            self.failed |= FAILURES.iter().any(|words| lower.contains(words));
            self.succeeded |= SUCCESSES.iter().any(|words| lower.contains(words));
            self.reader.line(Stream::Stdout, line);
        }
    }

    /// True if it says that the check passed, false if it failed; none if it does not say.
    pub(super) fn passed(self) -> Option<bool> {
        if self.in_background {
            return None;
        }
        let report = self.reader.finish();
        if let Some(report) = report.filter(|report| report.executed() > 0) {
            let wrong = report.failed > 0 || !report.errors.is_empty();
            return (wrong || report.problems.is_empty()).then_some(!wrong);
        }
        // Words of failure may be about other files, or be what was searched for.
        (self.kind != CheckKind::Test && self.succeeded && !self.failed).then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: CheckKind, text: &str, expected: Option<bool>) {
        let mut output = Output::new(kind);
        output.text(text);
        assert_eq!(output.passed(), expected, "{text}");
    }

    #[test]
    fn summaries_of_tests_are_read() {
        check(CheckKind::Test, "12 passed in 0.31s", Some(true));
        check(CheckKind::Test, "===== 1 failed, 11 passed in 0.31s =====", Some(false));
        let ok = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        check(CheckKind::Test, &format!("running 3 tests\n\n{ok}"), Some(true));
        check(CheckKind::Test, "      Tests  4 passed (4)", Some(true));
        check(CheckKind::Test, "ok  \tgithub.com/a/b\t0.012s", Some(true));
        check(CheckKind::Test, "something else", None);
        check(CheckKind::Test, "Command running in background with ID: b1\n3 passed in 1s", None);
    }

    #[test]
    fn builds_say_it_in_words() {
        check(CheckKind::Build, "    Finished `dev` profile in 3s", Some(true));
        check(CheckKind::Build, "src/a.ts(1,2): error TS2304: Cannot find name", None);
        check(CheckKind::Lint, "All checks passed!", Some(true));
        check(CheckKind::Build, "", None);
    }
}
