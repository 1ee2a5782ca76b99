//! The JSON of jest, and of vitest, which follows jest's.
//!
//! A file that failed without a failing test failed outside of its tests. The totals have to fit
//! what is listed. vitest's JSON lacks errors that no test caught; its text has them.

use std::path::PathBuf;

use gate_core::decide::test_failure::TestFailure;
use gate_core::text::clean;
use serde::Deserialize;

use super::failure::FailureText;
use super::{Format, Reader, Status, Stream, Tally, TestReport, file};

/// Reads jest or vitest.
pub(super) struct Jest {
    tally: Tally,
    path: PathBuf,
    cwd: PathBuf,
    /// vitest's text about the file that failed first outside of its tests.
    suite_text: FailureText,
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
        Self { tally: Tally::new(format), path, cwd, suite_text: FailureText::default() }
    }

    fn add_results(&mut self, results: &Results) {
        results.test_results.iter().for_each(|suite| self.add_suite(suite));
        if results.was_interrupted {
            self.tally.add_problem("the run was interrupted");
        }
        let report = self.tally.so_far();
        let reported = report.executed() + report.skipped;
        let (listed, has_errors) = (report.failed, !report.errors.is_empty());
        if results.num_total_tests != reported {
            let total = results.num_total_tests;
            self.tally
                .add_problem(format!("the report announces {total} tests and holds {reported}"));
        }
        if results.num_failed_tests > listed {
            let total = results.num_failed_tests;
            self.tally.add_error(format!("{total} tests failed, of which {listed} are listed"));
        }
        if results.num_runtime_error_test_suites > 0 && !has_errors {
            self.tally.add_error("a test file could not be run");
        }
        if results.snapshot.failure && results.snapshot.unmatched == 0 && !results.success {
            self.tally.add_error("snapshots are obsolete");
        }
        // The reason may be an unhandled error or a threshold of coverage. The JSON does not say.
        let has_no_failure = listed == 0 && self.tally.so_far().errors.is_empty();
        if !results.success && has_no_failure && reported > 0 {
            self.tally.add_error("the runner calls the run a failure, and no test failed");
        }
    }

    fn add_suite(&mut self, suite: &Suite) {
        let name = file::relative(&suite.name, &self.cwd);
        suite.assertion_results.iter().for_each(|assertion| self.add_assertion(&name, assertion));
        let has_failed_test =
            suite.assertion_results.iter().any(|assertion| assertion.status == "failed");
        if suite.status == "failed" && !has_failed_test {
            self.tally.add_error(format!("{name}: {}", first_line(&suite.message)));
            let text = self.suite_text.text_of(&name).map(str::to_owned);
            let message = text.unwrap_or_else(|| message_about_file(&suite.message));
            let file = Some(name);
            self.tally.add_failure(TestFailure { test: None, message, file, line: None });
        }
    }

    fn add_assertion(&mut self, file: &str, assertion: &Assertion) {
        let status = match assertion.status.as_str() {
            "passed" => Status::Passed,
            "pending" | "skipped" | "todo" | "disabled" => Status::Skipped,
            _ => Status::Failed,
        };
        let titles = assertion.ancestor_titles.iter().chain([&assertion.title]);
        let titles = titles.filter(|title| !title.is_empty()).map(String::as_str);
        let id = [file].into_iter().chain(titles).collect::<Vec<_>>().join(" > ");
        self.tally.add_test(&id, status);
        if status == Status::Failed {
            let message = assertion.failure_messages.first().cloned().unwrap_or_default();
            let (test, file) = (Some(id.clone()), Some(file.to_owned()));
            self.tally.add_failure(TestFailure { test, message, file, line: None });
        }
        let was_retried =
            !assertion.retry_reasons.is_empty() || !assertion.failure_messages.is_empty();
        if status == Status::Passed && was_retried {
            self.tally.add_flaky(&id);
        }
    }
}

/// The part of a suite's message that is about its file: jest puts advice before it.
fn message_about_file(message: &str) -> String {
    let details = message.split_once("\n    Details:\n").map_or(message, |(_, details)| details);
    details.trim_start_matches([' ', '●']).trim_start_matches("Test suite failed to run").to_owned()
}

fn first_line(message: &str) -> String {
    let lines = message.lines().map(|line| clean(line).trim_matches(['●', ' ']).to_owned());
    lines
        .into_iter()
        .find(|line| !line.is_empty())
        .unwrap_or_else(|| "it failed outside of its tests".to_owned())
}

/// The file in vitest's head of an error outside of tests: `FAIL  a.test.ts [ a.test.ts ]`.
fn failed_suite(line: &str) -> Option<&str> {
    let (suite, file) = line.strip_prefix("FAIL  ")?.strip_suffix(" ]")?.split_once(" [ ")?;
    (suite == file).then_some(file)
}

impl Reader for Jest {
    fn line(&mut self, _stream: Stream, line: &str) {
        if let Some(file) = failed_suite(line.trim())
            && !self.suite_text.has_begun()
        {
            self.suite_text.begin(file);
        } else if line.starts_with("⎯⎯") {
            self.suite_text.close();
        } else {
            self.suite_text.take(line);
        }
        let message = line.trim();
        if message.starts_with("Vitest caught ") && message.contains(" unhandled error") {
            self.tally.add_error(message);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        let name = self.tally.so_far().format.name();
        match file::read_text(&self.path, &mut self.tally) {
            None => self.tally.add_problem(format!("{name} ended without writing its report")),
            Some(text) => match serde_json::from_str(&text) {
                Ok(results) => self.add_results(&results),
                Err(error) => self.tally.add_problem(format!("{name}'s report is broken: {error}")),
            },
        }
        Some(self.tally.finish())
    }
}
