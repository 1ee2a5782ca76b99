//! The transaction in which a decision is made, and recorded with all that it changes.

use gate_core::decide::breaker::Change;
use gate_core::decide::decision::Judged;
use gate_core::decide::run_state::LoopState;
use gate_core::decide::signal::Status;
use gate_core::decide::timestamp;
use gate_core::exit::AgentSessionCompleted;
use gate_core::history::{Owner, State, kind};
use gate_core::ledger::Draft;
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::body::{self, ActBody};
use super::pending_decision::{DecisionRequest, PendingDecision};
use super::recorded_decision::RecordedDecision;
use super::run_history::{RunHistory, load};
use super::{Memory, now};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::{Ledger, Record};
use crate::secrets;
use crate::store::Transaction;

/// The actor in the records of decisions.
pub(super) const GATE: &str = "gate";

/// The loop's state at the moment of a decision.
#[derive(Clone, Debug)]
pub(crate) struct DecisionContext {
    /// `None` if the state is lost.
    pub(crate) memory: Option<LoopState>,
    /// The reason why the state is lost.
    pub(crate) lost: Option<String>,
    /// `None` if the state is lost.
    pub(crate) run: Option<String>,
    /// The iteration's number in its run; `None` if the state is lost.
    pub(crate) iteration: Option<u64>,
    /// The time of the decision.
    pub(crate) at: timestamp::Timestamp,
    /// The id of the breaker's probe, if this decision becomes one.
    pub(crate) probe: String,
}

impl DecisionContext {
    /// The context of a decision without state: its breaker counts as open. `None` if the failure
    /// leaves the state sound.
    pub(crate) fn without_state(failure: &Failure) -> Option<Self> {
        let lost = failure.lost_state()?.to_owned();
        Some(Self {
            memory: None,
            lost: Some(lost),
            run: None,
            iteration: None,
            at: now(),
            probe: String::new(),
        })
    }
}

pub(crate) enum DecisionStart<'m> {
    /// Another process was faster with the same iteration: its decision counts.
    Repeated(Box<Record>),
    Open(Box<DecisionTransaction<'m>>),
}

/// A decision, during which nobody else changes the project's ledger.
pub(crate) struct DecisionTransaction<'m> {
    pub(crate) context: DecisionContext,
    /// `None` in a dry run, which records nothing.
    transaction: Option<Transaction<'m>>,
    /// The name of the work tree.
    tree: &'m str,
}

impl Memory {
    /// Begins the transaction of a decision, and reads the loop's state in it.
    ///
    /// Fails if the state cannot be trusted, as it was found at the look-up or is now.
    pub(crate) fn begin_decision(
        &mut self,
        pending: &PendingDecision,
        request: &DecisionRequest<'_>,
    ) -> Result<DecisionStart<'_>, Failure> {
        if let Some(failure) = &pending.lost {
            return Err(Failure::clone(failure));
        }
        let (context, transaction) = if request.asker.dry_run {
            let mut view = self.store.view(&self.project)?;
            let history = load(&mut view, &pending.task, &pending.name)?;
            let recorded = RecordedDecision::find(&mut view, &history, request)?;
            (preview(history, &recorded, pending, request), None)
        } else {
            self.expect(pending, request);
            let mut transaction = self.store.begin(&self.project)?;
            let history = load(&mut transaction, &pending.task, &pending.name)?;
            let recorded = RecordedDecision::find(&mut transaction, &history, request)?;
            if let Some(record) = recorded.made_meanwhile(pending, request) {
                return Ok(DecisionStart::Repeated(Box::new(record)));
            }
            (request.context(&history, &recorded, pending), Some(transaction))
        };
        let decision = DecisionTransaction { context, transaction, tree: &self.tree };
        Ok(DecisionStart::Open(Box::new(decision)))
    }
}

/// The context of a dry run. The breaker's change stays in this copy of the history.
fn preview(
    mut history: RunHistory,
    recorded: &RecordedDecision,
    pending: &PendingDecision,
    request: &DecisionRequest<'_>,
) -> DecisionContext {
    let policy = pending.policy(request);
    let memory = history.memory(request.begins_run(&history, recorded));
    if !request.asker.is_forced() && !memory.is_spent(policy) {
        let admitted_breaker = memory.governing().admit(&now(), policy, &pending.probe).breaker;
        match memory.held_by_operator() {
            Some(_) => history.hold = Some(admitted_breaker),
            None => history.breaker = admitted_breaker,
        }
    }
    request.context(&history, recorded, pending)
}

impl DecisionTransaction<'_> {
    /// Records a decision. When this returns, the record is durable.
    // Everything that a decision changes is appended in one transaction, in this order: the
    // operator's flags, the decision with the state after it, the breaker's transition, the
    // end of the session. A crash leaves all of it or nothing, so neither the iteration's
    // number nor a counter of the breaker can be lost.
    pub(crate) fn commit(
        self,
        record: Record,
        judged: Judged,
        pending: &PendingDecision,
        request: &DecisionRequest<'_>,
    ) -> Result<Record, Failure> {
        let Some(mut transaction) = self.transaction else { return Ok(record) };
        let memory =
            judged.memory.ok_or_else(|| Failure::internal("defect", "nothing to remember"))?;
        let policy_text = pending.runs_policy_text().unwrap_or(request.policy_text);
        transaction.keep_policy(&record.policy_digest, policy_text)?;
        for (act, value) in &request.asker.acts {
            transaction.append(operators_flag(act, value.as_deref(), request, &record)?)?;
        }
        let state = State {
            task: pending.task.clone(),
            name: Some(pending.name.clone()),
            owner: Owner::Loop,
            iteration: record.iteration,
            breaker: memory.breaker.clone(),
            hold: memory.hold.clone(),
            run: Some(memory.run),
        };
        let sealed = transaction.append(Draft {
            time: record.time.clone(),
            kind: kind::for_decision(&record.decision).to_owned(),
            run: record.run.clone(),
            actor: GATE.to_owned(),
            body: body::decision_body(&record, &state, self.tree)?,
        })?;
        if let Some(change) = &judged.change {
            // An operator's hold governs the loop while it is open, so the change is the hold's.
            let old_memory = self.context.memory.as_ref();
            let is_held = old_memory.is_some_and(|memory| memory.held_by_operator().is_some());
            let state = match memory.hold {
                Some(hold) if is_held => State::for_task(&pending.task, hold),
                _ => State::for_loop(&pending.name, &pending.task, memory.breaker),
            };
            transaction.append(transition(change, &state, self.tree)?)?;
        }
        if let Some(session_end) = session_end(request, &record)? {
            transaction.append(session_end)?;
        }
        transaction.commit()?;
        Ok(Record { ledger: Some(Ledger::place(&sealed)), ..record })
    }
}

/// The record of a change of the breaker.
pub(super) fn transition(change: &Change, state: &State, tree: &str) -> Result<Draft, Failure> {
    body::draft(kind::TRANSITION, None, GATE, &body::transition_body(change, state, tree)?)
}

/// The record of a session's end, by a valid exit signal. `None` if a hook refuses the stop, for
/// then the session goes on.
fn session_end(request: &DecisionRequest<'_>, record: &Record) -> Result<Option<Draft>, Failure> {
    let decision = &record.decision;
    let signal = &decision.input.signal;
    // The session of a work item ends when its signal is submitted.
    let is_end =
        matches!(signal.status, Status::Complete | Status::Blocked) && !request.asker.of_work;
    let goes_on = decision.input.observed.stop.is_some() && !decision.stop;
    let (Some(exit), true) = (signal.exit_signal.clone(), is_end && !goes_on) else {
        return Ok(None);
    };
    let run = record.run.clone();
    let session = record.transcript.session.clone().unwrap_or_else(|| {
        format!("{}/{}", run.as_deref().unwrap_or_default(), record.iteration.unwrap_or_default())
    });
    let format = record.transcript.format.as_deref();
    let actor = request.asker.actor.as_deref().or(format).unwrap_or("agent");
    let event =
        AgentSessionCompleted::new(Timestamp::now(), Uuid::now_v7(), &session, actor, *exit);
    Ok(Some(Draft {
        time: record.time.clone(),
        kind: AgentSessionCompleted::EVENT_TYPE.to_owned(),
        run,
        actor: actor.to_owned(),
        body: body::body(&json!({ "event": body::without_secrets(event) }))?,
    }))
}

/// The record of an operator's flag.
fn operators_flag(
    act: &str,
    value: Option<&str>,
    request: &DecisionRequest<'_>,
    record: &Record,
) -> Result<Draft, Failure> {
    let operator = Operator::from_process();
    let masked_value = value.map(secrets::masked);
    let act_body = ActBody {
        value: masked_value.as_deref(),
        task: request.asker.task.as_deref(),
        ..ActBody::new(act, &operator)
    };
    Ok(Draft {
        time: record.time.clone(),
        kind: kind::ACT.to_owned(),
        run: record.run.clone(),
        actor: operator.actor(),
        body: body::body(&act_body)?,
    })
}
