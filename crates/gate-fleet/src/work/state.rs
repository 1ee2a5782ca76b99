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

/// True if agents claim items in this phase.
pub fn is_claimable(phase: WorkPhase) -> bool {
    CLAIMABLE.contains(&phase)
}

fn position(phase: WorkPhase) -> Option<usize> {
    WorkPhase::ALL.iter().position(|known| *known == phase)
}

/// State of a work item.
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
    /// An exit signal: something is in the way.
    Blocked,
    /// An exit signal: the session failed.
    Error,
    /// Continuous integration passed.
    CiPassed,
    /// Continuous integration failed.
    CiFailed,
    /// An operator has removed what was in the way.
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

    /// The step that this makes the item take. An unblocked one goes back to the
    /// phase that it was blocked in, and from CI that failed to its implementation:
    /// another phase before is [`ItemState::back_to`].
    ///
    /// # Errors
    ///
    /// Nothing leads on from here.
    pub fn step(&self, id: &str, cause: Cause) -> Result<Step, WorkError> {
        let invalid = || WorkError::Invalid { from: self.phase, event: cause.as_str() };
        let to = match cause {
            Cause::Completed => self.phase.next_phase().ok_or_else(invalid)?,
            Cause::Blocked | Cause::Error | Cause::CiFailed => WorkPhase::Blocked,
            Cause::CiPassed => WorkPhase::ReadyForReview,
            Cause::Unblocked => match self.blocked_in.ok_or_else(invalid)? {
                WorkPhase::CiPending => WorkPhase::Implementation,
                phase => phase,
            },
        };
        let step = self.to(id, to, cause);
        self.leads(&step)?;
        Ok(step)
    }

    /// The step from BLOCKED back to a phase, at most to the one that was blocked.
    ///
    /// # Errors
    ///
    /// An item that is not blocked, a phase beyond.
    pub fn back_to(&self, id: &str, phase: WorkPhase) -> Result<Step, WorkError> {
        let step = self.to(id, phase, Cause::Unblocked);
        self.leads(&step)?;
        Ok(step)
    }

    /// The item after a step that this actor made.
    ///
    /// # Errors
    ///
    /// In this order: an item that is done, a step from another phase, one that was
    /// taken already, one that leads nowhere, and CI's by anybody else.
    pub fn taken(&self, step: &Step, actor: &str) -> Result<Self, WorkError> {
        let Step { from, to, cause, .. } = *step;
        if self.phase == WorkPhase::Completed || from != self.phase {
            return Err(WorkError::Invalid { from: self.phase, event: cause.as_str() });
        }
        let expected = self.transition_count + 1;
        if step.transition_count != expected {
            let (id, implied) = (step.id.clone(), step.transition_count);
            return Err(WorkError::Sequence { id, expected, implied });
        }
        self.leads(step)?;
        if cause.is_of_ci() && actor != CI_PROCESSOR {
            return Err(WorkError::NotAllowed { from, to });
        }
        Ok(Self::after(step))
    }

    /// The state after a step.
    pub(super) fn after(step: &Step) -> Self {
        let Step { from, to, transition_count, .. } = *step;
        let blocked_in = (to == WorkPhase::Blocked).then_some(from);
        Self { phase: to, blocked_in, transition_count }
    }

    fn to(&self, id: &str, to: WorkPhase, cause: Cause) -> Step {
        let (id, transition_count) = (id.to_owned(), self.transition_count + 1);
        Step { id, from: self.phase, to, transition_count, cause }
    }

    /// Checks that a step leads from here to its phase.
    fn leads(&self, step: &Step) -> Result<(), WorkError> {
        let Step { from, to, cause, .. } = *step;
        let leads = match cause {
            Cause::Completed => is_claimable(from) && from.next_phase() == Some(to),
            Cause::Blocked | Cause::Error => is_claimable(from) && to == WorkPhase::Blocked,
            Cause::CiPassed => from == WorkPhase::CiPending && to == WorkPhase::ReadyForReview,
            Cause::CiFailed => from == WorkPhase::CiPending && to == WorkPhase::Blocked,
            Cause::Unblocked => from == WorkPhase::Blocked && self.is_back(to),
        };
        if leads { Ok(()) } else { Err(WorkError::NotAllowed { from, to }) }
    }

    fn is_back(&self, to: WorkPhase) -> bool {
        !to.is_terminal()
            && self.blocked_in.is_some_and(|blocked| position(to) <= position(blocked))
    }
}
