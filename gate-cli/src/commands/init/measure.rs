//! Measures a proposed check by running it once.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use gate_checks::project::{Detected, Proposal};
use gate_checks::{CheckSite, Checks, GatherOptions, gather};
use gate_core::Policy;
use gate_core::config::{Layer, Origin, resolve};
use gate_core::decide::evidence::{Evidence, Outcome};

use super::text;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::render;

/// Runs the checks that are about to be written, and takes their times.
pub(super) struct Stopwatch {
    policy: Policy,
    site: CheckSite,
}

impl Stopwatch {
    /// For checks of the project whose settings this file has, or is going to have.
    pub(super) fn new(
        invocation: &Invocation,
        file: &Path,
        detected: &Detected,
    ) -> Result<Self, Failure> {
        let text = text::settings(detected, &Default::default());
        let layer = Layer::parse(Origin::Project(file.to_owned()), &text)?;
        let project = file.parent().unwrap_or(&invocation.places.folder).to_owned();
        let site = CheckSite { project, slots: None, ..invocation.site()? };
        Ok(Self { policy: resolve(&[layer], None)?.policy, site })
    }

    /// Runs a check once; `None` if nothing could be run.
    pub(super) fn measure(&self, proposal: &Proposal) -> Option<Measured> {
        announce(proposal);
        let options = GatherOptions {
            checks: Checks::Only(proposal.check.clone()),
            fresh: true,
            events: render::progress(),
            ..GatherOptions::default()
        };
        let gathered = gather(&self.policy, self.site.clone(), &options).ok()?;
        let evidence =
            gathered.evidence.into_iter().find(|evidence| evidence.check == proposal.check)?;
        Some(Measured::new(evidence))
    }
}

/// Prints a line about the check that runs, if no progress is shown.
fn announce(proposal: &Proposal) {
    let stderr = std::io::stderr();
    if !stderr.is_terminal() {
        let line = format!("running {}: {}\n", proposal.check, proposal.command.join(" "));
        let _ = anstream::stderr().lock().write_all(line.as_bytes());
    }
}

/// The result of running a check once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    pub(super) outcome: Outcome,
    pub(super) duration: Duration,
    /// One line for a person.
    pub(super) summary: String,
    /// A test runner ran to its end, and found no test.
    pub(super) has_no_tests: bool,
    /// A test runner did not come to its tests: an option that it does not know, a setup that
    /// does not load.
    pub(super) has_no_start: bool,
    /// The failing tests.
    pub(super) red_tests: Vec<String>,
}

/// pytest's exit code for an option, a file or a conftest that it cannot use.
const PYTEST_USAGE_ERROR: i32 = 4;

impl Measured {
    pub(super) fn new(evidence: Evidence) -> Self {
        let tests = evidence.detail.as_ref().and_then(|detail| detail.get("tests"));
        // A report that lacks one of these is of another kind: it does not say that nothing ran.
        let is_empty = ["executed", "skipped", "errors", "problems"].into_iter().all(|key| {
            let value = tests.and_then(|tests| tests.get(key));
            value.is_some_and(|value| *value == 0 || value.as_array().is_some_and(Vec::is_empty))
        });
        let starts_pytest = evidence.argv.iter().any(|word| word.ends_with("pytest"));
        let has_no_start = evidence.outcome == Outcome::Fail
            && starts_pytest
            && evidence.exit_code == Some(PYTEST_USAGE_ERROR);
        let has_no_tests = evidence.outcome == Outcome::Fail && !has_no_start && is_empty;
        Self {
            outcome: if has_no_start { Outcome::Inconclusive } else { evidence.outcome },
            duration: Duration::from_millis(evidence.duration_ms),
            red_tests: evidence.failed_tests().into_iter().map(str::to_owned).collect(),
            summary: evidence.summary,
            has_no_tests,
            has_no_start,
        }
    }

    /// The check cannot pass until a person installs or changes something.
    pub(super) fn cannot_pass(&self) -> bool {
        !matches!(self.outcome, Outcome::Pass | Outcome::Fail)
    }
}

/// `1.2s`, `41s`, `2m5s`.
pub(super) fn length(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 => format!("{:.1}s", duration.as_secs_f64()),
        10..60 => format!("{seconds}s"),
        _ => format!("{}m{}s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use gate_core::decide::policy::Mode;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(outcome: Outcome, tests: &serde_json::Value, expected: bool) {
        let evidence = Evidence::new("tests", Mode::default(), outcome);
        let evidence = evidence.with_detail(json!({ "tests": tests }));
        assert_eq!(Measured::new(evidence).has_no_tests, expected, "{tests}");
    }

    #[test]
    fn a_suite_without_a_test_is_distinguished_from_a_broken_one() {
        let counts = |executed: u32, errors: &[&str]| json!({ "executed": executed, "skipped": 0, "errors": errors, "problems": [] });
        check(Outcome::Fail, &counts(0, &[]), true);
        check(Outcome::Fail, &counts(0, &["cannot compile"]), false);
        check(Outcome::Fail, &counts(1, &[]), false);
        check(Outcome::Inconclusive, &counts(0, &[]), false);
        check(Outcome::Fail, &json!(null), false);
    }

    #[test]
    fn pytests_usage_error_is_no_run_of_tests() {
        let ended = |program: &str, code| {
            let mut evidence = Evidence::new("tests", Mode::default(), Outcome::Fail);
            evidence.argv = ["python3", "-m", program].map(str::to_owned).to_vec();
            evidence.exit_code = Some(code);
            let measured = Measured::new(evidence);
            (measured.has_no_start, measured.cannot_pass())
        };
        assert_eq!(ended("pytest", 4), (true, true));
        assert_eq!(ended("pytest", 1), (false, false));
        assert_eq!(ended("unittest", 4), (false, false));
    }

    #[test]
    fn a_length_is_as_exact_as_it_is_short() {
        for (millis, text) in [(40, "0.0s"), (1_240, "1.2s"), (41_900, "41s"), (125_000, "2m5s")] {
            assert_eq!(length(Duration::from_millis(millis)), text);
        }
    }
}
