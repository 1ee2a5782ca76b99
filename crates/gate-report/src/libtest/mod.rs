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
    open_sections: Vec<usize>,
    /// The number of programs that were named while a section was open.
    inner_programs: usize,
    budget: Budget,
    /// Bytes of tests' output that may still be stored.
    output_room: usize,
    first_error: FirstError,
    /// cargo's first message about a target that failed.
    first_failed_target: Option<String>,
    /// The number of such messages.
    failed_targets: usize,
    /// nextest runs: until it ends, all text is output of its tests.
    is_in_nextest: bool,
    /// nextest has just ended. The two streams may have been read in another order than they were
    /// written, so that output of its tests may still follow.
    is_behind_nextest: bool,
    /// The command is `cargo test` itself.
    is_expected: bool,
}

impl Libtest {
    /// For `cargo test` itself.
    pub(super) fn new() -> Self {
        Self { is_expected: true, ..Self::optional() }
    }

    /// For a command that may start `cargo test`.
    pub(super) fn optional() -> Self {
        Self {
            tally: Tally::new(Format::Libtest),
            programs: Vec::new(),
            sections: Vec::new(),
            open_sections: Vec::new(),
            inner_programs: 0,
            budget: Budget::new(),
            output_room: MAX_OUTPUT_BYTES,
            first_error: FirstError::default(),
            first_failed_target: None,
            failed_targets: 0,
            is_in_nextest: false,
            is_behind_nextest: false,
            is_expected: false,
        }
    }

    /// Looks for nextest, whose text another reader reads. Behind cargo test itself, or within a
    /// section, it is what a test runs.
    fn belongs_to_nextest(&mut self, line: &str) -> bool {
        if self.is_in_nextest {
            self.is_in_nextest = Summary::parse(line.trim()).is_none();
            self.is_behind_nextest = !self.is_in_nextest;
            return true;
        }
        self.is_in_nextest =
            !self.is_expected && self.open_sections.is_empty() && nextest_text::is_banner(line);
        self.is_in_nextest
    }

    fn stdout(&mut self, text: &str) {
        match line::parse(text) {
            Line::Running(announced) => self.begin_section(announced),
            Line::Result(totals) => self.end_section(totals),
            line => self.take_section_line(&line, text),
        }
    }

    fn take_section_line(&mut self, line: &Line<'_>, text: &str) {
        let Some(innermost) = self.open_sections.last() else { return };
        let section = &mut self.sections[*innermost];
        if section.remembers(line) && !self.budget.reserve(text) {
            self.tally.add_problem("there are more tests than can be remembered");
        } else {
            let room = self.output_room.min(section.room_for_output());
            if text.len() < room && !matches!(line, Line::Output(_) | Line::Failures) {
                self.output_room -= text.len();
                section.take_output(text);
            }
            section.take(line);
        }
    }

    fn begin_section(&mut self, announced: u64) {
        self.is_behind_nextest = false;
        let index = self.sections.len();
        if index >= MAX_PROGRAMS {
            self.tally.add_problem(format!("more than {MAX_PROGRAMS} test programs"));
            return;
        }
        let last_program = self.programs.len().checked_sub(1);
        let mut section = Section::new(announced, last_program);
        section.outermost = self.open_sections.first().copied();
        if let Some(outermost) = section.outermost {
            self.sections[outermost].has_inner_sections = true;
        }
        self.sections.push(section);
        self.open_sections.push(index);
    }

    /// A result belongs to the innermost section that it fits. Tests run at
    /// once, so that sections within another may overlap.
    fn end_section(&mut self, totals: Totals) {
        let innermost = self.open_sections.len().checked_sub(1);
        let fitting = self
            .open_sections
            .iter()
            .rposition(|section| self.sections[*section].announced == totals.sum());
        let Some(position) = fitting.or(innermost) else {
            self.take_stray_result(&totals);
            return;
        };
        let section = self.open_sections.remove(position);
        self.sections[section].result = Some(totals);
        if position == 0 {
            self.detach_open_sections();
        }
    }

    /// Detaches the sections that are open when the outermost one ends: they were no part of it.
    fn detach_open_sections(&mut self) {
        let outermost = self.open_sections.first().copied();
        for section in &self.open_sections {
            self.sections[*section].outermost = outermost.filter(|outermost| outermost != section);
        }
    }

    /// A result that nothing announced: only its failures are believed.
    fn take_stray_result(&mut self, totals: &Totals) {
        if self.is_behind_nextest {
            return;
        }
        self.tally.add_problem("there is a test result without its `running` line");
        self.tally.count(Status::Failed, totals.failed.max(u64::from(!totals.is_ok)));
    }

    fn stderr(&mut self, line: &str) {
        self.first_error.take(line);
        if let Some(program) = cargo::parse_program(line) {
            if self.programs.len() < MAX_PROGRAMS && self.budget.reserve(line) {
                self.programs.push(program);
                self.inner_programs += usize::from(!self.open_sections.is_empty());
            }
        } else if let Some(error) = cargo::compile_error(line) {
            self.tally.add_error(error);
        } else if let Some(message) = cargo::failed_target(line) {
            self.first_failed_target.get_or_insert(message);
            self.failed_targets += 1;
        }
    }

    fn add_sections(&mut self) {
        let sections = std::mem::take(&mut self.sections);
        // A section within one that is whole is what a test ran.
        let is_inner = |section: &&Section| {
            section.outermost.is_some_and(|outermost| sections[outermost].is_whole())
        };
        let (inner, outer): (Vec<_>, Vec<_>) = sections.iter().partition(is_inner);
        let program_indexes = section::program_indexes(&outer);
        let program_count = program_indexes.last().map_or(0, |last| last + 1);
        // The two streams may have been read in another order than they were
        // written. Where the numbers fit, the order within each decides.
        let is_aligned = program_count == self.programs.len();
        for (section, index) in outer.iter().zip(&program_indexes) {
            let index = if is_aligned { Some(*index) } else { section.program };
            let program = index.and_then(|index| self.programs.get(index));
            section.add_to(&mut self.tally, program.map(|program| program.name.as_str()));
        }
        let accounted_programs = program_count + self.inner_programs.min(inner.len());
        self.report_silent_program(&sections, accounted_programs);
        let failed_programs: BTreeSet<_> = outer
            .iter()
            .zip(&program_indexes)
            .filter(|(section, _)| section.has_failed())
            .map(|(_, index)| index)
            .collect();
        let inner_failed = inner.iter().filter(|section| section.has_failed()).count();
        self.compare_failed_targets(failed_programs.len(), inner_failed);
        let report = self.tally.so_far();
        if sections.is_empty() && report.failed == 0 && report.errors.is_empty() {
            self.tally.add_problem("cargo test ran no test program");
        }
    }

    /// A program that ended without printing a section may have been left
    /// by an early exit. Benchmarks often have a harness of their own.
    fn report_silent_program(&mut self, sections: &[Section], accounted: usize) {
        let benchmarks = self.programs.iter().filter(|program| program.is_benchmark).count();
        if self.programs.len() <= accounted + benchmarks {
            return;
        }
        let silent = (0..self.programs.len())
            .find(|index| sections.iter().all(|section| section.program != Some(*index)));
        let name = silent.map_or("a test program", |index| self.programs[index].name.as_str());
        self.tally
            .add_problem(format!("{name} ended without printing a test result (harness = false?)"));
    }

    /// Takes cargo's message as an error if no test explains it: if it names more failed
    /// programs than failed by their output. A cargo that a test ran prints it too, once
    /// for each of its programs that failed.
    fn compare_failed_targets(&mut self, failed_programs: usize, inner_failed: usize) {
        let report = self.tally.so_far();
        let has_failure = report.failed > 0 || !report.errors.is_empty();
        let problem = report.problems.first().cloned();
        if self.failed_targets > inner_failed
            && !has_failure
            && let Some(message) = self.first_failed_target.take()
        {
            let explained = problem.map(|problem| format!("{problem}; {message}"));
            self.tally.add_error(explained.unwrap_or(message));
        } else if self.failed_targets > inner_failed + failed_programs && self.failed_targets > 1 {
            self.tally.add_error(format!(
                "cargo says that {} test programs failed, and {failed_programs} say which test",
                self.failed_targets - inner_failed
            ));
        }
    }
}

/// The failure of a test that printed this text. The name of a test in documentation holds its
/// place: `src/lib.rs - add (line 11)`.
pub(super) fn failure(id: &str, text: &str) -> TestFailure {
    let (test, message) = (Some(id.to_owned()), text.to_owned());
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
        if self.is_in_nextest {
            self.tally.add_problem(nextest_text::UNFINISHED);
        }
        let is_recognised =
            self.is_in_nextest || !self.sections.is_empty() || !self.tally.so_far().is_empty();
        if !self.is_expected && !is_recognised {
            return None;
        }
        self.add_sections();
        if self.tally.so_far().executed() == 0 || !self.tally.so_far().errors.is_empty() {
            self.first_error.add_to(&mut self.tally);
        }
        Some(self.tally.finish())
    }
}
