//! Rulings on stops that a hook lets go without a verdict that ends the work. [`Situation::course`]
//! decides which stops those are.

use super::checks::{CRITERIA, runs_the_work};
use super::elsewhere::WorkElsewhere;
use super::evidence::{Evidence, Outcome, worst_of};
use super::input::Input;
use super::policy::{Mode, OnRed, Policy};
use super::reason::{Reason, ReasonCode};
use super::signal::Status;
use super::situation::{Released, Situation, Work, are};
use super::stop::Refusals;
use crate::trouble::normalise;

/// The number of times in a row that one failure refuses a stop in an interactive
/// session.
pub(super) const MAX_SAME_FAILURES: u32 = 2;

/// The ruling on a stop.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StopRuling {
    Release(Released, Reason),
    Refuse(Vec<Reason>),
    /// It is let go red. The agent reads the reasons with the next prompt.
    Advise(Vec<Reason>),
}

/// A stop that is ruled by its checks, or released as it stands.
pub(super) struct StopCase<'a> {
    pub(super) input: &'a Input,
    pub(super) policy: &'a Policy,
    pub(super) situation: &'a Situation,
    pub(super) refusals: Refusals,
}

impl StopCase<'_> {
    /// Lets the stop go as it stands.
    pub(super) fn release(&self) -> StopRuling {
        let cause = if self.situation.asks {
            "the agent asks something"
        } else if self.input.signal.status == Status::Continue {
            "the agent says that work remains"
        } else if self.situation.work == Work::Prose {
            "only prose changed"
        } else {
            "nothing changed since the last prompt or check"
        };
        let parts = [
            Some(cause.to_owned()),
            self.situation.owed_red(),
            self.elsewhere(),
            self.situation.news(),
        ];
        released(Released::NotRun, parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }

    /// Lets an agent wait.
    pub(super) fn wait(&self) -> StopRuling {
        let waits = self.situation.waits.join(", ");
        released(Released::Waiting, format!("the agent waits: {waits}"))
    }

    /// Work that does not stand in the tree, in words.
    fn elsewhere(&self) -> Option<String> {
        let missing = self.input.observed.elsewhere.iter().filter(|work| work.checked.is_none());
        let missing: Vec<_> = missing.map(WorkElsewhere::words).collect();
        (!missing.is_empty()).then(|| format!("work elsewhere, not judged: {}", missing.join(", ")))
    }

    /// Rules by the checks. `refusing` are the reasons that a loop's iteration would
    /// get from them.
    pub(super) fn look(&self, refusing: Vec<Reason>) -> StopRuling {
        if self.policy.checks.is_empty() {
            return released(Released::NotRun, "no check is configured here: `gate init`");
        }
        let failing: Vec<_> = self.failing().collect();
        if failing.is_empty() {
            return self.without_failure();
        }
        let own_failures: Vec<_> =
            failing.iter().flat_map(|record| self.own_failures(record)).collect();
        if own_failures.is_empty() {
            return self.excused();
        }
        if self.situation.work != Work::Changed && !self.situation.always {
            let message = format!("{} still red from your earlier change", are(&own_failures));
            return self.with_news(Released::Red, message);
        }
        if !self.situation.is_unattended() && self.is_refused_enough() {
            let message =
                format!("{} still red after {MAX_SAME_FAILURES} refusals", are(&own_failures));
            return self.with_news(Released::Red, message);
        }
        let own_checks: Vec<_> = failing
            .iter()
            .filter(|record| !self.own_failures(record).is_empty())
            .map(|record| record.check.as_str())
            .collect();
        let mut reasons = refusing;
        reasons.retain(|reason| {
            reason.check.as_deref().is_some_and(|check| own_checks.contains(&check))
        });
        match self.policy.hook.on_red {
            OnRed::Advise if !self.situation.is_unattended() => StopRuling::Advise(reasons),
            OnRed::Advise | OnRed::Refuse => StopRuling::Refuse(reasons),
        }
    }

    /// A digest of the failures, by which they are known again.
    pub(super) fn failure(&self) -> Option<String> {
        let mut names: Vec<_> = self
            .failing()
            .flat_map(|record| {
                let failures = self.own_failures(record).into_iter();
                failures.map(|name| format!("{}:{name}{}", record.check, self.words_of(record)))
            })
            .collect();
        names.sort();
        (!names.is_empty()).then(|| crate::digest(names.join("\n").as_bytes()))
    }

    /// The check is of goals: in a session no other one but that of criteria has criteria.
    fn is_of_goal(&self, record: &Evidence) -> bool {
        let policy = self.policy.checks.get(&record.check);
        record.check != CRITERIA && policy.is_some_and(|check| !check.criteria.is_empty())
    }

    /// The words by which a failing goal is known again: it may fail in many ways, and has no names
    /// of tests. Numbers, addresses and temporary folders differ from run to run.
    fn words_of(&self, record: &Evidence) -> String {
        if !self.is_of_goal(record) {
            return String::new();
        }
        let excerpt = record.excerpt.as_deref().unwrap_or_default();
        let lines = excerpt.lines().map(|line| format!(":{}", normalise(line)));
        lines.collect()
    }

    fn is_refused_enough(&self) -> bool {
        self.refusals.same >= MAX_SAME_FAILURES && self.refusals.failure == self.failure()
    }

    /// The required checks that failed and refuse a stop: all of them if the agent
    /// says that it is done, else those that run the work. What is open or not
    /// committed in the middle of a plan is no failure.
    fn failing(&self) -> impl Iterator<Item = &Evidence> {
        let claims = self.input.signal.status == Status::Complete;
        self.input.evidence.iter().filter(move |evidence| {
            evidence.outcome == Outcome::Fail
                && self.is_required(evidence)
                && (claims || runs_the_work(&evidence.check))
        })
    }

    fn is_required(&self, evidence: &Evidence) -> bool {
        let policy = self.policy.checks.get(&evidence.check);
        policy.map_or(evidence.mode, |check| check.mode) == Mode::Require
    }

    /// The failures of a check that the session answers for: those that have no other known cause.
    fn own_failures(&self, evidence: &Evidence) -> Vec<String> {
        match self.situation.shares_of(&evidence.check) {
            Some(failure) => failure.own.clone(),
            None => failing_tests(evidence),
        }
    }

    /// Every failure is another's, or older than the session.
    fn excused(&self) -> StopRuling {
        let kind = if self.situation.is_only_flaky() { Released::Green } else { Released::Red };
        self.with_news(kind, self.situation.failures_of_others().unwrap_or_default())
    }

    /// Lets the stop go, with the news of changed tests.
    fn with_news(&self, kind: Released, message: String) -> StopRuling {
        let parts = [Some(message), self.elsewhere(), self.situation.news()];
        released(kind, parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }

    fn without_failure(&self) -> StopRuling {
        let undecided: Vec<_> = self.undecided().collect();
        if let Some(first) = undecided.first() {
            let cause = if first.summary.is_empty() { "it did not run" } else { &first.summary };
            return self.with_news(Released::NotRun, format!("{}: {cause}", first.check));
        }
        let evidence = self.input.evidence.iter();
        let passed: Vec<_> = evidence
            .filter(|record| record.outcome == Outcome::Pass)
            .map(|record| match self.is_of_goal(record) {
                true => format!("{} {}", record.check, record.summary),
                false => format!("{} ({})", record.check, record.summary),
            })
            .collect();
        let open_items: Vec<_> = self.open_items().collect();
        let mut message = match passed.is_empty() {
            true => "no check ran".to_owned(),
            false => format!("passed: {}", passed.join(", ")),
        };
        if !open_items.is_empty() {
            message.push_str(&format!("; open: {}", open_items.join(", ")));
        }
        let kind = if passed.is_empty() { Released::NotRun } else { Released::Green };
        self.with_news(kind, message)
    }

    /// Required checks without a conclusive result here.
    fn undecided(&self) -> impl Iterator<Item = &Evidence> {
        let claims = self.input.signal.status == Status::Complete;
        self.policy.checks.keys().filter_map(|name| worst_of(&self.input.evidence, name)).filter(
            move |record| {
                matches!(record.outcome, Outcome::Inconclusive | Outcome::Skipped)
                    && self.is_required(record)
                    && (claims || runs_the_work(&record.check))
            },
        )
    }

    /// Open items of plans and the like.
    fn open_items(&self) -> impl Iterator<Item = String> {
        let failed = self.input.evidence.iter().filter(|record| record.outcome == Outcome::Fail);
        let unfinished =
            failed.filter(|record| self.is_required(record) && !runs_the_work(&record.check));
        unfinished.map(|record| format!("{} ({})", record.check, record.summary))
    }
}

/// Rules a stop that was decided as a loop's iteration is and would go on: the stop is released
/// if nothing is missing but checks that cannot be measured in a hook.
pub(super) fn beyond_a_hook(
    reasons: &[Reason],
    input: &Input,
    policy: &Policy,
) -> Option<StopRuling> {
    use ReasonCode::{CheckNotRun, CheckRunning, RequiredCheckInconclusive, ThresholdNotReached};
    let undecided = [CheckNotRun, CheckRunning, RequiredCheckInconclusive];
    let first = reasons.iter().find(|reason| undecided.contains(&reason.code))?;
    let is_nothing_else_missing = reasons
        .iter()
        .all(|reason| undecided.contains(&reason.code) || reason.code == ThresholdNotReached);
    let claims = input.signal.status == Status::Complete && !policy.checks.is_empty();
    (is_nothing_else_missing && claims).then(|| released(Released::NotRun, first.message.clone()))
}

/// Rules a stop that would be `exit` if required checks do not run in hooks: it is
/// released.
pub(super) fn checked_elsewhere(situation: &Situation) -> Option<StopRuling> {
    let elsewhere = situation.elsewhere.join(", ");
    (!elsewhere.is_empty()).then(|| {
        let message = format!("what runs in a hook passed; not run here: {elsewhere}");
        released(Released::Green, message)
    })
}

fn released(kind: Released, message: impl Into<String>) -> StopRuling {
    StopRuling::Release(kind, Reason::new(ReasonCode::Released, message))
}

/// The failing tests that a check reports; else its own name.
pub fn failing_tests(evidence: &Evidence) -> Vec<String> {
    let names = evidence.failed_tests();
    if names.is_empty() {
        return vec![evidence.check.clone()];
    }
    names.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
