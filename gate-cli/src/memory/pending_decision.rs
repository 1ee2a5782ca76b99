//! A decision before it is made: its request, and the loop's state at the first look.
//!
//! ```text
//! look_up         view           the loop's state, a repeated decision, the breaker's answer
//! begin_probe     transaction    only if the breaker changes: the probe begins
//! (checks)        none           minutes, in which others may decide
//! begin_decision  transaction    the state again; the gate decides; append and commit
//! ```

use std::collections::BTreeMap;

use gate_core::decide::breaker::Admission;
use gate_core::decide::run_state::{LoopState, RunState};
use gate_core::decide::stop::Refusals;
use gate_core::history::State;
use gate_core::{Policy, digest};
use uuid::Uuid;

use super::decision_transaction::{DecisionContext, transition};
use super::recorded_decision::RecordedDecision;
use super::run_history::{RunHistory, last_policy, load};
use super::trusted_settings::trusted_settings;
use super::{LoopId, Memory, now};
use crate::failure::Failure;
use crate::record::Record;
use crate::request::Asker;
use crate::store::Upcoming;
use crate::trust::{self, TrustReport};

#[derive(Clone)]
pub(crate) struct DecisionRequest<'a> {
    pub(crate) asker: &'a Asker,
    /// The digest of the transcript.
    pub(crate) input: Option<&'a str>,
    /// The number of the latest record that approves changed tests.
    pub(crate) approval: Option<u64>,
    pub(crate) policy: &'a Policy,
    /// The policy's canonical text.
    pub(crate) policy_text: &'a str,
    /// None if the settings need no approval.
    pub(crate) settings: Option<&'a TrustReport>,
}

#[derive(Debug)]
pub(crate) enum LookUp {
    /// The decision was made before.
    Repeated(Box<Record>),
    Pending(Box<PendingDecision>),
}

/// A decision that is not made yet.
#[derive(Clone, Debug)]
pub(crate) struct PendingDecision {
    pub(super) task: String,
    pub(super) name: String,
    pub(super) probe: String,
    /// The breaker's answer.
    pub(crate) admission: Admission,
    /// The breaker's cool-down is over, and this decision is its probe.
    begins_probe: bool,
    /// The same decision, from a run that is over. It counts again if the work tree is as
    /// it was.
    pub(crate) earlier: Option<Box<Record>>,
    /// Earlier refusals of the agent's stop, for hooks.
    pub(crate) refusals: Refusals,
    /// The number of times that sealed tests refused in this run.
    pub(crate) sealed_refusals: u32,
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
    /// The name of the loop's last run.
    pub(super) last_run: Option<String>,
    /// The number of the last record at the beginning.
    pub(super) head: u64,
    /// The reason why the state cannot be trusted.
    pub(crate) lost: Option<Box<Failure>>,
}

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
    /// Finds the decision if it was made before; otherwise asks the breaker. Changes nothing.
    pub(crate) fn look_up(&mut self, request: &DecisionRequest<'_>) -> Result<LookUp, Failure> {
        let mut pending = PendingDecision::new(request, &self.tree)?;
        let (history, earlier, trusted) = match self.load(&mut pending, request) {
            // The gate still decides without its state, and never lets the loop exit then.
            Err(failure) if failure.lost_state().is_some() => {
                pending.lost = Some(Box::new(failure));
                return Ok(LookUp::Pending(Box::new(pending)));
            }
            loaded => loaded?,
        };
        if let Some(record) = earlier.repeated(request) {
            return Ok(LookUp::Repeated(Box::new(record)));
        }
        pending.earlier = earlier.repeated_on_the_same_tree(request).map(Box::new);
        let begins = request.begins_run(&history, &earlier);
        let run = if begins { None } else { history.last.as_ref().map(|(_, run)| run) };
        pending.first_look = run.is_none_or(|run| run.tree.is_none());
        pending.sealed_refusals = run.map_or(0, |run| run.sealed_refusals);
        pending.refusals = run.map(|run| run.refusals.clone()).unwrap_or_default();
        pending.last_run = history.last.as_ref().map(|(run, _)| run.clone());
        let context = request.context(&history, &earlier, &pending);
        pending.iteration = context.run.zip(context.iteration);
        if let Some(settings) = request.settings {
            let state = settings.state_with(&trusted);
            pending.trust = Some(state);
            pending.tampered = settings.tampered(run, state);
            if pending.tampered.is_some() && run.is_some() {
                let own = self.retry(|memory| last_policy(&mut memory.view()?, &pending.name))?;
                pending.own = own.map(Box::new);
            }
        }
        pending.ask_breaker(&history.memory(begins), request);
        Ok(LookUp::Pending(Box::new(pending)))
    }

    /// Reads the state of a request's loop in one view.
    fn load(
        &mut self,
        pending: &mut PendingDecision,
        request: &DecisionRequest<'_>,
    ) -> Result<(RunHistory, RecordedDecision, BTreeMap<String, String>), Failure> {
        self.expect(pending, request);
        let mut load = |memory: &mut Self| {
            let mut view = memory.view()?;
            let history = load(&mut view, &pending.task, &pending.name)?;
            let earlier = RecordedDecision::find(&mut view, &history, request)?;
            let trusted = trusted_settings(&mut view)?;
            pending.head = view.head()?.seq;
            Ok((history, earlier, trusted))
        };
        if request.asker.dry_run { self.retry(&mut load) } else { self.retry_record(&mut load) }
    }

    /// Names the decision to the store, for the next views and transactions.
    pub(super) fn expect(&mut self, pending: &PendingDecision, request: &DecisionRequest<'_>) {
        let policy_text = pending.own_text().unwrap_or(request.policy_text);
        self.store.expect(Upcoming {
            task: pending.task.clone(),
            in_loop: pending.name.clone(),
            run: pending.last_run.clone(),
            iteration: request.asker.iteration,
            policy_digest: digest(policy_text.as_bytes()),
        });
    }

    /// The run and the number of the next iteration.
    pub(crate) fn number_next(
        &mut self,
        request: &DecisionRequest<'_>,
    ) -> Result<(String, u64), Failure> {
        let pending = PendingDecision::new(request, &self.tree)?;
        let (history, earlier) = self.retry(|memory| {
            let mut view = memory.view()?;
            let history = load(&mut view, &pending.task, &pending.name)?;
            let earlier = RecordedDecision::find(&mut view, &history, request)?;
            Ok((history, earlier))
        })?;
        let context = request.context(&history, &earlier, &pending);
        let iteration = context.run.zip(context.iteration);
        iteration.ok_or_else(|| Failure::internal("defect", "an iteration without a number"))
    }

    /// Records that the breaker's probe begins, if this decision is one.
    // This is written before any check runs. If the process dies, the breaker stays half-open
    // with that probe, so a crash never yields a second try.
    pub(crate) fn begin_probe(
        &mut self,
        pending: &mut PendingDecision,
        request: &DecisionRequest<'_>,
    ) -> Result<(), Failure> {
        if !pending.begins_probe {
            return Ok(());
        }
        pending.admission = self.retry(|memory| {
            let mut transaction = memory.store.begin(&memory.project)?;
            // Asked again inside the transaction: another process may have begun the probe
            // since, and then this decision is held.
            let before = load(&mut transaction, &pending.task, &pending.name)?.memory(true);
            let policy = pending.policy(request);
            let (admission, breaker, change) =
                before.governing().admit(&now(), policy, &pending.probe);
            if let Some(change) = change {
                let state = match before.held_by_operator() {
                    Some(_) => State::for_task(&pending.task, breaker),
                    None => State::for_loop(&pending.name, &pending.task, breaker),
                };
                transaction.append(transition(&change, &state, &memory.tree)?)?;
                transaction.commit()?;
            }
            Ok(admission)
        })?;
        Ok(())
    }
}

impl PendingDecision {
    fn new(request: &DecisionRequest<'_>, tree: &str) -> Result<Self, Failure> {
        Ok(Self {
            task: request.asker.task.clone().unwrap_or_default(),
            name: LoopId::new(request.asker.run.as_deref(), request.asker.task.as_deref())
                .name(tree)?,
            probe: Uuid::now_v7().to_string(),
            admission: Admission::Held,
            begins_probe: false,
            earlier: None,
            refusals: Refusals::default(),
            sealed_refusals: 0,
            first_look: true,
            iteration: None,
            trust: request.settings.map(|settings| settings.state),
            tampered: None,
            own: None,
            last_run: None,
            head: 0,
            lost: None,
        })
    }

    /// Asks the breaker for the time before the checks.
    fn ask_breaker(&mut self, before: &LoopState, request: &DecisionRequest<'_>) {
        if request.asker.is_forced() {
            self.admission = Admission::Free;
            return;
        }
        let policy = self.policy(request);
        // A spent budget allows no probe.
        if before.is_spent(policy) {
            return;
        }
        let (admission, _, change) = before.governing().admit(&now(), policy, &self.probe);
        self.admission = admission;
        self.begins_probe = change.is_some() && !request.asker.dry_run;
    }

    /// The run and the iteration. None if the state is lost.
    pub(crate) fn numbered(&self) -> Option<(&str, u64)> {
        self.iteration.as_ref().map(|(run, iteration)| (run.as_str(), *iteration))
    }
}

impl DecisionRequest<'_> {
    /// True if the decision begins a new run of the loop.
    pub(super) fn begins_run(&self, history: &RunHistory, earlier: &RecordedDecision) -> bool {
        self.asker.new_run || matches!(earlier, RecordedDecision::Restarted) || history.is_over()
    }

    pub(super) fn context(
        &self,
        history: &RunHistory,
        earlier: &RecordedDecision,
        pending: &PendingDecision,
    ) -> DecisionContext {
        let begins = self.begins_run(history, earlier);
        let run = history.run(&pending.name, begins);
        let memory = history.memory(begins);
        DecisionContext {
            iteration: Some(self.number(&memory.run, earlier)),
            memory: Some(memory),
            lost: None,
            run: Some(run),
            at: now(),
            probe: pending.probe.clone(),
        }
    }

    /// The caller's number, or the next one if the caller's has a decision already: an
    /// operator may decide again.
    fn number(&self, run: &RunState, earlier: &RecordedDecision) -> u64 {
        match (self.asker.iteration, earlier) {
            (None, _) | (_, RecordedDecision::Live(_)) => run.iteration + 1,
            (Some(iteration), _) => iteration,
        }
    }
}
