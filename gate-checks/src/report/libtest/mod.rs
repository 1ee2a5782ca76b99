//! The text of `cargo test`: what the test programs of Rust print.
//!
//! Each program prints a section, from `running N tests` to `test result:`.
//! A section holds only where its result is there, adds up to N and is no
//! less than what was seen. Where the tests' own output stands between a name
//! and its result, or the text is quiet, the numbers decide, and the list of
//! failures names.

mod cargo;
mod line;
mod section;

use self::cargo::Program;
use self::line::{Line, Totals};
use self::section::Section;
use super::{Budget, Format, Reader, Status, Stream, Tally, TestReport};

/// How many programs are remembered.
const MOST: usize = 200_000;

/// Reads the text.
pub(super) struct Libtest {
    tally: Tally,
    /// The programs that cargo says it runs, in order.
    programs: Vec<Program>,
    sections: Vec<Section>,
    /// Whether the last section still has no result.
    open: bool,
    budget: Budget,
    /// What cargo says about targets that failed.
    complaint: Option<String>,
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
            open: false,
            budget: Budget::new(),
            complaint: None,
            certain: false,
        }
    }

    fn stdout(&mut self, text: &str) {
        let line = line::parse(text);
        let section = self.sections.last_mut().filter(|_| self.open);
        match (line, section) {
            (Line::Running(announced), _) => self.section(announced),
            (Line::Result(totals), Some(section)) => {
                section.result = Some(totals);
                self.open = false;
            }
            (Line::Result(totals), None) => self.stray(&totals),
            (line, Some(section)) => {
                if section.remembers(&line) && !self.budget.takes(text) {
                    self.tally.problem("there are more tests than can be remembered");
                } else {
                    section.take(&line);
                }
            }
            _ => {}
        }
    }

    fn section(&mut self, announced: u64) {
        if self.sections.len() >= MOST {
            self.tally.problem(format!("more than {MOST} test programs"));
            return;
        }
        self.open = true;
        self.sections.push(Section::new(announced, self.programs.len().checked_sub(1)));
    }

    /// A result that nothing announced: only its failures are believed.
    fn stray(&mut self, totals: &Totals) {
        self.tally.problem("there is a test result without its `running` line");
        self.tally.count(Status::Failed, totals.failed.max(u64::from(!totals.ok)));
    }

    fn stderr(&mut self, line: &str) {
        if let Some(program) = cargo::program(line) {
            if self.programs.len() < MOST && self.budget.takes(line) {
                self.programs.push(program);
            }
        } else if let Some(error) = cargo::not_compiled(line) {
            self.tally.error(error);
        } else if let Some(complaint) = cargo::complaint(line) {
            self.complaint.get_or_insert(complaint);
        }
    }

    fn sum(&mut self) {
        let groups = section::groups(&self.sections);
        let count = groups.last().map_or(0, |last| last + 1);
        // The two streams may have been read in another order than they were
        // written. Where the numbers fit, the order within each decides.
        let aligned = count == self.programs.len();
        for (section, group) in self.sections.iter().zip(&groups) {
            let program = if aligned { Some(*group) } else { section.program };
            let program = program.and_then(|program| self.programs.get(program));
            section.sum(program.map(|program| program.name.as_str()), &mut self.tally);
        }
        self.silent_programs(count);
    }

    /// A program that ended without printing a section may have been left
    /// by an early exit. Benchmarks often have a harness of their own.
    fn silent_programs(&mut self, sections: usize) {
        let benchmarks = self.programs.iter().filter(|program| program.benchmark).count();
        if self.programs.len() <= sections + benchmarks {
            return;
        }
        let heard = |index: &usize| self.sections.iter().any(|it| it.program == Some(*index));
        let silent = (0..self.programs.len()).find(|index| !heard(index));
        let name = silent.map_or("a test program", |index| self.programs[index].name.as_str());
        let what = format!("{name} ended without printing a test result (harness = false?)");
        self.tally.problem(what);
    }

    /// What cargo says, where no test says it.
    fn complain(&mut self) {
        let report = self.tally.so_far();
        let silent = report.failed == 0 && report.errors.is_empty();
        let problem = report.problems.first().cloned();
        if let Some(complaint) = self.complaint.take().filter(|_| silent) {
            let whole = problem.map(|problem| format!("{problem}; {complaint}"));
            self.tally.error(whole.unwrap_or(complaint));
        } else if self.sections.is_empty() && silent {
            self.tally.problem("cargo test ran no test program");
        }
    }
}

impl Reader for Libtest {
    fn line(&mut self, stream: Stream, line: &str) {
        match stream {
            Stream::Stdout => self.stdout(line),
            Stream::Stderr => self.stderr(line),
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        let seen = !self.sections.is_empty() || !self.tally.so_far().is_empty();
        if !self.certain && !seen {
            return None;
        }
        self.sum();
        self.complain();
        Some(self.tally.finish())
    }
}
