//! Rulings on stops that a hook lets go without a verdict that ends the work. Which
//! stops those are is [`Situation::course`]'s.

use super::evidence::{Evidence, Outcome, worst_of};
use super::input::Input;
use super::policy::{Mode, Policy};
use super::reason::{Reason, ReasonCode};
use super::signal::Status;
use super::situation::{Released, Situation, Work, are, were};
use super::stop::Refusals;

/// How often one failure refuses in a row in an interactive session.
const SAME_FAILURE: u32 = 2;

/// What a stop comes to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ruling {
    Release(Released, Reason),
    Refuse(Vec<Reason>),
}

/// A stop whose checks are looked at, or that is let go as it stands.
pub(super) struct Stopped<'a> {
    pub(super) input: &'a Input,
    pub(super) policy: &'a Policy,
    pub(super) situation: &'a Situation,
    pub(super) refusals: Refusals,
}

impl Stopped<'_> {
    /// Lets it go as it stands.
    pub(super) fn release(&self) -> Ruling {
        let what = if self.situation.asks {
            "the agent asks something"
        } else if self.input.signal.status == Status::Continue {
            "the agent says that work remains"
        } else if self.situation.work == Work::Prose {
            "only prose changed"
        } else {
            "nothing changed since the prompt"
        };
        released(
            Released::NotRun,
            match self.situation.owed_red() {
                Some(owed) => format!("{what}; {owed}"),
                None => what.to_owned(),
            },
        )
    }

    /// Rules by the checks. `refusing` are the reasons that a loop's iteration would
    /// get from them.
    pub(super) fn look(&self, refusing: Vec<Reason>) -> Ruling {
        if self.policy.checks.is_empty() {
            return released(Released::NotRun, "no check is configured here: `gate init`");
        }
        let tampered = |reason: &Reason| reason.code == ReasonCode::Tampered;
        if refusing.iter().any(tampered) {
            return Ruling::Refuse(refusing.into_iter().filter(tampered).collect());
        }
        let failing: Vec<_> = self.failing().collect();
        if failing.is_empty() {
            return self.without_failure();
        }
        let own: Vec<_> = failing.iter().flat_map(|failing| self.own(failing)).collect();
        if own.is_empty() {
            return self.excused(&failing);
        }
        if self.situation.work != Work::Changed && !self.situation.always {
            return released(
                Released::Red,
                format!("{} still red from your earlier change", are(&own)),
            );
        }
        if !self.situation.headless && self.is_refused_enough() {
            return released(
                Released::Red,
                format!("{} still red after {SAME_FAILURE} refusals", are(&own)),
            );
        }
        let is_failing = |reason: &Reason| {
            reason.check.as_ref().is_some_and(|check| {
                failing.iter().any(|it| it.check == *check && !self.own(it).is_empty())
            })
        };
        Ruling::Refuse(refusing.into_iter().filter(is_failing).collect())
    }

    /// A digest of what is red, by which a failure is known again.
    pub(super) fn failure(&self) -> Option<String> {
        let mut names: Vec<_> = self
            .failing()
            .flat_map(|it| self.own(it).into_iter().map(|own| format!("{}:{own}", it.check)))
            .collect();
        names.sort();
        (!names.is_empty()).then(|| crate::digest(names.join("\n").as_bytes()))
    }

    fn is_refused_enough(&self) -> bool {
        self.refusals.same >= SAME_FAILURE && self.refusals.failure == self.failure()
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

    /// What of a failing check the session answers for: what nobody can be given is
    /// its own.
    fn own(&self, evidence: &Evidence) -> Vec<String> {
        match self.situation.of_check(&evidence.check) {
            Some(failure) => failure.own.clone(),
            None => failing_tests(evidence),
        }
    }

    /// Every failure is another's, or older than the session.
    fn excused(&self, failing: &[&Evidence]) -> Ruling {
        let shares = failing.iter().filter_map(|it| self.situation.of_check(&it.check));
        let before: Vec<_> = shares.flat_map(|it| &it.before).cloned().collect();
        let claims = self.input.signal.status == Status::Complete;
        if claims && !before.is_empty() && !self.refusals.named_before {
            let message = format!("{} red before you began", were(&before));
            return Ruling::Refuse(vec![Reason::new(ReasonCode::RedBefore, message)]);
        }
        released(Released::Red, self.situation.not_own().unwrap_or_default())
    }

    fn without_failure(&self) -> Ruling {
        let undecided: Vec<_> = self.undecided().collect();
        if let Some(first) = undecided.first() {
            let why = if first.summary.is_empty() { "it did not run" } else { &first.summary };
            return released(Released::NotRun, format!("{}: {why}", first.check));
        }
        let passed = self.input.evidence.iter().filter(|it| it.outcome == Outcome::Pass);
        let passed: Vec<_> = passed.map(|it| format!("{} ({})", it.check, it.summary)).collect();
        let open: Vec<_> = self.open().collect();
        let mut message = match passed.is_empty() {
            true => "no check ran".to_owned(),
            false => format!("passed: {}", passed.join(", ")),
        };
        if !open.is_empty() {
            message.push_str(&format!("; open: {}", open.join(", ")));
        }
        let kind = if passed.is_empty() { Released::NotRun } else { Released::Green };
        released(kind, message)
    }

    /// Required checks that could not be found out here.
    fn undecided(&self) -> impl Iterator<Item = &Evidence> {
        let claims = self.input.signal.status == Status::Complete;
        self.policy.checks.keys().filter_map(|name| worst_of(&self.input.evidence, name)).filter(
            move |it| {
                matches!(it.outcome, Outcome::Inconclusive | Outcome::Skipped)
                    && self.is_required(it)
                    && (claims || runs_the_work(&it.check))
            },
        )
    }

    /// Open items of plans and the like.
    fn open(&self) -> impl Iterator<Item = String> {
        let failed = self.input.evidence.iter().filter(|it| it.outcome == Outcome::Fail);
        let open = failed.filter(|it| self.is_required(it) && !runs_the_work(&it.check));
        open.map(|it| format!("{} ({})", it.check, it.summary))
    }
}

/// Rules a stop that was decided as a loop's iteration is and would go on: what cannot
/// be found out in a hook lets go. None where something else is missing too.
pub(super) fn beyond_a_hook(reasons: &[Reason], input: &Input, policy: &Policy) -> Option<Ruling> {
    use ReasonCode::{CheckNotRun, CheckRunning, RequiredCheckInconclusive, ThresholdNotReached};
    let late = |reason: &Reason| {
        matches!(reason.code, CheckNotRun | CheckRunning | RequiredCheckInconclusive)
    };
    let first = reasons.iter().find(|reason| late(reason))?;
    let only = reasons.iter().all(|reason| late(reason) || reason.code == ThresholdNotReached);
    let complete = input.signal.status == Status::Complete && !policy.checks.is_empty();
    (only && complete).then(|| released(Released::NotRun, first.message.clone()))
}

/// Rules a stop that would be `exit`, where a required check does not run in hooks.
pub(super) fn checked_elsewhere(situation: &Situation) -> Option<Ruling> {
    let elsewhere = situation.elsewhere.join(", ");
    (!elsewhere.is_empty()).then(|| {
        let message = format!("what runs in a hook passed; not run here: {elsewhere}");
        released(Released::Green, message)
    })
}

fn released(kind: Released, message: impl Into<String>) -> Ruling {
    Ruling::Release(kind, Reason::new(ReasonCode::Released, message))
}

/// Whether a check runs what was written. The others look at plans, at git and at
/// settings.
pub fn runs_the_work(check: &str) -> bool {
    let looks = ["acceptance_criteria", "clean_git", "handoff", "review", "integrity", "noticed"];
    !looks.contains(&check)
}

/// The failing tests that a check reports; else its own name.
pub fn failing_tests(evidence: &Evidence) -> Vec<String> {
    let detail = evidence.detail.as_ref();
    let named = detail.and_then(|it| it.pointer("/tests/failed_tests")?.as_array());
    let names = named.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned));
    let names: Vec<_> = names.collect();
    if names.is_empty() { vec![evidence.check.clone()] } else { names }
}
