//! pytest: its JUnit XML, and the progress in its text.
//!
//! The XML counts subtests without holding them, so its own numbers are no
//! measure; the `collected` line is, and a case without a name is a test that
//! was started and not ended. The text may be missing, and a later run replaces
//! the XML of an earlier one; so each run is given one cache of ours, in which
//! pytest adds up the tests that it selected and remembers those that failed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gate_core::decide::test_failure::TestFailure;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::junit::{self, Case, Dialect};
use super::pytest_text::Sessions;
use super::{Format, Reader, Status, Stream, Tally, TestReport, file};

/// Reads pytest.
pub(super) struct Pytest {
    path: PathBuf,
    started: StartEvidence,
    sessions: Sessions,
}

/// Evidence that pytest was run at all.
enum StartEvidence {
    /// It is what is run.
    Certainly,
    /// It may be run by something else: then it leaves this file as it
    /// begins.
    Trace(PathBuf),
}

impl Pytest {
    /// pytest itself is run, and leaves its XML here.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, started: StartEvidence::Certainly, sessions: Sessions::default() }
    }

    /// pytest may be run, by something that is; it leaves this trace then.
    pub(super) fn perhaps(path: PathBuf, trace: PathBuf) -> Self {
        Self { started: StartEvidence::Trace(trace), ..Self::new(path) }
    }

    fn has_begun(&self) -> bool {
        match &self.started {
            StartEvidence::Certainly => true,
            StartEvidence::Trace(trace) => trace.exists() || !self.sessions.are_silent(),
        }
    }

    /// Without a report: if our options did not reach pytest, its text may suffice.
    fn unreported(&self, tally: &mut Tally) {
        match &self.started {
            StartEvidence::Trace(trace) if !trace.exists() => {
                self.sessions.add_to(tally);
                if !self.sessions.are_whole() {
                    tally.problem(UNREACHED);
                }
            }
            _ => tally.problem("pytest ended without writing its report"),
        }
    }
}

impl Reader for Pytest {
    fn line(&mut self, _stream: Stream, line: &str) {
        if line.len() <= 500 {
            self.sessions.take(line);
        }
    }

    fn finish(self: Box<Self>) -> Option<TestReport> {
        let mut tally = Tally::new(Format::Pytest);
        let text = file::text(&self.path, &mut tally);
        if text.is_none() && !self.has_begun() {
            return None;
        }
        match text {
            Some(text) => {
                junit::parse(&text, &DIALECT, &mut tally);
                let cache = Cache::read(&cache(&self.path), &mut tally);
                cache.compare(&mut tally);
                let is_one = matches!(self.started, StartEvidence::Certainly);
                self.sessions.compare(is_one, cache.selected.is_some(), &mut tally);
                if self.sessions.are_silent() && cache.selected.is_none() {
                    tally.problem("how many tests pytest selected is not known");
                }
            }
            None => self.unreported(&mut tally),
        }
        Some(tally.finish())
    }
}

/// Hint for a pytest that ran without the options of gate.
const UNREACHED: &str = "pytest ended without writing its report: pass PYTEST_ADDOPTS on (tox: \
                         passenv) or write --junitxml={report}";

/// The folder of the cache that belongs to a report.
pub(super) fn cache(report: &Path) -> PathBuf {
    report.with_file_name("pytest-cache")
}

/// Contents of pytest's cache, of all runs together.
struct Cache {
    /// Selected tests; `None` if unknown, as with xdist.
    selected: Option<u64>,
    failed: Vec<String>,
}

impl Cache {
    fn read(folder: &Path, tally: &mut Tally) -> Self {
        let values = folder.join("v/cache");
        let ids: Vec<String> = value(&values.join("nodeids"), tally).unwrap_or_default();
        let selected = (!ids.is_empty()).then_some(ids.len() as u64);
        let failed: BTreeMap<String, IgnoredAny> =
            value(&values.join("lastfailed"), tally).unwrap_or_default();
        Self { selected, failed: failed.into_keys().collect() }
    }

    fn compare(&self, tally: &mut Tally) {
        let report = tally.so_far();
        let reported = report.executed() + report.skipped;
        let has_failures = report.failed > 0 || !report.errors.is_empty();
        if let Some(selected) = self.selected.filter(|selected| *selected > reported) {
            tally.problem(format!(
                "pytest selected {selected} tests and the last report holds {reported}"
            ));
        }
        if let (Some(first), false) = (self.failed.first(), has_failures) {
            tally.error(format!("{first} failed in a run whose report was replaced"));
        }
    }
}

/// A value of the cache; `None`: it is not there.
fn value<T: DeserializeOwned>(path: &Path, tally: &mut Tally) -> Option<T> {
    let text = file::text(path, tally)?;
    match serde_json::from_str(&text) {
        Ok(value) => Some(value),
        Err(error) => {
            tally.problem(format!("what pytest remembers is broken: {error}"));
            None
        }
    }
}

const DIALECT: Dialect = Dialect { add_case, announces: false };

fn add_case(case: &Case, tally: &mut Tally) {
    match (case.status(), case.name.is_empty()) {
        (Status::Failed, _) if case.message == "collection failure" => {
            tally.error(format!("{} could not be collected", place(case)));
            tally.failure(failure(case, None));
        }
        (_, true) => tally.problem("a test was started and not ended"),
        (status, false) => {
            let id = id(case);
            tally.test(&id, status);
            if status == Status::Failed {
                tally.failure(failure(case, Some(&id)));
            }
        }
    }
}

/// pytest's message is the end of its text; its lines are counted from 0.
fn failure(case: &Case, id: Option<&str>) -> TestFailure {
    let failure = case.failure(id);
    let message = if case.text.is_empty() { failure.message } else { case.text.clone() };
    TestFailure { message, line: failure.line.map(|line| line + 1), ..failure }
}

fn place(case: &Case) -> &str {
    [&case.file, &case.name]
        .into_iter()
        .find(|name| !name.is_empty())
        .map_or("a file", String::as_str)
}

/// The id that pytest's own text gives the test: `file::Class::name[params]`.
fn id(case: &Case) -> String {
    let module = case.file.strip_suffix(".py").unwrap_or(&case.file).replace(['/', '\\'], ".");
    if case.file.is_empty() {
        return format!("{}::{}", case.class, case.name);
    }
    let classes = case.class.strip_prefix(&module).unwrap_or("").trim_start_matches('.');
    let classes = classes.split('.').filter(|class| !class.is_empty());
    let parts: Vec<_> = [case.file.as_str()].into_iter().chain(classes).collect();
    format!("{}::{}", parts.join("::"), case.name)
}
