//! The way back from open: after the cool-down exactly one probe, with a
//! deadline, and closed only where what had tripped is gone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::iteration::Iteration;
use super::table::{BreakerState, Event};
use super::trip::{Cause, Trip};
use super::{Breaker, Change, Stood};
use crate::decide::evidence::{Outcome, severity};
use crate::decide::policy::Policy;
use crate::decide::timestamp::Timestamp;

/// The longest cool-down, in milliseconds: a day, or what settings say.
const LONGEST: u64 = 24 * 60 * 60 * 1000;

/// What a probe has beside its checks' own timeouts, in milliseconds.
const SLACK: u64 = 5 * 60 * 1000;

/// One try whether the breaker may be closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Who holds it.
    pub id: String,
    /// Since when.
    pub since: Timestamp,
    /// After so many milliseconds it counts as failed.
    pub limit_ms: u64,
}

/// What the breaker says to a decision that is about to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is closed.
    Free,
    /// It stops the loop.
    Held,
    /// This decision is the probe: the required checks run whatever the signal.
    Probe,
}

impl Breaker {
    /// Asks before a decision. `id` is the one under which the decision would
    /// hold the probe; without one it never holds it.
    #[must_use]
    pub fn admit(
        &self,
        now: &Timestamp,
        policy: &Policy,
        id: &str,
    ) -> (Admission, Self, Option<Change>) {
        match self.state {
            BreakerState::Closed => (Admission::Free, self.clone(), None),
            BreakerState::Isolated => (Admission::Held, self.clone(), None),
            BreakerState::Open if !id.is_empty() && self.is_cool(now, policy) => {
                let limit_ms = deadline(policy);
                let probe = Probe { id: id.to_owned(), since: now.clone(), limit_ms };
                let (breaker, change) = self.half_opened(probe);
                (Admission::Probe, breaker, Some(change))
            }
            BreakerState::Open => (Admission::Held, self.clone(), None),
            BreakerState::HalfOpen => match self.gives_up(now) {
                Some((breaker, change)) => (Admission::Held, breaker, Some(change)),
                None => (self.says_to(id), self.clone(), None),
            },
        }
    }

    /// What a half-open breaker says: one decision alone is the probe.
    fn says_to(&self, id: &str) -> Admission {
        let holds = |probe: &Probe| !id.is_empty() && probe.id == id;
        if self.probe.as_ref().is_some_and(holds) { Admission::Probe } else { Admission::Held }
    }

    /// When an open breaker lets a probe through: milliseconds from now; none
    /// where only an operator can close it, or the clock went backwards.
    pub fn cools_in(&self, now: &Timestamp, policy: &Policy) -> Option<u64> {
        let stood = self.stood.as_ref().filter(|_| self.state == BreakerState::Open)?;
        Some(self.cooldown(policy).saturating_sub(now.since(&stood.at)?))
    }

    /// The cool-down, twice as long after each trip without calm between.
    fn cooldown(&self, policy: &Policy) -> u64 {
        let base = policy.breaker.cooldown_ms;
        let factor = 1_u64 << self.level.saturating_sub(1).min(16);
        base.saturating_mul(factor).min(base.max(LONGEST))
    }

    /// Whether the cool-down is over. A clock that went backwards says nothing.
    fn is_cool(&self, now: &Timestamp, policy: &Policy) -> bool {
        self.cools_in(now, policy) == Some(0)
    }

    /// Half open, as the record of an admission says it: this probe may try.
    /// None where it may not, whatever the cool-down.
    pub(crate) fn cools(&self, probe: Probe) -> Option<(Self, Change)> {
        let stood = self.stood.as_ref().filter(|_| self.state == BreakerState::Open)?;
        probe.since.since(&stood.at)?;
        Some(self.half_opened(probe))
    }

    /// Open again because the probe did not report back by then. None where it
    /// had time left.
    pub(crate) fn gives_up(&self, now: &Timestamp) -> Option<(Self, Change)> {
        let overdue = self.state == BreakerState::HalfOpen && self.is_overdue(now);
        overdue.then(|| self.reopened(Event::ProbeOverdue, self.trip.clone(), now))
    }

    fn half_opened(&self, probe: Probe) -> (Self, Change) {
        self.goes(Event::CooledDown, |breaker| Self { probe: Some(probe), ..breaker })
    }

    fn is_overdue(&self, now: &Timestamp) -> bool {
        self.probe.as_ref().is_none_or(|probe| {
            now.since(&probe.since).is_some_and(|passed| passed >= probe.limit_ms)
        })
    }

    /// Open again, for this cause.
    fn reopened(&self, event: Event, trip: Option<Trip>, now: &Timestamp) -> (Self, Change) {
        let stood = Stood { at: now.clone(), ..self.stood.clone().unwrap_or_default() };
        let level = self.level.saturating_add(1);
        self.goes(event, |breaker| Self {
            level,
            trip,
            stood: Some(stood),
            probe: None,
            calm: 0,
            ..breaker
        })
    }

    /// Open again after a probe. What its checks alone wrote is no change for
    /// the next one.
    pub(crate) fn failed(&self, it: &Iteration) -> (Self, Change) {
        let (mut breaker, change) = self.reopened(Event::ProbeFailed, self.trip.clone(), &it.at);
        if let Some(stood) = &mut breaker.stood
            && !moved(it, stood)
        {
            stood.tree = it.tree.clone().or(stood.tree.take());
        }
        (breaker, change)
    }

    /// Whether what had tripped it is gone, after a probe.
    pub(crate) fn is_mended(&self, it: &Iteration) -> bool {
        if it.passed {
            return true;
        }
        let (Some(trip), Some(stood)) = (&self.trip, &self.stood) else { return false };
        if !it.measured || it.inconclusive || it.tampered || it.limited {
            return false;
        }
        match trip.cause {
            Cause::NoExit | Cause::Refused | Cause::Operator => false,
            Cause::SameError => it.signature != stood.signature && no_worse(it, stood),
            Cause::NoProgress | Cause::OutputDecline => moved(it, stood) && no_worse(it, stood),
            Cause::PermissionDenied => !it.denied,
            Cause::Inconclusive
            | Cause::RateLimited
            | Cause::BudgetIterations
            | Cause::BudgetTokens
            | Cause::BudgetCost
            | Cause::BudgetWall => true,
        }
    }
}

/// Whether the agent left another tree than when the breaker was opened.
fn moved(it: &Iteration, stood: &Stood) -> bool {
    match (&it.found, &stood.tree) {
        (Some(found), Some(then)) => found != then,
        _ => it.progress == Some(true),
    }
}

/// Whether no check got worse since the breaker was opened.
fn no_worse(it: &Iteration, stood: &Stood) -> bool {
    let then = |name: &String| stood.checks.get(name).copied().unwrap_or(Outcome::Fail);
    it.checks.iter().all(|(name, now)| severity(*now) <= severity(then(name)))
}

/// How long a probe may take: its checks one after the other, each as often as
/// it is retried, and once more where the tree changed under them.
fn deadline(policy: &Policy) -> u64 {
    let longest = policy.checks.values().map(|check| {
        let runs = u64::from(check.retry).saturating_add(1).saturating_mul(2);
        check.timeout_ms.saturating_mul(runs)
    });
    longest.fold(SLACK, u64::saturating_add)
}
