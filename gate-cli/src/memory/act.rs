//! What an operator does to breakers, and what they say.

use std::collections::BTreeSet;

use gate_core::Policy;
use gate_core::decide::breaker::{Act, BreakerState, Counters};
use gate_core::history::{Owner, State, kind};
use gate_core::protocol::ledger::Draft;
use gate_core::work::WorkItem;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::body::{self, ActBody};
use super::breakers::{self, OpenBreaker, Which};
use super::loops::{self, Loop};
use super::set_aside::{self, SetAside};
use super::{Memory, naming, now};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::Ledger;
use crate::secrets;
use crate::store::{Reading, Writing};

/// Why the breaker of a session closes when a person types a prompt.
const PROMPTED: &str = "a person typed a prompt";

/// `gate.breaker.v1`: the breakers that are asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BreakerStatus {
    /// Always `gate.breaker.v1`.
    pub schema: &'static str,
    /// What the project is known by.
    pub project: String,
    /// The task that was named; empty where none was.
    pub task: String,
    /// The state of the first that is not closed; `closed` where all are.
    pub state: BreakerState,
    /// What opened it, by the name of the setting that limits it; `operator`,
    /// or `state` where the state was lost.
    pub trip: Option<String>,
    /// What opened it, in words.
    pub message: Option<String>,
    /// The counters of the last run, where all are closed.
    pub counters: Option<Counters>,
    /// When a probe may be tried (RFC 3339, UTC); none where only an operator
    /// can close it, and where it is not open.
    pub probe_at: Option<String>,
    /// All that are not closed: those that were asked about first, then those of
    /// other work trees, where no name was given.
    pub open: Vec<OpenBreaker>,
    /// How many a reset has closed.
    pub closed: Option<usize>,
    /// What a reset has set aside, because the state could not be trusted.
    pub set_aside: Option<SetAside>,
    /// The last record that an operator's act has left.
    pub ledger: Option<Ledger>,
}

impl BreakerStatus {
    /// Whether one of those that were asked about stops somebody.
    pub(crate) fn stops(&self) -> bool {
        matches!(self.state, BreakerState::Open | BreakerState::Isolated)
    }
}

/// What an operator does.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// To which breakers. To open or to hold one, those of this work tree mean
    /// all work without a task.
    pub which: Which<'a>,
    /// What.
    pub act: Act,
    /// Why.
    pub reason: &'a str,
}

/// A breaker that is operated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operated {
    /// A task's: what an operator holds.
    Task(String),
    /// A loop's own; with its task.
    Loop(String, String),
}

impl Memory {
    /// What breakers say.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn breaker(&mut self, which: Which<'_>, policy: &Policy) -> Result<BreakerStatus, Failure> {
        let (tree, name) = (self.tree.clone(), self.loop_of(which)?);
        let looked = self.read(|reading| {
            let open = breakers::open(reading, &tree, policy)?;
            let last = reading.latest_of_loop(&name)?;
            let counters = last.as_ref().map(loops::run_of).transpose()?;
            Ok((open, counters.map(|(_, run)| run.counters)))
        });
        let (open, counters) = match looked {
            Err(failure) => {
                let Some(why) = failure.lost_state() else { return Err(failure) };
                return Ok(self.lost(which, why));
            }
            Ok(looked) => looked,
        };
        let open = breakers::sorted(open, which);
        let first = breakers::meant(&open, which).next();
        Ok(BreakerStatus {
            schema: "gate.breaker.v1",
            project: self.project.clone(),
            task: which.task().to_owned(),
            state: first.map_or(BreakerState::Closed, |it| it.state),
            trip: first.and_then(|it| it.trip.clone()),
            message: first.and_then(|it| it.message.clone()),
            counters: counters.filter(|_| first.is_none()),
            probe_at: first.and_then(|it| it.probe_at.clone()),
            open,
            closed: None,
            set_aside: None,
            ledger: None,
        })
    }

    /// Whether a loop would be stopped at this moment, whatever its agent did: by its
    /// breaker, by an operator, or because its budget is spent.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub(crate) fn stops(&mut self, of: &Loop<'_>, policy: &Policy) -> Result<bool, Failure> {
        let of = of.named(self)?;
        self.read(|reading| {
            let loaded = of.load(reading)?;
            let memory = loaded.memory(loaded.is_over());
            let breaker = memory.governing();
            let stops = match breaker.state {
                BreakerState::Isolated => true,
                BreakerState::Open => breaker.cools_in(&now(), policy) != Some(0),
                BreakerState::Closed | BreakerState::HalfOpen => false,
            };
            Ok(stops || memory.is_spent(policy))
        })
    }

    /// Does it, and records who did it and why. A reset where the state cannot
    /// be trusted begins a new ledger, whose first record says what was lost.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, a run that nobody has heard of.
    pub fn operate(
        &mut self,
        operation: Operation<'_>,
        policy: &Policy,
    ) -> Result<BreakerStatus, Failure> {
        let operated = match self.operated(operation, policy, None) {
            Err(failure) if operation.act == Act::Reset => match failure.lost_state() {
                Some(lost) => {
                    let kept = self.kept();
                    self.store.renew(&self.project)?;
                    let operated = self.operated(operation, policy, Some((lost, &kept.items)));
                    operated.map(|(count, place)| (count, place, Some(kept.aside)))
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

    /// Closes the breaker of a session whose person has typed a prompt, as a reset
    /// does: whoever types has looked. What an operator holds stays. Says whether
    /// there was anything to close.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(crate) fn close_at_prompt(&mut self, session: &str) -> Result<bool, Failure> {
        let stops = |reading: &mut dyn Reading| {
            let decided = reading.latest_of_loop(session)?;
            let own = loops::own_breaker(reading, session, decided.as_ref())?;
            Ok(matches!(own.state, BreakerState::Open | BreakerState::HalfOpen))
        };
        if !self.read(stops)? {
            return Ok(false);
        }
        let tree = self.tree.clone();
        self.write(|writing| {
            let is_open = stops(writing)?;
            if is_open {
                let of = Operated::Loop(session.to_owned(), String::new());
                operated(writing, &of, (Act::Reset, PROMPTED, None), &tree)?;
            }
            Ok(is_open)
        })
    }

    /// Records what an operator did that changes nothing in the ledger's own state.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(crate) fn acted(&mut self, act: &str, value: Option<&str>) -> Result<Ledger, Failure> {
        let operator = Operator::from_process();
        self.write(|writing| {
            let body = ActBody {
                act,
                reason: None,
                value,
                task: None,
                operator: &operator,
                lost: None,
                tree: None,
                state: None,
            };
            let sealed = writing.append(Draft {
                time: Timestamp::now().to_string(),
                kind: kind::ACT.to_owned(),
                run: None,
                actor: operator.actor(),
                body: body::body(&body)?,
            })?;
            Ok(body::place(&sealed))
        })
    }

    /// Operates the breakers, each with a record; how many were not closed before,
    /// and the last record.
    fn operated(
        &mut self,
        operation: Operation<'_>,
        policy: &Policy,
        lost: Option<(&str, &[WorkItem])>,
    ) -> Result<(usize, Option<Ledger>), Failure> {
        let Operation { which, act, reason } = operation;
        let reason = &secrets::masked(reason);
        let (tree, name) = (self.tree.clone(), self.loop_of(which)?);
        self.write(|writing| {
            let all = match act {
                Act::Reset => meant(writing, (which, &name), (&tree, policy), lost.is_some())?,
                Act::Trip | Act::Isolate => BTreeSet::from([which.held(&name)]),
            };
            let (mut count, mut place) = (0, None);
            let mut why = lost.map(|(why, _)| why);
            for of in &all {
                let (was_open, at) = operated(writing, of, (act, reason, why.take()), &tree)?;
                count += usize::from(was_open);
                place = Some(at);
            }
            let actor = Operator::from_process().actor();
            for work in lost.map(|(_, items)| items).unwrap_or_default() {
                set_aside::take_on(writing, work, &actor)?;
            }
            Ok((count, place))
        })
    }

    /// The loop that is meant where nothing is known of others.
    fn loop_of(&self, which: Which<'_>) -> Result<String, Failure> {
        let (run, task) = match which {
            Which::Here => (None, None),
            Which::Task(task) => (None, Some(task)),
            Which::Run(run) => (Some(run), None),
        };
        naming::of_loop(run, task, &self.tree)
    }

    fn lost(&self, which: Which<'_>, why: &str) -> BreakerStatus {
        BreakerStatus {
            schema: "gate.breaker.v1",
            project: self.project.clone(),
            task: which.task().to_owned(),
            state: BreakerState::Open,
            trip: Some("state".to_owned()),
            message: Some(why.to_owned()),
            counters: None,
            probe_at: None,
            open: Vec::new(),
            closed: None,
            set_aside: None,
            ledger: None,
        }
    }
}

impl Which<'_> {
    fn task(&self) -> &str {
        if let Self::Task(task) = self { task } else { "" }
    }

    /// What an operator opens or holds by this name.
    fn held(&self, name: &str) -> Operated {
        match self {
            Self::Run(_) => Operated::Loop(name.to_owned(), String::new()),
            Self::Here | Self::Task(_) => Operated::Task(self.task().to_owned()),
        }
    }
}

/// What a reset closes: all that is not closed and meant, and the loop itself,
/// whose run ends.
fn meant(
    reading: &mut dyn Reading,
    (which, name): (Which<'_>, &str),
    (tree, policy): (&str, &Policy),
    is_lost: bool,
) -> Result<BTreeSet<Operated>, Failure> {
    let open = breakers::open(reading, tree, policy)?;
    let mut all: BTreeSet<_> = breakers::meant(&open, which)
        .map(|it| match (it.owner, &it.name) {
            (Owner::Loop, Some(name)) => Operated::Loop(name.clone(), it.task.clone()),
            _ => Operated::Task(it.task.clone()),
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
        _ => drop(all.insert(Operated::Loop(name.to_owned(), which.task().to_owned()))),
    }
    Ok(all)
}

/// Operates one breaker, and says whether it was not closed before.
fn operated(
    writing: &mut dyn Writing,
    of: &Operated,
    (act, reason, lost): (Act, &str, Option<&str>),
    tree: &str,
) -> Result<(bool, Ledger), Failure> {
    let operator = Operator::from_process();
    let (before, state): (_, Box<dyn FnOnce(_) -> State>) = match of {
        Operated::Task(task) => {
            (loops::held(writing, task)?, Box::new(move |it| State::of_task(task, it)))
        }
        Operated::Loop(name, task) => {
            let decided = writing.latest_of_loop(name)?;
            let before = loops::own_breaker(writing, name, decided.as_ref())?;
            (before, Box::new(move |it| State::of_loop(name, task, it)))
        }
    };
    let (breaker, _) = before.operated(act, reason, &now());
    let body = ActBody {
        act: act.name(),
        reason: Some(reason),
        value: None,
        task: None,
        operator: &operator,
        lost,
        tree: Some(tree),
        state: Some(state(breaker)),
    };
    let sealed = writing.append(Draft {
        time: Timestamp::now().to_string(),
        kind: kind::ACT.to_owned(),
        run: None,
        actor: operator.actor(),
        body: body::body(&body)?,
    })?;
    Ok((!before.is_closed(), body::place(&sealed)))
}
