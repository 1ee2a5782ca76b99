//! Loops as they are named, and what their last run went by.

use gate_core::Policy;
use gate_core::decide::breaker::Breaker;
use gate_core::decide::run_state::{LoopState, RunState};
use gate_core::history::Owner;
use gate_core::protocol::ledger::Sealed;

use super::{Memory, body, naming, now};
use crate::failure::Failure;
use crate::store::Reading;

/// What is remembered of a loop, and of what an operator holds over its task.
pub(super) struct Loaded {
    /// The loop's own breaker.
    pub(super) breaker: Breaker,
    pub(super) hold: Option<Breaker>,
    /// The last run's name, and the run.
    pub(super) last: Option<(String, RunState)>,
}

impl Loaded {
    /// How often the loop's breaker and the hold were reset.
    fn resets(&self) -> u64 {
        self.breaker.resets + self.hold.as_ref().map_or(0, |hold| hold.resets)
    }

    /// Whether a run is over.
    pub(super) fn is_past(&self, run: &RunState) -> bool {
        run.is_over(&now(), self.resets())
    }

    /// Whether the loop's run is over, or there is none.
    pub(super) fn is_over(&self) -> bool {
        self.last.as_ref().is_none_or(|(_, run)| self.is_past(run))
    }

    /// Whether decisions of the loop go through, as far as breakers are asked.
    pub(super) fn is_closed(&self) -> bool {
        self.breaker.is_closed() && self.hold.as_ref().is_none_or(Breaker::is_closed)
    }

    /// The run that a decision belongs to: the last, or the one after it.
    pub(super) fn run(&self, name: &str, begins: bool) -> String {
        let last = self.last.as_ref().map(|(run, _)| run.as_str());
        match last.filter(|_| !begins) {
            Some(run) => run.to_owned(),
            None => naming::next_run(name, last),
        }
    }

    /// What a decision rests on that belongs to the last run, or to one that begins.
    pub(super) fn memory(&self, begins: bool) -> LoopState {
        let run = match &self.last {
            Some((_, run)) if !begins => run.clone(),
            _ => RunState::begins(&now(), self.resets()),
        };
        LoopState { breaker: self.breaker.clone(), hold: self.hold.clone(), run }
    }
}

/// What the last records of a loop and of its task say.
pub(super) fn load(reading: &mut dyn Reading, task: &str, name: &str) -> Result<Loaded, Failure> {
    let of_loop = reading.latest_of_loop(name)?;
    let last = of_loop.as_ref().map(run_of).transpose()?;
    let breaker = own_breaker(reading, name, of_loop.as_ref())?;
    Ok(Loaded { breaker, hold: held(reading, task)?.as_hold(), last })
}

/// A loop's own breaker: that of its latest record. Older records hold the task's.
pub(super) fn own_breaker(
    reading: &mut dyn Reading,
    name: &str,
    decided: Option<&Sealed>,
) -> Result<Breaker, Failure> {
    let step = reading.latest_step_of_loop(name)?;
    let latest = step.as_ref().into_iter().chain(decided).max_by_key(|it| it.record.seq);
    let state = latest.map(body::state_of).transpose()?;
    let own = state.filter(|state| state.owner == Owner::Loop);
    Ok(own.map(|state| state.breaker).unwrap_or_default())
}

/// The breaker of a task, by which an operator holds it.
pub(super) fn held(reading: &mut dyn Reading, task: &str) -> Result<Breaker, Failure> {
    let latest = reading.latest_of_task(task)?;
    let state = latest.as_ref().map(body::state_of).transpose()?;
    Ok(state.map(|state| state.breaker).unwrap_or_default())
}

/// The run of a decision's record.
pub(super) fn run_of(sealed: &Sealed) -> Result<(String, RunState), Failure> {
    let state = body::state_of(sealed)?;
    let damaged = || {
        let message = format!("record {} of the ledger names no run", sealed.record.seq);
        Failure::internal("state-corrupt", message)
    };
    Ok((sealed.record.run.clone().ok_or_else(damaged)?, state.run.ok_or_else(damaged)?))
}

/// A loop, as it is named.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Loop<'a> {
    /// Its name.
    pub(crate) run: Option<&'a str>,
    /// Its task.
    pub(crate) task: Option<&'a str>,
}

/// A loop with the name that it has here.
pub(super) struct NamedLoop {
    name: String,
    task: String,
}

impl Loop<'_> {
    pub(super) fn named(&self, memory: &Memory) -> Result<NamedLoop, Failure> {
        let name = naming::of_loop(self.run, self.task, &memory.tree)?;
        Ok(NamedLoop { name, task: self.task.unwrap_or_default().to_owned() })
    }
}

impl NamedLoop {
    pub(super) fn load(&self, reading: &mut dyn Reading) -> Result<Loaded, Failure> {
        load(reading, &self.task, &self.name)
    }

    /// The run that goes on, else the next one.
    pub(super) fn next(&self, reading: &mut dyn Reading) -> Result<String, Failure> {
        let loaded = self.load(reading)?;
        Ok(loaded.run(&self.name, loaded.is_over()))
    }
}

/// The policy that the last decision of a loop was made by, where it was kept.
pub(super) fn went_by(
    reading: &mut dyn Reading,
    name: &str,
) -> Result<Option<(Policy, String)>, Failure> {
    let Some(sealed) = reading.latest_of_loop(name)? else { return Ok(None) };
    let text = reading.policy(&body::decision_of(&sealed)?.policy_digest)?;
    Ok(text.and_then(|text| Some((serde_json::from_str(&text).ok()?, text))))
}
