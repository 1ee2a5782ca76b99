//! pytest: its JUnit XML, and the progress in its text.
//!
//! The XML counts subtests without holding them, so its own numbers are no
//! measure; the `collected` line is, and a case without a name is a test that
//! was started and not ended. The text may be missing, and a later run replaces
//! the XML of an earlier one; so each run is given one cache of gate's, in which
//! pytest adds up the tests that it selected and remembers those that failed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gate_core::decide::test_failure::TestFailure;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::junit::{self, Case, Dialect};
use super::pytest_text::Sessions;
use super::{Format, Reader, Status, Stream, Tally, TestReport, file};

/// Longer lines are no part of pytest's own text.
const MAX_LINE_BYTES: usize = 500;

/// Reads pytest.
pub(super) struct Pytest {
    path: PathBuf,
    start_evidence: StartEvidence,
    sessions: Sessions,
}

/// Evidence that pytest was run at all.
enum StartEvidence {
    /// It is the command itself.
    Command,
    /// The command may start it: it leaves this log when it begins.
    Log(PathBuf),
}

impl Pytest {
    /// For pytest itself, which leaves its XML at `path`.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, start_evidence: StartEvidence::Command, sessions: Sessions::default() }
    }

    /// For a command that may start pytest, which then leaves this log.
    pub(super) fn optional(path: PathBuf, log: PathBuf) -> Self {
        Self { start_evidence: StartEvidence::Log(log), ..Self::new(path) }
    }

    fn has_begun(&self) -> bool {
        match &self.start_evidence {
            StartEvidence::Command => true,
            StartEvidence::Log(log) => log.exists() || !self.sessions.are_silent(),
        }
    }

    /// Without a report: if gate's options did not reach pytest, its text may suffice.
    fn add_text_results(&self, tally: &mut Tally) {
        match &self.start_evidence {
            StartEvidence::Log(log) if !log.exists() => {
                self.sessions.add_to(tally);
                if !self.sessions.are_whole() {
                    tally.add_problem(UNREACHED);
                }
            }
            _ => tally.add_problem("pytest ended without writing its report"),
        }
    }
}

impl Reader for Pytest {
    fn line(&mut self, _stream: Stream, line: &str) {
        if line.len() <= MAX_LINE_BYTES {
            self.sessions.take(line);
        }
    }

    fn finish(self: Box<Self>) -> Option<TestReport> {
        let mut tally = Tally::new(Format::Pytest);
        let text = file::read_text(&self.path, &mut tally);
        if text.is_none() && !self.has_begun() {
            return None;
        }
        match text {
            Some(text) => {
                junit::parse(&text, &DIALECT, &mut tally);
                let cache = Cache::read(&cache_folder(&self.path), &mut tally);
                cache.compare(&mut tally);
                let is_command = matches!(self.start_evidence, StartEvidence::Command);
                self.sessions.compare(is_command, cache.selected.is_some(), &mut tally);
                if self.sessions.are_silent() && cache.selected.is_none() {
                    tally.add_problem("how many tests pytest selected is not known");
                }
            }
            None => self.add_text_results(&mut tally),
        }
        Some(tally.finish())
    }
}

/// Hint for a pytest that ran without the options of gate.
const UNREACHED: &str = "pytest ended without writing its report: pass PYTEST_ADDOPTS on (tox: \
                         passenv) or write --junitxml={report}";

/// The folder of the cache that belongs to a report.
pub(super) fn cache_folder(report: &Path) -> PathBuf {
    report.with_file_name("pytest-cache")
}

/// Contents of pytest's cache, of all its sessions together.
struct Cache {
    /// Selected tests; `None` if unknown, as with xdist.
    selected: Option<u64>,
    failed: Vec<String>,
}

impl Cache {
    fn read(folder: &Path, tally: &mut Tally) -> Self {
        let values = folder.join("v/cache");
        let ids: Vec<String> = cached_value(&values.join("nodeids"), tally).unwrap_or_default();
        let selected = (!ids.is_empty()).then_some(ids.len() as u64);
        let failed: BTreeMap<String, IgnoredAny> =
            cached_value(&values.join("lastfailed"), tally).unwrap_or_default();
        Self { selected, failed: failed.into_keys().collect() }
    }

    fn compare(&self, tally: &mut Tally) {
        let report = tally.so_far();
        let reported = report.executed() + report.skipped;
        let has_failures = report.failed > 0 || !report.errors.is_empty();
        if let Some(selected) = self.selected.filter(|selected| *selected > reported) {
            tally.add_problem(format!(
                "pytest selected {selected} tests and the last report holds {reported}"
            ));
        }
        if let Some(failed_test) = self.failed.first()
            && !has_failures
        {
            tally.add_error(format!("{failed_test} failed in a run whose report was replaced"));
        }
    }
}

/// A value of the cache; `None` if it is absent.
fn cached_value<T: DeserializeOwned>(path: &Path, tally: &mut Tally) -> Option<T> {
    let text = file::read_text(path, tally)?;
    match serde_json::from_str(&text) {
        Ok(value) => Some(value),
        Err(error) => {
            tally.add_problem(format!("what pytest remembers is broken: {error}"));
            None
        }
    }
}

const DIALECT: Dialect = Dialect { add_case, counts_cases: false };

fn add_case(case: &Case, tally: &mut Tally) {
    match (case.status(), case.name.is_empty()) {
        (Status::Failed, _) if case.message == "collection failure" => {
            tally.add_error(format!("{} could not be collected", case_place(case)));
            tally.add_failure(case_failure(case, None));
        }
        (_, true) => tally.add_problem("a test was started and not ended"),
        (status, false) => {
            let id = test_id(case);
            tally.add_test(&id, status);
            if status == Status::Failed {
                tally.add_failure(case_failure(case, Some(&id)));
            }
        }
    }
}

/// pytest's message is the end of its text; its lines are counted from 0.
fn case_failure(case: &Case, id: Option<&str>) -> TestFailure {
    let failure = case.failure(id);
    let message = if case.text.is_empty() { failure.message } else { case.text.clone() };
    TestFailure { message, line: failure.line.map(|line| line + 1), ..failure }
}

fn case_place(case: &Case) -> &str {
    [&case.file, &case.name]
        .into_iter()
        .find(|name| !name.is_empty())
        .map_or("a file", String::as_str)
}

/// The id that pytest's own text gives the test: `file::Class::name[params]`.
fn test_id(case: &Case) -> String {
    if case.file.is_empty() {
        return format!("{}::{}", case.class, case.name);
    }
    let module = case.file.strip_suffix(".py").unwrap_or(&case.file).replace(['/', '\\'], ".");
    // `classname` is the module's path and then the classes around the test, all behind dots.
    let class_path = case.class.strip_prefix(&module).unwrap_or("");
    let classes = class_path.split('.').filter(|class| !class.is_empty());
    let parts: Vec<_> = [case.file.as_str()].into_iter().chain(classes).collect();
    format!("{}::{}", parts.join("::"), case.name)
}
