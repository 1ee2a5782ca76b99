//! `node --test`: the events that gate's own reporter writes.
//!
//! Node's ready-made reporters leave out which file a test stands in. A file
//! that ended without reporting a test is itself reported as one: node takes
//! its exit code for the result, gate does not. A test that was announced has
//! to end: a test that leaves the process takes those after it along.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gate_core::decide::test_failure::TestFailure;
use serde::Deserialize;

use super::{Format, Reader, Status, Stream, Tally, TestReport, file};

/// The reporter, as node loads it.
pub(super) const REPORTER: &str = include_str!("node-events.mjs");

/// Reads the events.
pub(super) struct Node {
    tally: Tally,
    path: PathBuf,
    cwd: PathBuf,
    /// The names of the tests and suites that the next event stands in.
    parents: Vec<String>,
    /// The number of tests that node itself counts.
    node_count: Option<u64>,
    /// Files that node reported in place of their tests.
    files_without_tests: u64,
    /// The number of tests of a key that were announced and have not ended. The announcement of a
    /// file as a whole is not counted, but its end is: that number falls below zero.
    unfinished: BTreeMap<TestKey, i64>,
}

/// The identity of a test. Several tests may share it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct TestKey {
    file: Option<String>,
    nesting: usize,
    name: String,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Event {
    Enqueue(Announced),
    Start { name: String, nesting: usize },
    Pass(Ended),
    Fail(Ended),
    Diagnostic { message: String },
}

#[derive(Deserialize)]
struct Announced {
    name: String,
    nesting: usize,
    #[serde(default)]
    file: Option<String>,
}

#[derive(Deserialize)]
struct Ended {
    name: String,
    nesting: usize,
    #[serde(default)]
    file: Option<String>,
    #[serde(rename = "excused")]
    is_excused: bool,
    #[serde(rename = "suite")]
    is_suite: bool,
    #[serde(default)]
    failure: Option<String>,
    #[serde(default)]
    line: Option<u64>,
    /// The error with its stack.
    #[serde(default)]
    text: Option<String>,
    /// The standard error of the file's process until then.
    #[serde(default)]
    stderr: Option<String>,
}

impl Node {
    /// Reads the events that node writes to `path`. Names of files become relative to `cwd`.
    pub(super) fn new(path: PathBuf, cwd: PathBuf) -> Self {
        Self {
            tally: Tally::new(Format::Node),
            path,
            cwd,
            parents: Vec::new(),
            node_count: None,
            files_without_tests: 0,
            unfinished: BTreeMap::new(),
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Enqueue(Announced { name, nesting, file }) => {
                let is_test = nesting > 0 || !is_file(&name, file.as_deref());
                let key = TestKey { file, nesting, name };
                *self.unfinished.entry(key).or_default() += i64::from(is_test);
            }
            Event::Start { name, nesting } => {
                self.parents.truncate(nesting);
                self.parents.push(name);
            }
            Event::Pass(test) => self.test_ended(&test, Status::Passed),
            Event::Fail(test) => self.test_ended(&test, Status::Failed),
            Event::Diagnostic { message } => self.diagnostic(&message),
        }
    }

    fn test_ended(&mut self, test: &Ended, status: Status) {
        let key =
            TestKey { file: test.file.clone(), nesting: test.nesting, name: test.name.clone() };
        self.unfinished.entry(key).and_modify(|number| *number -= 1);
        let file = self.shown_file(test.file.as_deref());
        if test.nesting == 0 && is_file(&test.name, test.file.as_deref()) {
            self.file_without_tests(&file, status);
            if status == Status::Failed {
                self.failure(None, file, None, test.stderr.as_deref());
            }
        } else if test.is_suite {
            self.suite_ended(&self.test_id(&file, test), test, status);
        } else {
            let status = if test.is_excused { Status::Skipped } else { status };
            let id = self.test_id(&file, test);
            self.tally.add_test(&id, status);
            if status == Status::Failed {
                self.failure(Some(id), file, test.line, test.text.as_deref());
            }
        }
    }

    fn failure(
        &mut self,
        test: Option<String>,
        file: String,
        line: Option<u64>,
        text: Option<&str>,
    ) {
        let message = text.unwrap_or_default().to_owned();
        self.tally.add_failure(TestFailure { test, message, file: Some(file), line });
    }

    fn test_id(&self, file: &str, test: &Ended) -> String {
        let parents = self.parents.iter().take(test.nesting).map(String::as_str);
        let path: Vec<_> = [file].into_iter().chain(parents).chain([test.name.as_str()]).collect();
        path.join(" > ")
    }

    fn file_without_tests(&mut self, file: &str, status: Status) {
        self.files_without_tests += 1;
        match status {
            Status::Failed => self.tally.add_error(format!("{file} failed outside of its tests")),
            // Node runs the files that only help the tests, too: they hold no test.
            _ if !file::is_test_script(file) => {}
            _ => self.tally.add_problem(format!("{file} ended without reporting a test")),
        }
    }

    fn suite_ended(&mut self, id: &str, test: &Ended, status: Status) {
        // Tests of the suite that failed are reported by themselves.
        let suite_failure = test.failure.as_deref().filter(|failure| *failure != "subtestsFailed");
        if status == Status::Failed
            && !test.is_excused
            && let Some(failure) = suite_failure
        {
            self.tally.add_error(format!("{id}: {failure}"));
            let file = test.file.clone().unwrap_or_default();
            self.failure(None, file, test.line, test.text.as_deref());
        }
    }

    fn diagnostic(&mut self, message: &str) {
        if let Some(number) = message.strip_prefix("tests ") {
            self.node_count = number.parse().ok();
        } else if message.contains(" asynchronous activity after the test ended") {
            self.tally.add_error(message);
        }
    }

    /// Every test that was announced has to have a result.
    fn report_unfinished(&mut self) {
        for (key, _) in self.unfinished.iter().filter(|(_, number)| **number > 0) {
            let file = self.shown_file(key.file.as_deref());
            let name = &key.name;
            self.tally.add_problem(format!("{file} > {name} was started and not ended"));
        }
    }

    fn shown_file(&self, path: Option<&str>) -> String {
        path.map_or("(no file)".to_owned(), |path| file::relative(path, &self.cwd))
    }

    /// Node's own count has to fit what was seen; it comes last.
    fn compare(&mut self) {
        let report = self.tally.so_far();
        let reported = report.executed() + report.skipped + self.files_without_tests;
        match self.node_count {
            None => self.tally.add_problem("node ended without its totals"),
            Some(counted) if counted != reported => {
                self.tally.add_problem(format!(
                    "node counts {counted} tests, and {reported} were reported"
                ));
            }
            Some(_) => {}
        }
    }
}

/// The entry is the file as a whole instead of a test.
fn is_file(name: &str, file: Option<&str>) -> bool {
    file.is_some_and(|file| Path::new(file).ends_with(name))
}

impl Reader for Node {
    fn line(&mut self, _stream: Stream, _line: &str) {}

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        let Some(text) = file::read_text(&self.path.clone(), &mut self.tally) else {
            self.tally.add_problem("node ended without writing its report");
            return Some(self.tally.finish());
        };
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(event) => self.event(event),
                Err(error) => self.tally.add_problem(format!("node's report is broken: {error}")),
            }
        }
        self.report_unfinished();
        self.compare();
        Some(self.tally.finish())
    }
}
