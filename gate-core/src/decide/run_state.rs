//! What is remembered from one decision to the next: the run, and the breaker.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::breaker::{
    Admission, Breaker, BreakerView, Change, Counters, Event, Iteration, Stood, Trip, due,
};
use super::budget;
use super::evidence::Outcome;
use super::iteration_facts::{IterationFacts, TreeState};
use super::policy::Policy;
use super::situation::Released;
use super::spent::Spent;
use super::stop::Refusals;
use super::timestamp::Timestamp;

/// A run in which nothing was decided for so long has ended, in milliseconds.
const SILENCE: u64 = 12 * 60 * 60 * 1000;

/// How many lengths of outputs are kept.
const OUTPUTS: usize = 6;

/// What is remembered from one decision to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Memory")]
pub struct LoopState {
    /// The loop's own breaker.
    pub breaker: Breaker,
    /// What an operator holds over the task, whichever loop works on it; none
    /// where nobody ever did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Breaker>,
    /// The run.
    pub run: RunState,
}

/// A run as its last decision left it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunState {
    /// The number of its last iteration; 0 before the first.
    pub iteration: u64,
    /// When it began.
    pub started: Timestamp,
    /// When it was last heard of.
    pub last: Timestamp,
    /// Whether it has ended: with `exit`, or by the operator.
    #[serde(default)]
    pub ended: bool,
    /// How often the loop's breaker and the operator's hold had been reset when
    /// it began.
    #[serde(default)]
    pub resets: u64,
    /// How many iterations passed in a row.
    #[serde(default)]
    pub passed_in_a_row: u32,
    /// What trips the breaker.
    #[serde(default)]
    pub counters: Counters,
    /// The work tree as the last iteration left it.
    #[serde(default)]
    pub tree: Option<TreeState>,
    /// The signature of the last iteration's error.
    #[serde(default)]
    pub signature: Option<String>,
    /// The lengths of the last outputs, in characters.
    #[serde(default)]
    pub outputs: Vec<u64>,
    /// What it has used.
    #[serde(default)]
    pub spent: Spent,
    /// The checks, as they were last seen.
    #[serde(default)]
    pub checks: BTreeMap<String, Outcome>,
    /// How often the agent's stop was refused, where a hook asks.
    #[serde(default, skip_serializing_if = "Refusals::is_none")]
    pub refusals: Refusals,
    /// The project's settings that it goes by, as a digest or a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
}

/// What an iteration comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fed {
    /// What is remembered from now on.
    pub(crate) memory: LoopState,
    /// What the breaker did.
    pub(crate) change: Option<Change>,
    /// Why the breaker stops the loop.
    pub(crate) trips: Vec<Trip>,
}

impl RunState {
    /// A run that begins after so many resets.
    pub fn begins(now: &Timestamp, resets: u64) -> Self {
        Self { started: now.clone(), last: now.clone(), resets, ..Self::default() }
    }

    /// Whether the next decision belongs to another run, after so many resets.
    pub fn is_over(&self, now: &Timestamp, resets: u64) -> bool {
        self.has_ended(resets) || self.is_silent(now)
    }

    /// Whether it was ended, by `exit`, by the operator or by a reset.
    pub(crate) fn has_ended(&self, resets: u64) -> bool {
        self.ended || self.resets != resets
    }

    fn is_silent(&self, now: &Timestamp) -> bool {
        now.since(&self.last).is_some_and(|passed| passed >= SILENCE)
    }

    /// The run with one more decision, whatever the breaker says. Of two gates
    /// at once the later number counts, whoever is done first.
    fn noted(&self, observed: &IterationFacts) -> Self {
        let passed = observed.at.since(&self.last).unwrap_or_default();
        let spent = self.spent.after(observed, passed);
        let iteration = self.iteration.max(observed.iteration);
        Self {
            iteration,
            last: observed.at.clone(),
            spent,
            passed_in_a_row: self.passed_under(observed),
            settings: observed.settings.clone().or_else(|| self.settings.clone()),
            ..self.clone()
        }
    }

    /// How many iterations passed in a row under the project's settings of this
    /// one: what passed under others counts no more, nor does it where nobody knows.
    pub(crate) fn passed_under(&self, observed: &IterationFacts) -> u32 {
        if self.settings == observed.settings { self.passed_in_a_row } else { 0 }
    }

    /// The run after an iteration that counts.
    fn counted(self, it: &Iteration) -> Self {
        let counters = self.counters.after(it, self.signature.as_deref());
        if it.limited && !it.passed {
            return Self { counters, ..self };
        }
        let passed_in_a_row = if it.passed { self.passed_in_a_row.saturating_add(1) } else { 0 };
        // An error's row that could not be measured on is not broken by that.
        let kept = it.inconclusive && !it.passed && self.counters.same_error > 0;
        let mut checks = self.checks;
        checks.extend(it.checks.clone());
        Self {
            ended: it.exits,
            passed_in_a_row,
            counters,
            tree: it.tree.clone().or(self.tree),
            signature: if kept { self.signature } else { it.signature.clone() },
            outputs: lengths(self.outputs, it),
            checks,
            ..self
        }
    }

    fn stands(&self, it: &Iteration) -> Stood {
        Stood {
            at: it.at.clone(),
            tree: self.tree.clone(),
            signature: self.signature.clone(),
            checks: self.checks.clone(),
        }
    }
}

/// The lengths of the last outputs. An iteration that passes begins anew, as
/// for the counters.
fn lengths(mut outputs: Vec<u64>, it: &Iteration) -> Vec<u64> {
    if it.passed {
        return Vec::new();
    }
    outputs.push(it.output);
    outputs.drain(..outputs.len().saturating_sub(OUTPUTS));
    outputs
}

impl LoopState {
    /// The breaker that decides whether the loop may run: the operator's hold,
    /// unless it is closed; else the loop's own.
    pub fn governing(&self) -> &Breaker {
        self.held_by_operator().unwrap_or(&self.breaker)
    }

    /// The operator's hold, where it is not closed.
    pub fn held_by_operator(&self) -> Option<&Breaker> {
        self.hold.as_ref().filter(|hold| !hold.is_closed())
    }

    /// The breaker that decides, with the counters of the run.
    pub fn breaker_view(&self) -> BreakerView {
        let breaker = self.governing();
        BreakerView {
            state: breaker.state,
            trip: breaker.trip.as_ref().map(|trip| trip.cause.name().to_owned()),
            counters: self.run.counters,
        }
    }

    /// How often the loop's breaker and the operator's hold were reset.
    pub fn resets(&self) -> u64 {
        let of_hold = self.hold.as_ref().map_or(0, |hold| hold.resets);
        self.breaker.resets.saturating_add(of_hold)
    }

    /// Whether a budget of the run was spent before the next decision.
    pub fn is_spent(&self, policy: &Policy) -> bool {
        !budget::overspent(&self.run.spent, policy).is_empty()
    }

    /// What is said to a decision before it is made: a run without a budget is
    /// held, and so is every decision but the probe where the breaker is open.
    pub(crate) fn admission(&self, observed: &IterationFacts, policy: &Policy) -> Admission {
        if self.is_spent(policy) {
            return Admission::Held;
        }
        let id = observed.probe.as_deref().unwrap_or_default();
        match self.governing().admit(&observed.at, policy, id) {
            // A probe begins before the decision, where it is recorded.
            (Admission::Probe, _, Some(_)) => Admission::Held,
            (admission, ..) => admission,
        }
    }

    /// After a decision that the breaker did not let through: it is noted, and
    /// nothing is counted.
    pub(crate) fn held(&self, observed: &IterationFacts) -> Fed {
        let run = self.run.noted(observed);
        Fed { memory: Self { run, ..self.clone() }, change: None, trips: Vec::new() }
    }

    /// After a stop that was let go without a verdict that ends the work: it feeds no
    /// trip, and green checks begin the counters anew.
    pub(crate) fn released(&self, released: Released, observed: &IterationFacts) -> Fed {
        let noted = self.run.noted(observed);
        let tree = observed.tree.as_ref().map(|tree| tree.after.clone());
        let run = RunState { tree: tree.or_else(|| noted.tree.clone()), ..noted };
        let run = match released {
            Released::Green => RunState { counters: Counters::default(), signature: None, ..run },
            Released::Red | Released::NotRun => run,
        };
        Fed { memory: Self { run, ..self.clone() }, change: None, trips: Vec::new() }
    }

    /// After an iteration in which the agent could not work: what it used counts, and
    /// nothing else does.
    pub(crate) fn idle(&self, observed: &IterationFacts) -> Fed {
        let mut run = self.run.noted(observed);
        run.spent.iterations = self.run.spent.iterations;
        Fed { memory: Self { run, ..self.clone() }, change: None, trips: Vec::new() }
    }

    /// After the operator ended the run.
    pub(crate) fn forced(&self, observed: &IterationFacts) -> Fed {
        let run = RunState { ended: true, ..self.run.noted(observed) };
        Fed { memory: Self { run, ..self.clone() }, change: None, trips: Vec::new() }
    }

    /// After an iteration.
    pub(crate) fn fed(&self, it: &Iteration, observed: &IterationFacts, policy: &Policy) -> Fed {
        let run = self.run.noted(observed).counted(it);
        if self.governing().is_closed() {
            self.watched(it, run, policy)
        } else {
            self.probed(it, run)
        }
    }

    /// A closed breaker: it opens where a trip is due, unless the loop ends.
    fn watched(&self, it: &Iteration, run: RunState, policy: &Policy) -> Fed {
        let trips = if it.exits { Vec::new() } else { due(&run.counters, &run.outputs, policy) };
        let Some(first) = trips.first() else {
            let breaker = self.breaker.calmed(it);
            let memory = Self { breaker, run, hold: self.hold.clone() };
            return Fed { memory, change: None, trips };
        };
        let (breaker, change) = self.breaker.opened(Event::Trip, first.clone(), run.stands(it));
        let memory = Self { breaker, run, hold: self.hold.clone() };
        Fed { memory, change: Some(change), trips }
    }

    /// A probe: closed with all counters at zero where the cause is gone, else
    /// open again.
    fn probed(&self, it: &Iteration, run: RunState) -> Fed {
        let before = self.governing();
        if before.is_mended(it) {
            let (breaker, change) = before.closed();
            let run = RunState { counters: Counters::default(), outputs: Vec::new(), ..run };
            let memory = self.governed(breaker, run);
            return Fed { memory, change: Some(change), trips: Vec::new() };
        }
        let (breaker, change) = before.failed(it);
        // A breaker without a recorded cause stops the loop all the same.
        let trips = vec![breaker.trip.clone().unwrap_or_else(Trip::unknown)];
        Fed { memory: self.governed(breaker, run), change: Some(change), trips }
    }

    /// The memory with this breaker in the place of the one that decides.
    fn governed(&self, breaker: Breaker, run: RunState) -> Self {
        match self.held_by_operator() {
            Some(_) => Self { hold: Some(breaker), run, breaker: self.breaker.clone() },
            None => Self { breaker, run, hold: self.hold.clone() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_under_other_settings_counts_no_more() {
        let named = |name: Option<&str>| name.map(str::to_owned);
        let passed = |run: Option<&str>, now: Option<&str>| {
            let run = RunState { passed_in_a_row: 3, settings: named(run), ..RunState::default() };
            let observed = IterationFacts { settings: named(now), ..IterationFacts::default() };
            let noted = run.noted(&observed);
            assert_eq!(noted.settings, named(now.or(run.settings.as_deref())));
            assert_eq!(noted.passed_in_a_row, run.passed_under(&observed));
            noted.passed_in_a_row
        };
        assert_eq!((passed(Some("a"), Some("a")), passed(None, None)), (3, 3));
        for (run, now) in [(Some("a"), Some("b")), (None, Some("a")), (Some("a"), None)] {
            assert_eq!(passed(run, now), 0, "{run:?} {now:?}");
        }
    }
}
