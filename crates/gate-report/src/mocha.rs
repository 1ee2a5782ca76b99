//! mocha: its JSON, as a reporter of gate's writes it, or as mocha prints it between other output.
//!
//! gate's reporter keeps the text for people, names the suites of a test one by one, and writes one
//! file for each run, so that a script may run mocha several times. A run that began has to end: a
//! test that leaves the process takes those after it along. mocha lists a failing hook among the
//! failing tests, and so it counts as one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gate_core::decide::test_failure::TestFailure;
use serde::Deserialize;
use serde_json::Value;

use super::console::Console;
use super::{Budget, Format, Reader, Status, Stream, Tally, TestReport, file};

/// The reporter, as mocha loads it.
const REPORTER: &str = include_str!("mocha-results.cjs");

/// The folder of the reporter and of its files, in the private folder.
const FOLDER: &str = "mocha";

/// Reads mocha.
pub(super) struct Mocha {
    tally: Tally,
    /// A file, or a folder of files that end with `.json`.
    place: PathBuf,
    cwd: PathBuf,
    /// Readers of its text, if the command may start another runner or an old mocha, which gate's
    /// reporter does not reach.
    text_readers: Option<Vec<Box<dyn Reader>>>,
    printed: PrintedReports,
}

#[derive(Deserialize)]
struct Results {
    stats: Stats,
    passes: Vec<Ended>,
    failures: Vec<Ended>,
    pending: Vec<Ended>,
}

/// mocha's own counts.
#[derive(Deserialize)]
struct Stats {
    passes: u64,
    failures: u64,
    pending: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    title: String,
    full_title: String,
    /// Its suites, from the outermost, and its title. mocha's own reporter does not write it.
    title_path: Option<Vec<String>>,
    file: Option<String>,
    #[serde(default)]
    current_retry: u64,
    #[serde(default)]
    err: Option<TestError>,
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct TestError {
    message: Option<Value>,
    stack: Option<Value>,
    /// node wrote the message, with the values in it.
    generated_message: bool,
    expected: Option<Value>,
    actual: Option<Value>,
}

impl Mocha {
    /// For mocha itself, with gate's reporter in this private folder. Names of files become relative
    /// to `cwd`.
    pub(super) fn new(folder: &Path, cwd: &Path) -> Self {
        Self {
            tally: Tally::new(Format::Mocha),
            place: folder.join(FOLDER),
            cwd: cwd.to_owned(),
            text_readers: None,
            printed: PrintedReports::new(),
        }
    }

    /// For a command that may start mocha.
    pub(super) fn optional(folder: &Path, cwd: &Path) -> Self {
        let text_readers = Some(Console::readers(Format::Mocha));
        Self { text_readers, ..Self::new(folder, cwd) }
    }

    /// For a command that leaves mocha's JSON at this path.
    pub(super) fn at_place(path: PathBuf, cwd: &Path) -> Self {
        Self { place: path, ..Self::new(Path::new(""), cwd) }
    }

    fn add_report(&mut self, text: &str) {
        if text.is_empty() {
            self.tally.add_problem("mocha began a run and did not end it");
            return;
        }
        match serde_json::from_str(text) {
            Ok(results) => self.add_results(&results),
            Err(error) => self.tally.add_problem(format!("mocha's report is broken: {error}")),
        }
    }

    fn add_results(&mut self, results: &Results) {
        let Results { stats, passes, failures, pending } = results;
        for (tests, status, count) in [
            (passes, Status::Passed, stats.passes),
            (failures, Status::Failed, stats.failures),
            (pending, Status::Skipped, stats.pending),
        ] {
            tests.iter().for_each(|test| self.add_test(test, status));
            if tests.len() as u64 != count {
                let listed = tests.len();
                self.tally.add_problem(format!("mocha counts {count} tests, and lists {listed}"));
            }
        }
    }

    fn add_test(&mut self, test: &Ended, status: Status) {
        let file = test.file.as_deref().map(|path| file::relative(path, &self.cwd));
        let id = test.id(file.as_deref());
        self.tally.add_test(&id, status);
        match status {
            Status::Failed => {
                let message = test.err.as_ref().map(TestError::text).unwrap_or_default();
                self.tally.add_failure(TestFailure { test: Some(id), message, file, line: None });
            }
            Status::Passed if test.current_retry > 0 => self.tally.add_flaky(&id),
            Status::Passed | Status::Skipped => {}
        }
    }
}

impl Ended {
    /// The file, the suites and the title.
    fn id(&self, file: Option<&str>) -> String {
        let suites = self.full_title.strip_suffix(&self.title).unwrap_or_default().trim();
        let titles = match &self.title_path {
            Some(titles) => titles.iter().map(String::as_str).collect(),
            None => vec![suites, &self.title],
        };
        let parts = file.into_iter().chain(titles).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(" > ")
    }
}

impl TestError {
    /// The message, the values that it does not name, and the frames.
    fn text(&self) -> String {
        let [message, stack, expected, actual] =
            [&self.message, &self.stack, &self.expected, &self.actual].map(shown);
        let (message, stack) = (message.unwrap_or_default(), stack.unwrap_or_default());
        let message_end = stack.find(&message).map_or(0, |start| start + message.len());
        let (head, frames) = stack.split_at(message_end);
        let mut text = if head.is_empty() { message.clone() } else { head.to_owned() };
        if let (Some(expected), Some(actual), false) =
            (expected, actual, self.names_values(&message))
        {
            text.push_str(&format!("\nexpected: {expected}\nactual: {actual}"));
        }
        // Below it stands what had called before, and so led nowhere near the assertion.
        let frames = frames.split("\nFrom previous event:").next().unwrap_or_default();
        format!("{text}\n{frames}")
    }
}

impl TestError {
    /// The message is one of node's, of chai's or alike, with both values whole.
    fn names_values(&self, message: &str) -> bool {
        let is_sentence = message.contains("expected ") && message.contains(" to ");
        let is_short = ["…", "Object (", "Array("].iter().any(|mark| message.contains(mark));
        self.generated_message || is_sentence && !is_short
    }
}

fn shown(value: &Option<Value>) -> Option<String> {
    match value.as_ref()? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    }
}

impl Reader for Mocha {
    fn line(&mut self, stream: Stream, line: &str) {
        if stream == Stream::Stdout {
            self.printed.take(line);
        }
        let text_readers = self.text_readers.iter_mut().flatten();
        text_readers.for_each(|reader| reader.line(stream, line));
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        let mut texts = std::mem::take(&mut self.printed.texts);
        let place = match self.place.exists() {
            true => self.place.clone(),
            false => self.place.with_extension("json"),
        };
        // Output that is read later has no private folder: nothing in the working folder is its.
        if place.is_absolute() {
            // What the product prints is no report beside that of gate's reporter. A script may run mocha
            // more than once, with a reporter of its own.
            if place.exists() && self.text_readers.is_none() {
                texts.clear();
            }
            for path in file::report_files(&place, "json", &mut self.tally) {
                texts.extend(file::read_text(&path, &mut self.tally));
            }
        }
        if texts.is_empty() {
            if let Some(text_readers) = self.text_readers {
                return text_readers.into_iter().find_map(|reader| reader.finish());
            }
            self.tally.add_problem("mocha ended without writing its report");
        }
        texts.iter().for_each(|text| self.add_report(text));
        Some(self.tally.finish())
    }
}

/// The reports that mocha has printed, as JSON over several lines.
struct PrintedReports {
    texts: Vec<String>,
    budget: Budget,
    /// The last text still grows.
    is_open: bool,
    /// The line before ends with the brace that may begin a report.
    is_after_brace: bool,
}

impl PrintedReports {
    fn new() -> Self {
        Self { texts: Vec::new(), budget: Budget::new(), is_open: false, is_after_brace: false }
    }

    fn take(&mut self, line: &str) {
        if self.is_after_brace && line == "  \"stats\": {" {
            self.texts.push("{".to_owned());
            self.is_open = true;
        }
        self.is_after_brace = line.ends_with('{');
        if !self.is_open {
            return;
        }
        // A text that is cut is a broken report.
        let has_room = self.budget.reserve(line);
        let is_last = line.starts_with('}');
        if let (Some(text), true) = (self.texts.last_mut(), has_room) {
            text.push_str(if is_last { "}" } else { line });
        }
        self.is_open = !is_last && has_room;
    }
}

/// Writes the reporter into a private folder, and returns its path.
///
/// # Errors
///
/// A file that cannot be written.
pub(super) fn write_reporter(folder: &Path) -> io::Result<PathBuf> {
    let folder = folder.join(FOLDER);
    fs::create_dir_all(&folder)?;
    let path = folder.join("results.cjs");
    fs::write(&path, REPORTER)?;
    Ok(path)
}

/// mocha takes options from here wherever it is started. `None` without a private folder, or if the
/// reporter cannot be written: then mocha's text has to do.
pub(super) fn variable(folder: &Path) -> Option<(String, String)> {
    if !folder.is_absolute() {
        return None;
    }
    let reporter = write_reporter(folder).ok()?;
    Some(("MOCHA_OPTIONS".to_owned(), format!("--reporter=\"{}\"", reporter.display())))
}
