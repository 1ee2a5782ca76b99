//! A section: what one test program prints.

use std::collections::BTreeSet;

use super::line::{Line, Totals};
use crate::{Status, Tally};

/// Most tests whose output is stored, and the most bytes of each.
const MAX_OUTPUTS: usize = 20;
const MAX_OUTPUT_BYTES: usize = 32 << 10;

/// Output of one program, from `running N tests` to `test result:`.
pub(super) struct Section {
    /// The index of the program that cargo had named last when the section began.
    pub(super) program: Option<usize>,
    /// The section's last line.
    pub(super) result: Option<Totals>,
    /// The number of tests in the section's first line.
    pub(super) announced: u64,
    /// The index of the outermost section in which this one stands.
    pub(super) outermost: Option<usize>,
    /// Other sections stand in this one.
    pub(super) has_inner_sections: bool,
    test_lines: Vec<TestLine>,
    /// Names whose result did not follow on their line.
    begun_tests: Vec<String>,
    /// The names under `failures:`.
    listed_failures: Vec<String>,
    outputs: Vec<TestOutput>,
    part: Part,
}

/// `test name ... ok`.
struct TestLine {
    name: String,
    status: Status,
}

/// The output of a test, as the program shows it.
struct TestOutput {
    name: String,
    text: String,
}

/// The current part of a section.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Tests,
    /// Output of tests: no line of it counts.
    Output,
    /// The names of the tests that failed.
    Failures,
}

impl Section {
    pub(super) fn new(announced: u64, program: Option<usize>) -> Self {
        Self {
            program,
            result: None,
            announced,
            outermost: None,
            has_inner_sections: false,
            test_lines: Vec::new(),
            begun_tests: Vec::new(),
            listed_failures: Vec::new(),
            outputs: Vec::new(),
            part: Part::Tests,
        }
    }

    /// The line has a name that is stored.
    pub(super) fn remembers(&self, line: &Line<'_>) -> bool {
        match self.part {
            Part::Tests => matches!(line, Line::Test(..) | Line::TestStart(_)),
            Part::Failures => matches!(line, Line::Indented(_)),
            Part::Output => false,
        }
    }

    /// Room for the output of a test, in bytes.
    pub(super) fn room_for_output(&self) -> usize {
        match (self.part, self.outputs.last()) {
            (Part::Output, Some(output)) => MAX_OUTPUT_BYTES.saturating_sub(output.text.len()),
            _ => 0,
        }
    }

    /// Takes a line of a test's output.
    pub(super) fn take_output(&mut self, line: &str) {
        if let Some(output) = self.outputs.last_mut() {
            output.text.push_str(line);
            output.text.push('\n');
        }
    }

    /// Takes a line.
    pub(super) fn take(&mut self, line: &Line<'_>) {
        match (self.part, line) {
            (_, Line::Failures) => {
                self.listed_failures.clear();
                self.part = Part::Failures;
            }
            (_, Line::Successes) => self.part = Part::Output,
            (_, Line::Output(name)) => {
                self.part = Part::Output;
                if self.outputs.len() < MAX_OUTPUTS {
                    let name = (*name).to_owned();
                    self.outputs.push(TestOutput { name, text: String::new() });
                }
            }
            (Part::Tests, Line::Test(name, status)) => {
                self.test_lines.push(TestLine { name: (*name).to_owned(), status: *status });
            }
            (Part::Tests, Line::TestStart(name)) => {
                self.begun_tests.push((*name).to_owned());
            }
            (Part::Failures, Line::Indented(name)) => {
                self.listed_failures.push((*name).to_owned());
            }
            _ => {}
        }
    }

    /// Its tests stand in documentation.
    fn is_documentation(&self) -> bool {
        let is_example = |name: &str| name.ends_with(')') && name.contains(" (line ");
        !self.test_lines.is_empty() && self.test_lines.iter().all(|test| is_example(&test.name))
    }

    /// It has a result that adds up to the announced number.
    pub(super) fn is_whole(&self) -> bool {
        self.result.as_ref().is_some_and(|totals| totals.sum() == self.announced)
    }

    /// Its result says that it failed.
    pub(super) fn has_failed(&self) -> bool {
        self.result.as_ref().is_some_and(|totals| !totals.is_ok)
    }

    /// The number of test lines with this status that count.
    fn counted_lines(&self, status: Status) -> u64 {
        if self.has_foreign_lines(status) { 0 } else { self.printed_lines(status) }
    }

    fn printed_lines(&self, status: Status) -> u64 {
        self.test_lines.iter().filter(|test| test.status == status).count() as u64
    }

    /// Some lines of this status are output of tests: there are more than a whole section sums up.
    /// Which ones, the lines do not show. A failure counts unless tests of this section ran others.
    fn has_foreign_lines(&self, status: Status) -> bool {
        let Some(totals) = &self.result else { return false };
        let can_be_foreign = status != Status::Failed || (totals.is_ok && self.has_inner_sections);
        can_be_foreign && self.is_whole() && self.printed_lines(status) > totals.count(status)
    }

    /// Adds the section's tests to the report.
    pub(super) fn add_to(&self, tally: &mut Tally, program: Option<&str>) {
        let doubted_statuses: Vec<_> = [Status::Passed, Status::Failed, Status::Skipped]
            .into_iter()
            .filter(|status| self.has_foreign_lines(*status))
            .collect();
        for test in &self.test_lines {
            if !doubted_statuses.contains(&test.status) {
                tally.add_test(&test_id(program, &test.name), test.status);
            }
        }
        let has_failed_line = |name: &str| {
            self.test_lines.iter().any(|test| test.name == name && test.status == Status::Failed)
        };
        for output in &self.outputs {
            if self.listed_failures.contains(&output.name) || has_failed_line(&output.name) {
                tally.add_failure(super::failure(&test_id(program, &output.name), &output.text));
            }
        }
        let program_name = program.unwrap_or("a test program");
        match &self.result {
            Some(totals) => {
                self.compare(totals, program_name, tally);
                self.add_unlisted(totals, program, tally);
            }
            None => {
                let (announced, seen) = (self.announced, self.test_lines.len());
                let last_test = self.begun_tests.last();
                let begun = last_test.map(|name| format!(" (it began {name})")).unwrap_or_default();
                tally.add_problem(format!(
                    "{program_name} announced {announced} tests and told the result of {seen}{begun}"
                ));
            }
        }
    }

    /// Compares the totals with what was announced and seen.
    fn compare(&self, totals: &Totals, program: &str, tally: &mut Tally) {
        let (announced, sum) = (self.announced, totals.sum());
        if sum != announced {
            tally.add_problem(format!("{program} announced {announced} tests and sums {sum} up"));
        }
        if !totals.is_ok && totals.failed == 0 {
            tally.add_error(format!("{program} failed outside of its tests"));
        }
        for (status, total) in totals.by_status() {
            let (seen, word) = (self.counted_lines(status), result_word(status));
            if seen > total {
                tally.add_problem(format!(
                    "{program} sums {total} tests up of the {seen} that {word}"
                ));
            }
        }
    }

    /// Adds the tests that the totals count and that have no line of their own. The list of failures
    /// has the names of those that failed. The names that were begun are those that passed if there
    /// are as many of them.
    fn add_unlisted(&self, totals: &Totals, program: Option<&str>, tally: &mut Tally) {
        let [passed, failed, skipped] = [Status::Passed, Status::Failed, Status::Skipped]
            .map(|status| totals.count(status).saturating_sub(self.counted_lines(status)));
        let line_names: BTreeSet<_> = self.test_lines.iter().map(|test| &test.name).collect();
        let failed_tests: BTreeSet<_> = self
            .listed_failures
            .iter()
            .filter(|name| !line_names.contains(name))
            .take(failed as usize)
            .collect();
        failed_tests
            .iter()
            .for_each(|name| tally.add_test(&test_id(program, name), Status::Failed));
        tally.count(Status::Failed, failed - failed_tests.len() as u64);
        tally.count(Status::Skipped, skipped);

        let passed_tests: Vec<_> =
            self.begun_tests.iter().filter(|name| !failed_tests.contains(name)).collect();
        if passed_tests.len() as u64 == passed {
            passed_tests
                .iter()
                .for_each(|name| tally.add_test(&test_id(program, name), Status::Passed));
        } else {
            tally.count(Status::Passed, passed);
        }
    }
}

fn test_id(program: Option<&str>, name: &str) -> String {
    match program {
        Some(program) => format!("{program}::{name}"),
        None => name.to_owned(),
    }
}

fn result_word(status: Status) -> &'static str {
    match status {
        Status::Passed => "passed",
        Status::Failed => "failed",
        Status::Skipped => "were ignored",
    }
}

/// The index of each section's program, by order: the tests in a crate's documentation are several
/// sections of one program.
pub(super) fn program_indexes(sections: &[&Section]) -> Vec<usize> {
    let mut program = 0;
    let mut indexes = Vec::new();
    let mut previous: Option<&Section> = None;
    for section in sections {
        let continues_program =
            previous.is_some_and(Section::is_documentation) && section.is_documentation();
        program += usize::from(previous.is_some() && !continues_program);
        indexes.push(program);
        previous = Some(section);
    }
    indexes
}

#[cfg(test)]
mod tests;
