//! A handoff that is drafted from what is known.

use super::model::{Handoff, Outcome, Risk, Verification};

/// Placeholder for an unknown text: it does not validate.
const LATER: &str = "...";

/// Completes what is known of a handoff to a draft. Nothing is invented: what is empty becomes
/// `...`, so that the draft does not validate before somebody has finished it.
pub fn draft(mut known: Handoff) -> Handoff {
    if known.verification.is_empty() {
        let result = Outcome::Unsaid("PASS|FAIL".to_owned());
        known.verification.push(Verification { result, ..Verification::default() });
    }
    if known.open_risks.is_empty() {
        known.open_risks.push(Risk::default());
    }
    later(&mut known.objective);
    for texts in [
        &mut known.in_scope,
        &mut known.out_of_scope,
        &mut known.changed_files,
        &mut known.next_actions,
        &mut known.assumptions,
    ] {
        if texts.is_empty() {
            texts.push(LATER.to_owned());
        }
    }
    for Verification { command, result, blocker, .. } in &mut known.verification {
        later(command);
        if *result == Outcome::Fail {
            let blocker = blocker.get_or_insert_default();
            later(&mut blocker.severity);
            later(&mut blocker.rollback);
        }
    }
    for Risk { risk, impact, owner } in &mut known.open_risks {
        [risk, impact, owner].into_iter().for_each(later);
    }
    known
}

fn later(text: &mut String) {
    if text.is_empty() {
        LATER.clone_into(text);
    }
}
