//! Measures a proposed check by running it once.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use gate_checks::project::{Detected, Proposal, QuickPart};
use gate_checks::{CheckSite, Checks, GatherOptions, gather};
use gate_core::Policy;
use gate_core::config::{Layer, Origin, resolve};
use gate_core::decide::evidence::{Evidence, Outcome};

use super::text;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::render;

/// The longest run that is waited for. It is also the shortest timeout that is written.
pub(super) const LIMIT: Duration = Duration::from_secs(10 * 60);

/// Runs the checks that are about to be written, and takes their times.
pub(super) struct Stopwatch<'f> {
    /// The settings' file, which exists or is going to.
    file: &'f Path,
    site: CheckSite,
}

impl<'f> Stopwatch<'f> {
    /// For checks of the project whose settings this file has, or is going to have.
    pub(super) fn new(invocation: &Invocation, file: &'f Path) -> Result<Self, Failure> {
        let project = file.parent().unwrap_or(&invocation.places.folder).to_owned();
        Ok(Self { file, site: CheckSite { project, slots: None, ..invocation.site()? } })
    }

    /// Runs a check once; `None` if nothing could be run.
    pub(super) fn measure(&self, proposal: &Proposal) -> Option<Measured> {
        announce(proposal);
        let mut policy = self.policy(proposal)?;
        for check in policy.checks.values_mut() {
            check.timeout_ms = u64::try_from(LIMIT.as_millis()).unwrap_or(u64::MAX);
        }
        let options = GatherOptions {
            checks: Checks::Only(proposal.check.clone()),
            fresh: true,
            events: render::progress(),
            ..GatherOptions::default()
        };
        let start = Instant::now();
        let gathered = gather(&policy, self.site.clone(), &options).ok()?;
        let evidence =
            gathered.evidence.into_iter().find(|evidence| evidence.check == proposal.check)?;
        let is_ended = evidence.outcome == Outcome::Inconclusive && start.elapsed() >= LIMIT;
        Some(Measured { is_over_limit: is_ended, ..Measured::new(evidence) })
    }

    /// The settings of this check alone.
    fn policy(&self, proposal: &Proposal) -> Option<Policy> {
        let proposals = vec![Proposal { optional: false, ..proposal.clone() }];
        let detected = Detected { proposals, ..Detected::default() };
        let text = text::settings(&detected, &Default::default());
        let layer = Layer::parse(Origin::Project(self.file.to_owned()), &text).ok()?;
        Some(resolve(&[layer], None).ok()?.policy)
    }
}

/// The measurement of a proposal's quick part, which takes its place if the whole was ended by the limit
/// and the part is not; else that of the whole.
pub(super) fn narrowed(
    proposal: &mut Proposal,
    measured: Measured,
    measure: impl Fn(&Proposal) -> Option<Measured>,
) -> Measured {
    let Some(QuickPart { command, evidence }) =
        proposal.quick.clone().filter(|_part| measured.is_over_limit)
    else {
        return measured;
    };
    let whole = proposal.command.join(" ");
    let evidence =
        format!("{evidence}: `{whole}` did not end within {} minutes", LIMIT.as_secs() / 60);
    let part = Proposal { command, evidence, quick: None, ..proposal.clone() };
    match measure(&part) {
        Some(measured) if !measured.cannot_pass() && !measured.has_no_tests => {
            *proposal = part;
            measured
        }
        _ => measured,
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
    /// It was ended, because it did not end within [`LIMIT`].
    pub(super) is_over_limit: bool,
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
            is_over_limit: false,
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
    use gate_checks::project::Aim;
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
    fn a_suite_that_does_not_end_gives_way_to_its_quick_part() {
        let run = |is_over_limit, outcome| {
            let evidence = Evidence::new("tests", Mode::default(), outcome);
            Measured { is_over_limit, ..Measured::new(evidence) }
        };
        let whole = || run(true, Outcome::Inconclusive);
        let quick = QuickPart { command: vec!["unit".to_owned()], evidence: "a marker".to_owned() };
        let suite = Proposal {
            check: "tests".to_owned(),
            aim: Aim::Tests,
            tool: "make",
            command: vec!["all".to_owned()],
            evidence: "a file".to_owned(),
            needs_tool: "make".to_owned(),
            cwd: None,
            optional: false,
            is_missing: false,
            ci_minutes: None,
            quick: Some(quick),
        };
        let narrow = |measured, part: Option<Measured>| {
            let mut proposal = suite.clone();
            let measured = narrowed(&mut proposal, measured, |_part| part.clone());
            (proposal.command[0].clone(), measured.is_over_limit, proposal.evidence)
        };
        let (command, is_over, evidence) = narrow(whole(), Some(run(false, Outcome::Pass)));
        assert_eq!((command.as_str(), is_over), ("unit", false));
        assert_eq!(evidence, "a marker: `all` did not end within 10 minutes");
        assert_eq!(narrow(whole(), Some(whole())).0, "all");
        assert_eq!(narrow(whole(), None).0, "all");
        assert_eq!(narrow(run(false, Outcome::Fail), Some(whole())).0, "all");
    }

    #[test]
    fn a_length_is_as_exact_as_it_is_short() {
        for (millis, text) in [(40, "0.0s"), (1_240, "1.2s"), (41_900, "41s"), (125_000, "2m5s")] {
            assert_eq!(length(Duration::from_millis(millis)), text);
        }
    }
}
