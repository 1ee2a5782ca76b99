//! `go test -json`: one event a line.
//!
//! A package ends with an event of its own. One that passed has printed `PASS`, or its tests did
//! not run; one that failed without a failing test did not build, or ended outside of its tests.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use gate_core::decide::test_failure::TestFailure;
use serde::Deserialize;

use super::{Budget, Format, Reader, Status, Stream, Tally, TestReport};

/// Most bytes of output that are stored, of one test and of all.
const MAX_TEST_BYTES: usize = 16 << 10;
const MAX_OUTPUT_BYTES: usize = 8 << 20;

/// Reads the events.
pub(super) struct Go {
    tally: Tally,
    packages: BTreeMap<String, Package>,
    budget: Budget,
    /// Bytes of output that may still be stored.
    room: usize,
    first_error: FirstError,
    seen: bool,
    certain: bool,
}

#[derive(Default)]
struct Package {
    running: BTreeSet<String>,
    /// The output of the tests that run; under an empty name that of the package itself.
    printed: BTreeMap<String, String>,
    printed_pass: bool,
    failed: u64,
    ended: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    #[serde(borrow, default)]
    package: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    test: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    output: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    import_path: Option<Cow<'a, str>>,
}

impl Go {
    /// `go test -json` itself is run.
    pub(super) fn new() -> Self {
        Self { certain: true, ..Self::perhaps() }
    }

    /// It may be run, by something that is.
    pub(super) fn perhaps() -> Self {
        Self {
            tally: Tally::new(Format::Go),
            packages: BTreeMap::new(),
            budget: Budget::new(),
            room: MAX_OUTPUT_BYTES,
            first_error: FirstError::default(),
            seen: false,
            certain: false,
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        if event.action == "build-fail" {
            let path = event.import_path.as_deref().unwrap_or("a package");
            self.tally.error(format!("{path} could not be built"));
        }
        if event.action == "build-output" {
            self.first_error.take(event.output.as_deref().unwrap_or_default());
        }
        let Some(package) = event.package.as_deref() else { return };
        self.seen = true;
        let status = match &*event.action {
            "pass" => Some(Status::Passed),
            "fail" => Some(Status::Failed),
            "skip" => Some(Status::Skipped),
            _ => None,
        };
        match (event.test.as_deref(), status) {
            (Some(test), Some(status)) => self.test_ended(package, test, status),
            (None, Some(status)) => self.package_ended(package, status),
            (Some(test), None) if event.action == "run" => self.test_began(package, test),
            (test, None) if event.action == "output" => {
                let text = event.output.as_deref().unwrap_or_default();
                self.output(package, text);
                self.keep(package, test.unwrap_or_default(), text);
            }
            (None, None) if event.action == "start" => drop(self.package(package)),
            _ => {}
        }
    }

    /// A package, remembered from now on; `None`: there is no room for it.
    fn package(&mut self, name: &str) -> Option<&mut Package> {
        if !self.packages.contains_key(name) {
            if !self.budget.takes(name) {
                self.tally.problem("there are more packages than can be remembered");
                return None;
            }
            self.packages.insert(name.to_owned(), Package::default());
        }
        self.packages.get_mut(name)
    }

    fn test_began(&mut self, package: &str, test: &str) {
        if !self.budget.takes(test) {
            self.tally.problem("more tests run at once than can be remembered");
        } else if let Some(package) = self.package(package) {
            package.running.insert(test.to_owned());
        }
    }

    /// Keeps what a test prints until its result is known.
    fn keep(&mut self, package: &str, test: &str, text: &str) {
        let line = text.trim();
        let is_frame = ["=== ", "--- FAIL: ", "--- PASS: ", "--- SKIP: ", "FAIL\t"];
        if text.len() > self.room || is_frame.iter().any(|begin| line.starts_with(begin)) {
            return;
        }
        let Some(known) = self.packages.get_mut(package) else { return };
        // The name of a test that never began is counted nowhere.
        if !test.is_empty() && !known.running.contains(test) {
            return;
        }
        let printed = known.printed.entry(test.to_owned()).or_default();
        if printed.len() < MAX_TEST_BYTES {
            printed.push_str(text);
            self.room -= text.len();
        }
    }

    /// The text of a test that has ended: it is reported if the test failed, and dropped.
    fn explain(&mut self, package: &str, test: &str, status: Status) {
        let known = self.packages.get_mut(package);
        let Some(message) = known.and_then(|known| known.printed.remove(test)) else { return };
        self.room += message.len();
        if status == Status::Failed {
            let test = (!test.is_empty()).then(|| format!("{package}.{test}"));
            self.tally.failure(TestFailure { test, message, ..TestFailure::default() });
        }
    }

    fn test_ended(&mut self, package: &str, test: &str, status: Status) {
        self.explain(package, test, status);
        if let Some(known) = self.package(package) {
            known.failed += u64::from(status == Status::Failed);
            if known.running.remove(test) {
                self.budget.regains(test);
            }
        }
        self.tally.test(&format!("{package}.{test}"), status);
    }

    /// Older versions of go miss the result of a test whose own output does
    /// not end its line: it stands at the end of that line.
    fn output(&mut self, package: &str, text: &str) {
        let text = text.trim_end_matches('\n');
        if text.ends_with("PASS")
            && let Some(package) = self.package(package)
        {
            package.printed_pass = true;
        }
        let Some((before, result)) = text.rsplit_once("--- PASS: ") else { return };
        let Some((test, _)) = result.rsplit_once(" (") else { return };
        let runs = self.packages.get(package).is_some_and(|package| package.running.contains(test));
        if runs && !before.trim().is_empty() {
            self.test_ended(package, test, Status::Passed);
        }
    }

    fn package_ended(&mut self, name: &str, status: Status) {
        let Some(package) = self.package(name) else { return };
        package.ended = true;
        let (printed_pass, failed) = (package.printed_pass, package.failed);
        let lost = std::mem::take(&mut package.running);
        lost.iter().for_each(|test| self.budget.regains(test));
        match status {
            Status::Skipped => {}
            Status::Passed if !printed_pass => {
                self.tally.problem(format!("{name} ended without saying PASS"));
            }
            Status::Passed => lost.iter().for_each(|test| {
                self.tally.problem(format!("{name}.{test} was started and not ended"));
            }),
            Status::Failed if lost.is_empty() && failed == 0 => {
                self.tally.error(format!("{name} failed outside of its tests"));
                self.explain(name, "", status);
            }
            // The package ended while they ran.
            Status::Failed => {
                for test in &lost {
                    self.tally.test(&format!("{name}.{test}"), Status::Failed);
                    self.explain(name, test, status);
                }
            }
        }
    }

    /// Takes a line of text, which go also prints with `-json`.
    fn text(&mut self, line: &str) {
        self.first_error.take(line);
        let Some(package) = line.strip_prefix("FAIL\t") else { return };
        let why = ["[build failed]", "[setup failed]"];
        if let Some(why) = why.into_iter().find(|why| package.ends_with(why)) {
            let package = package.trim_end_matches(why).trim();
            self.tally.error(format!("{package}: {}", why.trim_matches(['[', ']'])));
        }
    }
}

impl Reader for Go {
    fn line(&mut self, stream: Stream, line: &str) {
        if !line.starts_with('{') {
            self.text(line);
        } else if stream == Stream::Stdout
            && let Ok(event) = serde_json::from_str(line)
        {
            self.event(&event);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        if !self.seen && !self.certain {
            return None;
        }
        for (name, _) in self.packages.iter().filter(|(_, package)| !package.ended) {
            self.tally.problem(format!("{name} has no result"));
        }
        if !self.seen && self.tally.so_far().errors.is_empty() {
            self.tally.problem("go test wrote no event");
        }
        if !self.tally.so_far().errors.is_empty() {
            self.first_error.add_to(&mut self.tally);
        }
        Some(self.tally.finish())
    }
}

/// The errors of the first package that cannot be built: the lines below
/// `# package`.
#[derive(Default)]
struct FirstError {
    text: String,
    ended: bool,
}

impl FirstError {
    fn take(&mut self, line: &str) {
        let line = line.trim_end();
        let is_head = line.starts_with("# ");
        let has_begun = !self.text.is_empty();
        self.ended |= has_begun && (is_head || line.starts_with("FAIL") || line.is_empty());
        if !self.ended && (is_head || has_begun) && self.text.len() < MAX_TEST_BYTES {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    fn add_to(&self, tally: &mut Tally) {
        let message = self.text.lines().skip(1).collect::<Vec<_>>().join("\n");
        tally.failure(TestFailure { message, ..TestFailure::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_tests_that_never_began_is_not_stored() {
        let mut go = Go::new();
        go.line(Stream::Stdout, r#"{"Action":"start","Package":"p"}"#);
        for n in 0..9 {
            let test = format!(r#"{{"Action":"output","Package":"p","Test":"T{n}","Output":""}}"#);
            go.line(Stream::Stdout, &test);
        }
        assert!(go.packages["p"].printed.is_empty());
        go.line(Stream::Stdout, r#"{"Action":"run","Package":"p","Test":"T"}"#);
        go.line(Stream::Stdout, r#"{"Action":"output","Package":"p","Test":"T","Output":"a"}"#);
        assert_eq!(go.packages["p"].printed["T"], "a");
    }
}
