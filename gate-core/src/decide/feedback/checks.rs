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
    let required = evidence.iter().filter(|record| record.mode == Mode::Require);
    let evidence: Vec<_> = required.collect();
    if evidence.is_empty() {
        return String::new();
    }
    let listed: Vec<_> = evidence.iter().take(MAX_CHECKS).map(|record| shown(record)).collect();
    let more = match evidence.len().saturating_sub(MAX_CHECKS) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("Checks: {}{more}\n", listed.join(", "))
}

fn shown(record: &Evidence) -> String {
    let word = match record.outcome {
        Outcome::Pass => "PASS",
        Outcome::Fail => "FAIL",
        Outcome::Inconclusive => "COULD NOT RUN",
        Outcome::Tamper => "DOES NOT COUNT",
        Outcome::Skipped => "NOT RUN",
    };
    let name = quoted::name_of(&record.check);
    let ran = record.outcome != Outcome::Skipped && record.duration_ms > 0;
    let time = ran.then(|| duration(record.duration_ms));
    match time {
        None => format!("{word} {name}"),
        Some(time) => format!("{word} {name} ({time})"),
    }
}
