//! Separates a session's own failures at a stop from others.

use std::path::PathBuf;
use std::time::Instant;

use gate_checks::baseline::Baseline;
use gate_checks::{Cancellation, CheckSite, Gathered, Grace, PutBack, rerun};
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;
use gate_core::decide::release::{failing_tests, runs_the_work};
use gate_core::decide::situation::FailureShares;

use super::Gate;
use crate::interrupt::cancel_when;
use crate::request::Request;
use crate::source::Source;

impl Gate {
    /// Separates the failures that a session answers for from those that were red before, and from
    /// those that pass without another session's files. Each takes one run of the check in the copy
    /// of the work tree. A failure whose cause is not found in time counts as the session's own.
    pub(super) fn failures(
        &self,
        source: &Source,
        request: &Request,
        gathered: &Gathered,
    ) -> Vec<FailureShares> {
        // History knows nothing of what was uncommitted, and all that the agent committed.
        let Some(baseline) =
            gathered.baseline.as_ref().filter(|baseline| !baseline.is_from_history())
        else {
            return Vec::new();
        };
        let budget = request.deadline.and_then(|left| Instant::now().checked_add(left));
        let until = budget.into_iter().chain(request.until).min();
        let site = self.site(source, request);
        let red = gathered.evidence.iter().filter(|evidence| {
            evidence.outcome == Outcome::Fail
                && evidence.mode == Mode::Require
                && runs_the_work(&evidence.check)
        });
        red.map(|evidence| self.share(evidence, (&site, baseline), &request.others_files, until))
            .collect()
    }

    fn share(
        &self,
        red: &Evidence,
        (site, baseline): (&CheckSite, &Baseline),
        others_files: &[PathBuf],
        until: Option<Instant>,
    ) -> FailureShares {
        let names = failing_tests(red);
        let check = red.check.as_str();
        let (before, own) = self
            .rerun((check, PutBack::Everything), (site, baseline), until)
            .and_then(|before| parted(&before, &names, check))
            .unwrap_or_else(|| (Vec::new(), names));
        let mut without_others = None;
        if !own.is_empty() && !others_files.is_empty() {
            without_others = self
                .rerun((check, PutBack::Files(others_files)), (site, baseline), until)
                .and_then(|without| parted(&without, &own, check));
        }
        let (own, others) = without_others.unwrap_or_else(|| (own, Vec::new()));
        FailureShares { check: red.check.clone(), own, before, others }
    }

    /// None if the run fails, or does not end in time.
    fn rerun(
        &self,
        check: (&str, PutBack<'_>),
        (site, baseline): (&CheckSite, &Baseline),
        until: Option<Instant>,
    ) -> Option<Evidence> {
        let cancel = Cancellation::default();
        cancel_when(
            (&cancel, Grace::None),
            &|| until.is_some_and(|until| Instant::now() >= until),
            || rerun(&self.policy, site, baseline, check, &cancel),
        )
        .ok()
        .flatten()
    }
}

/// Splits names of failing tests into those that fail in another run too, and those that do not.
/// None if that run shows nothing about them.
fn parted(other: &Evidence, names: &[String], check: &str) -> Option<(Vec<String>, Vec<String>)> {
    match other.outcome {
        Outcome::Pass => Some((Vec::new(), names.to_vec())),
        Outcome::Fail => {
            let failing = failing_tests(other);
            // If only one of the runs names tests, the other did not come to them.
            let compares = (failing == [check]) == (names == [check]);
            compares.then(|| names.iter().cloned().partition(|name| failing.contains(name)))
        }
        Outcome::Inconclusive | Outcome::Tamper | Outcome::Skipped => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(outcome: Outcome, failed: &[&str]) -> Evidence {
        let detail = json!({ "tests": { "failed_tests": failed } });
        Evidence::new("tests", Mode::Require, outcome).with_detail(detail)
    }

    fn names(of: &[&str]) -> Vec<String> {
        of.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn failures_are_compared_by_test() {
        let red = names(&["a", "b"]);
        let before = run(Outcome::Fail, &["a", "c"]);
        assert_eq!(parted(&before, &red, "tests"), Some((names(&["a"]), names(&["b"]))));
        let green = run(Outcome::Pass, &[]);
        assert_eq!(parted(&green, &red, "tests"), Some((names(&[]), red)));
    }

    #[test]
    fn a_run_that_names_no_test_says_nothing_of_one_that_does() {
        let broken = run(Outcome::Fail, &[]);
        assert_eq!(parted(&broken, &names(&["a"]), "tests"), None);
        let check = names(&["tests"]);
        assert_eq!(parted(&broken, &check, "tests"), Some((check.clone(), names(&[]))));
        assert_eq!(parted(&run(Outcome::Inconclusive, &[]), &check, "tests"), None);
    }
}
