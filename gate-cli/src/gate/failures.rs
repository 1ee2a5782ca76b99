//! Separates what a turn broke from other failures at a stop whose checks are looked at.

use std::path::PathBuf;
use std::time::Instant;

use gate_checks::baseline::Baseline;
use gate_checks::check::Occasion;
use gate_checks::{Cancellation, CheckSite, Gathered, Grace, RedTests, RerunTree, rerun};
use gate_core::decide::checks::runs_the_work;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{Mode, Policy};
use gate_core::decide::release::failing_tests;
use gate_core::decide::situation::FailureShares;

use super::{Gate, before_unchecked};
use crate::interrupt::cancel_when;
use crate::request::Request;

const NO_ANSWER: &str = "no time was left to run it on the tree of that prompt, or it could not run \
                         there; `hook.budget` gives more";

const UNLIKE: &str = "on the tree of that prompt it fails in another way, which may be the copy's";

const NO_SECOND_RUN: &str = "no time was left to run it again; `hook.budget` gives more";

/// Red tests in another run.
struct Again {
    record: Evidence,
    red: Vec<String>,
    passing: Vec<String>,
}

/// A stop with red tests.
struct RedStop<'s> {
    policy: &'s Policy,
    site: &'s CheckSite,
    /// The tree of the last prompt.
    prompt_tree: Baseline,
    others_files: &'s [PathBuf],
    /// Tests that an earlier turn of the session left red.
    left_red: &'s [String],
    /// The tree from before changes of an earlier turn that were never checked.
    before_unchecked: Option<Baseline>,
    until: Option<Instant>,
}

impl Gate {
    /// Separates the failures that the turn caused from those that were there at the prompt, from
    /// flaky ones, and from those that others caused. The red tests alone run again: on the tree of
    /// the prompt, and once more on the tree as it is. Empty if the stop is decided as a loop's
    /// iteration is, and if no tree of a prompt is to be had: all failures are the session's.
    pub(super) fn failures(
        &self,
        site: &CheckSite,
        request: &Request,
        gathered: &Gathered,
    ) -> Vec<FailureShares> {
        let red: Vec<_> = gathered.evidence.iter().filter(|evidence| is_red(evidence)).collect();
        if request.checking.occasion != Occasion::Session || red.is_empty() {
            return Vec::new();
        }
        let Request { asker, turn, checking } = request;
        let prompt_tree = match (&turn.no_prompt_tree, self.baseline(site, request, None)) {
            (Some(problem), _) => {
                return red.into_iter().map(|red| unknown(red, problem)).collect();
            }
            (None, Ok(found)) => found,
            (None, Err(failure)) => {
                let problem = format!("{}; the next prompt notes the tree anew", failure.message);
                return red.into_iter().map(|red| unknown(red, &problem)).collect();
            }
        };
        // History knows nothing of what was uncommitted, and all that the agent committed.
        let Some(prompt_tree) = prompt_tree.filter(Baseline::is_before_turn) else {
            return Vec::new();
        };
        let older = asker.session.as_deref().map(before_unchecked);
        let older = older.and_then(|name| Baseline::kept(site, Some(&name)).ok().flatten());
        let budget = checking.deadline.and_then(|left| Instant::now().checked_add(left));
        let stop = RedStop {
            policy: &self.policy,
            site,
            prompt_tree,
            others_files: &turn.others_files,
            before_unchecked: older,
            left_red: turn.left_red(),
            until: budget.into_iter().chain(asker.until).min(),
        };
        red.into_iter().map(|red| stop.shares(red)).collect()
    }
}

fn is_red(evidence: &Evidence) -> bool {
    evidence.outcome == Outcome::Fail
        && evidence.mode == Mode::Require
        && runs_the_work(&evidence.check)
}

fn unknown(red: &Evidence, problem: &str) -> FailureShares {
    let (check, unknown) = (red.check.clone(), failing_tests(red));
    FailureShares { check, unknown, problem: Some(problem.to_owned()), ..FailureShares::default() }
}

impl RedStop<'_> {
    fn shares(&self, red: &Evidence) -> FailureShares {
        let check = red.check.as_str();
        let mut shares = FailureShares { check: check.to_owned(), ..FailureShares::default() };
        // No prompt turns what the agent left red into something that was red before.
        let (mut left_red, names): (Vec<_>, Vec<_>) =
            failing_tests(red).into_iter().partition(|name| self.left_red.contains(name));
        let mut own = Vec::new();
        if !names.is_empty() {
            let tree = RerunTree::Baseline;
            let at_prompt = self.rerun((check, &names), (&self.prompt_tree, tree));
            let Some(Again { record, red: before, passing }) = at_prompt else {
                shares.own = left_red;
                shares.unknown = names;
                shares.problem = Some(NO_ANSWER.to_owned());
                return shares;
            };
            own = passing;
            // What a copy lacks makes tests fail in another way.
            let (before, unlike): (Vec<_>, Vec<_>) =
                before.into_iter().partition(|name| fails_alike(red, &record, name));
            if !unlike.is_empty() {
                shares.unknown = unlike;
                shares.problem = Some(UNLIKE.to_owned());
            }
            shares.before = before;
        }
        if let Some(older) = &self.before_unchecked
            && !shares.before.is_empty()
            && let Some(again) = self.rerun((check, &shares.before), (older, RerunTree::Baseline))
        {
            shares.before = again.red;
            left_red.extend(again.passing);
        }
        self.confirm(&mut own, &mut shares);
        if !own.is_empty()
            && !self.others_files.is_empty()
            && let Some(again) = self
                .rerun((check, &own), (&self.prompt_tree, RerunTree::Without(self.others_files)))
        {
            (own, shares.others) = (again.red, again.passing);
        }
        shares.newly_red = !own.is_empty() && left_red.is_empty();
        shares.own = [own, left_red].concat();
        shares
    }

    /// Runs tests that passed at the prompt once more. One that passes is flaky if it passes in the
    /// whole suite, too: its failure may depend on other tests.
    fn confirm(&self, own: &mut Vec<String>, shares: &mut FailureShares) {
        if own.is_empty() {
            return;
        }
        let again =
            |names: &[String], tree| self.rerun((&shares.check, names), (&self.prompt_tree, tree));
        let Some(Again { mut red, passing, .. }) = again(own, RerunTree::Now) else {
            shares.unknown.append(own);
            shares.problem = Some(NO_SECOND_RUN.to_owned());
            return;
        };
        if !passing.is_empty() {
            match again(&passing, RerunTree::NowWhole) {
                Some(whole) => {
                    red.extend(whole.red);
                    shares.flaky = whole.passing;
                }
                None => shares.flaky = passing,
            }
        }
        *own = red;
    }

    /// The record of another run, and the tests that fail there and those that do not. None if the
    /// run fails, does not end in time, or shows nothing about them.
    fn rerun(
        &self,
        (check, tests): (&str, &[String]),
        (baseline, tree): (&Baseline, RerunTree<'_>),
    ) -> Option<Again> {
        let cancel = Cancellation::default();
        let red = RedTests { check, tests };
        let ran = cancel_when(
            (&cancel, Grace::None),
            &|| self.until.is_some_and(|until| Instant::now() >= until),
            || rerun(self.policy, self.site, baseline, (red, tree), &cancel),
        );
        let ran = ran.ok().flatten()?;
        let (red, passing) = parted(&ran, tests, check)?;
        Some(Again { record: ran, red, passing })
    }
}

/// True if a test fails in two runs in the same way, but for numbers, or if that is not known.
fn fails_alike(one: &Evidence, other: &Evidence, test: &str) -> bool {
    let message = |evidence: &Evidence| {
        let failures = evidence.failures().into_iter();
        let mut own = failures.filter(|failure| failure.test.as_deref() == Some(test));
        own.next().map(|failure| failure.message.replace(|c: char| c.is_ascii_digit(), ""))
    };
    message(one).zip(message(other)).is_none_or(|(one, other)| one == other)
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
