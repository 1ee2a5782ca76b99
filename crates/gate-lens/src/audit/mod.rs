//! Claims of agents in past transcripts, and the checks behind them: from the commands that
//! a transcript shows, observed and never evidence.

mod claim;
mod command;
mod files;
mod lookup;
mod output;
pub mod page;
mod read;
mod shell;
mod step;
mod support;
mod tally;
pub mod text;
mod turns;

use schemars::JsonSchema;
use serde::Serialize;

pub use self::read::{AuditTools, Transcript, read_all};
pub use self::tally::{AuditItem, AuditRecord, Claims};

/// The check behind a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimSupport {
    /// A check passed after the last edit, and no failure since then is left.
    PassedAfter,
    /// All checks ran before the last edit.
    Stale,
    /// A check after the last edit failed, and no later run shows that its tests pass.
    Failed,
    /// No check ran in the turn.
    None,
    /// The transcript does not tell: the end of a check is hidden, or another command ran or failed.
    Unknown,
}

impl ClaimSupport {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 5] =
        [Self::PassedAfter, Self::Stale, Self::Failed, Self::None, Self::Unknown];

    /// All of them, the worst first.
    pub const WORST_FIRST: [Self; 5] =
        [Self::Failed, Self::None, Self::Stale, Self::Unknown, Self::PassedAfter];

    /// Its name, for a person.
    pub fn words(self) -> &'static str {
        match self {
            Self::PassedAfter => "passed after the last edit",
            Self::Stale => "ran before the last edit only",
            Self::Failed => "failed",
            Self::None => "none ran",
            Self::Unknown => "cannot tell",
        }
    }
}

/// Events on the way to a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Way {
    /// Files of tests were changed.
    pub tests_edited: bool,
    /// An edit holds a text that takes a test out of a run.
    pub tests_skipped: bool,
    /// A commit or push left hooks out.
    pub no_verify: bool,
    /// Commits outside of the history of the work were looked up.
    pub history: bool,
    /// Number of tool calls that were denied.
    pub denied: u64,
}
