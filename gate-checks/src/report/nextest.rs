//! cargo-nextest: its events on the standard output, compared with the summary on the standard
//! error.
//!
//! The events report each test; an ignored one is sometimes begun and never ended. The summary
//! shows whether all events are there.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;

use super::libtest::{self, FirstError};
use super::nextest_text::Summary;
use super::{Budget, Format, Reader, Status, Stream, Tally, TestReport};

/// Reads nextest.
pub(super) struct Nextest {
    tally: Tally,
    running: BTreeSet<String>,
    budget: Budget,
    /// Tests that were run, by the summary.
    run: Option<u64>,
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
        let (running, first_error) = (BTreeSet::new(), FirstError::default());
        Self { tally, running, budget: Budget::new(), run: None, first_error }
    }

    fn event(&mut self, event: &Event<'_>) {
        let (true, Some(name)) = (event.kind == "test", event.name.as_deref()) else { return };
        let (id, again) = id(name);
        match &*event.event {
            "started" if self.budget.takes(&id) => drop(self.running.insert(id)),
            "started" => self.tally.problem("more tests run at once than can be remembered"),
            "ok" => {
                if again {
                    self.tally.flaky(&id);
                }
                self.ended(&id, Status::Passed);
            }
            "ignored" => self.ended(&id, Status::Skipped),
            _ => {
                let printed = event.stdout.as_deref().unwrap_or_default();
                self.tally.failure(libtest::failure(&id, printed));
                self.ended(&id, Status::Failed);
            }
        }
    }

    fn ended(&mut self, id: &str, status: Status) {
        if self.running.remove(id) {
            self.budget.regains(id);
        }
        self.tally.test(id, status);
    }

    fn text(&mut self, line: &str) {
        self.first_error.take(line);
        let line = line.trim();
        if let Some(summary) = Summary::parse(line) {
            self.run = Some(summary.run);
        } else if line.starts_with("error: could not compile ") {
            self.tally.error(line.trim_start_matches("error: "));
        }
    }

    fn compare(&mut self) {
        let executed = self.tally.so_far().executed();
        match self.run {
            // What was begun and is not among the run ones was ignored.
            Some(run) if run == executed => {
                let ignored = std::mem::take(&mut self.running);
                ignored.iter().for_each(|id| self.tally.test(id, Status::Skipped));
            }
            Some(run) => {
                let what = format!("nextest says {run} tests were run, and reported {executed}");
                self.tally.problem(what);
            }
            None if self.tally.so_far().errors.is_empty() => {
                self.tally.problem("nextest ended without its summary");
            }
            None => {}
        }
    }
}

/// The stable part of `package::binary$test#2`, and whether it was tried
/// again.
fn id(name: &str) -> (String, bool) {
    let tried = name.rsplit_once('#').filter(|(_, number)| number.parse::<u32>().is_ok());
    let (name, again) = tried.map_or((name, false), |(name, _)| (name, true));
    let Some((binary, test)) = name.split_once('$') else { return (name.to_owned(), again) };
    let binary = match binary.split_once("::") {
        Some((package, library)) if package.replace('-', "_") == library => package,
        _ => binary,
    };
    (format!("{binary}::{test}"), again)
}

impl Reader for Nextest {
    fn line(&mut self, stream: Stream, line: &str) {
        if stream == Stream::Stderr {
            if line.len() <= 1_000 {
                self.text(line);
            }
        } else if line.starts_with('{') {
            // What a failed test wrote comes last, and may have been cut off.
            let head = line.split_once(",\"stdout\":").map(|(head, _)| format!("{head}}}"));
            let whole = serde_json::from_str(line).ok();
            if let Some(event) = whole.or_else(|| serde_json::from_str(head.as_deref()?).ok()) {
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
