//! States of a work item, and the steps between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WorkError;
use gate_core::exit::{ExitReason, WorkPhase};

/// The one actor that reports results of continuous integration.
pub const CI_PROCESSOR: &str = "system:ci-processor";

/// The phases that agents claim. A released item in the middle of its work has to be claimable;
/// only CI leaves CI_PENDING, and only an operator BLOCKED.
pub const CLAIMABLE: [WorkPhase; 5] = [
    WorkPhase::Draft,
    WorkPhase::Implementation,
    WorkPhase::ReadyForReview,
    WorkPhase::Review,
    WorkPhase::ReadyForMerge,
];

/// A phase in which agents claim items.
pub fn is_claimable(phase: WorkPhase) -> bool {
    CLAIMABLE.contains(&phase)
}

fn position(phase: WorkPhase) -> Option<usize> {
    WorkPhase::ALL.iter().position(|listed| *listed == phase)
}

/// The state of a work item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemState {
    /// Its phase.
    pub phase: WorkPhase,
    /// The phase in which it was blocked.
    pub blocked_in: Option<WorkPhase>,
    /// Number of steps taken.
    pub transition_count: u64,
}

/// Cause of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// An exit signal: the phase was completed.
    Completed,
    /// An exit signal: the agent cannot go on by itself.
    Blocked,
    /// An exit signal: the session failed.
    Error,
    /// Continuous integration passed.
    CiPassed,
    /// Continuous integration failed.
    CiFailed,
    /// An operator has removed the obstacle.
    Unblocked,
}

/// A step from one phase to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The item.
    pub id: String,
    /// The phase that it leaves.
    pub from: WorkPhase,
    /// The phase that it comes to.
    pub to: WorkPhase,
    /// The number of the step, from 1.
    pub transition_count: u64,
    /// Its cause.
    pub cause: Cause,
}

impl From<ExitReason> for Cause {
    fn from(reason: ExitReason) -> Self {
        match reason {
            ExitReason::Completed => Self::Completed,
            ExitReason::Blocked => Self::Blocked,
            ExitReason::Error => Self::Error,
        }
    }
}

impl Cause {
    /// Its name, as records spell it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Error => "error",
            Self::CiPassed => "ci_passed",
            Self::CiFailed => "ci_failed",
            Self::Unblocked => "unblocked",
        }
    }

    fn is_of_ci(self) -> bool {
        matches!(self, Self::CiPassed | Self::CiFailed)
    }
}

impl ItemState {
    /// The state of an item that was added just now. One that begins BLOCKED begins anew when it is
    /// unblocked.
    pub const fn added(phase: WorkPhase) -> Self {
        let blocked_in = match phase {
            WorkPhase::Blocked => Some(WorkPhase::Draft),
            _ => None,
        };
        Self { phase, blocked_in, transition_count: 0 }
    }

    /// The step that a cause makes the item take. An unblocked item goes back to the
    /// phase that it was blocked in, and from CI that failed to its implementation.
    /// [`ItemState::step_back`] leads to an earlier phase.
    ///
    /// # Errors
    ///
    /// No step leads on from the item's phase.
    pub fn step(&self, id: &str, cause: Cause) -> Result<Step, WorkError> {
        let invalid = || WorkError::Invalid { from: self.phase, event: cause.as_str() };
        let next_phase = match cause {
            Cause::Completed => self.phase.next_phase().ok_or_else(invalid)?,
            Cause::Blocked | Cause::Error | Cause::CiFailed => WorkPhase::Blocked,
            Cause::CiPassed => WorkPhase::ReadyForReview,
            Cause::Unblocked => match self.blocked_in.ok_or_else(invalid)? {
                WorkPhase::CiPending => WorkPhase::Implementation,
                phase => phase,
            },
        };
        let step = self.new_step(id, next_phase, cause);
        self.check_leads(&step)?;
        Ok(step)
    }

    /// The step from BLOCKED back to a phase, at most to the one that was blocked.
    ///
    /// # Errors
    ///
    /// An item that is not blocked, a phase beyond the one that was blocked.
    pub fn step_back(&self, id: &str, phase: WorkPhase) -> Result<Step, WorkError> {
        let step = self.new_step(id, phase, Cause::Unblocked);
        self.check_leads(&step)?;
        Ok(step)
    }

    /// The item after a step that this actor made.
    ///
    /// # Errors
    ///
    /// In this order: an item that is done, a step from another phase, one that was
    /// taken already, one that no rule allows, and CI's by another actor.
    pub fn after_step(&self, step: &Step, actor: &str) -> Result<Self, WorkError> {
        let Step { from, to, cause, .. } = *step;
        if self.phase == WorkPhase::Completed || from != self.phase {
            return Err(WorkError::Invalid { from: self.phase, event: cause.as_str() });
        }
        let expected = self.transition_count + 1;
        if step.transition_count != expected {
            let (id, implied) = (step.id.clone(), step.transition_count);
            return Err(WorkError::Sequence { id, expected, implied });
        }
        self.check_leads(step)?;
        if cause.is_of_ci() && actor != CI_PROCESSOR {
            return Err(WorkError::NotAllowed { from, to });
        }
        Ok(Self::from_step(step))
    }

    /// The state after a step, unchecked.
    pub(super) fn from_step(step: &Step) -> Self {
        let Step { from, to, transition_count, .. } = *step;
        let blocked_in = (to == WorkPhase::Blocked).then_some(from);
        Self { phase: to, blocked_in, transition_count }
    }

    fn new_step(&self, id: &str, to: WorkPhase, cause: Cause) -> Step {
        let (id, transition_count) = (id.to_owned(), self.transition_count + 1);
        Step { id, from: self.phase, to, transition_count, cause }
    }

    /// Checks that a step leads from here to its phase.
    fn check_leads(&self, step: &Step) -> Result<(), WorkError> {
        let Step { from, to, cause, .. } = *step;
        let is_allowed = match cause {
            Cause::Completed => is_claimable(from) && from.next_phase() == Some(to),
            Cause::Blocked | Cause::Error => is_claimable(from) && to == WorkPhase::Blocked,
            Cause::CiPassed => from == WorkPhase::CiPending && to == WorkPhase::ReadyForReview,
            Cause::CiFailed => from == WorkPhase::CiPending && to == WorkPhase::Blocked,
            Cause::Unblocked => from == WorkPhase::Blocked && self.is_way_back(to),
        };
        if is_allowed { Ok(()) } else { Err(WorkError::NotAllowed { from, to }) }
    }

    /// A phase up to the one in which the item was blocked.
    fn is_way_back(&self, to: WorkPhase) -> bool {
        let blocked_at = self.blocked_in.map(position);
        !to.is_terminal() && blocked_at.is_some_and(|blocked_at| position(to) <= blocked_at)
    }
}
