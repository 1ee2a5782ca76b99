//! Gathers the evidence that [`gate_core`] weighs.
//!
//! [`gather`] is the seam between the two: it takes the policy and returns one
//! record for each configured check, never none. No check runs yet, so every
//! record says [`Outcome::Skipped`], and a required check that was skipped
//! forbids `exit`.

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Policy;

/// One record for each configured check.
pub fn gather(policy: &Policy) -> Vec<Evidence> {
    policy
        .checks
        .iter()
        .map(|(name, check)| Evidence {
            argv: check.command.clone(),
            summary: "this version of gate does not run checks yet".to_owned(),
            ..Evidence::new(name, check.mode, Outcome::Skipped)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_checks_there_is_no_evidence() {
        assert!(gather(&Policy::default()).is_empty());
    }
}
