//! The state of a loop and of its last run, from the ledger.

use gate_core::Policy;
use gate_core::decide::breaker::Breaker;
use gate_core::decide::run_state::{LoopState, RunState};
use gate_core::history::Owner;
use gate_core::ledger::Sealed;

use super::{body, naming, now};
use crate::failure::Failure;
use crate::record::Record;
use crate::store::View;

/// The latest state of a loop, and of the operator's hold on its task.
pub(super) struct RunHistory {
    /// The loop's own breaker.
    pub(super) breaker: Breaker,
    /// The breaker by which an operator holds the loop's task.
    pub(super) hold: Option<Breaker>,
    /// The last run's name and state.
    pub(super) last_run: Option<(String, RunState)>,
}

impl RunHistory {
    /// The number of resets of the loop's breaker and of the hold. A reset ends the run.
    fn resets(&self) -> u64 {
        self.breaker.resets + self.hold.as_ref().map_or(0, |hold| hold.resets)
    }

    pub(super) fn is_run_over(&self, run: &RunState) -> bool {
        run.is_over(&now(), self.resets())
    }

    /// The last run is over, or the loop has had no run.
    pub(super) fn is_over(&self) -> bool {
        self.last_run.as_ref().is_none_or(|(_, run)| self.is_run_over(run))
    }

    /// Neither breaker stops the loop.
    pub(super) fn is_closed(&self) -> bool {
        self.breaker.is_closed() && self.hold.as_ref().is_none_or(Breaker::is_closed)
    }

    /// The name of the last run, or of the next one if that begins. `loop_name` is the first run's.
    pub(super) fn run_name(&self, loop_name: &str, is_new_run: bool) -> String {
        match self.last_run.as_ref().map(|(run, _)| run.as_str()) {
            Some(last_run) if !is_new_run => last_run.to_owned(),
            last_run => naming::next_run(loop_name, last_run),
        }
    }

    /// The memory of a decision in the last run, or in a new one.
    pub(super) fn memory(&self, is_new_run: bool) -> LoopState {
        let run = match &self.last_run {
            Some((_, run)) if !is_new_run => run.clone(),
            _ => RunState::begins(&now(), self.resets()),
        };
        LoopState { breaker: self.breaker.clone(), hold: self.hold.clone(), run }
    }
}

/// Reads the latest records of a loop and of its task.
pub(super) fn load(
    view: &mut View<'_>,
    task: &str,
    loop_name: &str,
) -> Result<RunHistory, Failure> {
    let decision = view.latest_of_loop(loop_name)?;
    Ok(RunHistory {
        breaker: own_breaker(view, loop_name, decision.as_ref())?,
        hold: task_breaker(view, task)?.as_hold(),
        last_run: decision.as_ref().map(run_of).transpose()?,
    })
}

/// The loop's own breaker. `decision` is the loop's latest.
// The breaker has no row of its own: each decision and each transition has the whole state
// after it in its record, and the latest of both counts. So the breaker and the decision
// that changed it are written in one append, and no crash can separate them. Records of
// older versions have the task's breaker here; that one is not the loop's own.
pub(super) fn own_breaker(
    view: &mut View<'_>,
    loop_name: &str,
    decision: Option<&Sealed>,
) -> Result<Breaker, Failure> {
    let transition = view.latest_step_of_loop(loop_name)?;
    let records = transition.as_ref().into_iter().chain(decision);
    let latest = records.max_by_key(|sealed| sealed.record.seq);
    let state = latest.map(body::state_of).transpose()?;
    let loops_state = state.filter(|state| state.owner == Owner::Loop);
    Ok(loops_state.map(|state| state.breaker).unwrap_or_default())
}

/// The breaker by which an operator holds a task.
pub(super) fn task_breaker(view: &mut View<'_>, task: &str) -> Result<Breaker, Failure> {
    let latest = view.latest_of_task(task)?;
    let state = latest.as_ref().map(body::state_of).transpose()?;
    Ok(state.map(|state| state.breaker).unwrap_or_default())
}

/// The name and the state of a decision's run.
pub(super) fn run_of(sealed: &Sealed) -> Result<(String, RunState), Failure> {
    let state = body::state_of(sealed)?;
    match (sealed.record.run.clone(), state.run) {
        (Some(name), Some(run)) => Ok((name, run)),
        _ => {
            let message = format!("record {} of the ledger names no run", sealed.record.seq);
            Err(Failure::internal("state-corrupt", message))
        }
    }
}

/// A policy as the store has it.
#[derive(Clone, Debug)]
pub(super) struct RecordedPolicy {
    pub(super) policy: Policy,
    /// The canonical text.
    pub(super) text: String,
}

/// The policy of a loop's last decision, if the store has it.
pub(super) fn last_policy(
    view: &mut View<'_>,
    loop_name: &str,
) -> Result<Option<RecordedPolicy>, Failure> {
    let Some(sealed) = view.latest_of_loop(loop_name)? else { return Ok(None) };
    let text = view.policy(&Record::from_sealed(&sealed)?.policy_digest)?;
    Ok(text.and_then(|text| {
        let policy = serde_json::from_str(&text).ok()?;
        Some(RecordedPolicy { policy, text })
    }))
}
