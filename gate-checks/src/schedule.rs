//! One round of checks: which runs when.
//!
//! A limited number runs at once, the cheap checks first, each after those that it needs. As soon
//! as the verdict is certain, running checks are ended and waiting ones are not started, unless the
//! caller wants every result.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};

use crate::cancellation::{CancelReason, Grace};
use crate::check::CheckContext;
use crate::checks::Planned;
use crate::decorate::NO_SLOT;
use crate::event::Event;
use crate::site::CheckSite;
use gate_core::state_folder::PANICS;

/// Options of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The most checks that run at once.
    pub(crate) jobs: usize,
    /// All checks run, although the verdict is certain.
    pub(crate) runs_all: bool,
    /// The time at which the round ends, with the checks that still run.
    pub(crate) deadline: Option<Instant>,
}

/// Runs these checks; one record each, in the order in which they ended.
pub(crate) async fn run_round(plan: &[Planned], cx: &CheckContext, rules: Rules) -> Vec<Evidence> {
    let cx = CheckContext { cancel: cx.cancel.child(), ..cx.clone() };
    let mut round = Round::new(plan, cx, rules);
    loop {
        round.start_ready_checks();
        if !round.take_next_record().await {
            return round.records;
        }
    }
}

/// The index of a check in the plan of a round, the cheap checks first.
type Index = usize;

struct Round<'p> {
    cx: CheckContext,
    rules: Rules,
    plan: Vec<&'p Planned>,
    /// For each check, the number of needed checks that have yet to pass. A need outside of this
    /// round is met already.
    open_needs: Vec<usize>,
    /// For each check, those that need it.
    needed_by: Vec<Vec<Index>>,
    /// The checks that have not started.
    waiting: BTreeSet<Index>,
    /// The waiting checks whose needs are met.
    ready: BTreeSet<Index>,
    running: JoinSet<Evidence>,
    running_indexes: BTreeMap<Id, Index>,
    /// The records of the checks that have ended.
    records: Vec<Evidence>,
}

impl<'p> Round<'p> {
    fn new(plan: &'p [Planned], cx: CheckContext, rules: Rules) -> Self {
        let mut plan: Vec<_> = plan.iter().collect();
        plan.sort_by_key(|planned| (planned.cost, planned.check.id()));
        let indexes: BTreeMap<_, _> =
            plan.iter().enumerate().map(|(index, planned)| (planned.check.id(), index)).collect();
        let mut needed_by = vec![Vec::new(); plan.len()];
        let mut open_needs = Vec::with_capacity(plan.len());
        for (index, planned) in plan.iter().enumerate() {
            let needs: BTreeSet<Index> =
                planned.needs.iter().filter_map(|need| indexes.get(need).copied()).collect();
            open_needs.push(needs.len());
            needs.into_iter().for_each(|need| needed_by[need].push(index));
        }
        Self {
            cx,
            rules,
            ready: (0..plan.len()).filter(|index| open_needs[*index] == 0).collect(),
            waiting: (0..plan.len()).collect(),
            plan,
            open_needs,
            needed_by,
            running: JoinSet::new(),
            running_indexes: BTreeMap::new(),
            records: Vec::new(),
        }
    }

    fn start_ready_checks(&mut self) {
        let is_late = self.rules.deadline.is_some_and(|deadline| deadline <= Instant::now());
        while !is_late && self.certain_reason().is_none() && self.running.len() < self.rules.jobs {
            let Some(index) = self.ready.pop_first() else { break };
            self.start(index);
        }
        if let Some(reason) = self.certain_reason().map(str::to_owned) {
            self.skip_waiting(|planned| skipped(planned, reason.clone()));
        } else if is_late {
            self.skip_waiting(not_started);
        }
    }

    fn start(&mut self, index: Index) {
        self.waiting.remove(&index);
        if self.plan[index].is_too_long {
            self.add_record(index, not_started(self.plan[index]));
            return;
        }
        let check = self.plan[index].check.clone();
        self.cx.options.events.send(Event::Started { check: check.id().clone() });
        let cx = self.cx.clone();
        let task = self.running.spawn(async move { check.run(&cx).await });
        self.running_indexes.insert(task.id(), index);
    }

    fn skip_waiting(&mut self, record: impl Fn(&Planned) -> Evidence) {
        self.ready.clear();
        for index in std::mem::take(&mut self.waiting) {
            self.add_record(index, record(self.plan[index]));
        }
    }

    /// Waits for the next record, or the deadline. Returns `false` if no record is to come.
    async fn take_next_record(&mut self) -> bool {
        // After the deadline, or without a running check, there is nothing to be cancelled.
        let is_grace_over = self.cx.cancel.is_grace_over();
        let can_be_late = !is_grace_over && !self.running.is_empty();
        let deadline = if can_be_late { self.rules.deadline } else { None };
        let joined = tokio::select! {
            biased;
            joined = self.running.join_next_with_id() => joined,
            () = until(deadline) => {
                // Checks that were cancelled earlier lose their grace too.
                self.cx.cancel.cancel(CancelReason::Deadline, Grace::None);
                return true;
            }
        };
        let Some(joined) = joined else {
            // The checks that still wait need each other: settings refuse that.
            let reason = "what it needs waits for it in turn";
            self.skip_waiting(|planned| skipped(planned, reason.to_owned()));
            return false;
        };
        let id = joined.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some(index) = self.running_indexes.remove(&id) else { return true };
        let evidence = match joined {
            Ok((_, mut evidence)) => {
                evidence.mode = self.plan[index].mode;
                self.with_cancel_reason(evidence)
            }
            Err(error) => defect(self.plan[index], error, &self.cx.site),
        };
        self.add_record(index, evidence);
        true
    }

    /// The reason why the verdict is certain, once it is.
    fn certain_reason(&self) -> Option<&str> {
        match self.cx.cancel.reason() {
            Some(CancelReason::Certain(reason)) => Some(reason),
            _ => None,
        }
    }

    /// The record of a check that may have been ended early. A check that was ended because the
    /// verdict is certain counts as skipped.
    fn with_cancel_reason(&self, mut evidence: Evidence) -> Evidence {
        if evidence.outcome != Outcome::Inconclusive {
            return evidence;
        }
        match self.cx.cancel.reason() {
            Some(CancelReason::Certain(reason)) => {
                evidence.outcome = Outcome::Skipped;
                evidence.with_summary(reason)
            }
            Some(CancelReason::Deadline) => {
                let summary = if evidence.summary == NO_SLOT { NO_SLOT } else { TOO_LONG };
                evidence.with_summary(summary)
            }
            _ => evidence,
        }
    }

    /// Adds a record. The checks that need this one become ready, or are skipped with those that
    /// need them in turn.
    fn add_record(&mut self, index: Index, evidence: Evidence) {
        let mut pending = VecDeque::from([(index, evidence)]);
        while let Some((index, evidence)) = pending.pop_front() {
            self.cx.options.events.send(Event::Finished { evidence: Box::new(evidence.clone()) });
            // At the deadline everything ends by itself.
            let is_timed_out = self.cx.cancel.reason() == Some(&CancelReason::Deadline);
            if forbids_exit(&evidence) && !self.rules.runs_all && !is_timed_out {
                let reason = format!("not needed, since {} did not pass", evidence.check);
                self.cx.cancel.cancel(CancelReason::Certain(reason), Grace::Usual);
            }
            for dependent in std::mem::take(&mut self.needed_by[index]) {
                if evidence.outcome == Outcome::Pass {
                    self.open_needs[dependent] -= 1;
                    if self.open_needs[dependent] == 0 && self.waiting.contains(&dependent) {
                        self.ready.insert(dependent);
                    }
                } else if self.certain_reason().is_none() && self.waiting.remove(&dependent) {
                    // Once the verdict is certain, all waiting checks are skipped for that reason.
                    let summary = format!("it needs {}, which did not pass", evidence.check);
                    pending.push_back((dependent, skipped(self.plan[dependent], summary)));
                }
            }
            self.records.push(evidence);
        }
    }
}

/// Returns at the deadline; never without a deadline.
async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn skipped(planned: &Planned, summary: String) -> Evidence {
    let skipped = Evidence::new(planned.check.id().as_str(), planned.mode, Outcome::Skipped);
    skipped.with_summary(summary)
}

fn not_started(planned: &Planned) -> Evidence {
    let record = Evidence::new(planned.check.id().as_str(), planned.mode, Outcome::Inconclusive);
    record.with_summary(TOO_LONG)
}

/// The summary of a check that does not end before the deadline. Only hooks have a deadline.
const TOO_LONG: &str = "it takes longer than a hook may: `when = [\"check\", \"run\"]` keeps it \
                        out of hooks, `hook.budget` gives it more time";

/// The record of a check that was ended, or not started, for the budget of a hook.
pub(crate) fn is_too_long(record: &Evidence) -> bool {
    record.outcome == Outcome::Inconclusive && record.summary == TOO_LONG
}

/// A record that alone keeps the loop from ending.
pub(crate) fn forbids_exit(evidence: &Evidence) -> bool {
    evidence.outcome == Outcome::Tamper
        || (evidence.mode == Mode::Require && evidence.outcome != Outcome::Pass)
}

/// The record of a check that broke off with a panic.
fn defect(planned: &Planned, error: JoinError, site: &CheckSite) -> Evidence {
    let panic = error.try_into_panic().ok();
    let message = panic.as_ref().and_then(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied())
    });
    let mut summary = "gate has a defect in this check".to_owned();
    if let Some(message) = message {
        summary.push_str(&format!(" ({message})"));
    }
    summary.push_str("; please report it");
    let log = site.state.as_ref().map(|state| state.join(PANICS));
    if let Some(log) = log.filter(|log| log.is_file()) {
        summary.push_str(&format!(", with the last entry of {}", log.display()));
    }
    let record = Evidence::new(planned.check.id().as_str(), planned.mode, Outcome::Inconclusive);
    record.with_summary(summary)
}

#[cfg(test)]
mod tests;
