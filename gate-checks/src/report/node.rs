//! `node --test`: the events that our own reporter writes.
//!
//! Node's ready-made reporters leave out which file a test stands in. A file
//! that ended without reporting a test is itself reported as one: node takes
//! its exit code for the result, we do not. A test that was announced has to
//! end: a test that leaves the process takes those after it along.

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
    above: Vec<String>,
    /// Tests that node itself counts.
    counted: Option<u64>,
    files_alone: u64,
    /// Tests of a place and name that were announced and have not ended.
    waiting: BTreeMap<Place, i64>,
}

/// File, nesting and name of a test.
type Place = (Option<String>, usize, String);

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
    excused: bool,
    suite: bool,
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
            above: Vec::new(),
            counted: None,
            files_alone: 0,
            waiting: BTreeMap::new(),
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Enqueue(Announced { name, nesting, file }) => {
                let is_test = nesting > 0 || !is_file(&name, file.as_deref());
                *self.waiting.entry((file, nesting, name)).or_default() += i64::from(is_test);
            }
            Event::Start { name, nesting } => {
                self.above.truncate(nesting);
                self.above.push(name);
            }
            Event::Pass(test) => self.ended(&test, Status::Passed),
            Event::Fail(test) => self.ended(&test, Status::Failed),
            Event::Diagnostic { message } => self.diagnostic(&message),
        }
    }

    fn ended(&mut self, test: &Ended, status: Status) {
        let place = (test.file.clone(), test.nesting, test.name.clone());
        self.waiting.entry(place).and_modify(|number| *number -= 1);
        let file = test.file.as_deref().map(|path| file::relative(path, &self.cwd));
        let file = file.unwrap_or_else(|| "(no file)".to_owned());
        if test.nesting == 0 && is_file(&test.name, test.file.as_deref()) {
            self.file_alone(&file, status);
            if status == Status::Failed {
                self.failure(None, file, None, test.stderr.as_deref());
            }
        } else if test.suite {
            self.suite(&self.id(&file, test), test, status);
        } else {
            let status = if test.excused { Status::Skipped } else { status };
            let id = self.id(&file, test);
            self.tally.test(&id, status);
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
        self.tally.failure(TestFailure { test, message, file: Some(file), line });
    }

    fn id(&self, file: &str, test: &Ended) -> String {
        let above = self.above.iter().take(test.nesting).map(String::as_str);
        let path: Vec<_> = [file].into_iter().chain(above).chain([test.name.as_str()]).collect();
        path.join(" > ")
    }

    fn file_alone(&mut self, file: &str, status: Status) {
        self.files_alone += 1;
        match status {
            Status::Failed => self.tally.error(format!("{file} failed outside of its tests")),
            // What only helps the tests holds none.
            _ if !file::is_test_script(file) => {}
            _ => self.tally.problem(format!("{file} ended without reporting a test")),
        }
    }

    fn suite(&mut self, id: &str, test: &Ended, status: Status) {
        let own = test.failure.as_deref().filter(|failure| *failure != "subtestsFailed");
        if let (Status::Failed, Some(failure), false) = (status, own, test.excused) {
            self.tally.error(format!("{id}: {failure}"));
            let file = test.file.clone().unwrap_or_default();
            self.failure(None, file, test.line, test.text.as_deref());
        }
    }

    fn diagnostic(&mut self, message: &str) {
        if let Some(number) = message.strip_prefix("tests ") {
            self.counted = number.parse().ok();
        } else if message.contains(" asynchronous activity after the test ended") {
            self.tally.error(message);
        }
    }

    /// Every test that was announced has to have a result.
    fn lost(&mut self) {
        for ((file, _, name), _) in self.waiting.iter().filter(|(_, number)| **number > 0) {
            let file = file
                .as_deref()
                .map_or("(no file)".to_owned(), |path| file::relative(path, &self.cwd));
            self.tally.problem(format!("{file} > {name} was started and not ended"));
        }
    }

    /// Node's own count has to fit what was seen; it comes last.
    fn compare(&mut self) {
        let report = self.tally.so_far();
        let reported = report.executed() + report.skipped + self.files_alone;
        match self.counted {
            None => self.tally.problem("node ended without its totals"),
            Some(counted) if counted != reported => {
                let what = format!("node counts {counted} tests, and {reported} were reported");
                self.tally.problem(what);
            }
            Some(_) => {}
        }
    }
}

/// True for an entry that is the file as a whole instead of a test.
fn is_file(name: &str, file: Option<&str>) -> bool {
    file.is_some_and(|file| Path::new(file).ends_with(name))
}

impl Reader for Node {
    fn line(&mut self, _stream: Stream, _line: &str) {}

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        let Some(text) = file::text(&self.path.clone(), &mut self.tally) else {
            self.tally.problem("node ended without writing its report");
            return Some(self.tally.finish());
        };
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(event) => self.event(event),
                Err(error) => self.tally.problem(format!("node's report is broken: {error}")),
            }
        }
        self.lost();
        self.compare();
        Some(self.tally.finish())
    }
}
