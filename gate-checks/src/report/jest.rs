//! The JSON of jest and of vitest, which wrote it after jest's.
//!
//! A file that failed without a failing test failed outside of its tests. The totals have to fit
//! what is listed. vitest's JSON lacks errors that no test caught; its text has them.

use std::path::PathBuf;

use gate_core::decide::test_failure::TestFailure;
use gate_core::text::clean;
use serde::Deserialize;

use super::failure::Printed;
use super::{Format, Reader, Status, Stream, Tally, TestReport, file};

/// Reads jest or vitest.
pub(super) struct Jest {
    tally: Tally,
    path: PathBuf,
    cwd: PathBuf,
    /// vitest's text about the file that failed first outside of its tests.
    suite: Printed,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Results {
    #[serde(default)]
    num_total_tests: u64,
    #[serde(default)]
    num_failed_tests: u64,
    #[serde(default)]
    num_runtime_error_test_suites: u64,
    success: bool,
    test_results: Vec<Suite>,
    #[serde(default)]
    was_interrupted: bool,
    #[serde(default)]
    snapshot: Snapshots,
}

/// jest's counts of snapshots. With `--ci` an unused snapshot fails the run, and no test.
#[derive(Default, Deserialize)]
struct Snapshots {
    #[serde(default)]
    failure: bool,
    #[serde(default)]
    unmatched: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Suite {
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    assertion_results: Vec<Assertion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    title: String,
    status: String,
    #[serde(default)]
    failure_messages: Vec<String>,
    #[serde(default)]
    retry_reasons: Vec<String>,
}

impl Jest {
    /// Reads the JSON that the runner leaves at `path`. Names of files become relative to `cwd`.
    pub(super) fn new(format: Format, path: PathBuf, cwd: PathBuf) -> Self {
        Self { tally: Tally::new(format), path, cwd, suite: Printed::default() }
    }

    fn results(&mut self, results: &Results) {
        results.test_results.iter().for_each(|suite| self.suite(suite));
        if results.was_interrupted {
            self.tally.problem("the run was interrupted");
        }
        let report = self.tally.so_far();
        let reported = report.executed() + report.skipped;
        let (failed, silent) = (report.failed, report.errors.is_empty());
        if results.num_total_tests != reported {
            let total = results.num_total_tests;
            self.tally.problem(format!("the report announces {total} tests and holds {reported}"));
        }
        if results.num_failed_tests > failed {
            let (all, listed) = (results.num_failed_tests, failed);
            self.tally.error(format!("{all} tests failed, of which {listed} are listed"));
        }
        if results.num_runtime_error_test_suites > 0 && silent {
            self.tally.error("a test file could not be run");
        }
        if results.snapshot.failure && results.snapshot.unmatched == 0 && !results.success {
            self.tally.error("snapshots are obsolete");
        }
        // An unhandled error, a coverage threshold, an obsolete snapshot.
        let nothing_failed = failed == 0 && self.tally.so_far().errors.is_empty();
        if !results.success && nothing_failed && reported > 0 {
            self.tally.error("the runner calls the run a failure, and no test failed");
        }
    }

    fn suite(&mut self, suite: &Suite) {
        let name = file::relative(&suite.name, &self.cwd);
        suite.assertion_results.iter().for_each(|assertion| self.assertion(&name, assertion));
        let failed = suite.assertion_results.iter().any(|assertion| assertion.status == "failed");
        if suite.status == "failed" && !failed {
            self.tally.error(format!("{name}: {}", first_line(&suite.message)));
            let printed = self.suite.about(&name).map(str::to_owned);
            let message = printed.unwrap_or_else(|| outside(&suite.message));
            let file = Some(name);
            self.tally.failure(TestFailure { test: None, message, file, line: None });
        }
    }

    fn assertion(&mut self, file: &str, assertion: &Assertion) {
        let status = match assertion.status.as_str() {
            "passed" => Status::Passed,
            "pending" | "skipped" | "todo" | "disabled" => Status::Skipped,
            _ => Status::Failed,
        };
        let titles = assertion.ancestor_titles.iter().chain([&assertion.title]);
        let titles = titles.filter(|title| !title.is_empty()).map(String::as_str);
        let id = [file].into_iter().chain(titles).collect::<Vec<_>>().join(" > ");
        self.tally.test(&id, status);
        if status == Status::Failed {
            let message = assertion.failure_messages.first().cloned().unwrap_or_default();
            let (test, file) = (Some(id.clone()), Some(file.to_owned()));
            self.tally.failure(TestFailure { test, message, file, line: None });
        }
        let tried_again =
            !assertion.retry_reasons.is_empty() || !assertion.failure_messages.is_empty();
        if status == Status::Passed && tried_again {
            self.tally.flaky(&id);
        }
    }
}

/// The part of a suite's message that is about its file: jest puts advice before it.
fn outside(message: &str) -> String {
    let details = message.split_once("\n    Details:\n").map_or(message, |(_, details)| details);
    details.trim_start_matches([' ', '●']).trim_start_matches("Test suite failed to run").to_owned()
}

fn first_line(message: &str) -> String {
    let mut lines = message.lines().map(clean);
    let first = lines.find_map(|line| {
        let line = line.trim_matches(['●', ' ']);
        (!line.is_empty()).then(|| line.to_owned())
    });
    first.unwrap_or_else(|| "it failed outside of its tests".to_owned())
}

/// The file in vitest's head of an error outside of tests: `FAIL  a.test.ts [ a.test.ts ]`.
fn failed_suite(line: &str) -> Option<&str> {
    let (file, again) = line.strip_prefix("FAIL  ")?.strip_suffix(" ]")?.split_once(" [ ")?;
    (file == again).then_some(file)
}

impl Reader for Jest {
    fn line(&mut self, _stream: Stream, line: &str) {
        if let Some(file) = failed_suite(line.trim())
            && !self.suite.has_begun()
        {
            self.suite.begin(file);
        } else if line.starts_with("⎯⎯") {
            self.suite.close();
        } else {
            self.suite.take(line);
        }
        let line = line.trim();
        if line.starts_with("Vitest caught ") && line.contains(" unhandled error") {
            self.tally.error(line);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        let name = self.tally.so_far().format.name();
        match file::text(&self.path, &mut self.tally) {
            None => self.tally.problem(format!("{name} ended without writing its report")),
            Some(text) => match serde_json::from_str(&text) {
                Ok(results) => self.results(&results),
                Err(error) => self.tally.problem(format!("{name}'s report is broken: {error}")),
            },
        }
        Some(self.tally.finish())
    }
}
