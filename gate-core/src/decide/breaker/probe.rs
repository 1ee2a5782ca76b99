//! The way back from open: after the cool-down there is exactly one probe, with a
//! deadline. The breaker is closed only if the cause of the trip is gone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::iteration::Iteration;
use super::table::{BreakerState, Event};
use super::trip::Cause;
use super::{Breaker, Change, TripSnapshot};
use crate::decide::evidence::{Outcome, severity};
use crate::decide::policy::Policy;
use crate::decide::timestamp::Timestamp;

/// The longest cool-down, in milliseconds: a day, or what settings say.
const MAX_COOLDOWN_MS: u64 = 24 * 60 * 60 * 1000;

/// The time that a probe has beside its checks' own timeouts, in milliseconds.
const PROBE_SLACK_MS: u64 = 5 * 60 * 1000;

/// One attempt to close the breaker.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// The id of the decision that holds it.
    pub id: String,
    /// The time of its admission.
    pub since: Timestamp,
    /// The milliseconds after which it counts as failed.
    pub limit_ms: u64,
}

/// The breaker's answer to a decision that is about to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is closed.
    Free,
    /// It stops the loop.
    Held,
    /// This decision is the probe: the required checks run whatever the signal.
    Probe,
}

/// An admission, and the step that the breaker made for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The answer.
    pub admission: Admission,
    /// The breaker after the answer.
    pub breaker: Breaker,
    /// The transition, if any.
    pub change: Option<Change>,
}

impl Breaker {
    /// Admits a decision or not. `id` is the decision's own, under which it would be the
    /// probe. A decision without an id is never the probe.
    #[must_use]
    pub fn admit(&self, now: &Timestamp, policy: &Policy, id: &str) -> Admitted {
        let unchanged = |admission| Admitted { admission, breaker: self.clone(), change: None };
        // The id is the permit. If two gates ask at once, the store records the probe of one,
        // and the other reads a half-open breaker with a foreign id, which stops it. Empty
        // ids are all alike, so an empty one never holds the permit.
        match self.state {
            BreakerState::Closed => unchanged(Admission::Free),
            BreakerState::Isolated => unchanged(Admission::Held),
            BreakerState::Open if !id.is_empty() && self.is_cool(now, policy) => {
                let limit_ms = probe_limit_ms(policy);
                let probe = Probe { id: id.to_owned(), since: now.clone(), limit_ms };
                let (breaker, change) = self.half_opened(probe);
                Admitted { admission: Admission::Probe, breaker, change: Some(change) }
            }
            BreakerState::Open => unchanged(Admission::Held),
            // A probe whose process died never reports back. Its permit runs out and it counts
            // as failed, so another, longer cool-down begins before the next probe.
            BreakerState::HalfOpen => match self.gives_up(now) {
                Some((breaker, change)) => {
                    Admitted { admission: Admission::Held, breaker, change: Some(change) }
                }
                None => unchanged(self.answer_to(id)),
            },
        }
    }

    /// The answer of a half-open breaker: one decision alone is the probe.
    fn answer_to(&self, id: &str) -> Admission {
        match &self.probe {
            Some(probe) if !id.is_empty() && probe.id == id => Admission::Probe,
            _ => Admission::Held,
        }
    }

    /// The time until an open breaker admits a probe, in milliseconds. `None` if only an
    /// operator can close it, or if the clock went backwards.
    pub fn cools_in(&self, now: &Timestamp, policy: &Policy) -> Option<u64> {
        let snapshot = self.open_snapshot()?;
        Some(self.cooldown_ms(policy).saturating_sub(now.since(&snapshot.at)?))
    }

    /// The state of the run when the breaker was opened, while it is open.
    fn open_snapshot(&self) -> Option<&TripSnapshot> {
        if self.state == BreakerState::Open { self.snapshot.as_ref() } else { None }
    }

    /// The cool-down, twice as long after each trip without calm between.
    fn cooldown_ms(&self, policy: &Policy) -> u64 {
        let base = policy.breaker.cooldown_ms;
        let factor = 1_u64 << self.level.saturating_sub(1).min(16);
        base.saturating_mul(factor).min(base.max(MAX_COOLDOWN_MS))
    }

    /// The cool-down is over. After a clock that went backwards this is unknown,
    /// and so false.
    fn is_cool(&self, now: &Timestamp, policy: &Policy) -> bool {
        self.cools_in(now, policy) == Some(0)
    }

    /// The half-open breaker after the recorded admission of a probe. `None` if the probe
    /// may not try, whatever the cool-down.
    pub(crate) fn cools(&self, probe: Probe) -> Option<(Self, Change)> {
        let snapshot = self.open_snapshot()?;
        probe.since.since(&snapshot.at)?;
        Some(self.half_opened(probe))
    }

    /// The breaker that opens again because its probe did not report back in time. None
    /// if the probe has time left.
    pub(crate) fn gives_up(&self, now: &Timestamp) -> Option<(Self, Change)> {
        let is_overdue = self.state == BreakerState::HalfOpen && self.is_overdue(now);
        is_overdue.then(|| self.reopened(Event::ProbeOverdue, now))
    }

    fn half_opened(&self, probe: Probe) -> (Self, Change) {
        self.moved(Event::CooledDown, |breaker| Self { probe: Some(probe), ..breaker })
    }

    fn is_overdue(&self, now: &Timestamp) -> bool {
        self.probe.as_ref().is_none_or(|probe| {
            now.since(&probe.since).is_some_and(|elapsed_ms| elapsed_ms >= probe.limit_ms)
        })
    }

    /// Open again, for the same cause.
    fn reopened(&self, event: Event, now: &Timestamp) -> (Self, Change) {
        let snapshot =
            TripSnapshot { at: now.clone(), ..self.snapshot.clone().unwrap_or_default() };
        let level = self.level.saturating_add(1);
        self.moved(event, |breaker| Self {
            level,
            snapshot: Some(snapshot),
            probe: None,
            ..breaker
        })
    }

    /// The breaker that opens again after a failed probe.
    pub(crate) fn failed(&self, iteration: &Iteration) -> (Self, Change) {
        let (mut breaker, change) = self.reopened(Event::ProbeFailed, &iteration.at);
        if let Some(snapshot) = &mut breaker.snapshot
            && !has_progress(iteration, snapshot)
        {
            // Checks may write files themselves. Compared with the old tree, those would look
            // like progress to the next probe, and close a breaker that tripped for none.
            snapshot.tree = iteration.tree.clone().or(snapshot.tree.take());
        }
        (breaker, change)
    }

    /// A probe shows that the cause of the trip is gone.
    pub(crate) fn is_mended(&self, iteration: &Iteration) -> bool {
        if iteration.passed {
            return true;
        }
        let (Some(trip), Some(snapshot)) = (&self.trip, &self.snapshot) else { return false };
        if !iteration.measured || iteration.inconclusive || iteration.tampered || iteration.limited
        {
            return false;
        }
        // What was not measured proves no repair. Beyond that each cause has its own proof; those
        // in the first row end only with a pass, or with the operator.
        match trip.cause {
            Cause::NoExit | Cause::Refused | Cause::Operator => false,
            Cause::SameError => {
                iteration.signature != snapshot.signature && is_no_worse(iteration, snapshot)
            }
            Cause::NoProgress | Cause::OutputDecline => {
                has_progress(iteration, snapshot) && is_no_worse(iteration, snapshot)
            }
            Cause::PermissionDenied => !iteration.denied,
            Cause::Inconclusive
            | Cause::RateLimited
            | Cause::BudgetIterations
            | Cause::BudgetTokens
            | Cause::BudgetCost
            | Cause::BudgetWall => true,
        }
    }
}

/// The agent left another tree than when the breaker was opened.
fn has_progress(iteration: &Iteration, snapshot: &TripSnapshot) -> bool {
    match (&iteration.found, &snapshot.tree) {
        (Some(found), Some(opened)) => found != opened,
        _ => iteration.progress == Some(true),
    }
}

/// No check got worse since the breaker was opened.
fn is_no_worse(iteration: &Iteration, snapshot: &TripSnapshot) -> bool {
    iteration.checks.iter().all(|(name, outcome)| {
        let old_outcome = snapshot.checks.get(name).copied().unwrap_or(Outcome::Fail);
        severity(*outcome) <= severity(old_outcome)
    })
}

/// The time that a probe may take, in milliseconds: its checks one after the other, each
/// with its retries, and once more because the tree may change under them.
fn probe_limit_ms(policy: &Policy) -> u64 {
    let longest_runs = policy.checks.values().map(|check| {
        let runs = u64::from(check.retry).saturating_add(1).saturating_mul(2);
        check.timeout_ms.saturating_mul(runs)
    });
    longest_runs.fold(PROBE_SLACK_MS, u64::saturating_add)
}
