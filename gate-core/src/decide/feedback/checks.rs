//! The line that lists each required check with its outcome and its time. One that only counts or
//! warns is no work for the agent.

use super::quoted;
use crate::decide::budget::duration;
use crate::decide::evidence::{Evidence, Outcome};
use crate::decide::policy::Mode;

/// Most checks that are listed.
const MAX_CHECKS: usize = 12;

/// The line; empty without checks.
pub(super) fn line(evidence: &[Evidence]) -> String {
    let required: Vec<_> = evidence.iter().filter(|record| record.mode == Mode::Require).collect();
    if required.is_empty() {
        return String::new();
    }
    let listed: Vec<_> = required.iter().take(MAX_CHECKS).map(|record| words(record)).collect();
    let unlisted = match required.len().saturating_sub(MAX_CHECKS) {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    format!("Checks: {}{unlisted}\n", listed.join(", "))
}

fn words(record: &Evidence) -> String {
    let word = match record.outcome {
        Outcome::Pass => "PASS",
        Outcome::Fail => "FAIL",
        Outcome::Inconclusive => "COULD NOT RUN",
        Outcome::Tamper => "DOES NOT COUNT",
        Outcome::Skipped => "NOT RUN",
    };
    let name = quoted::name_of(&record.check);
    let has_run = record.outcome != Outcome::Skipped && record.duration_ms > 0;
    match has_run {
        false => format!("{word} {name}"),
        true => format!("{word} {name} ({})", duration(record.duration_ms)),
    }
}
