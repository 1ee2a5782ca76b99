//! Verdicts and their exit codes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The verdict of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The loop may end: done, or forced by the operator.
    Exit,
    /// Not done: the only verdict on which a loop goes on.
    Continue,
    /// The breaker is open: stop, not done, a person is needed.
    Tripped,
    /// The agent says that it cannot go on, or a person has to approve changed
    /// tests or settings: stop, not done.
    Blocked,
}

impl Verdict {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Continue => "continue",
            Self::Tripped => "tripped",
            Self::Blocked => "blocked",
        }
    }

    /// The exit code of `gate check`. Codes 2 (usage or configuration) and 5
    /// (internal error) belong to no verdict: nothing was decided.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Exit => 0,
            Self::Continue => 1,
            Self::Tripped => 3,
            Self::Blocked => 4,
        }
    }

    /// The loop must not go on.
    pub fn stops(self) -> bool {
        self != Self::Continue
    }
}
