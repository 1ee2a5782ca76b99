//! A section: what one test program prints.

use std::collections::BTreeSet;

use super::line::{Line, Totals};
use crate::report::{Status, Tally};

/// Most tests whose output is stored, and the most bytes of each.
const MAX_OUTPUTS: usize = 20;
const MAX_OUTPUT_BYTES: usize = 32 << 10;

/// Output of one program, from `running N tests` to `test result:`.
pub(super) struct Section {
    /// The last program that cargo had named when it began.
    pub(super) program: Option<usize>,
    /// Its last line.
    pub(super) result: Option<Totals>,
    /// Number of tests in its first line.
    pub(super) announced: u64,
    /// The outermost section in which it stands, and whether others stand in
    /// it.
    pub(super) within: Option<usize>,
    pub(super) holds_others: bool,
    tests: Vec<(String, Status)>,
    /// Names whose result did not follow on their line.
    begun: Vec<String>,
    /// The names under `failures:`.
    failures: Vec<String>,
    /// The names and outputs of tests whose output is shown.
    outputs: Vec<(String, String)>,
    part: Part,
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
            within: None,
            holds_others: false,
            tests: Vec::new(),
            begun: Vec::new(),
            failures: Vec::new(),
            outputs: Vec::new(),
            part: Part::Tests,
        }
    }

    /// True for a line whose name is worth storing here.
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
            (Part::Output, Some((_, text))) => MAX_OUTPUT_BYTES.saturating_sub(text.len()),
            _ => 0,
        }
    }

    /// Takes a line of a test's output.
    pub(super) fn take_output(&mut self, line: &str) {
        if let Some((_, text)) = self.outputs.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }

    /// Takes a line.
    pub(super) fn take(&mut self, line: &Line<'_>) {
        match (self.part, line) {
            (_, Line::Failures) => {
                self.failures.clear();
                self.part = Part::Failures;
            }
            (_, Line::Successes) => self.part = Part::Output,
            (_, Line::Output(name)) => {
                self.part = Part::Output;
                if self.outputs.len() < MAX_OUTPUTS {
                    self.outputs.push(((*name).to_owned(), String::new()));
                }
            }
            (Part::Tests, Line::Test(name, status)) => {
                self.tests.push(((*name).to_owned(), *status));
            }
            (Part::Tests, Line::TestStart(name)) => {
                self.begun.push((*name).to_owned());
            }
            (Part::Failures, Line::Indented(name)) => {
                self.failures.push((*name).to_owned());
            }
            _ => {}
        }
    }

    /// True for tests in documentation.
    fn is_documentation(&self) -> bool {
        !self.tests.is_empty()
            && self.tests.iter().all(|(name, _)| name.ends_with(')') && name.contains(" (line "))
    }

    /// True if it has a result that adds up to the announced number.
    pub(super) fn is_whole(&self) -> bool {
        self.result.as_ref().is_some_and(|totals| totals.sum() == self.announced)
    }

    /// True if its result says that it failed.
    pub(super) fn has_failed(&self) -> bool {
        self.result.as_ref().is_some_and(|totals| !totals.ok)
    }

    /// Number of test lines with this status that count.
    fn seen(&self, status: Status) -> u64 {
        if self.is_noise(status) { 0 } else { self.lines(status) }
    }

    fn lines(&self, status: Status) -> u64 {
        self.tests.iter().filter(|(_, found)| *found == status).count() as u64
    }

    /// True if some lines of this status are output of tests: there are more than a whole section
    /// sums up. The lines do not show which ones. A failure counts unless tests of this section ran
    /// others.
    fn is_noise(&self, status: Status) -> bool {
        let Some(totals) = &self.result else { return false };
        let explained = status != Status::Failed || (totals.ok && self.holds_others);
        explained && self.is_whole() && self.lines(status) > totals.count(status)
    }

    /// Adds it to the report.
    pub(super) fn sum(&self, program: Option<&str>, tally: &mut Tally) {
        let noise = [Status::Passed, Status::Failed, Status::Skipped]
            .into_iter()
            .filter(|status| self.is_noise(*status));
        let noise: Vec<_> = noise.collect();
        for (name, status) in &self.tests {
            if !noise.contains(status) {
                tally.test(&test_id(program, name), *status);
            }
        }
        for (name, text) in &self.outputs {
            let has_failed = self.failures.contains(name)
                || self.tests.iter().any(|test| test.0 == *name && test.1 == Status::Failed);
            if has_failed {
                tally.failure(super::failure(&test_id(program, name), text));
            }
        }
        let program_name = program.unwrap_or("a test program");
        match &self.result {
            Some(totals) => {
                self.compare(totals, program_name, tally);
                self.unseen(totals, program, tally);
            }
            None => {
                let (announced, seen) = (self.announced, self.tests.len());
                let last = self.begun.last().map(|name| format!(" (it began {name})"));
                let last = last.unwrap_or_default();
                tally.problem(format!(
                    "{program_name} announced {announced} tests and told the result of {seen}{last}"
                ));
            }
        }
    }

    /// Compares the totals with what was announced and seen.
    fn compare(&self, totals: &Totals, program: &str, tally: &mut Tally) {
        let (announced, sum) = (self.announced, totals.sum());
        if sum != announced {
            tally.problem(format!("{program} announced {announced} tests and sums {sum} up"));
        }
        if !totals.ok && totals.failed == 0 {
            tally.error(format!("{program} failed outside of its tests"));
        }
        for (status, total) in totals.each() {
            let (seen, word) = (self.seen(status), word(status));
            if seen > total {
                tally.problem(format!("{program} sums {total} tests up of the {seen} that {word}"));
            }
        }
    }

    /// The tests that the totals count and that have no line.
    fn unseen(&self, totals: &Totals, program: Option<&str>, tally: &mut Tally) {
        let [passed, failed, skipped] = [Status::Passed, Status::Failed, Status::Skipped]
            .map(|status| totals.count(status).saturating_sub(self.seen(status)));
        let seen: BTreeSet<_> = self.tests.iter().map(|(name, _)| name).collect();
        let unseen = self.failures.iter().filter(|name| !seen.contains(name));
        let unseen: BTreeSet<_> = unseen.take(failed as usize).collect();
        unseen.iter().for_each(|name| tally.test(&test_id(program, name), Status::Failed));
        tally.count(Status::Failed, failed - unseen.len() as u64);
        tally.count(Status::Skipped, skipped);

        let begun: Vec<_> = self.begun.iter().filter(|name| !unseen.contains(name)).collect();
        if begun.len() as u64 == passed {
            begun.iter().for_each(|name| tally.test(&test_id(program, name), Status::Passed));
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

fn word(status: Status) -> &'static str {
    match status {
        Status::Passed => "passed",
        Status::Failed => "failed",
        Status::Skipped => "were ignored",
    }
}

/// Index of the program of each section, by order: the tests in a crate's documentation are
/// several sections of one program.
pub(super) fn groups(sections: &[&Section]) -> Vec<usize> {
    let mut group = 0;
    let mut groups = Vec::new();
    for (index, section) in sections.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| sections[before]);
        let continues = before.is_some_and(Section::is_documentation) && section.is_documentation();
        group += usize::from(index > 0 && !continues);
        groups.push(group);
    }
    groups
}

#[cfg(test)]
mod tests;
