//! One decision, from its first look at the ledger to its record.
//!
//! ```text
//! begin     read transaction     the loop's state, a repeated decision
//!           write transaction    only if the breaker changes: the probe begins
//! (checks)  no transaction       minutes, in which others may decide
//! record    write transaction    the state again, decide, append
//! ```

use gate_core::Policy;
use gate_core::decide::breaker::{Admission, Change};
use gate_core::decide::decision::Judged;
use gate_core::decide::iteration_facts::TreeState;
use gate_core::decide::run_state::{LoopState, RunState};
use gate_core::decide::signal::Status;
use gate_core::decide::stop::Refusals;
use gate_core::decide::timestamp;
use gate_core::exit::AgentSessionCompleted;
use gate_core::history::{Owner, State, kind};
use gate_core::ledger::Draft;
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::body::{self, ActBody};
use super::constraints::{RunConstraints, Settings};
use super::recorded_decision::RecordedDecision;
use super::run_history::{RunHistory, last_policy, load};
use super::{Memory, naming, now};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::Record;
use crate::secrets;
use crate::store::Writing;
use crate::trust;

/// The actor in the records of decisions.
pub(super) const GATE: &str = "gate";

#[derive(Clone)]
pub(crate) struct DecisionRequest<'a> {
    pub(crate) task: Option<&'a str>,
    /// The loop's name.
    pub(crate) run: Option<&'a str>,
    /// The caller's number of the iteration.
    pub(crate) iteration: Option<u64>,
    /// Begins a new run.
    pub(crate) new_run: bool,
    /// The digest of the transcript.
    pub(crate) input: Option<&'a str>,
    /// Records nothing.
    pub(crate) dry_run: bool,
    /// The operator ends the loop.
    pub(crate) forced: bool,
    /// Reads the work tree. None if that fails.
    pub(crate) look: &'a dyn Fn() -> Option<TreeState>,
    /// The agent, for the record of a session's end.
    pub(crate) actor: Option<&'a str>,
    /// The exit signal is for a work item, whose own record it becomes.
    pub(crate) of_work: bool,
    /// The operator's flags, with their values.
    pub(crate) acts: &'a [(&'static str, Option<String>)],
    /// The number of the latest record that approves changed tests.
    pub(crate) approval: Option<u64>,
    pub(crate) policy: &'a Policy,
    /// The policy's canonical text.
    pub(crate) policy_text: &'a str,
    /// None if the settings need no approval.
    pub(crate) settings: Option<Settings<'a>>,
    /// Refuses settings that are not approved, before the breaker or a check uses them.
    pub(crate) admit: &'a dyn Fn(&PendingDecision) -> Result<(), Failure>,
}

#[derive(Debug)]
pub(crate) enum Start {
    /// The decision was made before.
    Repeated(Box<Record>),
    Pending(Box<PendingDecision>),
}

/// A decision that is not made yet.
#[derive(Clone, Debug)]
pub(crate) struct PendingDecision {
    task: String,
    name: String,
    probe: String,
    /// The breaker's answer.
    pub(crate) admission: Admission,
    /// Earlier refusals of the agent's stop, for hooks.
    pub(crate) refusals: Refusals,
    /// The run has no earlier work tree to compare with.
    pub(crate) first_look: bool,
    /// The run, and the number that the iteration would have now.
    iteration: Option<(String, u64)>,
    /// None if the settings need no approval.
    pub(crate) trust: Option<trust::TrustState>,
    /// The reason why nothing counts: the run's settings were tampered with.
    pub(crate) tampered: Option<String>,
    /// The run's own policy with its canonical text, if its settings were tampered with.
    own: Option<Box<(Policy, String)>>,
    /// The number of the last record at the beginning.
    pub(super) head: u64,
    /// The reason why the state cannot be trusted.
    lost: Option<Box<Failure>>,
}

/// The loop's state at the moment of a decision.
#[derive(Clone, Debug)]
pub(crate) struct DecisionContext {
    /// None if the state is lost.
    pub(crate) memory: Option<LoopState>,
    /// The reason why the state is lost.
    pub(crate) lost: Option<String>,
    /// None if the state is lost.
    pub(crate) run: Option<String>,
    pub(crate) iteration: Option<u64>,
    /// The time of the decision.
    pub(crate) at: timestamp::Timestamp,
    /// The id of the breaker's probe, if this decision becomes one.
    pub(crate) probe: String,
}

/// Decides in a context. A transaction that is repeated calls this again.
pub(crate) type Decide<'a> = dyn FnMut(DecisionContext) -> (Record, Judged) + 'a;

impl PendingDecision {
    pub(crate) fn policy<'t>(&'t self, request: &DecisionRequest<'t>) -> &'t Policy {
        self.own.as_ref().map_or(request.policy, |own| &own.0)
    }

    /// The canonical text of the run's own policy, if that one decides.
    pub(crate) fn own_text(&self) -> Option<&str> {
        self.own.as_ref().map(|own| own.1.as_str())
    }
}

impl Memory {
    /// Finds the decision if it was made before; otherwise asks the breaker. If the
    /// breaker's cool-down is over, its probe begins here.
    pub(crate) fn start(&mut self, request: &DecisionRequest<'_>) -> Result<Start, Failure> {
        let mut pending = PendingDecision::new(request, &self.tree)?;
        let (history, earlier, constraints, head) = match self.load(&pending, request) {
            // The gate still decides without its state, and never lets the loop exit then.
            Err(failure) if failure.lost_state().is_some() => {
                let pending = PendingDecision { lost: Some(Box::new(failure)), ..pending };
                return Ok(Start::Pending(Box::new(pending)));
            }
            loaded => loaded?,
        };
        if let Some(record) = earlier.repeated(request) {
            return Ok(Start::Repeated(Box::new(record)));
        }
        let begins = request.begins_run(&history, &earlier);
        let run = if begins { None } else { history.last.as_ref().map(|(_, run)| run) };
        pending.first_look = run.is_none_or(|run| run.tree.is_none());
        pending.refusals = run.map(|run| run.refusals.clone()).unwrap_or_default();
        pending.head = head;
        let context = request.context(&history, &earlier, &pending);
        pending.iteration = context.run.zip(context.iteration);
        if let Some(settings) = &request.settings {
            let name = history.run(&pending.name, begins);
            pending.trust = Some(constraints.trust_state(settings));
            pending.tampered = constraints.tampered(settings, &name, run);
            if pending.tampered.is_some() && run.is_some() {
                let own = last_policy(&mut *self.read()?, &pending.name)?;
                pending.own = own.map(Box::new);
            }
        }
        pending.admission = self.admit(&history.memory(begins), &pending, request)?;
        Ok(Start::Pending(Box::new(pending)))
    }

    /// Reads the state of a request's loop, and the number of the last record, in one view.
    fn load(
        &mut self,
        pending: &PendingDecision,
        request: &DecisionRequest<'_>,
    ) -> Result<(RunHistory, RecordedDecision, RunConstraints, u64), Failure> {
        let mut view = self.read()?;
        let history = load(&mut *view, &pending.task, &pending.name)?;
        let earlier = RecordedDecision::find(&mut *view, &history, request)?;
        Ok((history, earlier, RunConstraints::read(&mut *view)?, view.head()?.seq))
    }

    /// The run and the number of the next iteration.
    pub(super) fn number_next(
        &mut self,
        request: &DecisionRequest<'_>,
    ) -> Result<(String, u64), Failure> {
        let turn = PendingDecision::new(request, &self.tree)?;
        let mut view = self.read()?;
        let history = load(&mut *view, &turn.task, &turn.name)?;
        let earlier = RecordedDecision::find(&mut *view, &history, request)?;
        let context = request.context(&history, &earlier, &turn);
        let iteration = context.run.zip(context.iteration);
        iteration.ok_or_else(|| Failure::internal("defect", "an iteration without a number"))
    }

    // The probe's beginning is written before any check runs. If the process dies, the
    // breaker stays half-open with that probe, so a crash never yields a second try.
    fn admit(
        &mut self,
        before: &LoopState,
        turn: &PendingDecision,
        request: &DecisionRequest<'_>,
    ) -> Result<Admission, Failure> {
        if request.forced {
            return Ok(Admission::Free);
        }
        let policy = turn.policy(request);
        let (admission, _, change) = before.governing().admit(&now(), policy, &turn.probe);
        // A spent budget allows no probe.
        let spent = before.is_spent(policy);
        let admission = if spent { Admission::Held } else { admission };
        (request.admit)(&PendingDecision { admission, ..turn.clone() })?;
        if change.is_none() || spent || request.dry_run {
            return Ok(admission);
        }
        let mut transaction = self.store.begin(&self.project)?;
        // Asked again inside the transaction: another process may have begun the probe
        // since, and then this decision is held.
        let before = load(&mut *transaction, &turn.task, &turn.name)?.memory(true);
        let (admission, breaker, change) = before.governing().admit(&now(), policy, &turn.probe);
        if let Some(change) = change {
            let state = match before.held_by_operator() {
                Some(_) => State::for_task(&turn.task, breaker),
                None => State::for_loop(&turn.name, &turn.task, breaker),
            };
            transaction.append(transition(&change, &state, &self.tree)?)?;
            transaction.commit()?;
        }
        Ok(admission)
    }

    /// Decides with the loop's present state, and records the decision. If another process
    /// was faster with the same iteration, its decision counts.
    pub(crate) fn record(
        &mut self,
        turn: &PendingDecision,
        request: &DecisionRequest<'_>,
        decide: &mut Decide<'_>,
    ) -> Result<Record, Failure> {
        if let Some(failure) = &turn.lost {
            return without_memory(failure, request, decide);
        }
        let done = if request.dry_run {
            self.previewed(turn, request, decide)
        } else {
            self.recorded(turn, request, decide)
        };
        match done {
            Err(failure) if failure.lost_state().is_some() => {
                without_memory(&failure, request, decide)
            }
            done => done,
        }
    }

    fn previewed(
        &mut self,
        turn: &PendingDecision,
        request: &DecisionRequest<'_>,
        decide: &mut Decide<'_>,
    ) -> Result<Record, Failure> {
        let mut view = self.read()?;
        let history = load(&mut *view, &turn.task, &turn.name)?;
        let earlier = RecordedDecision::find(&mut *view, &history, request)?;
        Ok(previewed(history, &earlier, turn, request, decide))
    }

    fn recorded(
        &mut self,
        turn: &PendingDecision,
        request: &DecisionRequest<'_>,
        decide: &mut Decide<'_>,
    ) -> Result<Record, Failure> {
        let mut transaction = self.store.begin(&self.project)?;
        let record = recorded(&mut *transaction, &self.tree, turn, request, decide)?;
        transaction.commit()?;
        Ok(record)
    }
}

impl PendingDecision {
    fn new(request: &DecisionRequest<'_>, tree: &str) -> Result<Self, Failure> {
        Ok(Self {
            task: request.task.unwrap_or_default().to_owned(),
            name: naming::loop_name(request.run, request.task, tree)?,
            probe: Uuid::now_v7().to_string(),
            admission: Admission::Held,
            refusals: Refusals::default(),
            first_look: true,
            iteration: None,
            trust: request.settings.as_ref().map(|settings| settings.report.state),
            tampered: None,
            own: None,
            head: 0,
            lost: None,
        })
    }

    /// The run and the iteration. None if the state is lost.
    pub(crate) fn numbered(&self) -> Option<(&str, u64)> {
        self.iteration.as_ref().map(|(run, iteration)| (run.as_str(), *iteration))
    }
}

/// Decides without state. The breaker counts as open, and nothing is recorded.
fn without_memory(
    failure: &Failure,
    request: &DecisionRequest<'_>,
    decide: &mut Decide<'_>,
) -> Result<Record, Failure> {
    if request.forced {
        return Err(failure.clone());
    }
    let context = DecisionContext {
        memory: None,
        lost: Some(failure.message.clone()),
        run: None,
        iteration: None,
        at: now(),
        probe: String::new(),
    };
    Ok(decide(context).0)
}

/// The decision of a dry run. The breaker's change stays in this copy of the history.
fn previewed(
    mut history: RunHistory,
    earlier: &RecordedDecision,
    turn: &PendingDecision,
    request: &DecisionRequest<'_>,
    decide: &mut Decide<'_>,
) -> Record {
    if !request.forced {
        let policy = turn.policy(request);
        let begins = request.begins_run(&history, earlier);
        let before = history.memory(begins);
        let admitted = before.governing().admit(&now(), policy, &turn.probe).1;
        match before.held_by_operator() {
            _ if before.is_spent(policy) => {}
            Some(_) => history.hold = Some(admitted),
            None => history.breaker = admitted,
        }
    }
    decide(request.context(&history, earlier, turn)).0
}

// Everything that a decision changes is appended in one transaction, in this order: the
// operator's flags, the decision with the state after it, the breaker's transition, the
// end of the session. A crash leaves all of it or nothing, so neither the iteration's
// number nor a counter of the breaker can be lost.
fn recorded(
    writing: &mut dyn Writing,
    tree: &str,
    turn: &PendingDecision,
    request: &DecisionRequest<'_>,
    decide: &mut Decide<'_>,
) -> Result<Record, Failure> {
    let history = load(writing, &turn.task, &turn.name)?;
    let earlier = RecordedDecision::find(writing, &history, request)?;
    if let Some(record) = earlier.made_meanwhile(turn, request) {
        return Ok(record);
    }
    let is_held = history.hold.as_ref().is_some_and(|hold| !hold.is_closed());
    let (record, judged) = decide(request.context(&history, &earlier, turn));
    let memory = judged.memory.ok_or_else(|| Failure::internal("defect", "nothing to remember"))?;
    writing.keep_policy(&record.policy_digest, turn.own_text().unwrap_or(request.policy_text))?;
    for act in request.acts {
        writing.append(flagged(act, request, &record)?)?;
    }
    let state = State {
        task: turn.task.clone(),
        name: Some(turn.name.clone()),
        owner: Owner::Loop,
        iteration: record.iteration,
        breaker: memory.breaker.clone(),
        hold: memory.hold.clone(),
        run: Some(memory.run),
    };
    let sealed = writing.append(Draft {
        time: record.time.clone(),
        kind: kind::for_decision(&record.decision).to_owned(),
        run: record.run.clone(),
        actor: GATE.to_owned(),
        body: body::decision_body(&record, &state, tree)?,
    })?;
    if let Some(change) = &judged.change {
        // An operator's hold governs the loop while it is open, so the change is the hold's.
        let state = match memory.hold {
            Some(hold) if is_held => State::for_task(&turn.task, hold),
            _ => State::for_loop(&turn.name, &turn.task, memory.breaker),
        };
        writing.append(transition(change, &state, tree)?)?;
    }
    if let Some(ended) = session_end(request, &record)? {
        writing.append(ended)?;
    }
    Ok(Record { ledger: Some(body::place(&sealed)), ..record })
}

/// The record of a change of the breaker.
fn transition(change: &Change, state: &State, tree: &str) -> Result<Draft, Failure> {
    Ok(Draft {
        time: Timestamp::now().to_string(),
        kind: kind::TRANSITION.to_owned(),
        run: None,
        actor: GATE.to_owned(),
        body: body::transition_body(change, state, tree)?,
    })
}

/// The record of a session's end, by a valid exit signal. None if a hook refuses the stop,
/// for then the session goes on.
fn session_end(request: &DecisionRequest<'_>, record: &Record) -> Result<Option<Draft>, Failure> {
    let decision = &record.decision;
    let signal = &decision.signal;
    let is_end = matches!(signal.status, Status::Complete | Status::Blocked) && !request.of_work;
    let goes_on = decision.observed.stop.is_some() && !decision.stop;
    let (Some(exit), true) = (signal.exit_signal.clone(), is_end && !goes_on) else {
        return Ok(None);
    };
    let run = record.run.clone();
    let session = record.transcript.session.clone().unwrap_or_else(|| {
        format!("{}/{}", run.as_deref().unwrap_or_default(), record.iteration.unwrap_or_default())
    });
    let format = record.transcript.format.as_deref();
    let actor = request.actor.or(format).unwrap_or("agent");
    let event = AgentSessionCompleted::at(Timestamp::now(), Uuid::now_v7(), &session, actor, *exit);
    Ok(Some(Draft {
        time: record.time.clone(),
        kind: AgentSessionCompleted::EVENT_TYPE.to_owned(),
        run,
        actor: actor.to_owned(),
        body: body::masked(&json!({ "event": event }))?,
    }))
}

/// The record of an operator's flag.
fn flagged(
    (act, value): &(&'static str, Option<String>),
    request: &DecisionRequest<'_>,
    record: &Record,
) -> Result<Draft, Failure> {
    let operator = Operator::from_process();
    let value = value.as_deref().map(secrets::masked);
    let act = ActBody {
        act,
        reason: None,
        value: value.as_deref(),
        task: request.task,
        operator: &operator,
        lost: None,
        tree: None,
        state: None,
    };
    Ok(Draft {
        time: record.time.clone(),
        kind: kind::ACT.to_owned(),
        run: record.run.clone(),
        actor: operator.actor(),
        body: body::body(&act)?,
    })
}

impl DecisionRequest<'_> {
    /// True if the decision begins a new run of the loop.
    fn begins_run(&self, history: &RunHistory, earlier: &RecordedDecision) -> bool {
        self.new_run || matches!(earlier, RecordedDecision::Restarted) || history.is_over()
    }

    fn context(
        &self,
        history: &RunHistory,
        earlier: &RecordedDecision,
        turn: &PendingDecision,
    ) -> DecisionContext {
        let begins = self.begins_run(history, earlier);
        let run = history.run(&turn.name, begins);
        let memory = history.memory(begins);
        DecisionContext {
            iteration: Some(self.number(&memory.run, earlier)),
            memory: Some(memory),
            lost: None,
            run: Some(run),
            at: now(),
            probe: turn.probe.clone(),
        }
    }

    /// The caller's number, or the next one if the caller's has a decision already: an
    /// operator may decide again.
    fn number(&self, run: &RunState, earlier: &RecordedDecision) -> u64 {
        match (self.iteration, earlier) {
            (None, _) | (_, RecordedDecision::Live(_)) => run.iteration + 1,
            (Some(iteration), _) => iteration,
        }
    }
}
