//! The causes that trip the breaker, each with its counter, its limit and its words.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counters::Counters;
use crate::decide::policy::{BreakerPolicy, Policy};

/// The cause that opened the breaker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trip {
    /// The kind of cause.
    pub cause: Cause,
    /// A sentence for a person.
    pub message: String,
}

/// The kinds of causes, named as the settings that limit them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Iterations without a passing gate (the exit gate's own rule).
    NoExit,
    /// Claims of completion that were refused.
    Refused,
    /// Iterations that left the tree as it was.
    NoProgress,
    /// Iterations with the same error.
    SameError,
    /// Iterations that could not be measured.
    Inconclusive,
    /// Iterations in which a tool was denied.
    PermissionDenied,
    /// Outputs that get shorter and shorter.
    OutputDecline,
    /// Iterations that ended in a rate or usage limit.
    RateLimited,
    /// `budget.iterations`: in older records, as are the other budgets.
    BudgetIterations,
    /// `budget.tokens`.
    BudgetTokens,
    /// `budget.cost_usd`.
    BudgetCost,
    /// `budget.wall`.
    BudgetWall,
    /// An operator.
    Operator,
}

impl Trip {
    /// The cause of a breaker that is open without a recorded one.
    pub(crate) fn unknown() -> Self {
        Self { cause: Cause::Operator, message: "no reason recorded".to_owned() }
    }
}

impl Cause {
    /// Its name in settings and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoExit => "no_exit",
            Self::Refused => "refused",
            Self::NoProgress => "no_progress",
            Self::SameError => "same_error",
            Self::Inconclusive => "inconclusive",
            Self::PermissionDenied => "permission_denied",
            Self::OutputDecline => "output_decline",
            Self::RateLimited => "rate_limited",
            Self::BudgetIterations => "budget_iterations",
            Self::BudgetTokens => "budget_tokens",
            Self::BudgetCost => "budget_cost",
            Self::BudgetWall => "budget_wall",
            Self::Operator => "operator",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A counter that trips when it reaches its limit.
struct Counted {
    cause: Cause,
    counter: fn(&Counters) -> u32,
    limit: fn(&BreakerPolicy) -> u32,
    words: &'static str,
}

/// The counters, the most telling first.
const COUNTED: [Counted; 7] = [
    Counted {
        cause: Cause::PermissionDenied,
        counter: |counters| counters.permission_denied,
        limit: |policy| policy.permission_denied,
        words: "iterations in a row were denied a tool and changed nothing",
    },
    Counted {
        cause: Cause::Refused,
        counter: |counters| counters.refused,
        limit: |policy| policy.refused,
        words: "claims of completion in a row were refused",
    },
    Counted {
        cause: Cause::SameError,
        counter: |counters| counters.same_error,
        limit: |policy| policy.same_error,
        words: "iterations in a row ended with the same error",
    },
    Counted {
        cause: Cause::NoProgress,
        counter: |counters| counters.no_progress,
        limit: |policy| policy.no_progress,
        words: "iterations in a row changed no file",
    },
    Counted {
        cause: Cause::Inconclusive,
        counter: |counters| counters.inconclusive,
        limit: |policy| policy.inconclusive,
        words: "iterations in a row could not be checked",
    },
    Counted {
        cause: Cause::RateLimited,
        counter: |counters| counters.rate_limited,
        limit: |policy| policy.rate_limited,
        words: "iterations in a row ended in a rate or usage limit",
    },
    Counted {
        cause: Cause::NoExit,
        counter: |counters| counters.no_exit,
        limit: |policy| policy.no_exit,
        words: "iterations without a passing gate: Exit gate not passing",
    },
];

/// All trips that are due, the most telling first. `outputs` are the lengths of the
/// run's last outputs, in characters.
pub(crate) fn due(counters: &Counters, outputs: &[u64], policy: &Policy) -> Vec<Trip> {
    let counted = COUNTED.iter().filter_map(|limit| limit.due(counters, &policy.breaker));
    counted.chain(declined(outputs, policy)).collect()
}

impl Counted {
    fn due(&self, counters: &Counters, policy: &BreakerPolicy) -> Option<Trip> {
        let (count, limit) = ((self.counter)(counters), (self.limit)(policy));
        (limit > 0 && count >= limit)
            .then(|| Trip { cause: self.cause, message: format!("{count} {}", self.words) })
    }
}

/// Output that shrinks: the median of the last three lengths, beside that of
/// the three before.
fn declined(outputs: &[u64], policy: &Policy) -> Option<Trip> {
    let share = u64::from(policy.breaker.output_decline);
    let [a, b, c, d, e, f] = *outputs else { return None };
    let (before, last) = (median([a, b, c]), median([d, e, f]));
    (last.saturating_mul(100) < before.saturating_mul(share)).then(|| Trip {
        cause: Cause::OutputDecline,
        message: format!("the last outputs have {last} characters, those before had {before}"),
    })
}

fn median(mut three: [u64; 3]) -> u64 {
    three.sort_unstable();
    three[1]
}
