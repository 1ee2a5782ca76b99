//! pytest: its JUnit XML, and what its text says about how far it came.
//!
//! The XML counts subtests without holding them, so its own numbers are no
//! measure; the `collected` line is, and a case without a name is a test that
//! was begun and not ended.

use std::path::PathBuf;

use super::junit::{self, Case, Dialect};
use super::{Format, Reader, Status, Stream, Tally, TestReport, file};

/// Reads pytest.
pub(super) struct Pytest {
    path: PathBuf,
    begun: Begun,
    said: Said,
}

/// How it is known that pytest was run at all.
enum Begun {
    /// It is what is run.
    Certainly,
    /// It may be run by something else: then it leaves this file as it
    /// begins.
    Trace(PathBuf),
}

/// What the text says.
#[derive(Default)]
struct Said {
    sessions: u64,
    /// How many last lines there were, `1 passed in 0.01s`.
    sums: u64,
    selected: Option<u64>,
    quit: Option<String>,
}

impl Pytest {
    /// pytest itself is run, and leaves its XML here.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, begun: Begun::Certainly, said: Said::default() }
    }

    /// pytest may be run, by something that is; it leaves this trace then.
    pub(super) fn perhaps(path: PathBuf, trace: PathBuf) -> Self {
        Self { begun: Begun::Trace(trace), ..Self::new(path) }
    }

    fn has_begun(&self) -> bool {
        match &self.begun {
            Begun::Certainly => true,
            Begun::Trace(trace) => trace.exists() || self.said.sessions > 0,
        }
    }
}

impl Reader for Pytest {
    fn line(&mut self, _stream: Stream, line: &str) {
        if line.len() <= 500 {
            self.said.take(line);
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
                self.said.compare(&mut tally);
            }
            None => tally.problem("pytest ended without writing its report"),
        }
        Some(tally.finish())
    }
}

impl Said {
    fn take(&mut self, line: &str) {
        if line.starts_with("====") && line.contains(" test session starts ") {
            self.sessions += 1;
        } else if is_sum(line) {
            self.sums += 1;
        } else if let Some(number) = selected(line) {
            self.selected = Some(number);
        } else if line.starts_with("!!!") && line.contains("Exit") {
            self.quit = Some(line.trim_matches(['!', ' ']).to_owned());
        }
    }

    fn compare(&self, tally: &mut Tally) {
        let report = tally.so_far();
        let held = report.executed() + report.skipped;
        if let Some(quit) = &self.quit {
            tally.problem(format!("the session was ended early: {quit}"));
        }
        if self.sessions.max(self.sums) > 1 {
            tally.problem("pytest ran several times and left one report: give it a check each");
        }
        if let Some(selected) = self.selected.filter(|selected| *selected > held) {
            tally.problem(format!("pytest selected {selected} tests and reported {held}"));
        }
    }
}

/// `3 passed, 1 skipped in 0.03s`, with or without `=` around it.
fn is_sum(line: &str) -> bool {
    let line = line.trim_matches(['=', ' ']);
    let Some((counts, time)) = line.rsplit_once(" in ") else { return false };
    let seconds = time.split(' ').next().and_then(|it| it.strip_suffix('s'));
    let timed = seconds.is_some_and(|it| it.parse::<f64>().is_ok());
    let words = ["passed", "failed", "skipped", "error", "xfailed", "xpassed", "deselected"];
    let first = counts.split(", ").next().and_then(|count| count.split_once(' '));
    let counts_tests = first.is_some_and(|(number, word)| {
        number.parse::<u64>().is_ok() && words.iter().any(|known| word.starts_with(known))
    });
    timed && (counts_tests || counts == "no tests ran")
}

/// How many tests a line says are going to be run.
fn selected(line: &str) -> Option<u64> {
    let first = |text: &str| text.split_whitespace().next()?.parse().ok();
    if let Some(rest) = line.strip_prefix("collected ") {
        let last = rest.split(" / ").find(|part| part.ends_with(" selected"));
        return first(last.unwrap_or(rest));
    }
    // With xdist: `2 workers [18 items]`.
    let (workers, items) = line.trim_end().strip_suffix(']')?.split_once(" [")?;
    let is_sum = workers.ends_with(" workers") || workers.ends_with(" worker");
    let counts = items.strip_suffix(" items").or_else(|| items.strip_suffix(" item"))?;
    first(counts).filter(|_| is_sum)
}

const DIALECT: Dialect = Dialect { tell, announces: false };

fn tell(case: &Case, tally: &mut Tally) {
    match (case.status(), case.name.is_empty()) {
        (Status::Failed, _) if case.message == "collection failure" => {
            tally.error(format!("{} could not be collected", place(case)));
        }
        (_, true) => tally.problem("a test was begun and not ended"),
        (status, false) => tally.test(&id(case), status),
    }
}

fn place(case: &Case) -> &str {
    [&case.file, &case.name].into_iter().find(|it| !it.is_empty()).map_or("a file", String::as_str)
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
