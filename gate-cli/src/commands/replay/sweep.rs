//! Verdicts under other settings, decided again from what one scan has found.

use std::collections::{BTreeMap, BTreeSet};

use gate_core::decide::policy::Threshold;
use gate_core::{Decision, Policy, Verdict, decide};
use schemars::JsonSchema;
use serde::Serialize;

use super::accuracy::Accuracy;
use super::labels::Labelled;
use crate::replay::{ReplayRecord, ReplayVerdict};

/// The highest threshold that is tried.
pub(crate) const MAX_THRESHOLD: u32 = 8;

/// The settings that a sweep tries.
#[derive(Debug)]
pub(crate) struct Sweep {
    policy: Policy,
    /// The policy with each threshold from 0 to [`MAX_THRESHOLD`].
    thresholds: Vec<Policy>,
}

/// The verdicts on one iteration under other settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Swept {
    /// True if the loop may end, by threshold from 0.
    thresholds: Vec<bool>,
    /// The patterns without which the verdict is another one.
    decisive: BTreeSet<String>,
    /// The threshold that decided.
    threshold: u32,
}

impl Sweep {
    pub(crate) fn new(policy: &Policy) -> Self {
        let with = |threshold| {
            let mut policy = policy.clone();
            policy.threshold = Threshold::Fixed(threshold);
            policy
        };
        Self { policy: policy.clone(), thresholds: (0..=MAX_THRESHOLD).map(with).collect() }
    }

    /// Decides an iteration again under each of the settings.
    pub(crate) fn decide(&self, decision: &Decision) -> Swept {
        let input = decision.input();
        let exits = |policy| decide(&input, policy).verdict == Verdict::Exit;
        let patterns: BTreeSet<_> = input.hits.iter().map(|hit| hit.pattern.clone()).collect();
        let decisive = patterns.into_iter().filter(|pattern| {
            let mut without = input.clone();
            without.hits.retain(|hit| hit.pattern != *pattern);
            decide(&without, &self.policy).verdict != decision.verdict
        });
        Swept {
            decisive: decisive.collect(),
            thresholds: self.thresholds.iter().map(exits).collect(),
            threshold: decision.indicators.threshold,
        }
    }
}

impl Swept {
    /// True if the loop may end under this threshold.
    pub(crate) fn exits(&self, threshold: u32) -> bool {
        self.thresholds.get(threshold as usize).copied().unwrap_or_default()
    }
}

/// A sweep over all rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct SweepTotals {
    /// By `exit_gate.indicator_threshold`, from 0.
    pub thresholds: Vec<ThresholdRow>,
    /// The patterns that decide the verdict on at least one iteration.
    pub patterns: BTreeMap<String, Accuracy>,
    /// The thresholds that are in force now, by the number of configured checks.
    pub in_force: BTreeSet<u32>,
}

/// The verdicts under one threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ThresholdRow {
    /// The threshold.
    pub threshold: u32,
    /// The verdicts under it.
    #[serde(flatten)]
    pub accuracy: Accuracy,
}

impl SweepTotals {
    pub(crate) fn add(&mut self, row: &ReplayRecord, swept: &Swept) {
        let label = row.label.map(|label| Labelled { label, ambiguous: row.ambiguous });
        self.in_force.insert(swept.threshold);
        for (threshold, &exits) in (0..).zip(&swept.thresholds) {
            let at = threshold as usize;
            if self.thresholds.len() == at {
                self.thresholds.push(ThresholdRow { threshold, accuracy: Accuracy::default() });
            }
            self.thresholds[at].accuracy.add_as(exits, label);
        }
        let exits = row.verdict.is_some_and(ReplayVerdict::lets_end);
        for pattern in &swept.decisive {
            self.patterns.entry(pattern.clone()).or_default().add_as(!exits, label);
        }
    }
}
