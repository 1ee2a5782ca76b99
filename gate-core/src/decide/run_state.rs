//! The state that is kept from one decision to the next: the run, and the breaker.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::breaker::{
    Admission, Breaker, BreakerView, Change, Counters, Event, Iteration, Trip, TripSnapshot, due,
};
use super::budget;
use super::evidence::Outcome;
use super::iteration_facts::{IterationFacts, TreeState};
use super::policy::Policy;
use super::situation::Released;
use super::spent::Spent;
use super::stop::Refusals;
use super::timestamp::Timestamp;

/// After so much time without a decision a run has ended, in milliseconds.
const MAX_SILENCE_MS: u64 = 12 * 60 * 60 * 1000;

/// The number of output lengths that are kept: two groups of three are compared.
const KEPT_OUTPUTS: usize = 6;

/// The state that is kept from one decision to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Memory")]
pub struct LoopState {
    /// The loop's own breaker.
    pub breaker: Breaker,
    /// The operator's hold over the task, whichever loop works on it; absent if there never
    /// was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Breaker>,
    /// The run.
    pub run: RunState,
}

/// A run as its last decision left it.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunState {
    /// The number of its last iteration; 0 before the first.
    pub iteration: u64,
    /// When it began.
    pub started: Timestamp,
    /// When it was last heard of.
    pub last: Timestamp,
    /// The run has ended: with `exit`, or by the operator.
    #[serde(default)]
    pub ended: bool,
    /// The resets of the loop's breaker and of the operator's hold when the run began.
    #[serde(default)]
    pub resets: u64,
    /// The number of iterations that passed in a row.
    #[serde(default)]
    pub passed_in_a_row: u32,
    /// The counters that trip the breaker.
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
    /// The use of its budget.
    #[serde(default)]
    pub spent: Spent,
    /// The checks, as they were last seen.
    #[serde(default)]
    pub checks: BTreeMap<String, Outcome>,
    /// The refusals of the agent's stop, if a hook asks.
    #[serde(default, skip_serializing_if = "Refusals::is_none")]
    pub refusals: Refusals,
    /// The agent was told that a person has to approve changed tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told_of_tests: bool,
    /// The agent was asked if new files that nothing uses are the work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told_of_new_files: bool,
    /// The sentences about open work that the last claim was refused for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_left: Option<RefusedWords>,
    /// Number of decisions that sealed tests refused.
    #[serde(default, skip_serializing_if = "super::stop::is_zero")]
    pub sealed_refusals: u32,
    /// The project's settings that it goes by, as a digest or a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// The settings of the user when it began, as a digest or a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_settings: Option<String>,
}

/// Sentences about open work that a claim was refused for. They count no more at the next claim, if
/// no file changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedWords {
    /// The digests of the sentences.
    pub sentences: Vec<String>,
    /// The digest of the files at the refusal; absent if nobody looked at the tree.
    pub tree: Option<String>,
}

/// The state after an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateUpdate {
    /// The new state.
    pub(crate) memory: LoopState,
    /// The transition of the breaker, if any.
    pub(crate) change: Option<Change>,
    /// The causes for which the breaker stops the loop.
    pub(crate) trips: Vec<Trip>,
}

impl RunState {
    /// A run that begins after so many resets.
    pub fn begins(now: &Timestamp, resets: u64) -> Self {
        Self { started: now.clone(), last: now.clone(), resets, ..Self::default() }
    }

    /// The next decision belongs to another run. `resets` counts the resets so
    /// far.
    pub fn is_over(&self, now: &Timestamp, resets: u64) -> bool {
        self.has_ended(resets) || self.is_silent(now)
    }

    /// The run was ended by `exit`, by the operator or by a reset.
    pub(crate) fn has_ended(&self, resets: u64) -> bool {
        self.ended || self.resets != resets
    }

    fn is_silent(&self, now: &Timestamp) -> bool {
        now.since(&self.last).is_some_and(|silence_ms| silence_ms >= MAX_SILENCE_MS)
    }

    /// The run with one more decision, whatever the breaker says. Of two gates at once the later
    /// number counts, whichever ends first.
    fn noted(&self, observed: &IterationFacts) -> Self {
        let elapsed_ms = observed.at.since(&self.last).unwrap_or_default();
        let spent = self.spent.after(observed, elapsed_ms);
        let iteration = self.iteration.max(observed.iteration);
        Self {
            iteration,
            last: observed.at.clone(),
            spent,
            passed_in_a_row: self.passed_under(observed),
            settings: observed.settings.clone().or_else(|| self.settings.clone()),
            user_settings: self.user_settings.clone().or_else(|| observed.user_settings.clone()),
            ..self.clone()
        }
    }

    /// The number of iterations that passed in a row under the settings of this one.
    /// Those that passed under other or unknown settings do not count.
    pub(crate) fn passed_under(&self, observed: &IterationFacts) -> u32 {
        if self.settings == observed.settings { self.passed_in_a_row } else { 0 }
    }

    /// The run after an iteration that counts.
    fn counted(self, iteration: &Iteration) -> Self {
        let counters = self.counters.after(iteration, self.signature.as_deref());
        if iteration.limited && !iteration.passed {
            return Self { counters, ..self };
        }
        let passed_in_a_row =
            if iteration.passed { self.passed_in_a_row.saturating_add(1) } else { 0 };
        // An iteration that could not be measured does not break the row of an error.
        let keeps_signature =
            iteration.inconclusive && !iteration.passed && self.counters.same_error > 0;
        let mut checks = self.checks;
        checks.extend(iteration.checks.clone());
        Self {
            ended: iteration.exits,
            passed_in_a_row,
            counters,
            tree: iteration.tree.clone().or(self.tree),
            signature: if keeps_signature { self.signature } else { iteration.signature.clone() },
            outputs: output_lengths(self.outputs, iteration),
            checks,
            ..self
        }
    }

    /// The state to compare a probe with, if the breaker opens now.
    fn snapshot(&self, iteration: &Iteration) -> TripSnapshot {
        TripSnapshot {
            at: iteration.at.clone(),
            tree: self.tree.clone(),
            signature: self.signature.clone(),
            checks: self.checks.clone(),
        }
    }
}

/// The lengths of the last outputs. An iteration that passes begins anew, as
/// for the counters.
fn output_lengths(mut outputs: Vec<u64>, iteration: &Iteration) -> Vec<u64> {
    if iteration.passed {
        return Vec::new();
    }
    outputs.push(iteration.output);
    outputs.drain(..outputs.len().saturating_sub(KEPT_OUTPUTS));
    outputs
}

impl LoopState {
    /// The breaker that decides whether the loop may run: the operator's hold,
    /// unless it is closed; else the loop's own.
    pub fn governing(&self) -> &Breaker {
        self.held_by_operator().unwrap_or(&self.breaker)
    }

    /// The operator's hold, unless it is closed.
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

    /// The resets of the loop's breaker and of the operator's hold together.
    pub fn resets(&self) -> u64 {
        let hold_resets = self.hold.as_ref().map_or(0, |hold| hold.resets);
        self.breaker.resets.saturating_add(hold_resets)
    }

    /// A budget of the run is spent.
    pub fn is_spent(&self, policy: &Policy) -> bool {
        !budget::overspent(&self.run.spent, policy).is_empty()
    }

    /// The breaker's answer to a decision before it is made. A run without a budget is
    /// stopped, and so is every decision but the probe while the breaker is open.
    pub(crate) fn admission(&self, observed: &IterationFacts, policy: &Policy) -> Admission {
        if self.is_spent(policy) {
            return Admission::Held;
        }
        let probe_id = observed.probe.as_deref().unwrap_or_default();
        let admitted = self.governing().admit(&observed.at, policy, probe_id);
        // A probe begins before the decision, where it is recorded.
        let begins_probe = admitted.admission == Admission::Probe && admitted.change.is_some();
        if begins_probe { Admission::Held } else { admitted.admission }
    }

    /// After a decision that the breaker did not let through: it is noted, and
    /// nothing is counted.
    pub(crate) fn held(&self, observed: &IterationFacts) -> StateUpdate {
        self.with_run(self.run.noted(observed))
    }

    /// Another run, and the breaker as it is.
    fn with_run(&self, run: RunState) -> StateUpdate {
        StateUpdate { memory: Self { run, ..self.clone() }, change: None, trips: Vec::new() }
    }

    /// After a stop that was let go without a verdict that ends the work: it feeds no
    /// trip, and green checks begin the counters anew.
    pub(crate) fn released(&self, released: Released, observed: &IterationFacts) -> StateUpdate {
        let noted = self.run.noted(observed);
        let tree = observed.tree.as_ref().map(|tree| tree.after.clone());
        let mut run = RunState { tree: tree.or_else(|| noted.tree.clone()), ..noted };
        if released == Released::Green {
            run.counters = Counters::default();
            run.signature = None;
        }
        self.with_run(run)
    }

    /// After an iteration in which the agent could not work: what it used counts, and
    /// nothing else does.
    pub(crate) fn idle(&self, observed: &IterationFacts) -> StateUpdate {
        let mut run = self.run.noted(observed);
        run.spent.iterations = self.run.spent.iterations;
        self.with_run(run)
    }

    /// After the operator ended the run.
    pub(crate) fn forced(&self, observed: &IterationFacts) -> StateUpdate {
        self.with_run(RunState { ended: true, ..self.run.noted(observed) })
    }

    /// After an iteration.
    pub(crate) fn after(
        &self,
        iteration: &Iteration,
        observed: &IterationFacts,
        policy: &Policy,
    ) -> StateUpdate {
        let run = self.run.noted(observed).counted(iteration);
        if self.governing().is_closed() {
            self.after_watched(iteration, run, policy)
        } else {
            self.after_probe(iteration, run)
        }
    }

    /// A closed breaker opens if a trip is due, unless the loop ends.
    fn after_watched(&self, iteration: &Iteration, run: RunState, policy: &Policy) -> StateUpdate {
        let trips =
            if iteration.exits { Vec::new() } else { due(&run.counters, &run.outputs, policy) };
        let Some(first) = trips.first() else {
            let breaker = self.breaker.calmed(iteration);
            let memory = Self { breaker, run, hold: self.hold.clone() };
            return StateUpdate { memory, change: None, trips };
        };
        let (breaker, change) =
            self.breaker.opened(Event::Trip, first.clone(), run.snapshot(iteration));
        let memory = Self { breaker, run, hold: self.hold.clone() };
        StateUpdate { memory, change: Some(change), trips }
    }

    /// A probe closes the breaker and clears all counters if the cause is gone; else the
    /// breaker opens again.
    fn after_probe(&self, iteration: &Iteration, run: RunState) -> StateUpdate {
        let governing = self.governing();
        if governing.is_mended(iteration) {
            let (breaker, change) = governing.closed();
            let run = RunState { counters: Counters::default(), outputs: Vec::new(), ..run };
            let memory = self.with_governing(breaker, run);
            return StateUpdate { memory, change: Some(change), trips: Vec::new() };
        }
        let (breaker, change) = governing.failed(iteration);
        // A breaker without a recorded cause stops the loop all the same.
        let trips = vec![breaker.trip.clone().unwrap_or_else(Trip::unknown)];
        StateUpdate { memory: self.with_governing(breaker, run), change: Some(change), trips }
    }

    /// The state with this breaker in the place of the one that decides.
    fn with_governing(&self, breaker: Breaker, run: RunState) -> Self {
        match self.held_by_operator() {
            Some(_) => Self { hold: Some(breaker), run, breaker: self.breaker.clone() },
            None => Self { breaker, run, hold: self.hold.clone() },
        }
    }
}

#[cfg(test)]
mod tests;
