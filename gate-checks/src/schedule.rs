//! One round of checks: which runs when.
//!
//! At most so many at once, the cheap ones first, each after those that it
//! needs. As soon as the verdict is certain, what runs is ended and what waits
//! is not started, unless the caller wants to know everything.

use std::collections::BTreeMap;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep_until};

use crate::check::{CheckContext, CheckId};
use crate::checks::Planned;
use crate::event::Event;

/// How a round is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// How many checks run at once.
    pub(crate) jobs: usize,
    /// Whether all are run, although the verdict is certain.
    pub(crate) all: bool,
    /// When the round is over, whatever still runs.
    pub(crate) deadline: Option<Instant>,
}

/// Runs these checks; one record each, in the order in which they ended.
pub(crate) async fn round(plan: &[Planned], cx: &CheckContext, rules: Rules) -> Vec<Evidence> {
    let cx = CheckContext {
        cancel: cx.cancel.child_token(),
        late: cx.late.child_token(),
        at_once: cx.at_once.child_token(),
        ..cx.clone()
    };
    let mut round = Round::new(plan, cx, rules);
    loop {
        round.start_what_can();
        if !round.next_ends().await {
            return round.done;
        }
    }
}

struct Round<'p> {
    cx: CheckContext,
    rules: Rules,
    /// The names of this round: a need outside of it is met already.
    names: Vec<&'p CheckId>,
    waiting: Vec<&'p Planned>,
    running: JoinSet<Evidence>,
    known: BTreeMap<Id, &'p Planned>,
    done: Vec<Evidence>,
    certain: Option<String>,
}

impl<'p> Round<'p> {
    fn new(plan: &'p [Planned], cx: CheckContext, rules: Rules) -> Self {
        let mut waiting: Vec<_> = plan.iter().collect();
        waiting.sort_by_key(|planned| (planned.check.cost(), planned.check.id()));
        Self {
            cx,
            rules,
            names: plan.iter().map(|planned| planned.check.id()).collect(),
            waiting,
            running: JoinSet::new(),
            known: BTreeMap::new(),
            done: Vec::new(),
            certain: None,
        }
    }

    fn start_what_can(&mut self) {
        for planned in std::mem::take(&mut self.waiting) {
            match self.stands(planned) {
                Stand::Ready if self.running.len() < self.rules.jobs => self.start(planned),
                Stand::Ready | Stand::Waits => self.waiting.push(planned),
                Stand::Skipped(why) => self.skip(planned, why),
                Stand::Late => self.record(not_started(planned)),
            }
        }
    }

    fn stands(&self, planned: &Planned) -> Stand {
        if let Some(certain) = &self.certain {
            return Stand::Skipped(certain.clone());
        }
        let late = self.rules.deadline.is_some_and(|deadline| deadline <= Instant::now());
        for need in planned.needs.iter().filter(|need| self.names.contains(need)) {
            let record = self.done.iter().find(|record| record.check == need.as_str());
            match record {
                Some(record) if record.outcome == Outcome::Pass => {}
                Some(_) => return Stand::Skipped(format!("it needs {need}, which did not pass")),
                None if late => return Stand::Late,
                None => return Stand::Waits,
            }
        }
        if late { Stand::Late } else { Stand::Ready }
    }

    fn start(&mut self, planned: &'p Planned) {
        self.cx.events.tell(Event::Started { check: planned.check.id().clone() });
        let (check, cx) = (planned.check.clone(), self.cx.clone());
        let task = self.running.spawn(async move { check.run(&cx).await });
        self.known.insert(task.id(), planned);
    }

    fn skip(&mut self, planned: &Planned, summary: String) {
        let skipped = Evidence::new(planned.check.id().as_str(), planned.mode, Outcome::Skipped);
        self.record(Evidence { summary, ..skipped });
    }

    /// Waits for the next record, or the deadline; false: there is none to come.
    async fn next_ends(&mut self) -> bool {
        let hurried = self.cx.at_once.is_cancelled();
        let deadline = self.rules.deadline.filter(|_| !hurried && !self.running.is_empty());
        let ended = tokio::select! {
            biased;
            ended = self.running.join_next_with_id() => ended,
            () = come(deadline) => {
                self.end_at_once();
                return true;
            }
        };
        let Some(ended) = ended else {
            // What still waits needs each other: settings refuse that.
            return !self.waiting.is_empty() && self.give_up();
        };
        let evidence = match ended {
            Ok((id, evidence)) => {
                self.known.remove(&id);
                self.unless_cancelled(evidence)
            }
            Err(error) => match self.known.remove(&error.id()) {
                Some(planned) => defect(planned),
                None => return true,
            },
        };
        self.record(evidence);
        true
    }

    /// The deadline has come. What was ended before it does not go on.
    fn end_at_once(&mut self) {
        self.cx.at_once.cancel();
        if self.certain.is_none() {
            self.cx.late.cancel();
            self.cx.cancel.cancel();
        }
    }

    fn give_up(&mut self) -> bool {
        for planned in std::mem::take(&mut self.waiting) {
            self.skip(planned, "what it needs waits for it in turn".to_owned());
        }
        true
    }

    /// A check that was ended because the verdict is certain did not run.
    fn unless_cancelled(&self, evidence: Evidence) -> Evidence {
        match &self.certain {
            Some(certain) if evidence.outcome == Outcome::Inconclusive => {
                let summary = format!("ended early: {certain}");
                Evidence { outcome: Outcome::Skipped, summary, ..evidence }
            }
            None if self.cx.late.is_cancelled() && evidence.outcome == Outcome::Inconclusive => {
                Evidence { summary: TOO_LONG.to_owned(), ..evidence }
            }
            _ => evidence,
        }
    }

    fn record(&mut self, evidence: Evidence) {
        self.cx.events.tell(Event::Finished { evidence: Box::new(evidence.clone()) });
        let decides = forbids(&evidence) && !evidence.running;
        if self.certain.is_none() && !self.rules.all && decides {
            let check = &evidence.check;
            self.certain = Some(format!("{check} did not pass, so the verdict is certain"));
            self.cx.cancel.cancel();
        }
        self.done.push(evidence);
    }
}

enum Stand {
    Ready,
    Waits,
    Skipped(String),
    Late,
}

/// Returns when the deadline has come; without one, never.
async fn come(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn not_started(planned: &Planned) -> Evidence {
    let record = Evidence::new(planned.check.id().as_str(), planned.mode, Outcome::Inconclusive);
    Evidence { summary: TOO_LONG.to_owned(), ..record }
}

/// What the record of a check says that does not end before the deadline. Only hooks
/// have one.
const TOO_LONG: &str = "it takes longer than a hook may: `when = [\"check\", \"run\"]` keeps it \
                        out of hooks, `hook.budget` gives it more time";

/// Whether this record alone keeps the loop from ending.
pub(crate) fn forbids(evidence: &Evidence) -> bool {
    evidence.outcome == Outcome::Tamper
        || (evidence.mode == Mode::Require && evidence.outcome != Outcome::Pass)
}

/// A check that broke off with a defect has found out nothing.
fn defect(planned: &Planned) -> Evidence {
    let record = Evidence::new(planned.check.id().as_str(), planned.mode, Outcome::Inconclusive);
    Evidence { summary: "gate has a defect in this check; please report it".to_owned(), ..record }
}
