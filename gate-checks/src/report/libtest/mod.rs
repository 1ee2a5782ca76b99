//! The text of `cargo test`: what the test programs of Rust print.
//!
//! Each program prints a section, from `running N tests` to `test result:`. A section counts only
//! if its result is there, adds up to N and is no less than what was seen. If the tests' own output
//! stands between a name and its result, or the text is quiet, the numbers decide, and the list of
//! failures gives the names.
//!
//! Tests may run test programs themselves. A section within another one is
//! what a test wrote, and is passed over where the outer one is whole: its
//! own numbers say what came of that test. The same holds for all that stands
//! between the banner of nextest and its summary.

mod cargo;
mod line;
mod section;

use std::collections::BTreeSet;

use gate_core::decide::test_failure::TestFailure;

pub(super) use self::cargo::FirstError;
use self::cargo::Program;
use self::line::{Line, Totals};
use self::section::Section;
use super::nextest_text::{self, Summary};
use super::{Budget, Format, Reader, Status, Stream, Tally, TestReport};

/// Most programs that are stored.
const MAX_PROGRAMS: usize = 200_000;

/// Most bytes of tests' output that are stored.
const MAX_OUTPUT_BYTES: usize = 4 << 20;

/// Reads the text.
pub(super) struct Libtest {
    tally: Tally,
    /// The programs that cargo says it runs, in order.
    programs: Vec<Program>,
    sections: Vec<Section>,
    /// The sections that still have no result, the outermost first.
    open: Vec<usize>,
    /// Programs that were named while a section was open.
    inner_programs: usize,
    budget: Budget,
    /// Bytes of tests' output that may still be stored.
    output_room: usize,
    first_error: FirstError,
    /// cargo's first message about targets that failed, and the number of such messages.
    complaint: Option<String>,
    complaints: usize,
    /// nextest runs: until it ends, all text is output of its tests.
    nextest: bool,
    /// nextest has just ended. The two streams may have been read in another order than
    /// they were written.
    late: bool,
    certain: bool,
}

impl Libtest {
    /// `cargo test` itself is run.
    pub(super) fn new() -> Self {
        Self { certain: true, ..Self::perhaps() }
    }

    /// It may be run, by something that is.
    pub(super) fn perhaps() -> Self {
        Self {
            tally: Tally::new(Format::Libtest),
            programs: Vec::new(),
            sections: Vec::new(),
            open: Vec::new(),
            inner_programs: 0,
            budget: Budget::new(),
            output_room: MAX_OUTPUT_BYTES,
            first_error: FirstError::default(),
            complaint: None,
            complaints: 0,
            nextest: false,
            late: false,
            certain: false,
        }
    }

    /// Looks for nextest, whose text another reader reads. Behind cargo test itself, or within a
    /// section, it is what a test runs.
    fn belongs_to_nextest(&mut self, line: &str) -> bool {
        if self.nextest {
            self.nextest = Summary::parse(line.trim()).is_none();
            self.late = !self.nextest;
            return true;
        }
        self.nextest = !self.certain && self.open.is_empty() && nextest_text::is_banner(line);
        self.nextest
    }

    fn stdout(&mut self, text: &str) {
        match line::parse(text) {
            Line::Running(announced) => self.section(announced),
            Line::Result(totals) => self.result(totals),
            line => self.inside(&line, text),
        }
    }

    fn inside(&mut self, line: &Line<'_>, text: &str) {
        let Some(section) = self.open.last().map(|open| &mut self.sections[*open]) else { return };
        if section.remembers(line) && !self.budget.takes(text) {
            self.tally.problem("there are more tests than can be remembered");
        } else {
            let room = self.output_room.min(section.room_for_output());
            if text.len() < room && !matches!(line, Line::Output(_) | Line::Failures) {
                self.output_room -= text.len();
                section.take_output(text);
            }
            section.take(line);
        }
    }

    fn section(&mut self, announced: u64) {
        self.late = false;
        let index = self.sections.len();
        if index >= MAX_PROGRAMS {
            self.tally.problem(format!("more than {MAX_PROGRAMS} test programs"));
            return;
        }
        let mut section = Section::new(announced, self.programs.len().checked_sub(1));
        section.within = self.open.first().copied();
        if let Some(outer) = section.within {
            self.sections[outer].holds_others = true;
        }
        self.sections.push(section);
        self.open.push(index);
    }

    /// A result belongs to the innermost section that it fits. Tests run at
    /// once, so that sections within another may overlap.
    fn result(&mut self, totals: Totals) {
        let innermost = self.open.len().checked_sub(1);
        let fitting =
            self.open.iter().rposition(|open| self.sections[*open].announced == totals.sum());
        let Some(at) = fitting.or(innermost) else {
            self.stray(&totals);
            return;
        };
        let section = self.open.remove(at);
        self.sections[section].result = Some(totals);
        if at == 0 {
            self.outlive();
        }
    }

    /// Drops sections that are open when the outermost one ends: they were no part of it.
    fn outlive(&mut self) {
        let outermost = self.open.first().copied();
        for open in &self.open {
            self.sections[*open].within = outermost.filter(|outer| outer != open);
        }
    }

    /// A result that nothing announced: only its failures are believed.
    fn stray(&mut self, totals: &Totals) {
        if self.late {
            return;
        }
        self.tally.problem("there is a test result without its `running` line");
        self.tally.count(Status::Failed, totals.failed.max(u64::from(!totals.ok)));
    }

    fn stderr(&mut self, line: &str) {
        self.first_error.take(line);
        if let Some(program) = cargo::program(line) {
            if self.programs.len() < MAX_PROGRAMS && self.budget.takes(line) {
                self.programs.push(program);
                self.inner_programs += usize::from(!self.open.is_empty());
            }
        } else if let Some(error) = cargo::not_compiled(line) {
            self.tally.error(error);
        } else if let Some(complaint) = cargo::complaint(line) {
            self.complaint.get_or_insert(complaint);
            self.complaints += 1;
        }
    }

    fn sum(&mut self) {
        let sections = std::mem::take(&mut self.sections);
        // What a test ran within a section that is whole.
        let (inner, own): (Vec<_>, Vec<_>) = sections
            .iter()
            .partition(|section| section.within.is_some_and(|outer| sections[outer].is_whole()));
        let groups = section::groups(&own);
        let count = groups.last().map_or(0, |last| last + 1);
        // The two streams may have been read in another order than they were
        // written. Where the numbers fit, the order within each decides.
        let aligned = count == self.programs.len();
        for (section, group) in own.iter().zip(&groups) {
            let program = if aligned { Some(*group) } else { section.program };
            let program = program.and_then(|program| self.programs.get(program));
            section.sum(program.map(|program| program.name.as_str()), &mut self.tally);
        }
        self.silent_programs(&sections, count + self.inner_programs.min(inner.len()));
        let failed = own.iter().zip(&groups).filter(|(section, _)| section.has_failed());
        let failed: BTreeSet<_> = failed.map(|(_, group)| group).collect();
        self.complain(!sections.is_empty(), &inner, failed.len());
    }

    /// A program that ended without printing a section may have been left
    /// by an early exit. Benchmarks often have a harness of their own.
    fn silent_programs(&mut self, sections: &[Section], accounted: usize) {
        let benchmarks = self.programs.iter().filter(|program| program.benchmark).count();
        if self.programs.len() <= accounted + benchmarks {
            return;
        }
        let silent = (0..self.programs.len())
            .find(|index| sections.iter().all(|section| section.program != Some(*index)));
        let name = silent.map_or("a test program", |index| self.programs[index].name.as_str());
        let what = format!("{name} ended without printing a test result (harness = false?)");
        self.tally.problem(what);
    }

    /// Takes cargo's message as an error if no test explains it: if it names more failed
    /// programs than failed by their output. A cargo that a test ran prints it too, once
    /// for each of its programs that failed.
    fn complain(&mut self, any: bool, inner: &[&Section], failed: usize) {
        let inner_failed = inner.iter().filter(|section| section.has_failed()).count();
        let report = self.tally.so_far();
        let silent = report.failed == 0 && report.errors.is_empty();
        let problem = report.problems.first().cloned();
        if self.complaints > inner_failed
            && silent
            && let Some(complaint) = self.complaint.take()
        {
            let whole = problem.map(|problem| format!("{problem}; {complaint}"));
            self.tally.error(whole.unwrap_or(complaint));
        } else if self.complaints > inner_failed + failed && self.complaints > 1 {
            let what = format!(
                "cargo says that {} test programs failed, and {failed} say which test",
                self.complaints - inner_failed
            );
            self.tally.error(what);
        } else if !any && silent {
            self.tally.problem("cargo test ran no test program");
        }
    }
}

/// The failure of a test that printed this. The name of a test in documentation holds its
/// place: `src/lib.rs - add (line 11)`.
pub(super) fn failure(id: &str, printed: &str) -> TestFailure {
    let (test, message) = (Some(id.to_owned()), printed.to_owned());
    let mut failure = TestFailure { test, message, ..TestFailure::default() };
    let line = id.strip_suffix(')').and_then(|id| id.rsplit_once(" (line "));
    if let Some(Ok(line)) = line.map(|(_, line)| line.parse()) {
        let name = id.rsplit_once("::").map_or(id, |(_, name)| name);
        failure.file = name.split_once(" - ").map(|(file, _)| file.to_owned());
        failure.line = Some(line);
    }
    failure
}

impl Reader for Libtest {
    fn line(&mut self, stream: Stream, line: &str) {
        if self.belongs_to_nextest(line) {
            return;
        }
        match stream {
            Stream::Stdout => self.stdout(line),
            Stream::Stderr => self.stderr(line),
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        if self.nextest {
            self.tally.problem(nextest_text::UNFINISHED);
        }
        let seen = self.nextest || !self.sections.is_empty() || !self.tally.so_far().is_empty();
        if !self.certain && !seen {
            return None;
        }
        self.sum();
        if self.tally.so_far().executed() == 0 || !self.tally.so_far().errors.is_empty() {
            self.first_error.add_to(&mut self.tally);
        }
        Some(self.tally.finish())
    }
}
