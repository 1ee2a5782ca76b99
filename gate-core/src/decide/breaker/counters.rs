//! Counters of what happens in a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::iteration::Iteration;

/// Counters of what happens in a row in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Counters {
    /// Iterations without a passing gate.
    pub no_exit: u32,
    /// Refused claims of completion.
    pub refused: u32,
    /// Iterations without a change to the tree.
    pub no_progress: u32,
    /// Iterations with the same error.
    pub same_error: u32,
    /// Iterations in which a check could not find out.
    pub inconclusive: u32,
    /// Iterations in which a tool was denied, and that left the tree as it was.
    pub permission_denied: u32,
    /// Iterations that ended in a rate or usage limit.
    pub rate_limited: u32,
}

impl Counters {
    /// The counters after an iteration; `last_signature` is the error of the iteration before it.
    pub(crate) fn after(&self, iteration: &Iteration, last_signature: Option<&str>) -> Self {
        if iteration.passed {
            return Self::default();
        }
        if iteration.limited {
            return Self { rate_limited: self.rate_limited.saturating_add(1), ..*self };
        }
        let signature = iteration.signature.as_deref();
        let counters = Self {
            no_exit: self.no_exit.saturating_add(1),
            refused: in_a_row(self.refused, iteration.claimed),
            no_progress: self.without_progress(iteration),
            same_error: same_errors(self.same_error, signature, last_signature),
            inconclusive: in_a_row(self.inconclusive, iteration.inconclusive),
            permission_denied: in_a_row(self.permission_denied, iteration.is_stuck_at_a_denial()),
            rate_limited: 0,
        };
        if iteration.inconclusive { counters.at_least(self) } else { counters }
    }

    /// An iteration that could not be measured clears no counter, and its own error
    /// begins no row. The progress of the tree was measured all the same.
    fn at_least(self, floor: &Self) -> Self {
        Self {
            refused: self.refused.max(floor.refused),
            same_error: self.same_error.max(floor.same_error),
            permission_denied: self.permission_denied.max(floor.permission_denied),
            rate_limited: floor.rate_limited,
            ..self
        }
    }

    /// Progress that could not be measured, and a lack that is excused, neither count nor clear.
    fn without_progress(&self, iteration: &Iteration) -> u32 {
        match iteration.progress {
            Some(progress) if progress || !iteration.excused => {
                in_a_row(self.no_progress, !progress)
            }
            _ => self.no_progress,
        }
    }
}

fn in_a_row(count: u32, has_happened: bool) -> u32 {
    if has_happened { count.saturating_add(1) } else { 0 }
}

fn same_errors(count: u32, signature: Option<&str>, last_signature: Option<&str>) -> u32 {
    match signature {
        None => 0,
        Some(_) if signature == last_signature => count.saturating_add(1),
        Some(_) => 1,
    }
}
