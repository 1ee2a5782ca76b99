//! The line that lists each check with its outcome and its time.

use super::quoted;
use crate::decide::budget::duration;
use crate::decide::evidence::{Evidence, Outcome};
use crate::decide::policy::Mode;

/// Most checks that are listed.
const MAX_CHECKS: usize = 12;

/// The line; empty without checks.
pub(super) fn line(evidence: &[Evidence]) -> String {
    if evidence.is_empty() {
        return String::new();
    }
    let listed: Vec<_> = evidence.iter().take(MAX_CHECKS).map(shown).collect();
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
        Outcome::Tamper => "WORKED AROUND",
        Outcome::Skipped => "NOT RUN",
    };
    let name = quoted::name_of(&record.check);
    let ran = record.outcome != Outcome::Skipped && record.duration_ms > 0;
    let time = ran.then(|| duration(record.duration_ms));
    let only_shown = record.mode == Mode::Warn && record.outcome != Outcome::Pass;
    let remarks = time.into_iter().chain(only_shown.then(|| "not required".to_owned()));
    let remarks: Vec<_> = remarks.collect();
    match remarks.is_empty() {
        true => format!("{word} {name}"),
        false => format!("{word} {name} ({})", remarks.join(", ")),
    }
}
