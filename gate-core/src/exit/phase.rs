//! The phases of a work item, and the reasons for which a session on one ends.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::ExitSignalError;

/// A phase of a work item, as the protocol names them.
///
/// In JSON it is the name in capital letters, and nothing else is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum WorkPhase {
    /// Initial drafting.
    Draft,
    /// The code is written.
    Implementation,
    /// Waits for continuous integration to end.
    CiPending,
    /// Continuous integration has passed; waits for a review.
    ReadyForReview,
    /// Is reviewed.
    Review,
    /// The review has approved it.
    ReadyForMerge,
    /// Done and merged.
    Completed,
    /// Cannot proceed.
    Blocked,
}

impl WorkPhase {
    /// All phases, in the order of the work.
    pub const ALL: [Self; 8] = [
        Self::Draft,
        Self::Implementation,
        Self::CiPending,
        Self::ReadyForReview,
        Self::Review,
        Self::ReadyForMerge,
        Self::Completed,
        Self::Blocked,
    ];

    /// The names of all phases, in the same order.
    pub const NAMES: [&'static str; 8] = [
        "DRAFT",
        "IMPLEMENTATION",
        "CI_PENDING",
        "READY_FOR_REVIEW",
        "REVIEW",
        "READY_FOR_MERGE",
        "COMPLETED",
        "BLOCKED",
    ];

    /// The phase of a name, in capital or small letters. (In JSON only capital
    /// letters are a phase.)
    ///
    /// # Errors
    ///
    /// [`ExitSignalError::InvalidPhase`], for any other text.
    pub fn parse(text: &str) -> Result<Self, ExitSignalError> {
        let mut phases = Self::ALL.into_iter();
        let phase = phases.find(|phase| phase.as_str().eq_ignore_ascii_case(text));
        phase.ok_or_else(|| ExitSignalError::InvalidPhase(text.to_owned()))
    }

    /// Its name.
    pub const fn as_str(&self) -> &'static str {
        Self::NAMES[*self as usize]
    }

    /// A phase after which no other comes by itself.
    pub const fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Blocked)
    }

    /// The phase that comes after it if it is completed; `None` after a terminal one.
    ///
    /// The protocol's table has no row for a draft; its implementation is what
    /// comes after it.
    pub const fn next_phase(&self) -> Option<Self> {
        match self {
            Self::Draft => Some(Self::Implementation),
            Self::Implementation => Some(Self::CiPending),
            Self::CiPending => Some(Self::ReadyForReview),
            Self::ReadyForReview => Some(Self::Review),
            Self::Review => Some(Self::ReadyForMerge),
            Self::ReadyForMerge => Some(Self::Completed),
            Self::Completed | Self::Blocked => None,
        }
    }
}

impl fmt::Display for WorkPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    /// The phase was completed: the next one comes.
    Completed,
    /// Something outside of the session is in the way: the work is blocked.
    Blocked,
    /// The session failed: the work is blocked.
    Error,
}

impl ExitReason {
    /// All reasons.
    pub const ALL: [Self; 3] = [Self::Completed, Self::Blocked, Self::Error];

    /// The names of all reasons, in the same order.
    pub const NAMES: [&'static str; 3] = ["completed", "blocked", "error"];

    /// Its name.
    pub const fn as_str(&self) -> &'static str {
        Self::NAMES[*self as usize]
    }

    /// The phase was completed.
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Completed)
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
