//! Operates breakers by hand, and reports their state.

use std::collections::BTreeSet;

use gate_core::Policy;
use gate_core::decide::breaker::{Act, BreakerState, Counters};
use gate_core::history::{Owner, State, kind};
use gate_fleet::work::WorkItem;
use schemars::JsonSchema;
use serde::Serialize;

use super::accepted_loss;
use super::body::{self, ActBody};
use super::breakers::{self, OpenBreaker, Which};
use super::run_history::{self, load};
use super::set_aside::{self, SetAside};
use super::{LoopId, Memory, now};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::Ledger;
use crate::secrets;
use crate::store::{Transaction, View};

/// The recorded reason when a prompt closes a session's breaker.
const PROMPTED: &str = "a person typed a prompt";

/// `gate.breaker.v1`: the selected breakers.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BreakerStatus {
    /// Always `gate.breaker.v1`.
    pub schema: &'static str,
    /// The project's id or identity.
    pub project: String,
    /// The named task, or empty.
    pub task: String,
    /// The state of the first breaker that is not closed; `closed` if all are.
    pub state: BreakerState,
    /// The cause: the name of a setting with a limit, `operator`, or `state` if the state
    /// was lost.
    pub trip: Option<String>,
    /// The cause as a sentence.
    pub message: Option<String>,
    /// The counters of the last run, if all breakers are closed.
    pub counters: Option<Counters>,
    /// The time at which a probe may be tried (RFC 3339, UTC); null if the breaker is not
    /// open, or if only an operator can close it.
    pub probe_at: Option<String>,
    /// All breakers that are not closed: the selected ones first, then, without a
    /// selection, those of other work trees.
    pub open: Vec<OpenBreaker>,
    /// The number of breakers that a reset has closed.
    pub closed: Option<usize>,
    /// The ledger that a reset has set aside because it could not be trusted.
    pub set_aside: Option<SetAside>,
    /// The last record of an operator's act.
    pub ledger: Option<Ledger>,
}

impl BreakerStatus {
    /// True if a selected breaker is open or isolated.
    pub(crate) fn stops(&self) -> bool {
        matches!(self.state, BreakerState::Open | BreakerState::Isolated)
    }
}

/// An operator's act on breakers.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// The breakers. To trip or isolate those of this work tree means all work without a
    /// task.
    pub which: Which<'a>,
    /// The act.
    pub act: Act,
    /// The operator's reason.
    pub reason: &'a str,
}

/// The owner of a breaker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BreakerOwner {
    /// A task, held by an operator.
    Task(String),
    /// A loop, with its task.
    Loop(String, String),
}

impl Memory {
    /// Reports the state of breakers.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn breaker(&mut self, which: Which<'_>, policy: &Policy) -> Result<BreakerStatus, Failure> {
        let name = self.loop_name(which.loop_id())?;
        let (open, counters) = match self.open_breakers(&name, policy) {
            Err(failure) => {
                let Some(why) = failure.lost_state() else { return Err(failure) };
                return Ok(BreakerStatus {
                    state: BreakerState::Open,
                    trip: Some("state".to_owned()),
                    message: Some(why.to_owned()),
                    ..self.closed_status(which)
                });
            }
            Ok(loaded) => loaded,
        };
        let open = breakers::sorted(open, which);
        let first = breakers::selected(&open, which).next();
        let status = self.closed_status(which);
        let Some(first) = first.cloned() else {
            return Ok(BreakerStatus { counters, open, ..status });
        };
        let OpenBreaker { state, trip, message, probe_at, .. } = first;
        Ok(BreakerStatus { state, trip, message, probe_at, open, ..status })
    }

    /// The breakers that are not closed, and the counters of a loop's last run.
    fn open_breakers(
        &mut self,
        name: &str,
        policy: &Policy,
    ) -> Result<(Vec<OpenBreaker>, Option<Counters>), Failure> {
        let mut view = self.store.view(&self.project)?;
        let open = breakers::open(&mut view, &self.tree, policy)?;
        let last = view.latest_of_loop(name)?;
        let run = last.as_ref().map(run_history::run_of).transpose()?;
        Ok((open, run.map(|(_, run)| run.counters)))
    }

    /// True if the loop's breaker, an operator or a spent budget stops the loop now.
    pub(crate) fn stops(
        &mut self,
        run: Option<&str>,
        task: Option<&str>,
        policy: &Policy,
    ) -> Result<bool, Failure> {
        let name = self.loop_name(LoopId::new(run, task))?;
        let task = task.unwrap_or_default();
        let history = self.retry(|memory| load(&mut memory.view()?, task, &name))?;
        let memory = history.memory(history.is_over());
        let breaker = memory.governing();
        let stops = match breaker.state {
            BreakerState::Isolated => true,
            BreakerState::Open => breaker.cools_in(&now(), policy) != Some(0),
            BreakerState::Closed | BreakerState::HalfOpen => false,
        };
        Ok(stops || memory.is_spent(policy))
    }

    /// Operates breakers, and records the operator and the reason. If the state cannot be
    /// trusted, a reset begins a new ledger, whose first record names the loss.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, a run that is not known.
    pub fn operate(
        &mut self,
        operation: Operation<'_>,
        policy: &Policy,
    ) -> Result<BreakerStatus, Failure> {
        let operated = match self.operated(operation, policy, None) {
            Err(failure) if operation.act == Act::Reset => match failure.lost_state() {
                Some(lost) => {
                    // Read before the renewal, which moves the old ledger away.
                    let old = self.contents();
                    self.store.renew(&self.project)?;
                    let operated = self.operated(operation, policy, Some((lost, &old.items)));
                    operated.map(|(count, place)| (count, place, Some(old.aside)))
                }
                None => Err(failure),
            },
            operated => operated.map(|(count, place)| (count, place, None)),
        };
        let (count, ledger, set_aside) = operated?;
        let status = self.breaker(operation.which, policy)?;
        let closed = (operation.act == Act::Reset).then_some(count);
        Ok(BreakerStatus { closed, ledger, set_aside, ..status })
    }

    /// Resets the breaker of a session whose person types a prompt: that person has seen the state.
    /// A hold of an operator stays. Returns true if the breaker was open.
    pub(crate) fn close_at_prompt(&mut self, session: &str) -> Result<bool, Failure> {
        // Most prompts find a closed breaker, so look before the exclusive transaction.
        if !is_breaker_open(&mut self.view()?, session)? {
            return Ok(false);
        }
        let mut transaction = self.store.begin(&self.project)?;
        if !is_breaker_open(&mut transaction, session)? {
            return Ok(false);
        }
        let owner = BreakerOwner::Loop(session.to_owned(), String::new());
        operate_one(&mut transaction, &owner, (Act::Reset, PROMPTED, None), &self.tree)?;
        transaction.commit()?;
        Ok(true)
    }

    /// Records an operator's act that changes no state in the ledger.
    pub(crate) fn record_act(&mut self, act: &str, value: Option<&str>) -> Result<Ledger, Failure> {
        let operator = Operator::from_process();
        let body = ActBody { value, ..ActBody::new(act, &operator) };
        let draft = body::draft(kind::ACT, None, &operator.actor(), &body)?;
        Ok(Ledger::place(&self.append(&draft)?))
    }

    /// Operates the breakers, each with a record. Returns the number of those that were
    /// not closed before, and the last record.
    fn operated(
        &mut self,
        operation: Operation<'_>,
        policy: &Policy,
        lost: Option<(&str, &[WorkItem])>,
    ) -> Result<(usize, Option<Ledger>), Failure> {
        let Operation { which, act, reason } = operation;
        let reason = &secrets::masked(reason);
        let name = self.loop_name(which.loop_id())?;
        let actor = Operator::from_process().actor();
        let mut count = 0;
        let place = self.retry(|memory| {
            let tree = &memory.tree;
            let mut transaction = memory.store.begin(&memory.project)?;
            let ledger = &mut transaction;
            let owners = match act {
                Act::Reset => to_reset(ledger, (which, &name), (tree, policy), lost.is_some())?,
                Act::Trip | Act::Isolate => BTreeSet::from([which.owner(&name)]),
            };
            let (mut place, mut why) = (None, lost.map(|(why, _)| why));
            count = 0;
            for owner in &owners {
                let (was_open, at) = operate_one(ledger, owner, (act, reason, why.take()), tree)?;
                count += usize::from(was_open);
                place = Some(at);
            }
            if let Some((_, items)) = lost {
                // Other machines have marks of the ledger that was set aside.
                ledger.append(accepted_loss::reset_record(&actor, reason)?)?;
                for work in items {
                    set_aside::take_on(ledger, work, &actor)?;
                }
            }
            transaction.commit()?;
            Ok(place)
        })?;
        Ok((count, place))
    }

    fn closed_status(&self, which: Which<'_>) -> BreakerStatus {
        BreakerStatus {
            schema: "gate.breaker.v1",
            project: self.project.clone(),
            task: which.task().to_owned(),
            state: BreakerState::Closed,
            trip: None,
            message: None,
            counters: None,
            probe_at: None,
            open: Vec::new(),
            closed: None,
            set_aside: None,
            ledger: None,
        }
    }
}

impl<'a> Which<'a> {
    fn loop_id(self) -> LoopId<'a> {
        match self {
            Self::Here => LoopId::Tree,
            Self::Task(task) => LoopId::Task(task),
            Self::Run(run) => LoopId::Named(run),
        }
    }

    fn task(&self) -> &str {
        if let Self::Task(task) = self { task } else { "" }
    }

    /// The owner of the breaker that an operator trips or isolates.
    fn owner(&self, name: &str) -> BreakerOwner {
        match self {
            Self::Run(_) => BreakerOwner::Loop(name.to_owned(), String::new()),
            Self::Here | Self::Task(_) => BreakerOwner::Task(self.task().to_owned()),
        }
    }
}

fn is_breaker_open(reading: &mut View<'_>, session: &str) -> Result<bool, Failure> {
    let decision = reading.latest_of_loop(session)?;
    let own = run_history::own_breaker(reading, session, decision.as_ref())?;
    Ok(matches!(own.state, BreakerState::Open | BreakerState::HalfOpen))
}

/// The owners of the breakers that a reset closes: of all selected ones that are not
/// closed, and always the loop itself, whose run ends with the reset.
fn to_reset(
    reading: &mut View<'_>,
    (which, name): (Which<'_>, &str),
    (tree, policy): (&str, &Policy),
    is_lost: bool,
) -> Result<BTreeSet<BreakerOwner>, Failure> {
    let open = breakers::open(reading, tree, policy)?;
    let mut all: BTreeSet<_> = breakers::selected(&open, which)
        .map(|breaker| match (breaker.owner, &breaker.name) {
            (Owner::Loop, Some(name)) => BreakerOwner::Loop(name.clone(), breaker.task.clone()),
            _ => BreakerOwner::Task(breaker.task.clone()),
        })
        .collect();
    let is_known =
        reading.latest_of_loop(name)?.is_some() || reading.latest_step_of_loop(name)?.is_some();
    match which {
        Which::Run(run) if !is_known && !is_lost => {
            if all.is_empty() {
                let message = format!("no run, loop or session is called {run}");
                let failure = Failure::usage("run-unknown", message);
                return Err(failure.hint("`gate breaker status` shows those that are held"));
            }
        }
        _ => drop(all.insert(BreakerOwner::Loop(name.to_owned(), which.task().to_owned()))),
    }
    Ok(all)
}

/// Operates one breaker. Returns true if it was not closed before.
fn operate_one(
    writing: &mut Transaction<'_>,
    owner: &BreakerOwner,
    (act, reason, lost): (Act, &str, Option<&str>),
    tree: &str,
) -> Result<(bool, Ledger), Failure> {
    let operator = Operator::from_process();
    let before = match owner {
        BreakerOwner::Task(task) => run_history::task_breaker(writing, task)?,
        BreakerOwner::Loop(name, _) => {
            let decision = writing.latest_of_loop(name)?;
            run_history::own_breaker(writing, name, decision.as_ref())?
        }
    };
    let (breaker, _) = before.operated(act, reason, &now());
    let state = match owner {
        BreakerOwner::Task(task) => State::for_task(task, breaker),
        BreakerOwner::Loop(name, task) => State::for_loop(name, task, breaker),
    };
    let body = ActBody {
        reason: Some(reason),
        lost,
        tree: Some(tree),
        state: Some(state),
        ..ActBody::new(act.name(), &operator)
    };
    let sealed = writing.append(body::draft(kind::ACT, None, &operator.actor(), &body)?)?;
    Ok((!before.is_closed(), Ledger::place(&sealed)))
}
