//! Changed tests: the agent is told once, then a person has to approve them.

use super::{Case, Ruling};
use crate::decide::changed_tests::ChangedTests;
use crate::decide::evidence::{Evidence, Outcome};
use crate::decide::policy::Mode;
use crate::decide::reason::{Reason, ReasonCode};
use crate::decide::verdict::Verdict;
use crate::text;

impl Case<'_> {
    /// The agent is told once a run that changed tests need a person. After that, only
    /// the person can help.
    pub(super) fn changed_tests(&self, reasons: Vec<Reason>) -> Ruling {
        let was_told = self.input.kept().is_some_and(|memory| memory.run.told_of_tests);
        // An agent can say why the task needs another test; a guarded file is a person's anyway.
        let changed: Vec<_> =
            self.input.evidence.iter().flat_map(Evidence::changed_tests).collect();
        let is_guarded = changed.iter().all(|changed| changed.guarded);
        Ruling::new(
            if was_told || is_guarded { Verdict::Blocked } else { Verdict::Continue },
            reasons,
        )
    }

    /// An approval of changed tests is all that is missing. The indicators of
    /// the checks that wait for it, or that were left out for that, come with it.
    pub(super) fn needs_approval_alone(&self, objections: &[Reason]) -> bool {
        let evidence = self.input.evidence.iter();
        let waiting = evidence.filter(|record| {
            record.mode != Mode::Warn
                && (record.outcome == Outcome::Skipped || !record.changed_tests().is_empty())
        });
        let coming_score = u32::try_from(waiting.count()).unwrap_or(u32::MAX);
        let indicators = &self.input.indicators;
        let has_enough = indicators.score.saturating_add(coming_score) >= indicators.threshold;
        let is_excused = |reason: &Reason| match reason.code {
            ReasonCode::TestsChanged => true,
            ReasonCode::ThresholdNotReached => has_enough,
            _ => false,
        };
        objections.iter().any(|reason| reason.code == ReasonCode::TestsChanged)
            && objections.iter().all(is_excused)
    }
}

/// There are reasons and all are about changed tests.
pub(in crate::decide) fn is_about_tests_alone(reasons: &[Reason]) -> bool {
    !reasons.is_empty() && reasons.iter().all(|reason| reason.code == ReasonCode::TestsChanged)
}

/// The most files that a reason names.
const MAX_CHANGED_FILES: usize = 3;

/// The most of a file with its tests, in characters.
const MAX_CHANGED_CHARS: usize = 200;

pub(super) fn tests_changed(check: &str, changed: &[ChangedTests]) -> Reason {
    let named: Vec<_> = changed
        .iter()
        .take(MAX_CHANGED_FILES)
        .map(|changed| text::brief(&changed.words(), MAX_CHANGED_CHARS))
        .collect();
    let unnamed = match changed.len().saturating_sub(MAX_CHANGED_FILES) {
        0 => String::new(),
        count => format!(", and {count} more files"),
    };
    let noun = match changed.iter().all(|changed| changed.guarded) {
        true => "changes of guarded files",
        false => "changed tests",
    };
    let message = format!("{check}: a person has to approve {noun}: {}{unnamed}", named.join(", "));
    Reason::for_check(ReasonCode::TestsChanged, check, message)
}
