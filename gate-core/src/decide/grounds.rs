//! The grounds of an exit, the strongest first. They follow from the decision alone, so a record of
//! any age tells them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checks::{CRITERIA, GOAL, is_of_behaviour, persons_check};
use super::decision::Decision;
use super::evidence::{Evidence, worst_of};
use super::verdict::Verdict;
use crate::text::{MAX_NAMES, counted, some_names};

/// The kind of a ground, from the strongest to the weakest.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum GroundKind {
    /// The operator forced it.
    Operator,
    /// A person's goals whose commands pass.
    Goal,
    /// Criteria whose commands pass.
    Criteria,
    /// Tests that the agent does not see.
    Sealed,
    /// Tests that were written before the work.
    TestsFirst,
    /// Tests that are older than the work.
    OldTests,
    /// Checks that run the work, and compare it with nothing older.
    Checks,
    /// Checks that do not run the work: no check of behaviour.
    NoBehaviour,
    /// The agent's word alone.
    Word,
}

/// One thing that an exit rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Ground {
    /// Its kind.
    pub kind: GroundKind,
    /// The number of goals, criteria, tests or checks that pass; null if it is not shown.
    pub passed: Option<u64>,
    /// The number of all of them.
    pub total: Option<u64>,
    /// The same in words, for a person.
    pub text: String,
}

impl Ground {
    fn new(kind: GroundKind, text: impl Into<String>) -> Self {
        Self { kind, passed: None, total: None, text: text.into() }
    }

    fn counted(self, passed: u64, total: u64) -> Self {
        Self { passed: Some(passed), total: Some(total), ..self }
    }
}

impl Decision {
    /// The grounds of an exit, the strongest first; empty for any other verdict.
    pub fn rests_on(&self) -> Vec<Ground> {
        if self.verdict != Verdict::Exit {
            return Vec::new();
        }
        if self.forced {
            return vec![Ground::new(GroundKind::Operator, "the operator's word")];
        }
        if !self.verified {
            return vec![Ground::new(GroundKind::Word, "the agent's word alone")];
        }
        let evidence = &self.input.evidence;
        let passing = evidence
            .iter()
            .filter(|record| worst_of(evidence, &record.check).is_some_and(Evidence::counts));
        Passing(passing.collect()).grounds()
    }

    /// The cause of the verdict in one line: the grounds of an exit, else the first reason.
    pub fn cause(&self) -> String {
        let grounds = in_words(&self.rests_on());
        match self.input.observed.about_change() {
            _ if grounds.is_empty() => {
                self.reasons.first().map(|reason| reason.message.clone()).unwrap_or_default()
            }
            Some(change) => format!("{change}; {grounds}"),
            None => grounds,
        }
    }
}

/// The grounds in one line.
pub fn in_words(grounds: &[Ground]) -> String {
    grounds.iter().map(|ground| ground.text.as_str()).collect::<Vec<_>>().join(", ")
}

/// The evidence that passes and counts.
struct Passing<'d>(Vec<&'d Evidence>);

impl Passing<'_> {
    fn grounds(&self) -> Vec<Ground> {
        let grounds = [
            self.criteria(GroundKind::Goal),
            self.criteria(GroundKind::Criteria),
            self.sealed_tests(),
            self.first_tests(),
            self.old_tests(),
        ];
        let grounds: Vec<_> = grounds.into_iter().flatten().collect();
        let remaining = self.remaining_checks(!grounds.is_empty());
        grounds.into_iter().chain(remaining).collect()
    }

    /// The goals or the criteria that their commands show to be met.
    fn criteria(&self, kind: GroundKind) -> Option<Ground> {
        let is_goal = kind == GroundKind::Goal;
        let evidence: Vec<_> =
            self.0.iter().filter(|evidence| is_of_goals(evidence) == is_goal).collect();
        let states: Vec<_> = evidence.iter().flat_map(|evidence| states(evidence)).collect();
        let edited: Vec<_> =
            evidence.iter().flat_map(|evidence| edited_scripts(evidence)).collect();
        let count = |state| states.iter().filter(|listed| **listed == state).count() as u64;
        let (met, claimed, total) = (count("met"), count("claimed"), states.len() as u64);
        let noun = if is_goal { "goals" } else { "criteria" };
        let notes = [
            (claimed > 0).then(|| format!("{claimed} only claimed")),
            (!edited.is_empty()).then(|| format!("edited: {}", some_names(&edited, 1))),
        ];
        let note = in_brackets(notes);
        let text = match (is_goal, total) {
            (true, 1) => format!("the goal is met{note}"),
            _ => format!("{noun} met {met} of {total}{note}"),
        };
        (met > 0).then(|| Ground::new(kind, text).counted(met, total))
    }

    fn sealed_tests(&self) -> Option<Ground> {
        let sealed: Vec<_> = self.0.iter().filter_map(|evidence| evidence.sealed_tests()).collect();
        let is_readable = sealed.iter().any(|tests| tests.readable);
        let note = if is_readable { " (readable by the agent)" } else { "" };
        let passed: Option<u64> = sealed.iter().map(|tests| tests.passed).sum();
        let total: Option<u64> = sealed.iter().map(|tests| tests.total).sum();
        match passed.zip(total) {
            None => Some(Ground::new(GroundKind::Sealed, format!("sealed tests pass{note}"))),
            Some((_, 0)) => None,
            Some((passed, total)) => {
                let text = format!("sealed {passed} of {total}{note}");
                Some(Ground::new(GroundKind::Sealed, text).counted(passed, total))
            }
        }
    }

    fn first_tests(&self) -> Option<Ground> {
        let passed = self.0.iter().filter_map(|evidence| evidence.first_tests_passed()).sum();
        let text = format!("tests written first {passed}");
        (passed > 0).then(|| Ground::new(GroundKind::TestsFirst, text).counted(passed, passed))
    }

    /// The baseline's tests that pass again, of those that passed there.
    fn old_tests(&self) -> Option<Ground> {
        let compared: Vec<_> = self.0.iter().filter_map(|evidence| old_tests(evidence)).collect();
        let passed: u64 = compared.iter().map(|tests| tests.passed).sum();
        let approved: u64 = compared.iter().map(|tests| tests.approved).sum();
        let superseded: u64 = compared.iter().map(|tests| tests.superseded).sum();
        let edited: Vec<_> = self.0.iter().flat_map(|evidence| edited_files(evidence)).collect();
        let notes = [
            (approved > 0).then(|| format!("{approved} approved")),
            (superseded > 0).then(|| format!("{superseded} superseded")),
            (approved + superseded == 0 && !edited.is_empty())
                .then(|| format!("edited: {}", some_names(&edited, 1))),
        ];
        let note = in_brackets(notes);
        let total = passed + approved + superseded;
        let text = format!("old tests {passed} of {total}{note}");
        (total > 0).then(|| Ground::new(GroundKind::OldTests, text).counted(passed, total))
    }

    /// The checks of which no stronger ground speaks.
    fn remaining_checks(&self, has_grounds: bool) -> Option<Ground> {
        let of_behaviour = self.0.iter().filter(|evidence| is_of_behaviour(&evidence.check));
        let remaining = of_behaviour.filter(|evidence| !speaks_of(evidence)).count() as u64;
        let check_count = self.0.len() as u64;
        let counted_ground =
            |kind, count, text| Some(Ground::new(kind, text).counted(count, count));
        if has_grounds {
            let text = format!("{} passed", counted(remaining, "more check"));
            let ground = counted_ground(GroundKind::Checks, remaining, text);
            return if remaining > 0 { ground } else { None };
        }
        if remaining > 0 {
            let text = format!("{} passed", counted(check_count, "check"));
            return counted_ground(GroundKind::Checks, check_count, text);
        }
        let names: Vec<_> = self.0.iter().map(|evidence| evidence.check.clone()).collect();
        let text = format!("no check of behaviour: only {} passed", some_names(&names, MAX_NAMES));
        counted_ground(GroundKind::NoBehaviour, check_count, text)
    }
}

/// A stronger ground than its pass speaks of this check.
fn speaks_of(evidence: &Evidence) -> bool {
    evidence.check == CRITERIA
        || states(evidence).contains(&"met")
        || evidence.sealed_tests().is_some_and(|tests| tests.total != Some(0))
        || evidence.first_tests_passed() > Some(0)
        || old_tests(evidence)
            .is_some_and(|tests| tests.passed + tests.approved + tests.superseded > 0)
}

/// It is the check of a person's goals, and not one of the settings with this name, which lists none.
pub(crate) fn is_of_goals(evidence: &Evidence) -> bool {
    let is_named = evidence.check == GOAL || evidence.check == persons_check(GOAL);
    is_named && lists_criteria(evidence)
}

/// The check lists criteria or goals, each with its state.
pub(crate) fn lists_criteria(evidence: &Evidence) -> bool {
    !states(evidence).is_empty()
}

/// The notes on a ground, behind it.
fn in_brackets(notes: impl IntoIterator<Item = Option<String>>) -> String {
    let notes: Vec<_> = notes.into_iter().flatten().collect();
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) }
}

/// The criteria that a check lists.
fn criteria(evidence: &Evidence) -> impl Iterator<Item = &Value> {
    let list = evidence.detail.as_ref().and_then(|detail| detail.get("criteria")?.as_array());
    list.into_iter().flatten()
}

/// A check passes, and a goal or a criterion of it is met.
pub(super) fn meets_criterion(evidence: &Evidence) -> bool {
    evidence.counts() && states(evidence).contains(&"met")
}

/// The states of the criteria that a check lists.
fn states(evidence: &Evidence) -> Vec<&str> {
    criteria(evidence).filter_map(|criterion| criterion["state"].as_str()).collect()
}

/// The scripts that commands of criteria run and the work changed.
fn edited_scripts(evidence: &Evidence) -> Vec<String> {
    let lists = criteria(evidence).filter_map(|criterion| criterion["edited"].as_array());
    lists.flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The tests of the baseline in the record of a check.
struct OldTests {
    passed: u64,
    /// Failing or gone, as a person approved.
    approved: u64,
    /// Failing or gone, as a criterion or a sealed file of a person contradicts them.
    superseded: u64,
}

fn old_tests(evidence: &Evidence) -> Option<OldTests> {
    let compared = evidence.detail.as_ref()?.get("tests")?.get("baseline")?;
    let number = |key: &str| compared.get(key).and_then(Value::as_array).map_or(0, Vec::len) as u64;
    let passed = compared.get("passed")?.as_u64()?;
    Some(OldTests { passed, approved: number("allowed"), superseded: number("superseded") })
}

/// The files whose old texts ran in the place of the tree's: their new texts may ask for less.
fn edited_files(evidence: &Evidence) -> Vec<String> {
    let tests = evidence.detail.as_ref().and_then(|detail| detail.get("tests"));
    let files = tests.and_then(|tests| tests.get("overlaid")?.as_array());
    files.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
