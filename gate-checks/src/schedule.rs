//! One round of checks: which runs when.
//!
//! At most so many at once, the cheap ones first, each after those that it
//! needs. As soon as the verdict is certain, what runs is ended and what waits
//! is not started, unless the caller wants to know everything.

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
    /// Most checks that run at once.
    pub(crate) jobs: usize,
    /// Runs all checks, although the verdict is certain.
    pub(crate) all: bool,
    /// Ends the round, whatever still runs.
    pub(crate) deadline: Option<Instant>,
}

/// Runs these checks; one record each, in the order in which they ended.
pub(crate) async fn round(plan: &[Planned], cx: &CheckContext, rules: Rules) -> Vec<Evidence> {
    let cx = CheckContext { cancel: cx.cancel.child(), ..cx.clone() };
    let mut round = Round::new(plan, cx, rules);
    loop {
        round.start_ready();
        if !round.next_ends().await {
            return round.done;
        }
    }
}

/// Index of a check in the plan, the cheap ones first.
type Index = usize;

struct Round<'p> {
    cx: CheckContext,
    rules: Rules,
    plan: Vec<&'p Planned>,
    /// For each check, how many of those that it needs have yet to pass. A need outside
    /// of this round is met already.
    missing: Vec<usize>,
    /// For each check, those that need it.
    needed_by: Vec<Vec<Index>>,
    /// Checks that have not started, and those of them that wait for no other check.
    waiting: BTreeSet<Index>,
    ready: BTreeSet<Index>,
    running: JoinSet<Evidence>,
    known: BTreeMap<Id, Index>,
    done: Vec<Evidence>,
}

impl<'p> Round<'p> {
    fn new(plan: &'p [Planned], cx: CheckContext, rules: Rules) -> Self {
        let mut plan: Vec<_> = plan.iter().collect();
        plan.sort_by_key(|planned| (planned.cost, planned.check.id()));
        let places = plan.iter().enumerate().map(|(place, planned)| (planned.check.id(), place));
        let places: BTreeMap<_, _> = places.collect();
        let mut needed_by = vec![Vec::new(); plan.len()];
        let mut missing = Vec::with_capacity(plan.len());
        for (place, planned) in plan.iter().enumerate() {
            let needs = planned.needs.iter().filter_map(|need| places.get(need).copied());
            let needs: BTreeSet<_> = needs.collect();
            missing.push(needs.len());
            needs.into_iter().for_each(|need| needed_by[need].push(place));
        }
        let ready = missing.iter().enumerate().filter(|(_, missing)| **missing == 0);
        Self {
            cx,
            rules,
            ready: ready.map(|(place, _)| place).collect(),
            waiting: (0..plan.len()).collect(),
            plan,
            missing,
            needed_by,
            running: JoinSet::new(),
            known: BTreeMap::new(),
            done: Vec::new(),
        }
    }

    fn start_ready(&mut self) {
        let is_late = self.rules.deadline.is_some_and(|deadline| deadline <= Instant::now());
        while !is_late && self.certain().is_none() && self.running.len() < self.rules.jobs {
            let Some(place) = self.ready.pop_first() else { break };
            self.start(place);
        }
        if let Some(certain) = self.certain().map(str::to_owned) {
            self.skip_waiting(|planned| skipped(planned, certain.clone()));
        } else if is_late {
            self.skip_waiting(not_started);
        }
    }

    fn start(&mut self, place: Index) {
        self.waiting.remove(&place);
        if self.plan[place].is_too_long {
            self.record(place, not_started(self.plan[place]));
            return;
        }
        let check = self.plan[place].check.clone();
        self.cx.options.events.send(Event::Started { check: check.id().clone() });
        let cx = self.cx.clone();
        let task = self.running.spawn(async move { check.run(&cx).await });
        self.known.insert(task.id(), place);
    }

    fn skip_waiting(&mut self, record: impl Fn(&Planned) -> Evidence) {
        self.ready.clear();
        for place in std::mem::take(&mut self.waiting) {
            self.record(place, record(self.plan[place]));
        }
    }

    /// Waits for the next record, or the deadline; false if none is to come.
    async fn next_ends(&mut self) -> bool {
        let hurried = self.cx.cancel.is_grace_over();
        let waits = !hurried && !self.running.is_empty();
        let deadline = if waits { self.rules.deadline } else { None };
        let ended = tokio::select! {
            biased;
            ended = self.running.join_next_with_id() => ended,
            () = until(deadline) => {
                // Those too that were cancelled earlier.
                self.cx.cancel.cancel(CancelReason::Deadline, Grace::None);
                return true;
            }
        };
        let Some(ended) = ended else {
            // The checks that still wait need each other: settings refuse that.
            let why = "what it needs waits for it in turn";
            self.skip_waiting(|planned| skipped(planned, why.to_owned()));
            return false;
        };
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some(place) = self.known.remove(&id) else { return true };
        let evidence = match ended {
            Ok((_, mut evidence)) => {
                evidence.mode = self.plan[place].mode;
                self.unless_cancelled(evidence)
            }
            Err(error) => defect(self.plan[place], error, &self.cx.site),
        };
        self.record(place, evidence);
        true
    }

    /// The reason why the verdict is certain, once it is.
    fn certain(&self) -> Option<&str> {
        match self.cx.cancel.reason() {
            Some(CancelReason::Certain(why)) => Some(why),
            _ => None,
        }
    }

    /// A check that was ended because the verdict is certain did not run.
    fn unless_cancelled(&self, mut evidence: Evidence) -> Evidence {
        if evidence.outcome != Outcome::Inconclusive {
            return evidence;
        }
        match self.cx.cancel.reason() {
            Some(CancelReason::Certain(why)) => {
                evidence.outcome = Outcome::Skipped;
                evidence.with_summary(why)
            }
            Some(CancelReason::Deadline) => {
                let summary = if evidence.summary == NO_SLOT { NO_SLOT } else { TOO_LONG };
                evidence.with_summary(summary)
            }
            _ => evidence,
        }
    }

    /// Notes a record, and what comes of it for the checks that need this one.
    fn record(&mut self, place: Index, evidence: Evidence) {
        let mut next = VecDeque::from([(place, evidence)]);
        while let Some((place, evidence)) = next.pop_front() {
            self.cx.options.events.send(Event::Finished { evidence: Box::new(evidence.clone()) });
            // At the deadline everything ends by itself.
            let is_timed_out = self.cx.cancel.reason() == Some(&CancelReason::Deadline);
            if forbids(&evidence) && !self.rules.all && !is_timed_out {
                let why = format!("not needed, since {} did not pass", evidence.check);
                self.cx.cancel.cancel(CancelReason::Certain(why), Grace::Usual);
            }
            for needy in std::mem::take(&mut self.needed_by[place]) {
                let planned = self.plan[needy];
                let record = match &evidence {
                    evidence if evidence.outcome == Outcome::Pass => {
                        self.missing[needy] -= 1;
                        if self.missing[needy] == 0 && self.waiting.contains(&needy) {
                            self.ready.insert(needy);
                        }
                        continue;
                    }
                    missing => {
                        let check = &missing.check;
                        skipped(planned, format!("it needs {check}, which did not pass"))
                    }
                };
                // Else it is skipped with all others, or has its record.
                if self.certain().is_none() && self.waiting.remove(&needy) {
                    next.push_back((needy, record));
                }
            }
            self.done.push(evidence);
        }
    }
}

/// Returns at the deadline; never, without one.
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

/// Summary of a check that does not end before the deadline. Only hooks have one.
const TOO_LONG: &str = "it takes longer than a hook may: `when = [\"check\", \"run\"]` keeps it \
                        out of hooks, `hook.budget` gives it more time";

/// True if a check was ended, or not started, for the budget of a hook.
pub(crate) fn is_too_long(record: &Evidence) -> bool {
    record.outcome == Outcome::Inconclusive && record.summary == TOO_LONG
}

/// True if this record alone keeps the loop from ending.
pub(crate) fn forbids(evidence: &Evidence) -> bool {
    evidence.outcome == Outcome::Tamper
        || (evidence.mode == Mode::Require && evidence.outcome != Outcome::Pass)
}

/// A check that broke off with a defect has found out nothing.
fn defect(planned: &Planned, error: JoinError, site: &CheckSite) -> Evidence {
    let panic = error.try_into_panic().ok();
    let words = panic.as_ref().and_then(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied())
    });
    let words = words.map(|words| format!(" ({words})")).unwrap_or_default();
    let log = site.state.as_ref().map(|state| state.join(PANICS)).filter(|log| log.is_file());
    let with = log.map(|log| format!(", with the last entry of {}", log.display()));
    let with = with.unwrap_or_default();
    let record = Evidence::new(planned.check.id().as_str(), planned.mode, Outcome::Inconclusive);
    record.with_summary(format!("gate has a defect in this check{words}; please report it{with}"))
}

#[cfg(test)]
mod tests;
