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

/// The kinds of causes, named as the settings that limit them, and in their order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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
#[derive(Clone, Copy, Debug)]
pub struct LimitedCounter {
    cause: Cause,
    /// Its number so far.
    pub count: fn(&Counters) -> u32,
    /// The number at which it trips; 0 is never.
    pub limit: fn(&BreakerPolicy) -> u32,
    /// The noun behind the number.
    pub noun: &'static str,
    /// The sentence that begins with the number.
    predicate: &'static str,
}

macro_rules! limited_counters {
    ($($cause:ident $field:ident: $noun:literal, $predicate:literal;)*) => {
        [$(LimitedCounter {
            cause: Cause::$cause,
            count: |counters| counters.$field,
            limit: |policy| policy.$field,
            noun: $noun,
            predicate: $predicate,
        }),*]
    };
}

/// The counters, the most telling first.
const LIMITED_COUNTERS: [LimitedCounter; 7] = limited_counters! {
    PermissionDenied permission_denied: "iterations with a denied tool",
        "iterations in a row were denied a tool and changed nothing";
    Refused refused: "refused claims", "claims of completion in a row were refused";
    SameError same_error: "iterations with the same error",
        "iterations in a row ended with the same error";
    NoProgress no_progress: "iterations without a changed file",
        "iterations in a row changed no file";
    Inconclusive inconclusive: "iterations that could not be measured",
        "iterations in a row could not be checked";
    RateLimited rate_limited: "iterations that ended in a limit",
        "iterations in a row ended in a rate or usage limit";
    NoExit no_exit: "iterations without an exit",
        "iterations without a passing gate: Exit gate not passing";
};

impl LimitedCounter {
    /// All of them, in the order of the settings.
    pub fn all() -> [Self; 7] {
        let mut counters = LIMITED_COUNTERS;
        counters.sort_unstable_by_key(|counter| counter.cause);
        counters
    }

    /// Its name in a sentence: `no exit`.
    pub fn name(&self) -> String {
        self.cause.name().replace('_', " ")
    }

    fn due(&self, counters: &Counters, policy: &BreakerPolicy) -> Option<Trip> {
        let (count, limit) = ((self.count)(counters), (self.limit)(policy));
        (limit > 0 && count >= limit)
            .then(|| Trip { cause: self.cause, message: format!("{count} {}", self.predicate) })
    }
}

/// All trips that are due, the most telling first. `outputs` are the lengths of the
/// run's last outputs, in characters.
pub(crate) fn due(counters: &Counters, outputs: &[u64], policy: &Policy) -> Vec<Trip> {
    let trips =
        LIMITED_COUNTERS.iter().filter_map(|counter| counter.due(counters, &policy.breaker));
    trips.chain(output_decline(outputs, policy)).collect()
}

/// Output that shrinks: the median of the last three lengths, beside that of
/// the three before.
fn output_decline(outputs: &[u64], policy: &Policy) -> Option<Trip> {
    let share = u64::from(policy.breaker.output_decline);
    let [a, b, c, d, e, f] = *outputs else { return None };
    // Medians, so that one short answer among long ones is no decline.
    let (earlier, last) = (median([a, b, c]), median([d, e, f]));
    (last.saturating_mul(100) < earlier.saturating_mul(share)).then(|| Trip {
        cause: Cause::OutputDecline,
        message: format!("the last outputs have {last} characters, those before had {earlier}"),
    })
}

fn median(mut lengths: [u64; 3]) -> u64 {
    lengths.sort_unstable();
    lengths[1]
}
