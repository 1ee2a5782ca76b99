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

pub(super) struct RunHistory {
    /// The loop's own breaker.
    pub(super) breaker: Breaker,
    /// The breaker by which an operator holds the loop's task.
    pub(super) hold: Option<Breaker>,
    /// The last run's name and state.
    pub(super) last: Option<(String, RunState)>,
}

impl RunHistory {
    /// The number of resets of the loop's breaker and of the hold. A reset ends the run.
    fn resets(&self) -> u64 {
        self.breaker.resets + self.hold.as_ref().map_or(0, |hold| hold.resets)
    }

    pub(super) fn is_run_over(&self, run: &RunState) -> bool {
        run.is_over(&now(), self.resets())
    }

    /// True if the last run is over, or if there is none.
    pub(super) fn is_over(&self) -> bool {
        self.last.as_ref().is_none_or(|(_, run)| self.is_run_over(run))
    }

    /// True if neither breaker stops the loop.
    pub(super) fn is_closed(&self) -> bool {
        self.breaker.is_closed() && self.hold.as_ref().is_none_or(Breaker::is_closed)
    }

    /// The name of the last run, or of the next one if `begins`.
    pub(super) fn run(&self, name: &str, begins: bool) -> String {
        match self.last.as_ref().map(|(run, _)| run.as_str()) {
            Some(run) if !begins => run.to_owned(),
            last => naming::next_run(name, last),
        }
    }

    /// The memory of a decision in the last run, or in a new one if `begins`.
    pub(super) fn memory(&self, begins: bool) -> LoopState {
        let run = match &self.last {
            Some((_, run)) if !begins => run.clone(),
            _ => RunState::begins(&now(), self.resets()),
        };
        LoopState { breaker: self.breaker.clone(), hold: self.hold.clone(), run }
    }
}

/// Reads the latest records of a loop and of its task.
pub(super) fn load(reading: &mut View<'_>, task: &str, name: &str) -> Result<RunHistory, Failure> {
    let decision = reading.latest_of_loop(name)?;
    let last = decision.as_ref().map(run_of).transpose()?;
    let breaker = own_breaker(reading, name, decision.as_ref())?;
    Ok(RunHistory { breaker, hold: task_breaker(reading, task)?.as_hold(), last })
}

// The breaker has no row of its own: each decision and each transition has the whole state
// after it in its record, and the latest of both counts. So the breaker and the decision
// that changed it are written in one append, and no crash can separate them. Records of
// older versions have the task's breaker here; that one is not the loop's own.
pub(super) fn own_breaker(
    reading: &mut View<'_>,
    name: &str,
    decision: Option<&Sealed>,
) -> Result<Breaker, Failure> {
    let transition = reading.latest_step_of_loop(name)?;
    let records = transition.as_ref().into_iter().chain(decision);
    let latest = records.max_by_key(|sealed| sealed.record.seq);
    let state = latest.map(body::state_of).transpose()?;
    let own = state.filter(|state| state.owner == Owner::Loop);
    Ok(own.map(|state| state.breaker).unwrap_or_default())
}

/// The breaker by which an operator holds a task.
pub(super) fn task_breaker(reading: &mut View<'_>, task: &str) -> Result<Breaker, Failure> {
    let latest = reading.latest_of_task(task)?;
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

/// The policy of a loop's last decision with its canonical text, if the store has it.
pub(super) fn last_policy(
    reading: &mut View<'_>,
    name: &str,
) -> Result<Option<(Policy, String)>, Failure> {
    let Some(sealed) = reading.latest_of_loop(name)? else { return Ok(None) };
    let text = reading.policy(&Record::from_sealed(&sealed)?.policy_digest)?;
    Ok(text.and_then(|text| Some((serde_json::from_str(&text).ok()?, text))))
}
