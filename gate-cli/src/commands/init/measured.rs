//! The result and the time of a proposed check.

use std::time::Duration;

use gate_core::decide::evidence::Outcome;

/// The result of running a check once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    pub(super) outcome: Outcome,
    pub(super) took: Duration,
    /// One line for a person.
    pub(super) summary: String,
}
