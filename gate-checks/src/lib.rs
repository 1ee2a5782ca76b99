//! Gathers the evidence that [`gate_core`] weighs.
//!
//! [`gather`] is the seam between the two: it takes the policy and returns one
//! record for each configured check, never none. No check runs yet, so every
//! record says [`Outcome::Skipped`], and a required check that was skipped
//! forbids `exit`.

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Policy;

/// One record for each configured check; with `only`, the others say that
/// they were left out.
pub fn gather(policy: &Policy, only: Option<&str>) -> Vec<Evidence> {
    policy
        .checks
        .iter()
        .map(|(name, check)| Evidence {
            argv: check.command.clone(),
            summary: match only.filter(|only| only != name) {
                Some(only) => format!("left out: only {only} was asked for"),
                None => "this version of gate does not run checks yet".to_owned(),
            },
            ..Evidence::new(name, check.mode, Outcome::Skipped)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_checks_there_is_no_evidence() {
        assert!(gather(&Policy::default(), None).is_empty());
    }
}
