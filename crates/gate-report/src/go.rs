//! `go test -json`: one event a line.
//!
//! A package ends with an event of its own. One that passed has printed `PASS`; if it has not, its
//! tests did not run. One that failed without a failing test did not build, or ended outside of its tests.

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
    output_room: usize,
    build_errors: BuildErrors,
    /// An event of a package was seen.
    is_recognised: bool,
    /// The command is `go test -json` itself.
    is_expected: bool,
}

#[derive(Default)]
struct Package {
    running: BTreeSet<String>,
    /// The output of the tests that run; under an empty name that of the package itself.
    output: BTreeMap<String, String>,
    has_printed_pass: bool,
    failed_tests: u64,
    has_ended: bool,
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
    /// For `go test -json` itself.
    pub(super) fn new() -> Self {
        Self { is_expected: true, ..Self::optional() }
    }

    /// For a command that may start `go test -json`.
    pub(super) fn optional() -> Self {
        Self {
            tally: Tally::new(Format::Go),
            packages: BTreeMap::new(),
            budget: Budget::new(),
            output_room: MAX_OUTPUT_BYTES,
            build_errors: BuildErrors::default(),
            is_recognised: false,
            is_expected: false,
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        if event.action == "build-fail" {
            let path = event.import_path.as_deref().unwrap_or("a package");
            self.tally.add_error(format!("{path} could not be built"));
        }
        // The compiler's messages: older versions of go print them as plain lines.
        if event.action == "build-output" {
            self.build_errors.take(event.output.as_deref().unwrap_or_default());
        }
        let Some(package) = event.package.as_deref() else { return };
        self.is_recognised = true;
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
                self.read_results(package, text);
                self.store_output(package, test.unwrap_or_default(), text);
            }
            (None, None) if event.action == "start" => drop(self.package(package)),
            _ => {}
        }
    }

    /// A package, which is remembered from now on; `None` if there is no room for it.
    fn package(&mut self, name: &str) -> Option<&mut Package> {
        if !self.packages.contains_key(name) {
            if !self.budget.reserve(name) {
                self.tally.add_problem("there are more packages than can be remembered");
                return None;
            }
            self.packages.insert(name.to_owned(), Package::default());
        }
        self.packages.get_mut(name)
    }

    fn test_began(&mut self, package: &str, test: &str) {
        if !self.budget.reserve(test) {
            self.tally.add_problem("more tests run at once than can be remembered");
        } else if let Some(package) = self.package(package) {
            package.running.insert(test.to_owned());
        }
    }

    /// Stores what a test prints until its result is known.
    fn store_output(&mut self, package: &str, test: &str, text: &str) {
        let line = text.trim();
        let frames = ["=== ", "--- FAIL: ", "--- PASS: ", "--- SKIP: ", "FAIL\t"];
        let is_frame = frames.iter().any(|frame| line.starts_with(frame));
        if is_frame || text.len() > self.output_room {
            return;
        }
        let Some(package) = self.packages.get_mut(package) else { return };
        // The budget of names has not counted a test that never began: to store its output here
        // would let names grow without a bound.
        if !test.is_empty() && !package.running.contains(test) {
            return;
        }
        let output = package.output.entry(test.to_owned()).or_default();
        if output.len() < MAX_TEST_BYTES {
            output.push_str(text);
            self.output_room -= text.len();
        }
    }

    /// Takes the output of a test that has ended, and reports it if the test failed.
    fn take_output(&mut self, package: &str, test: &str, status: Status) {
        let Some(message) =
            self.packages.get_mut(package).and_then(|package| package.output.remove(test))
        else {
            return;
        };
        self.output_room += message.len();
        if status == Status::Failed {
            let test = (!test.is_empty()).then(|| format!("{package}.{test}"));
            self.tally.add_failure(TestFailure { test, message, ..TestFailure::default() });
        }
    }

    fn test_ended(&mut self, package: &str, test: &str, status: Status) {
        self.take_output(package, test, status);
        if let Some(package) = self.package(package) {
            package.failed_tests += u64::from(status == Status::Failed);
            if package.running.remove(test) {
                self.budget.release(test);
            }
        }
        self.tally.add_test(&format!("{package}.{test}"), status);
    }

    /// Reads the results that stand in the output alone: the package's `PASS`, and the result of a
    /// test whose own output does not end its line. Older versions of go miss that one: it stands
    /// at the end of the line.
    fn read_results(&mut self, package: &str, text: &str) {
        let line = text.trim_end_matches('\n');
        if line.ends_with("PASS")
            && let Some(package) = self.package(package)
        {
            package.has_printed_pass = true;
        }
        let Some((output, result)) = line.rsplit_once("--- PASS: ") else { return };
        let Some((test, _)) = result.rsplit_once(" (") else { return };
        let is_running =
            self.packages.get(package).is_some_and(|package| package.running.contains(test));
        if is_running && !output.trim().is_empty() {
            self.test_ended(package, test, Status::Passed);
        }
    }

    fn package_ended(&mut self, name: &str, status: Status) {
        let Some(package) = self.package(name) else { return };
        package.has_ended = true;
        let (has_printed_pass, failed_tests) = (package.has_printed_pass, package.failed_tests);
        let unfinished = std::mem::take(&mut package.running);
        unfinished.iter().for_each(|test| self.budget.release(test));
        match status {
            Status::Skipped => {}
            Status::Passed if !has_printed_pass => {
                self.tally.add_problem(format!("{name} ended without saying PASS"));
            }
            Status::Passed => unfinished.iter().for_each(|test| {
                self.tally.add_problem(format!("{name}.{test} was started and not ended"));
            }),
            Status::Failed if unfinished.is_empty() && failed_tests == 0 => {
                self.tally.add_error(format!("{name} failed outside of its tests"));
                self.take_output(name, "", status);
            }
            // The package ended while these tests ran: one of them ended it.
            Status::Failed => {
                for test in &unfinished {
                    self.tally.add_test(&format!("{name}.{test}"), Status::Failed);
                    self.take_output(name, test, status);
                }
            }
        }
    }

    /// Takes a line that is no event: go prints some even with `-json`.
    fn plain_line(&mut self, line: &str) {
        self.build_errors.take(line);
        let Some(package) = line.strip_prefix("FAIL\t") else { return };
        let reasons = ["[build failed]", "[setup failed]"];
        if let Some(reason) = reasons.into_iter().find(|reason| package.ends_with(reason)) {
            let package = package.trim_end_matches(reason).trim();
            self.tally.add_error(format!("{package}: {}", reason.trim_matches(['[', ']'])));
        }
    }
}

impl Reader for Go {
    fn line(&mut self, stream: Stream, line: &str) {
        if !line.starts_with('{') {
            self.plain_line(line);
        } else if stream == Stream::Stdout
            && let Ok(event) = serde_json::from_str(line)
        {
            self.event(&event);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        if !self.is_recognised && !self.is_expected {
            return None;
        }
        for (name, _) in self.packages.iter().filter(|(_, package)| !package.has_ended) {
            self.tally.add_problem(format!("{name} has no result"));
        }
        if !self.is_recognised && self.tally.so_far().errors.is_empty() {
            self.tally.add_problem("go test wrote no event");
        }
        if !self.tally.so_far().errors.is_empty() {
            self.build_errors.add_to(&mut self.tally);
        }
        Some(self.tally.finish())
    }
}

/// The errors of the first package that cannot be built: the lines below
/// `# package`.
#[derive(Default)]
struct BuildErrors {
    text: String,
    is_complete: bool,
}

impl BuildErrors {
    fn take(&mut self, line: &str) {
        let line = line.trim_end();
        let is_head = line.starts_with("# ");
        let has_begun = !self.text.is_empty();
        self.is_complete |= has_begun && (is_head || line.starts_with("FAIL") || line.is_empty());
        if !self.is_complete && (is_head || has_begun) && self.text.len() < MAX_TEST_BYTES {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    fn add_to(&self, tally: &mut Tally) {
        let message = self.text.lines().skip(1).collect::<Vec<_>>().join("\n");
        tally.add_failure(TestFailure { message, ..TestFailure::default() });
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
        assert!(go.packages["p"].output.is_empty());
        go.line(Stream::Stdout, r#"{"Action":"run","Package":"p","Test":"T"}"#);
        go.line(Stream::Stdout, r#"{"Action":"output","Package":"p","Test":"T","Output":"a"}"#);
        assert_eq!(go.packages["p"].output["T"], "a");
    }
}
