//! Parts that several commands share.

use gate_core::Policy;

use crate::failure::Failure;

/// Exit code of a command that did its work.
pub(super) const DONE: u8 = 0;

/// That a check of this name, which `--only` asked for, is configured.
pub(super) fn known_check(policy: &Policy, name: &str) -> Result<(), Failure> {
    if policy.checks.contains_key(name) {
        return Ok(());
    }
    let known: Vec<_> = policy.checks.keys().map(String::as_str).collect();
    let message = format!("--only {name}: no such check is configured");
    let failure = Failure::usage("unknown-check", message);
    let hint = format!("configured are {}", known.join(", "));
    Err(if known.is_empty() { failure } else { failure.hint(hint) })
}
