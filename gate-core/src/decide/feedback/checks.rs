//! The line that lists each check with its outcome and its time.

use super::quoted;
use crate::decide::budget::duration;
use crate::decide::evidence::{Evidence, Outcome};
use crate::decide::policy::Mode;

/// Most checks that are listed.
const MAX_CHECKS: usize = 12;

/// The line; empty without required checks. What only counts or warns is no task of the agent's.
pub(super) fn line(evidence: &[Evidence]) -> String {
    let required: Vec<_> =
        evidence.iter().filter(|record| record.mode == Mode::Require).map(shown).collect();
    if required.is_empty() {
        return String::new();
    }
    let listed = &required[..required.len().min(MAX_CHECKS)];
    let more = match required.len() - listed.len() {
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
        Outcome::Tamper => "WORKED AROUND",
        Outcome::Skipped => "NOT RUN",
    };
    let name = quoted::name_of(&record.check);
    let ran = record.outcome != Outcome::Skipped && record.duration_ms > 0;
    match ran {
        true => format!("{word} {name} ({})", duration(record.duration_ms)),
        false => format!("{word} {name}"),
    }
}
