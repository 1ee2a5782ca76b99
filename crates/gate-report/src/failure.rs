//! Shapes a runner's text about a failure: the assertion with its values, the place, and the
//! project's own frames. Frames of runners and libraries, backtraces and blank lines are left out,
//! and paths become relative to the working folder.

mod place;

use std::path::Path;

use gate_core::decide::test_failure::TestFailure;
use gate_core::text::{brief, clean, whole_lines};

use self::place::{Frame, Place};
use super::Tally;

/// The longest message, in characters.
const MAX_MESSAGE_CHARS: usize = 1_200;

/// The longest line of a message, in characters.
const MAX_LINE_CHARS: usize = 300;

/// Most bytes of a runner's text about one test; one line may exceed them.
const MAX_PRINTED_BYTES: usize = 16 << 10;

/// Most of the project's own frames in a message.
const MAX_FRAMES: usize = 3;

/// The lines that a runner prints about one failing test, while they are read.
#[derive(Debug, Default)]
pub(super) struct FailureText {
    test: Option<String>,
    text: String,
    is_closed: bool,
}

impl FailureText {
    /// Begins a test's text: the lines that follow are about it.
    pub(super) fn begin(&mut self, test: &str) {
        self.test = Some(test.to_owned());
        self.text.clear();
        self.is_closed = false;
    }

    /// Takes a line.
    pub(super) fn take(&mut self, line: &str) {
        let is_open = self.test.is_some() && !self.is_closed;
        if is_open && self.text.len() < MAX_PRINTED_BYTES {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    /// Between [`Self::begin`] and [`Self::end`].
    pub(super) fn has_begun(&self) -> bool {
        self.test.is_some()
    }

    /// Drops the lines that follow: they are no longer about the test.
    pub(super) fn close(&mut self) {
        self.is_closed |= self.test.is_some();
    }

    /// The lines so far, if they are about this test.
    pub(super) fn text_of(&self, test: &str) -> Option<&str> {
        let has_text = self.test.as_deref() == Some(test) && !self.text.trim().is_empty();
        has_text.then_some(self.text.as_str())
    }

    /// Ends the test's text, and reports it.
    pub(super) fn end(&mut self, tally: &mut Tally) {
        let message = std::mem::take(&mut self.text);
        if let Some(test) = self.test.take() {
            tally.add_failure(TestFailure { test: Some(test), message, ..TestFailure::default() });
        }
    }
}

/// The failure, fit to be shown; `None` if no line of its text explains anything.
pub(super) fn shaped(failure: &TestFailure, cwd: &Path) -> Option<TestFailure> {
    let text = without_folder(&failure.message, cwd);
    let mut shaper = Shaper::new(&text);
    text.lines().for_each(|line| shaper.take(&clean(line)));
    if shaper.lines.is_empty() {
        return None;
    }
    let message = whole_lines(&dedented(&shaper.lines), MAX_MESSAGE_CHARS);
    let place = shaper.place.or_else(|| place::existing_place(&message, cwd));
    let reported_file = failure.file.as_deref().map(|file| without_folder(file, cwd));
    let (file, line) = match (place, reported_file) {
        (Some(place), _) => {
            let file = place::path_in_package(&place.file, failure.test.as_deref(), cwd);
            (Some(file.unwrap_or(place.file)), Some(place.line))
        }
        (None, reported_file) => {
            (reported_file, failure.line.or_else(|| place::marked_line(&message)))
        }
    };
    Some(TestFailure { test: failure.test.clone(), message, file, line })
}

/// A frame of JavaScript or Java.
pub(super) fn is_frame(line: &str) -> bool {
    place::call_frame(line).is_some()
}

/// A frame of Python in a file of the project.
pub(super) fn project_frame(line: &str, cwd: &Path) -> bool {
    let frame = place::python_frame(&without_folder(line, cwd));
    frame.is_some_and(|frame| frame.is_in_project())
}

/// The lines without the indentation that all have.
fn dedented(lines: &[String]) -> String {
    let indents = lines.iter().map(|line| line.len() - line.trim_start_matches(' ').len());
    let common_indent = indents.min().unwrap_or(0);
    let dedented: Vec<_> = lines.iter().map(|line| &line[common_indent..]).collect();
    dedented.join("\n")
}

/// The text with paths below this folder relative to it.
fn without_folder(text: &str, cwd: &Path) -> String {
    let folder = format!("{}/", cwd.display());
    // The root of the file system: without it, every path would lose its first slash.
    if folder.len() < 3 {
        return text.to_owned();
    }
    text.replace(&format!("file://{folder}"), "").replace(&folder, "")
}

/// Chooses the lines of a message while a runner's text is read.
struct Shaper {
    lines: Vec<String>,
    place: Option<Place>,
    /// pytest's long form: of the source, only the line that failed is marked.
    marks_source: bool,
    skipped: Skipped,
    project_frames: usize,
    has_panicked: bool,
}

/// Lines that are passed over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skipped {
    Nothing,
    /// The source lines below a frame of a library.
    Indented,
    /// Everything that follows.
    Backtrace,
}

impl Shaper {
    fn new(text: &str) -> Self {
        Self {
            lines: Vec::new(),
            place: None,
            marks_source: text.lines().any(|line| line.starts_with(">  "))
                && text.lines().any(|line| line.starts_with("E  ")),
            skipped: Skipped::Nothing,
            project_frames: 0,
            has_panicked: false,
        }
    }

    fn take(&mut self, line: &str) {
        let text = line.trim();
        match self.skipped {
            Skipped::Backtrace => return self.backtrace_line(text),
            Skipped::Indented if line.starts_with("    ") => return,
            _ => self.skipped = Skipped::Nothing,
        }
        if is_left_out(text) {
            return;
        }
        if begins_backtrace(text) {
            self.skipped = Skipped::Backtrace;
        } else if let Some(panic_text) = place::panic_text(text) {
            self.panic_line(panic_text);
        } else if let Some(frame) = place::call_frame(line) {
            self.call_frame(line, frame);
        } else if let Some(frame) = place::python_frame(line) {
            self.python_frame(line, frame);
        } else if !self.marks_source || line.starts_with(['>', 'E']) {
            self.plain_line(line);
        }
    }

    /// A line of a backtrace: it may hold the place of a panic in Go.
    fn backtrace_line(&mut self, text: &str) {
        if self.place.is_none() && text.contains(" +0x") {
            self.place = place::first_place(text).filter(Place::is_in_project);
        }
    }

    /// Drops the test's own output before the first panic.
    fn panic_line(&mut self, panic_text: &str) {
        if !self.has_panicked {
            self.lines.clear();
        }
        self.has_panicked = true;
        let place = place::first_place(panic_text);
        if self.place.is_none() {
            self.place = place.clone().filter(Place::is_in_project);
        }
        // The place is in a file that is gone.
        match place.is_some_and(|place| place.is_generated()) {
            true => self.push("panicked:"),
            false => self.push(panic_text),
        }
    }

    /// A frame of JavaScript or Java: the innermost stands first.
    fn call_frame(&mut self, line: &str, frame: Frame) {
        let Frame::Project(place) = frame else { return };
        self.project_frames += 1;
        if self.project_frames <= MAX_FRAMES {
            self.push(line);
        }
        self.place.get_or_insert(place);
    }

    /// A frame of Python: the innermost stands last.
    fn python_frame(&mut self, line: &str, frame: Place) {
        if frame.is_in_project() {
            self.push(line);
            self.place = Some(frame);
        } else {
            self.skipped = Skipped::Indented;
        }
    }

    fn plain_line(&mut self, line: &str) {
        let place = place::leading_place(line).or_else(|| place::bats_place(line.trim_start()));
        match place.filter(Place::is_in_project) {
            // A compiler's first place counts; of a test's lines, the last one does.
            Some(place) if line.trim_start().starts_with("--> ") => {
                self.place.get_or_insert(place);
            }
            Some(place) => self.place = Some(place),
            None => {}
        }
        self.push(line);
    }

    fn push(&mut self, line: &str) {
        let line = line.trim_end();
        // pytest's marks stand where the indentation of the source would begin.
        let marks = [(">       ", "> "), ("E       ", "E ")];
        let shortened = marks.iter().find_map(|(wide_mark, mark)| {
            line.strip_prefix(wide_mark).map(|source| format!("{mark}{source}"))
        });
        self.lines.push(brief(shortened.as_deref().unwrap_or(line), MAX_LINE_CHARS));
    }
}

/// Lines that say nothing about a failure.
fn is_left_out(text: &str) -> bool {
    text.is_empty()
        || text == "E"
        || text.starts_with("note: run with `RUST_BACKTRACE")
        || text.starts_with("Node.js v")
        || text == "Traceback (most recent call last):"
        || text.bytes().all(|byte| matches!(byte, b'_' | b' '))
}

pub(super) fn begins_backtrace(text: &str) -> bool {
    text == "stack backtrace:" || (text.starts_with("goroutine ") && text.ends_with("]:"))
}

#[cfg(test)]
mod tests;
