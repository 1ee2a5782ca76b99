//! A decision before it is made: its request, and the loop's state at the first look.
//!
//! ```text
//! look_up         view           the loop's state, a repeated decision, the breaker's answer
//! begin_probe     transaction    only if the breaker changes: the probe begins
//! (checks)        none           minutes, in which others may decide
//! begin_decision  transaction    the state again; the gate decides; append and commit
//! ```

use std::collections::BTreeMap;

use gate_core::decide::breaker::{Admission, Admitted};
use gate_core::decide::run_state::{LoopState, RunState};
use gate_core::decide::stop::Refusals;
use gate_core::history::State;
use gate_core::{Policy, digest};
use uuid::Uuid;

use super::decision_transaction::{DecisionContext, transition};
use super::recorded_decision::RecordedDecision;
use super::run_history::{RecordedPolicy, RunHistory, last_policy, load};
use super::trusted_settings::trusted_settings;
use super::{LoopId, Memory, now};
use crate::failure::Failure;
use crate::record::Record;
use crate::request::Asker;
use crate::store::Upcoming;
use crate::trust::{self, TrustReport};

/// The question that a decision answers.
#[derive(Clone)]
pub(crate) struct DecisionRequest<'a> {
    pub(crate) asker: &'a Asker,
    /// The digest of the transcript.
    pub(crate) input: Option<&'a str>,
    /// The number of the latest record that approves changed tests.
    pub(crate) approval: Option<u64>,
    /// The goals in force, each with its command, as records have them.
    pub(crate) goals: &'a [String],
    pub(crate) policy: &'a Policy,
    /// The policy's canonical text.
    pub(crate) policy_text: &'a str,
    /// `None` if the settings need no approval.
    pub(crate) settings: Option<&'a TrustReport>,
}

/// The answer of the ledger before any check runs.
#[derive(Debug)]
pub(crate) enum LookUp {
    /// The decision was made before.
    Repeated(Box<Record>),
    Pending(Box<PendingDecision>),
}

/// A decision that is not made yet.
#[derive(Clone, Debug)]
pub(crate) struct PendingDecision {
    /// The task's id, or empty.
    pub(super) task: String,
    /// The loop's name.
    pub(super) name: String,
    /// The id of the breaker's probe, if this decision becomes one.
    pub(super) probe: String,
    /// The breaker's answer.
    pub(crate) admission: Admission,
    /// The breaker's cool-down is over, and this decision is its probe.
    begins_probe: bool,
    /// The same decision, from a run that is over. It counts again if the work tree is as
    /// it was.
    pub(crate) earlier_decision: Option<Box<Record>>,
    /// Earlier refusals of the agent's stop, for hooks.
    pub(crate) refusals: Refusals,
    /// The number of times that sealed tests refused in this run.
    pub(crate) sealed_refusals: u32,
    /// The run has no earlier work tree to compare with.
    pub(crate) first_look: bool,
    /// The run, and the number that the iteration would have now; `None` if the state is lost.
    run_and_iteration: Option<(String, u64)>,
    /// `None` if the settings need no approval.
    pub(crate) trust: Option<trust::TrustState>,
    /// The reason why nothing counts: the run's settings were tampered with.
    pub(crate) tampered: Option<String>,
    /// The policy of the run so far, if its settings were tampered with.
    runs_policy: Option<Box<RecordedPolicy>>,
    /// The name of the loop's last run.
    pub(super) last_run: Option<String>,
    /// The number of the last record at the beginning.
    pub(super) head: u64,
    /// The reason why the state cannot be trusted.
    pub(crate) lost: Option<Box<Failure>>,
}

impl PendingDecision {
    /// The policy that decides: that of the settings, or of the run if these were tampered with.
    pub(crate) fn policy<'t>(&'t self, request: &DecisionRequest<'t>) -> &'t Policy {
        self.runs_policy.as_ref().map_or(request.policy, |recorded| &recorded.policy)
    }

    /// The canonical text of the run's policy, if that one decides.
    pub(crate) fn runs_policy_text(&self) -> Option<&str> {
        self.runs_policy.as_ref().map(|recorded| recorded.text.as_str())
    }
}

/// The state of a request's loop, from one view of the ledger.
struct LoopSnapshot {
    history: RunHistory,
    recorded: RecordedDecision,
    /// The digests of approved settings, by their path within the project.
    trusted_settings: BTreeMap<String, String>,
    /// The number of the ledger's last record.
    head: u64,
}

impl Memory {
    /// Finds the decision if it was made before; otherwise asks the breaker. Changes nothing.
    pub(crate) fn look_up(&mut self, request: &DecisionRequest<'_>) -> Result<LookUp, Failure> {
        let mut pending = PendingDecision::new(request, &self.tree)?;
        let snapshot = match self.load(&pending, request) {
            // The gate still decides without its state, and never lets the loop exit then.
            Err(failure) if failure.lost_state().is_some() => {
                pending.lost = Some(Box::new(failure));
                return Ok(LookUp::Pending(Box::new(pending)));
            }
            snapshot => snapshot?,
        };
        let LoopSnapshot { history, recorded, trusted_settings, head } = snapshot;
        pending.head = head;
        if let Some(record) = recorded.repeated(request) {
            return Ok(LookUp::Repeated(Box::new(record)));
        }
        pending.earlier_decision = recorded.repeated_on_the_same_tree(request).map(Box::new);
        let is_new_run = request.begins_run(&history, &recorded);
        let last_run = history.last_run.as_ref();
        let open_run = if is_new_run { None } else { last_run.map(|(_, run)| run) };
        pending.first_look = open_run.is_none_or(|run| run.tree.is_none());
        pending.sealed_refusals = open_run.map_or(0, |run| run.sealed_refusals);
        pending.refusals = open_run.map(|run| run.refusals.clone()).unwrap_or_default();
        pending.last_run = last_run.map(|(name, _)| name.clone());
        let context = request.context(&history, &recorded, &pending);
        pending.run_and_iteration = context.run.zip(context.iteration);
        if let Some(settings) = request.settings {
            let state = settings.state_with(&trusted_settings);
            pending.trust = Some(state);
            pending.tampered = settings.tampered(open_run, state);
            // Whoever has tampered with the settings must not choose the policy that decides.
            if pending.tampered.is_some() && open_run.is_some() {
                let policy =
                    self.retry(|memory| last_policy(&mut memory.view()?, &pending.name))?;
                pending.runs_policy = policy.map(Box::new);
            }
        }
        pending.ask_breaker(&history.memory(is_new_run), request);
        Ok(LookUp::Pending(Box::new(pending)))
    }

    /// Reads the state of a request's loop in one view.
    fn load(
        &mut self,
        pending: &PendingDecision,
        request: &DecisionRequest<'_>,
    ) -> Result<LoopSnapshot, Failure> {
        self.expect(pending, request);
        let load = |memory: &mut Self| {
            let mut view = memory.view()?;
            let history = load(&mut view, &pending.task, &pending.name)?;
            Ok(LoopSnapshot {
                recorded: RecordedDecision::find(&mut view, &history, request)?,
                history,
                trusted_settings: trusted_settings(&mut view)?,
                head: view.head()?.seq,
            })
        };
        if request.asker.dry_run { self.retry(load) } else { self.retry_record(load) }
    }

    /// Names the decision to the store, for the next views and transactions.
    pub(super) fn expect(&mut self, pending: &PendingDecision, request: &DecisionRequest<'_>) {
        let policy_text = pending.runs_policy_text().unwrap_or(request.policy_text);
        self.store.expect(Upcoming {
            task: pending.task.clone(),
            in_loop: pending.name.clone(),
            run: pending.last_run.clone(),
            iteration: request.asker.iteration,
            policy_digest: digest(policy_text.as_bytes()),
        });
    }

    /// The run and the number of the next iteration.
    pub(crate) fn next_iteration(
        &mut self,
        request: &DecisionRequest<'_>,
    ) -> Result<(String, u64), Failure> {
        let pending = PendingDecision::new(request, &self.tree)?;
        let (history, recorded) = self.retry(|memory| {
            let mut view = memory.view()?;
            let history = load(&mut view, &pending.task, &pending.name)?;
            let recorded = RecordedDecision::find(&mut view, &history, request)?;
            Ok((history, recorded))
        })?;
        let context = request.context(&history, &recorded, &pending);
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
            let history = load(&mut transaction, &pending.task, &pending.name)?;
            // Only the breakers matter here, and they are the same in a new run.
            let memory_of_loop = history.memory(true);
            let policy = pending.policy(request);
            let Admitted { admission, breaker, change } =
                memory_of_loop.governing().admit(&now(), policy, &pending.probe);
            if let Some(change) = change {
                let state = match memory_of_loop.held_by_operator() {
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
            earlier_decision: None,
            refusals: Refusals::default(),
            sealed_refusals: 0,
            first_look: true,
            run_and_iteration: None,
            trust: request.settings.map(|settings| settings.state),
            tampered: None,
            runs_policy: None,
            last_run: None,
            head: 0,
            lost: None,
        })
    }

    /// Asks the breaker for the time before the checks.
    fn ask_breaker(&mut self, memory: &LoopState, request: &DecisionRequest<'_>) {
        if request.asker.is_forced() {
            self.admission = Admission::Free;
            return;
        }
        let policy = self.policy(request);
        // A spent budget allows no probe.
        if memory.is_spent(policy) {
            return;
        }
        let Admitted { admission, change, .. } =
            memory.governing().admit(&now(), policy, &self.probe);
        self.admission = admission;
        self.begins_probe = change.is_some() && !request.asker.dry_run;
    }

    /// The name of the run; `None` if the state is lost.
    pub(crate) fn run(&self) -> Option<&str> {
        self.run_and_iteration.as_ref().map(|(run, _)| run.as_str())
    }

    /// The run and the iteration; `None` if the state is lost.
    pub(crate) fn run_and_iteration(&self) -> Option<(&str, u64)> {
        self.run_and_iteration.as_ref().map(|(run, iteration)| (run.as_str(), *iteration))
    }
}

impl DecisionRequest<'_> {
    /// The decision begins a new run of the loop.
    pub(super) fn begins_run(&self, history: &RunHistory, recorded: &RecordedDecision) -> bool {
        self.asker.new_run || matches!(recorded, RecordedDecision::Restarted) || history.is_over()
    }

    /// The loop's state for a decision at this moment.
    pub(super) fn context(
        &self,
        history: &RunHistory,
        recorded: &RecordedDecision,
        pending: &PendingDecision,
    ) -> DecisionContext {
        let is_new_run = self.begins_run(history, recorded);
        let memory = history.memory(is_new_run);
        DecisionContext {
            iteration: Some(self.iteration(&memory.run, recorded)),
            memory: Some(memory),
            lost: None,
            run: Some(history.run_name(&pending.name, is_new_run)),
            at: now(),
            probe: pending.probe.clone(),
        }
    }

    /// The caller's number, or the next one if the caller's has a decision already: an
    /// operator may decide again.
    fn iteration(&self, run: &RunState, recorded: &RecordedDecision) -> u64 {
        match (self.asker.iteration, recorded) {
            (None, _) | (_, RecordedDecision::Live(_)) => run.iteration + 1,
            (Some(iteration), _) => iteration,
        }
    }
}
