//! cargo-nextest: its events on the standard output, compared with the summary on the standard
//! error.
//!
//! The events report each test; an ignored one is sometimes begun and never ended. The summary
//! shows whether all events are there.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;

use super::libtest::{self, FirstError};
use super::nextest_text::{Summary, UNFINISHED};
use super::{Budget, Format, Reader, Status, Stream, Tally, TestReport};

/// Longer lines are no part of what nextest says on the standard error.
const MAX_LINE_BYTES: usize = 1_000;

/// Reads nextest.
pub(super) struct Nextest {
    tally: Tally,
    running: BTreeSet<String>,
    budget: Budget,
    /// The number of tests that were run, by the summary.
    summed_tests: Option<u64>,
    first_error: FirstError,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    /// The output of a failed test.
    #[serde(borrow, default)]
    stdout: Option<Cow<'a, str>>,
}

impl Nextest {
    pub(super) fn new() -> Self {
        let tally = Tally::new(Format::Nextest);
        Self {
            tally,
            running: BTreeSet::new(),
            budget: Budget::new(),
            summed_tests: None,
            first_error: FirstError::default(),
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        let (true, Some(name)) = (event.kind == "test", event.name.as_deref()) else { return };
        let Attempt { id, is_retry } = Attempt::parse(name);
        match &*event.event {
            "started" if self.budget.reserve(&id) => drop(self.running.insert(id)),
            "started" => self.tally.add_problem("more tests run at once than can be remembered"),
            "ok" => {
                if is_retry {
                    self.tally.add_flaky(&id);
                }
                self.test_ended(&id, Status::Passed);
            }
            "ignored" => self.test_ended(&id, Status::Skipped),
            _ => {
                let output = event.stdout.as_deref().unwrap_or_default();
                self.tally.add_failure(libtest::failure(&id, output));
                self.test_ended(&id, Status::Failed);
            }
        }
    }

    fn test_ended(&mut self, id: &str, status: Status) {
        if self.running.remove(id) {
            self.budget.release(id);
        }
        self.tally.add_test(id, status);
    }

    fn stderr(&mut self, line: &str) {
        self.first_error.take(line);
        let message = line.trim();
        if let Some(summary) = Summary::parse(message) {
            self.summed_tests = Some(summary.run);
        } else if message.starts_with("error: could not compile ") {
            self.tally.add_error(message.trim_start_matches("error: "));
        }
    }

    fn compare(&mut self) {
        let executed = self.tally.so_far().executed();
        match self.summed_tests {
            // nextest begins some ignored tests and never ends them. Where its sum fits, those left
            // are such.
            Some(summed) if summed == executed => {
                let ignored = std::mem::take(&mut self.running);
                ignored.iter().for_each(|id| self.tally.add_test(id, Status::Skipped));
            }
            Some(summed) => {
                self.tally.add_problem(format!(
                    "nextest says {summed} tests were run, and reported {executed}"
                ));
            }
            None if self.tally.so_far().errors.is_empty() => {
                self.tally.add_problem(UNFINISHED);
            }
            None => {}
        }
    }
}

/// An attempt at a test: `package::binary$test#2`.
struct Attempt {
    /// The part that is the same in every attempt and run.
    id: String,
    is_retry: bool,
}

impl Attempt {
    fn parse(name: &str) -> Self {
        let retry = name.rsplit_once('#').filter(|(_, number)| number.parse::<u32>().is_ok());
        let is_retry = retry.is_some();
        let test_name = retry.map_or(name, |(test_name, _)| test_name);
        let Some((binary, test)) = test_name.split_once('$') else {
            return Self { id: test_name.to_owned(), is_retry };
        };
        // The library of a package bears the package's name: it is not said twice.
        let binary = match binary.split_once("::") {
            Some((package, library)) if package.replace('-', "_") == library => package,
            _ => binary,
        };
        Self { id: format!("{binary}::{test}"), is_retry }
    }
}

impl Reader for Nextest {
    fn line(&mut self, stream: Stream, line: &str) {
        if stream == Stream::Stderr {
            if line.len() <= MAX_LINE_BYTES {
                self.stderr(line);
            }
        } else if line.starts_with('{') {
            // The output of a failed test comes last, and may have been cut off: the result still counts.
            let head = line.split_once(",\"stdout\":").map(|(head, _)| format!("{head}}}"));
            let event = serde_json::from_str(line).ok();
            if let Some(event) = event.or_else(|| serde_json::from_str(head.as_deref()?).ok()) {
                self.event(&event);
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        self.compare();
        if self.tally.so_far().executed() == 0 {
            self.first_error.add_to(&mut self.tally);
        }
        Some(self.tally.finish())
    }
}
