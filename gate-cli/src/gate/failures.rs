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
struct Rerun {
    evidence: Evidence,
    tests: SplitTests,
}

/// Red tests, by what another run shows about them.
#[derive(Debug, PartialEq, Eq)]
struct SplitTests {
    /// They fail there too.
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
    tree_before_unchecked: Option<Baseline>,
    deadline: Option<Instant>,
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
        // A goal is red at the prompt: that is why the agent works.
        let is_goal = |evidence: &Evidence| self.goal_check() == Some(&evidence.check);
        let evidence = gathered.evidence.iter();
        let red: Vec<_> =
            evidence.filter(|evidence| is_red(evidence) && !is_goal(evidence)).collect();
        if request.checking.occasion != Occasion::Session || red.is_empty() {
            return Vec::new();
        }
        let Request { asker, turn, checking } = request;
        let prompt_tree = match (&turn.no_prompt_tree, self.baseline(site, request, None)) {
            (Some(problem), _) => {
                return red.into_iter().map(|red| unknown_shares(red, problem)).collect();
            }
            (None, Ok(prompt_tree)) => prompt_tree,
            (None, Err(failure)) => {
                let problem = format!("{}; the next prompt notes the tree anew", failure.message);
                return red.into_iter().map(|red| unknown_shares(red, &problem)).collect();
            }
        };
        // History knows nothing of what was uncommitted, and all that the agent committed.
        let Some(prompt_tree) = prompt_tree.filter(Baseline::is_before_turn) else {
            return Vec::new();
        };
        let unchecked_name = asker.session.as_deref().map(before_unchecked);
        let tree_before_unchecked =
            unchecked_name.and_then(|name| Baseline::kept(site, Some(&name)).ok().flatten());
        let budget_end = checking.deadline.and_then(|time| Instant::now().checked_add(time));
        let stop = RedStop {
            policy: &self.policy,
            site,
            prompt_tree,
            others_files: &turn.others_files,
            tree_before_unchecked,
            left_red: turn.red_tests_of_session(),
            deadline: budget_end.into_iter().chain(asker.until).min(),
        };
        red.into_iter().map(|red| stop.shares(red)).collect()
    }
}

fn is_red(evidence: &Evidence) -> bool {
    evidence.outcome == Outcome::Fail
        && evidence.mode == Mode::Require
        && runs_the_work(&evidence.check)
}

/// All failures of a check, as those of which nobody knows the cause.
fn unknown_shares(red: &Evidence, problem: &str) -> FailureShares {
    FailureShares {
        check: red.check.clone(),
        unknown: failing_tests(red),
        problem: Some(problem.to_owned()),
        ..FailureShares::default()
    }
}

impl RedStop<'_> {
    /// The failures of a check, by their cause.
    fn shares(&self, red: &Evidence) -> FailureShares {
        let check = red.check.as_str();
        let mut shares = FailureShares { check: check.to_owned(), ..FailureShares::default() };
        // No prompt turns what the agent left red into something that was red before.
        let (mut left_red, red_tests): (Vec<_>, Vec<_>) =
            failing_tests(red).into_iter().partition(|test| self.left_red.contains(test));
        let mut turns_red = Vec::new();
        if !red_tests.is_empty() {
            let prompt_run = self.rerun(check, &red_tests, &self.prompt_tree, RerunTree::Baseline);
            let Some(Rerun { evidence, tests }) = prompt_run else {
                shares.own = left_red;
                shares.unknown = red_tests;
                shares.problem = Some(NO_ANSWER.to_owned());
                return shares;
            };
            turns_red = tests.passing;
            // What a copy lacks makes tests fail in another way.
            let (red_before, unlike): (Vec<_>, Vec<_>) =
                tests.red.into_iter().partition(|test| fails_alike(red, &evidence, test));
            if !unlike.is_empty() {
                shares.unknown = unlike;
                shares.problem = Some(UNLIKE.to_owned());
            }
            shares.before = red_before;
        }
        // The prompt found them red, but an earlier turn of the same session may have broken them.
        if let Some(older) = &self.tree_before_unchecked
            && !shares.before.is_empty()
            && let Some(older_run) = self.rerun(check, &shares.before, older, RerunTree::Baseline)
        {
            shares.before = older_run.tests.red;
            left_red.extend(older_run.tests.passing);
        }
        turns_red = self.confirmed(turns_red, &mut shares);
        let without_others = RerunTree::Without(self.others_files);
        if !turns_red.is_empty()
            && !self.others_files.is_empty()
            && let Some(run) = self.rerun(check, &turns_red, &self.prompt_tree, without_others)
        {
            turns_red = run.tests.red;
            shares.others = run.tests.passing;
        }
        shares.newly_red = !turns_red.is_empty() && left_red.is_empty();
        shares.own = [turns_red, left_red].concat();
        shares
    }

    /// Runs tests that passed at the prompt once more, and returns those that fail again. One that
    /// passes is flaky if it passes in the whole suite, too: its failure may depend on other tests.
    fn confirmed(&self, turns_red: Vec<String>, shares: &mut FailureShares) -> Vec<String> {
        if turns_red.is_empty() {
            return turns_red;
        }
        let rerun = |tests: &[String], tree| {
            Some(self.rerun(&shares.check, tests, &self.prompt_tree, tree)?.tests)
        };
        let Some(SplitTests { mut red, passing }) = rerun(&turns_red, RerunTree::Now) else {
            shares.unknown.extend(turns_red);
            shares.problem = Some(NO_SECOND_RUN.to_owned());
            return Vec::new();
        };
        if !passing.is_empty() {
            match rerun(&passing, RerunTree::NowWhole) {
                Some(whole_suite) => {
                    red.extend(whole_suite.red);
                    shares.flaky = whole_suite.passing;
                }
                None => shares.flaky = passing,
            }
        }
        red
    }

    /// Runs red tests again. `None` if the run fails, does not end in time, or shows nothing about
    /// them.
    fn rerun(
        &self,
        check: &str,
        tests: &[String],
        baseline: &Baseline,
        tree: RerunTree<'_>,
    ) -> Option<Rerun> {
        let cancel = Cancellation::default();
        let red_tests = RedTests { check, tests };
        let evidence = cancel_when(
            &cancel,
            Grace::None,
            &|| self.deadline.is_some_and(|deadline| Instant::now() >= deadline),
            || rerun(self.policy, self.site, baseline, red_tests, tree, &cancel),
        );
        let evidence = evidence.ok().flatten()?;
        Some(Rerun { tests: split_tests(tests, &evidence, check)?, evidence })
    }
}

/// A test fails in two runs with the same message, but for numbers, or a message is not known.
fn fails_alike(left: &Evidence, right: &Evidence, test: &str) -> bool {
    let message = |evidence: &Evidence| {
        let mut failures = evidence.failures().into_iter();
        let failure = failures.find(|failure| failure.test.as_deref() == Some(test))?;
        // Line numbers and durations differ from run to run.
        Some(failure.message.replace(|c: char| c.is_ascii_digit(), ""))
    };
    message(left).zip(message(right)).is_none_or(|(left, right)| left == right)
}

/// Splits red tests by another run. `None` if that run shows nothing about them.
fn split_tests(red_tests: &[String], other_run: &Evidence, check: &str) -> Option<SplitTests> {
    match other_run.outcome {
        Outcome::Pass => Some(SplitTests { red: Vec::new(), passing: red_tests.to_vec() }),
        Outcome::Fail => {
            let failing = failing_tests(other_run);
            // If only one of the runs names tests, the other did not come to them.
            if (failing == [check]) != (red_tests == [check]) {
                return None;
            }
            let tests = red_tests.iter().cloned();
            let (red, passing) = tests.partition(|test| failing.contains(test));
            Some(SplitTests { red, passing })
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

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn split(red: &[&str], passing: &[&str]) -> Option<SplitTests> {
        Some(SplitTests { red: owned(red), passing: owned(passing) })
    }

    #[test]
    fn failures_are_compared_by_test() {
        let red = owned(&["a", "b"]);
        let older = run(Outcome::Fail, &["a", "c"]);
        assert_eq!(split_tests(&red, &older, "tests"), split(&["a"], &["b"]));
        let green = run(Outcome::Pass, &[]);
        assert_eq!(split_tests(&red, &green, "tests"), split(&[], &["a", "b"]));
    }

    #[test]
    fn a_run_that_names_no_test_says_nothing_of_one_that_does() {
        let broken = run(Outcome::Fail, &[]);
        assert_eq!(split_tests(&owned(&["a"]), &broken, "tests"), None);
        let check = owned(&["tests"]);
        assert_eq!(split_tests(&check, &broken, "tests"), split(&["tests"], &[]));
        assert_eq!(split_tests(&check, &run(Outcome::Inconclusive, &[]), "tests"), None);
    }
}
