//! The completion indicators, added up.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::evidence::worst_of;
use super::indicator::Hit;
use super::input::Input;
use super::policy::{Policy, Threshold};
use super::signal::Status;

/// The completion indicators, added up.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Indicators {
    /// The sum.
    pub score: u32,
    /// The sum that `exit` needs.
    pub threshold: u32,
    /// The sum of the patterns' hits, by their weights.
    pub patterns: u32,
    /// The number of passing checks that count.
    pub checks: u32,
    /// 1 if other fields of the signal say the same in another way.
    #[serde(default)]
    pub fields: u32,
    /// The number of checks that pass on the agent's own word: all boxes are ticked in
    /// files that the agent can write.
    #[serde(default)]
    pub plan: u32,
    /// The hits.
    pub hits: Vec<Hit>,
}

impl Indicators {
    /// Adds up what an input holds.
    pub(super) fn count(input: &Input, policy: &Policy) -> Self {
        let patterns = input.hits.iter().fold(0, |sum: u32, hit| sum.saturating_add(hit.weight));
        let names: BTreeSet<_> =
            input.evidence.iter().map(|record| record.check.as_str()).collect();
        let counting = names.into_iter().filter_map(|name| worst_of(&input.evidence, name));
        let counting = counting.filter(|record| record.counts());
        let (claims, looked): (Vec<_>, Vec<_>) = counting.partition(|record| record.claim);
        let (plan, checks) = (claims.len() as u32, looked.len() as u32);
        let fields =
            u32::from(input.signal.fields_agree && input.signal.status == Status::Complete);
        Self {
            score: patterns.saturating_add(checks + fields + plan),
            threshold: threshold(input, policy),
            patterns,
            checks,
            fields,
            plan,
            hits: input.hits.clone(),
        }
    }
}

/// The threshold in force. If checks are left out, the reachable default is that of
/// a policy without checks.
fn threshold(input: &Input, policy: &Policy) -> u32 {
    let signal = &input.signal;
    let no_checks = input.checks_left_out || policy.counting_checks() == 0;
    // Prompts of well-known loops ask for the signal and no other word.
    let only_signal =
        policy.require_explicit_signal && signal.status == Status::Complete && signal.whole_message;
    match policy.threshold {
        Threshold::Reachable if no_checks => u32::from(!only_signal),
        Threshold::Reachable | Threshold::Fixed(_) => policy.threshold_in_force(),
    }
}

#[cfg(test)]
mod tests;
