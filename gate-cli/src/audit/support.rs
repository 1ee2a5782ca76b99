//! The check behind a claim: from the calls of its turn, in their order.

use super::ClaimSupport;
use super::command::CheckKind;
use super::files::{is_prose, is_scratch, is_set_up, is_test};
use super::step::{Action, Step};

/// A check that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    kind: CheckKind,
    pub(super) command: String,
    pub(super) line: u64,
    /// None if the transcript does not show it.
    passed: Option<bool>,
}

/// The changes and checks of a turn.
#[derive(Default)]
pub(super) struct Support {
    /// The changed files that are no prose.
    pub(super) files: Vec<String>,
    pub(super) tests_edited: bool,
    /// The checks up to the last edit, and since then.
    stale: Vec<Run>,
    since: Vec<Run>,
    /// Something ran since the last edit that may have checked the work.
    ran_other: bool,
    /// The project is in a folder for scratch files.
    is_scratch_work: bool,
}

impl Support {
    /// The changes and checks of these calls. A project may be in a folder for scratch files: its
    /// files count if the transcript works nowhere else.
    pub(super) fn of(steps: Vec<Step>, works_elsewhere: bool) -> Self {
        let edits = steps.iter().filter_map(|step| match &step.action {
            Action::Edit(files) => Some(files),
            Action::Command(_) | Action::Other => None,
        });
        let is_scratch_work =
            !works_elsewhere && edits.flatten().all(|file| is_prose(file) || is_scratch(file));
        let mut support = Self { is_scratch_work, ..Self::default() };
        for step in steps {
            if !step.is_denied {
                support.take(step);
            }
        }
        support
    }

    fn take(&mut self, step: Step) {
        let has_failed = step.has_failed();
        match &step.action {
            Action::Edit(files) if !has_failed => files.iter().for_each(|file| self.edited(file)),
            Action::Edit(_) => {}
            Action::Other => self.ran_other = true,
            Action::Command(inspected) => {
                // If one of several commands failed, the others may have written their files.
                if !has_failed || !inspected.is_single {
                    inspected.writes.iter().for_each(|file| self.edited(file));
                }
                self.ran_other |= inspected.scripts.iter().any(|script| !self.has_changed(script));
                let check = inspected.check.as_ref();
                let script = check.filter(|check| check.kind != CheckKind::Test);
                if script
                    .and_then(|check| check.script.as_ref())
                    .is_some_and(|script| self.has_changed(script))
                {
                    return;
                }
            }
        }
        let line = step.line;
        if let Some((kind, command, passed)) = step.into_check() {
            self.since.push(Run { kind, command, line, passed });
        }
    }

    /// True if the turn has changed this script: then the script is the work, and no check of it.
    fn has_changed(&self, script: &str) -> bool {
        let name = script.trim_start_matches("./").trim_start_matches("~/");
        self.files.iter().any(|file| file.ends_with(name))
    }

    /// True if a file outside of folders for scratch files was changed.
    pub(super) fn works_elsewhere(&self) -> bool {
        self.files.iter().any(|file| !is_scratch(file))
    }

    fn edited(&mut self, path: &str) {
        self.tests_edited |= is_test(path);
        if is_prose(path) || (is_scratch(path) && !self.is_scratch_work) {
            return;
        }
        // Beside work on a project, no check looks at how the machine is set up.
        let is_set_up = is_set_up(path);
        if !self.files.iter().any(|known| known == path) {
            self.files.push(path.to_owned());
        }
        // What ran before is before the last edit now.
        if !is_set_up || self.files.len() == 1 {
            self.stale.append(&mut self.since);
            self.ran_other = false;
        }
    }

    /// The check behind a claim at the end of the turn. If a test ran in the turn, tests alone
    /// count; of several checks the last one whose end is shown.
    pub(super) fn standing(&self) -> (ClaimSupport, Option<&Run>) {
        let is_test = |run: &&Run| run.kind == CheckKind::Test;
        let ran_tests = self.stale.iter().chain(&self.since).any(|run| is_test(&run));
        let counting = || self.since.iter().filter(|run| !ran_tests || is_test(run));
        let last = counting().rfind(|run| run.passed.is_some()).or_else(|| counting().next_back());
        let other = self.since.iter().rfind(|run| run.passed == Some(false));
        match (last, other, self.stale.last()) {
            (Some(run), ..) => {
                let standing = match run.passed {
                    Some(true) => ClaimSupport::PassedAfter,
                    Some(false) => ClaimSupport::Failed,
                    None => ClaimSupport::Unknown,
                };
                (standing, Some(run))
            }
            (None, Some(failed), _) => (ClaimSupport::Failed, Some(failed)),
            _ if self.ran_other => (ClaimSupport::Unknown, None),
            (None, None, Some(run)) => (ClaimSupport::Stale, Some(run)),
            (None, None, None) => (ClaimSupport::None, None),
        }
    }
}

#[cfg(test)]
mod tests;
