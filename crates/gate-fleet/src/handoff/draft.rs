//! A draft of a handoff, out of the known parts.

use gate_core::{Decision, Policy, Verdict, text};

use super::claims::{line, passed, spellings};
use super::model::{Handoff, Outcome, Risk, Verification};

/// It stands for an unknown text, and does not validate.
const PLACEHOLDER: &str = "...";

/// The most changed files that a draft names.
const MAX_FILES: usize = 500;

/// The longest note, reason or objective in a draft, in characters.
const MAX_CHARS: usize = 400;

/// A decision, and the settings that decided.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'d> {
    /// The decision.
    pub decision: &'d Decision,
    /// The settings.
    pub policy: &'d Policy,
}

impl Judged<'_> {
    /// The commands that were run, each with its result. A command that could not be judged is
    /// none of them: its reason is listed as open.
    fn verification(self) -> Vec<Verification> {
        let commands = self.decision.input.evidence.iter().filter_map(|evidence| {
            let has_passed = passed(evidence)?;
            let argv = spellings(evidence, Some(self.policy)).into_iter().next()?;
            let notes = text::brief(&evidence.summary, MAX_CHARS).trim().to_owned();
            Some(Verification {
                command: line(&argv),
                result: if has_passed { Outcome::Pass } else { Outcome::Fail },
                notes: Some(notes).filter(|notes| !notes.is_empty()),
                blocker: None,
            })
        });
        commands.collect()
    }

    /// Why the work is not done.
    fn open_reasons(self) -> Vec<String> {
        if self.decision.verdict == Verdict::Exit {
            return Vec::new();
        }
        let reasons = self.decision.reasons.iter();
        reasons.map(|reason| text::brief(&reason.message, MAX_CHARS)).collect()
    }
}

/// Drafts a handoff from a decision and the changed files. What nobody knows is `...`.
pub fn draft_of_decision(
    objective: Option<&str>,
    judged: Option<Judged<'_>>,
    mut changed_files: Vec<String>,
) -> Handoff {
    let mut open = judged.map(Judged::open_reasons).unwrap_or_default();
    let more = changed_files.len().saturating_sub(MAX_FILES);
    if more > 0 {
        open.push(format!("{more} more files were changed than are named here"));
    }
    changed_files.truncate(MAX_FILES);
    draft(Handoff {
        objective: objective.map(|text| text::brief(text, MAX_CHARS)).unwrap_or_default(),
        changed_files,
        verification: judged.map(Judged::verification).unwrap_or_default(),
        open_risks: open.into_iter().map(|risk| Risk { risk, ..Risk::default() }).collect(),
        ..Handoff::default()
    })
}

/// Completes a handoff to a draft. Nothing is invented: an empty field becomes `...`, so that the
/// draft does not validate before somebody has finished it.
pub(super) fn draft(mut handoff: Handoff) -> Handoff {
    if handoff.verification.is_empty() {
        let result = Outcome::Unsaid("PASS|FAIL".to_owned());
        handoff.verification.push(Verification { result, ..Verification::default() });
    }
    if handoff.open_risks.is_empty() {
        handoff.open_risks.push(Risk::default());
    }
    fill(&mut handoff.objective);
    for texts in [
        &mut handoff.in_scope,
        &mut handoff.out_of_scope,
        &mut handoff.changed_files,
        &mut handoff.next_actions,
        &mut handoff.assumptions,
    ] {
        if texts.is_empty() {
            texts.push(PLACEHOLDER.to_owned());
        }
    }
    for Verification { command, result, blocker, .. } in &mut handoff.verification {
        fill(command);
        if *result == Outcome::Fail {
            let blocker = blocker.get_or_insert_default();
            fill(&mut blocker.severity);
            fill(&mut blocker.rollback);
        }
    }
    for Risk { risk, impact, owner } in &mut handoff.open_risks {
        [risk, impact, owner].into_iter().for_each(fill);
    }
    handoff
}

fn fill(text: &mut String) {
    if text.is_empty() {
        PLACEHOLDER.clone_into(text);
    }
}
