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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Indicators {
    /// The sum.
    pub score: u32,
    /// The sum that `exit` needs.
    pub threshold: u32,
    /// The sum of the patterns' hits, by their weights.
    pub patterns: u32,
    /// The number of passing checks that count.
    pub checks: u32,
    /// 1 if other fields of the signal say the same in another way, and nobody set the threshold.
    #[serde(default)]
    pub fields: u32,
    /// 1 if the signal itself is the one indicator that is needed: its tag or its fields, where
    /// nothing else counts, no check runs and nobody set the threshold.
    #[serde(default)]
    pub word: u32,
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
        let hits = input.indicators.hits.clone();
        let patterns = hits.iter().fold(0, |sum: u32, hit| sum.saturating_add(hit.weight));
        let names: BTreeSet<_> =
            input.evidence.iter().map(|record| record.check.as_str()).collect();
        let records = names.into_iter().filter_map(|name| worst_of(&input.evidence, name));
        let (claims, measured): (Vec<_>, Vec<_>) =
            records.filter(|record| record.counts()).partition(|record| record.claim);
        let (plan, checks) = (claims.len() as u32, measured.len() as u32);
        let is_complete = input.signal.status == Status::Complete;
        // A threshold that somebody set keeps its meaning: neither the signal nor its fields add to it.
        let is_default_threshold = policy.exit_gate.threshold == Threshold::Reachable;
        let fields_agree = is_complete && input.signal.fields_agree && is_default_threshold;
        let has_no_checks = input.checks_left_out || policy.counting_checks() == 0;
        let is_signal_alone = has_no_checks && patterns == 0 && !fields_agree;
        let may_count_signal =
            is_default_threshold && policy.exit_gate.require_explicit_signal && is_complete;
        let is_word = may_count_signal && is_signal_alone && input.signal.is_spelled_out();
        let (fields, word) = (u32::from(fields_agree), u32::from(is_word));
        let is_one_enough = has_no_checks && is_default_threshold;
        Self {
            score: patterns.saturating_add(checks + fields + word + plan),
            threshold: if is_one_enough { 1 } else { policy.threshold_in_force() },
            patterns,
            checks,
            fields,
            word,
            plan,
            hits,
        }
    }
}

impl Indicators {
    /// Nothing but the signal itself adds to the sum.
    pub(super) fn rests_on_signal(&self) -> bool {
        self.score > 0 && self.score == self.fields + self.word
    }
}

#[cfg(test)]
mod tests;
