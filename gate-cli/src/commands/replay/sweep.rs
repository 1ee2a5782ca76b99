//! Verdicts under other thresholds, decided again from what one scan has found.

use gate_core::decide::policy::Threshold;
use gate_core::{Decision, Policy, Verdict, decide};

/// The highest threshold that is tried.
pub(crate) const MAX_THRESHOLD: u32 = 8;

/// The policy with each threshold from 0 to [`MAX_THRESHOLD`].
#[derive(Debug)]
pub(crate) struct Sweep(Vec<Policy>);

/// True, by threshold from 0, if the loop may end after an iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Swept(Vec<bool>);

impl Sweep {
    pub(crate) fn new(policy: &Policy) -> Self {
        let with = |threshold| {
            let mut policy = policy.clone();
            policy.threshold = Threshold::Fixed(threshold);
            policy
        };
        Self((0..=MAX_THRESHOLD).map(with).collect())
    }

    /// Decides an iteration again under each threshold.
    pub(crate) fn decide(&self, decision: &Decision) -> Swept {
        let exits = |policy| decide(&decision.input, policy).verdict == Verdict::Exit;
        Swept(self.0.iter().map(exits).collect())
    }
}

impl Swept {
    /// True if the loop may end under this threshold.
    pub(crate) fn exits(&self, threshold: u32) -> bool {
        self.0.get(threshold as usize).copied().unwrap_or_default()
    }
}
