//! Structured test results: the formats of reports, and the outcome of a run.
//!
//! [`prepare`] knows runners: it gives a command the options that make it
//! report, and the [`Reader`] that understands the report. The reader is fed
//! with the command's lines and ends in a [`TestReport`]; [`judge`] weighs
//! that together with the exit code.
//!
//! A report can only make a run look worse than its exit code: failing tests,
//! errors outside of tests, no test at all and an incomplete report each keep
//! exit code 0 from being a pass.

mod console;
mod failure;
mod file;
mod go;
mod go_text;
mod jest;
mod judge;
mod junit;
mod libtest;
mod mocha;
mod nextest;
mod nextest_text;
mod node;
mod output;
mod pytest;
mod pytest_text;
mod runner;
pub mod runners;
mod tally;
mod tap;
#[cfg(test)]
mod tests;

use std::path::Path;

use gate_core::decide::test_failure::TestFailure;
use serde::{Deserialize, Serialize};
use tally::{Budget, Tally};

pub use gate_core::decide::policy::ReportFormat as Format;
pub use judge::{Judged, judge};
pub use output::{failures_in, headline};
pub use runner::{Prepared, Request, prepare, runner_format, with_options};

/// An output stream of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Its standard output.
    Stdout,
    /// Its standard error.
    Stderr,
}

/// Result of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It ran and held.
    Passed,
    /// It ran, or began to, and did not hold.
    Failed,
    /// It was not executed, or its failure was expected: ignored, to do,
    /// expected to fail, pending, disabled.
    Skipped,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// Its name, the same in every run: program, package or file, then the
    /// name with its parameters.
    pub id: String,
    /// Its result.
    pub status: Status,
}

/// The report of a runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestReport {
    /// The format of the runner's report.
    pub format: Format,
    /// The tests that have a name. Fewer than the counts if the format only counts.
    pub tests: Vec<Test>,
    /// Number of passed tests.
    pub passed: u64,
    /// Number of failed tests.
    pub failed: u64,
    /// Number of skipped tests.
    pub skipped: u64,
    /// Tests that failed first and passed when the runner itself tried again.
    pub flaky: Vec<String>,
    /// Errors outside of tests: compiling, collecting, a suite's own setup, an error that
    /// no test caught.
    pub errors: Vec<String>,
    /// Why the report is incomplete or broken.
    pub problems: Vec<String>,
    /// The first failing tests and errors. Until `explain` was called, their messages
    /// are the runner's whole texts.
    pub failures: Vec<TestFailure>,
}

impl TestReport {
    /// Number of executed tests: a skipped one was not.
    pub fn executed(&self) -> u64 {
        self.passed.saturating_add(self.failed)
    }

    /// The names of the tests with this status.
    pub fn named(&self, status: Status) -> impl Iterator<Item = &str> {
        self.tests.iter().filter(move |test| test.status == status).map(|test| test.id.as_str())
    }

    /// Shortens the failures to what explains them, with paths relative to the folder that
    /// the command ran in.
    pub fn explain(&mut self, cwd: &Path) {
        let raw_failures = std::mem::take(&mut self.failures);
        let shown = raw_failures.iter().filter_map(|failure| failure::shaped(failure, cwd));
        self.failures = shown.collect();
    }

    /// The runner reported neither a test nor an error.
    pub fn is_empty(&self) -> bool {
        self.executed() == 0 && self.skipped == 0 && self.errors.is_empty()
    }
}

/// A report of the demanded format, or of one that does as well: pytest writes JUnit XML.
fn serves(report: Format, demanded: Format) -> bool {
    report == demanded || (report, demanded) == (Format::Pytest, Format::Junit)
}

/// Reads a result while the process writes it.
///
/// Lines come without their ends and without escape sequences, of each stream
/// in order. What a reader remembers is bounded, whatever it is fed.
pub trait Reader: Send {
    /// Takes the next line of a stream.
    fn line(&mut self, stream: Stream, line: &str);

    /// Reads the report files, if there are any, and returns the report. `None` if nothing of the
    /// kind was seen.
    fn finish(self: Box<Self>) -> Option<TestReport>;
}
