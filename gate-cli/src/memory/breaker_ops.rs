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
use super::breakers::{self, BreakerSelector, OpenBreaker};
use super::run_history::{self, load};
use super::set_aside::{self, SetAside};
use super::{LoopId, Memory, now};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::Ledger;
use crate::secrets;
use crate::store::{Transaction, View};

/// The recorded reason when a prompt closes a session's breaker.
const PROMPT_REASON: &str = "a person typed a prompt";

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
    /// The next step if the state was lost, as any other command that needs it names it.
    pub next: Option<String>,
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
    /// A selected breaker stops its loops: it is open or isolated.
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
    pub selector: BreakerSelector<'a>,
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
    Loop {
        name: String,
        task: String,
    },
}

/// An act on one breaker, as it is recorded.
#[derive(Clone, Copy)]
struct BreakerAct<'a> {
    act: Act,
    reason: &'a str,
    /// The loss of the ledger that this act begins anew.
    loss: Option<&'a str>,
}

/// A ledger that cannot be trusted, and that a reset replaces.
#[derive(Clone, Copy)]
struct UntrustedLedger<'a> {
    problem: &'a str,
    /// The work items that the new ledger takes on.
    items: &'a [WorkItem],
}

/// The result of an act on several breakers.
struct Operated {
    /// The number of breakers that were not closed before.
    not_closed: usize,
    /// The place of the last act's record.
    ledger: Option<Ledger>,
}

impl Memory {
    /// Reports the state of breakers.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn breaker(
        &mut self,
        selector: BreakerSelector<'_>,
        policy: &Policy,
    ) -> Result<BreakerStatus, Failure> {
        let name = self.loop_name(selector.loop_id())?;
        let (open, counters) = match self.open_breakers(&name, policy) {
            Err(failure) => {
                let Some(problem) = failure.lost_state() else { return Err(failure) };
                return Ok(BreakerStatus {
                    state: BreakerState::Open,
                    trip: Some("state".to_owned()),
                    message: Some(problem.to_owned()),
                    next: failure.hint.clone(),
                    ..self.closed_status(selector)
                });
            }
            Ok(breakers) => breakers,
        };
        let open = breakers::sorted(open, selector);
        let status = self.closed_status(selector);
        let Some(first_breaker) = breakers::selected(&open, selector).next().cloned() else {
            return Ok(BreakerStatus { counters, open, ..status });
        };
        let OpenBreaker { state, trip, message, probe_at, .. } = first_breaker;
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
        let decision = view.latest_of_loop(name)?;
        let run = decision.as_ref().map(run_history::run_of).transpose()?;
        Ok((open, run.map(|(_, run)| run.counters)))
    }

    /// The loop's breaker, an operator or a spent budget stops the loop now.
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
        let is_held = match breaker.state {
            BreakerState::Isolated => true,
            // One that has cooled down lets the next decision try.
            BreakerState::Open => breaker.cools_in(&now(), policy) != Some(0),
            BreakerState::Closed | BreakerState::HalfOpen => false,
        };
        Ok(is_held || memory.is_spent(policy))
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
        let mut set_aside = None;
        let operated = match self.operate_in_ledger(operation, policy, None) {
            Err(failure) if operation.act == Act::Reset => {
                let Some(problem) = failure.lost_state() else { return Err(failure) };
                // Read before the renewal, which moves the old ledger away.
                let old_ledger = self.contents();
                self.store.renew(&self.project)?;
                set_aside = Some(old_ledger.aside);
                let old_ledger = UntrustedLedger { problem, items: &old_ledger.items };
                self.operate_in_ledger(operation, policy, Some(old_ledger))?
            }
            operated => operated?,
        };
        let status = self.breaker(operation.selector, policy)?;
        let closed = (operation.act == Act::Reset).then_some(operated.not_closed);
        Ok(BreakerStatus { closed, ledger: operated.ledger, set_aside, ..status })
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
        let owner = BreakerOwner::Loop { name: session.to_owned(), task: String::new() };
        let act = BreakerAct { act: Act::Reset, reason: PROMPT_REASON, loss: None };
        operate_one(&mut transaction, &owner, act, &self.tree)?;
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

    /// Operates the breakers in one transaction, each with a record.
    fn operate_in_ledger(
        &mut self,
        operation: Operation<'_>,
        policy: &Policy,
        old_ledger: Option<UntrustedLedger<'_>>,
    ) -> Result<Operated, Failure> {
        let Operation { selector, act, reason } = operation;
        let reason = &secrets::masked(reason);
        let name = self.loop_name(selector.loop_id())?;
        let actor = Operator::from_process().actor();
        self.retry(|memory| {
            let tree = &memory.tree;
            let mut transaction = memory.store.begin(&memory.project)?;
            let ledger = &mut transaction;
            let owners = match act {
                Act::Reset => {
                    owners_to_reset(ledger, selector, &name, tree, policy, old_ledger.is_some())?
                }
                Act::Trip | Act::Isolate => BTreeSet::from([selector.owner(&name)]),
            };
            let mut operated = Operated { not_closed: 0, ledger: None };
            // The first record of the new ledger names the loss; the others need not.
            let mut loss = old_ledger.map(|old_ledger| old_ledger.problem);
            for owner in &owners {
                let breaker_act = BreakerAct { act, reason, loss: loss.take() };
                let (was_closed, record_place) = operate_one(ledger, owner, breaker_act, tree)?;
                operated.not_closed += usize::from(!was_closed);
                operated.ledger = Some(record_place);
            }
            if let Some(old_ledger) = old_ledger {
                // Other machines have marks of the ledger that was set aside.
                ledger.append(accepted_loss::reset_record(&actor, reason)?)?;
                for work in old_ledger.items {
                    set_aside::take_on(ledger, work, &actor)?;
                }
            }
            transaction.commit()?;
            Ok(operated)
        })
    }

    fn closed_status(&self, selector: BreakerSelector<'_>) -> BreakerStatus {
        BreakerStatus {
            schema: "gate.breaker.v1",
            project: self.project.clone(),
            task: selector.task().to_owned(),
            state: BreakerState::Closed,
            trip: None,
            message: None,
            next: None,
            counters: None,
            probe_at: None,
            open: Vec::new(),
            closed: None,
            set_aside: None,
            ledger: None,
        }
    }
}

impl<'a> BreakerSelector<'a> {
    fn loop_id(self) -> LoopId<'a> {
        match self {
            Self::ThisTree => LoopId::Tree,
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
            Self::Run(_) => BreakerOwner::Loop { name: name.to_owned(), task: String::new() },
            Self::ThisTree | Self::Task(_) => BreakerOwner::Task(self.task().to_owned()),
        }
    }
}

fn is_breaker_open(view: &mut View<'_>, session: &str) -> Result<bool, Failure> {
    let decision = view.latest_of_loop(session)?;
    let breaker = run_history::own_breaker(view, session, decision.as_ref())?;
    Ok(matches!(breaker.state, BreakerState::Open | BreakerState::HalfOpen))
}

/// The owners of the breakers that a reset closes: of all selected ones that are not closed, and
/// always the loop itself, whose run ends with the reset. A loop that has no record is an error
/// unless its ledger is lost.
fn owners_to_reset(
    view: &mut View<'_>,
    selector: BreakerSelector<'_>,
    name: &str,
    tree: &str,
    policy: &Policy,
    is_ledger_lost: bool,
) -> Result<BTreeSet<BreakerOwner>, Failure> {
    let open = breakers::open(view, tree, policy)?;
    let mut owners: BTreeSet<_> = breakers::selected(&open, selector)
        .map(|breaker| {
            let task = breaker.task.clone();
            match (breaker.owner, breaker.name.clone()) {
                (Owner::Loop, Some(name)) => BreakerOwner::Loop { name, task },
                _ => BreakerOwner::Task(task),
            }
        })
        .collect();
    let is_recorded =
        view.latest_of_loop(name)?.is_some() || view.latest_step_of_loop(name)?.is_some();
    match selector {
        BreakerSelector::Run(run) if !is_recorded && !is_ledger_lost => {
            // The name may be that of a session, whose breaker is among the selected ones.
            if owners.is_empty() {
                let message = format!("no run, loop or session is called {run}");
                let failure = Failure::usage("run-unknown", message);
                return Err(failure.hint("`gate breaker status` shows those that are held"));
            }
        }
        _ => {
            let (name, task) = (name.to_owned(), selector.task().to_owned());
            owners.insert(BreakerOwner::Loop { name, task });
        }
    }
    Ok(owners)
}

/// Operates one breaker. Returns true if it was closed before, and the place of the act's record.
fn operate_one(
    transaction: &mut Transaction<'_>,
    owner: &BreakerOwner,
    act: BreakerAct<'_>,
    tree: &str,
) -> Result<(bool, Ledger), Failure> {
    let operator = Operator::from_process();
    let old_breaker = match owner {
        BreakerOwner::Task(task) => run_history::task_breaker(transaction, task)?,
        BreakerOwner::Loop { name, .. } => {
            let decision = transaction.latest_of_loop(name)?;
            run_history::own_breaker(transaction, name, decision.as_ref())?
        }
    };
    let (new_breaker, _) = old_breaker.operated(act.act, act.reason, &now());
    let state = match owner {
        BreakerOwner::Task(task) => State::for_task(task, new_breaker),
        BreakerOwner::Loop { name, task } => State::for_loop(name, task, new_breaker),
    };
    let body = ActBody {
        reason: Some(act.reason),
        lost: act.loss,
        tree: Some(tree),
        state: Some(state),
        ..ActBody::new(act.act.name(), &operator)
    };
    let draft = body::draft(kind::ACT, None, &operator.actor(), &body)?;
    let sealed = transaction.append(draft)?;
    Ok((old_breaker.is_closed(), Ledger::place(&sealed)))
}
