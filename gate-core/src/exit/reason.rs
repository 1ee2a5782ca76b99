//! Why a session ends.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

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

    /// True if the phase was completed.
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Completed)
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
