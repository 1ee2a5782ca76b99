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
pub(super) struct Printed {
    test: Option<String>,
    text: String,
    is_closed: bool,
}

impl Printed {
    /// The lines that follow are about this test.
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

    /// True after [`Self::begin`], until [`Self::end`].
    pub(super) fn has_begun(&self) -> bool {
        self.test.is_some()
    }

    /// The lines that follow are about something else.
    pub(super) fn close(&mut self) {
        self.is_closed |= self.test.is_some();
    }

    /// The lines so far, if they are about this test.
    pub(super) fn about(&self, test: &str) -> Option<&str> {
        let is_known = self.test.as_deref() == Some(test) && !self.text.trim().is_empty();
        is_known.then_some(self.text.as_str())
    }

    /// The lines about the test are over.
    pub(super) fn end(&mut self, tally: &mut Tally) {
        let message = std::mem::take(&mut self.text);
        if let Some(test) = self.test.take() {
            tally.failure(TestFailure { test: Some(test), message, ..TestFailure::default() });
        }
    }
}

/// The failure, fit to be shown. None if nothing of its text is.
pub(super) fn shaped(raw: &TestFailure, cwd: &Path) -> Option<TestFailure> {
    let text = without_folder(&raw.message, cwd);
    let mut shape = Shape::new(&text);
    text.lines().for_each(|line| shape.take(&clean(line)));
    if shape.lines.is_empty() {
        return None;
    }
    let message = whole_lines(&dedented(&shape.lines), MAX_MESSAGE_CHARS);
    let place = shape.place.or_else(|| place::existing(&message, cwd));
    let given = raw.file.as_deref().map(|file| without_folder(file, cwd));
    let (file, line) = match (place, given) {
        (Some(place), _) => {
            let file = place::in_package(&place.file, raw.test.as_deref(), cwd);
            (Some(file.unwrap_or(place.file)), Some(place.line))
        }
        (None, given) => (given, raw.line.or_else(|| place::marked(&message))),
    };
    Some(TestFailure { test: raw.test.clone(), message, file, line })
}

/// The lines without the indentation that all have.
fn dedented(lines: &[String]) -> String {
    let least =
        lines.iter().map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0);
    let lines: Vec<_> = lines.iter().map(|line| &line[least..]).collect();
    lines.join("\n")
}

/// The text with paths below this folder relative to it.
fn without_folder(text: &str, cwd: &Path) -> String {
    let folder = format!("{}/", cwd.display());
    if folder.len() < 3 {
        return text.to_owned();
    }
    text.replace(&format!("file://{folder}"), "").replace(&folder, "")
}

/// The lines of a message while they are read.
struct Shape {
    lines: Vec<String>,
    place: Option<Place>,
    /// pytest's long form: of the source, only the line that failed is marked.
    marks_source: bool,
    skipped: Skipped,
    frames: usize,
    panicked: bool,
}

/// Lines that are passed over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skipped {
    Nothing,
    /// The source lines below a frame of a library.
    Indented,
    /// A backtrace: everything that follows.
    Rest,
}

impl Shape {
    fn new(text: &str) -> Self {
        Self {
            lines: Vec::new(),
            place: None,
            marks_source: text.lines().any(|line| line.starts_with(">  "))
                && text.lines().any(|line| line.starts_with("E  ")),
            skipped: Skipped::Nothing,
            frames: 0,
            panicked: false,
        }
    }

    fn take(&mut self, line: &str) {
        let text = line.trim();
        match self.skipped {
            Skipped::Rest => return self.behind(text),
            Skipped::Indented if line.starts_with("    ") => return,
            _ => self.skipped = Skipped::Nothing,
        }
        if is_left_out(text) {
            return;
        }
        if begins_backtrace(text) {
            self.skipped = Skipped::Rest;
        } else if let Some(panic) = place::panic(text) {
            self.panic(panic);
        } else if let Some(frame) = place::call(line) {
            self.call(line, frame);
        } else if let Some(frame) = place::python(line) {
            self.python(line, frame);
        } else if !self.marks_source || line.starts_with(['>', 'E']) {
            self.plain(line);
        }
    }

    /// A line of a backtrace: it may hold the place of a panic in Go.
    fn behind(&mut self, text: &str) {
        if self.place.is_none() && text.contains(" +0x") {
            self.place = place::first(text).filter(Place::is_own);
        }
    }

    /// Drops the test's own output before the first panic.
    fn panic(&mut self, panic: &str) {
        if !self.panicked {
            self.lines.clear();
        }
        self.panicked = true;
        let place = place::first(panic);
        if self.place.is_none() {
            self.place = place.clone().filter(Place::is_own);
        }
        match place.is_some_and(|place| place.is_generated()) {
            true => self.push("panicked:"),
            false => self.push(panic),
        }
    }

    /// A frame of JavaScript or Java: the innermost stands first.
    fn call(&mut self, line: &str, frame: Frame) {
        let Frame::Own(place) = frame else { return };
        self.frames += 1;
        if self.frames <= MAX_FRAMES {
            self.push(line);
        }
        self.place.get_or_insert(place);
    }

    /// A frame of Python: the innermost stands last.
    fn python(&mut self, line: &str, frame: Place) {
        if frame.is_own() {
            self.push(line);
            self.place = Some(frame);
        } else {
            self.skipped = Skipped::Indented;
        }
    }

    fn plain(&mut self, line: &str) {
        let place = place::leading(line).or_else(|| place::shell(line.trim_start()));
        match place.filter(Place::is_own) {
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
        let marked = [(">       ", "> "), ("E       ", "E ")];
        let short = marked
            .iter()
            .find_map(|(long, short)| line.strip_prefix(long).map(|rest| format!("{short}{rest}")));
        self.lines.push(brief(short.as_deref().unwrap_or(line), MAX_LINE_CHARS));
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

fn begins_backtrace(text: &str) -> bool {
    text == "stack backtrace:" || (text.starts_with("goroutine ") && text.ends_with("]:"))
}

#[cfg(test)]
mod tests;
