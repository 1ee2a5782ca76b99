//! The check behind a claim: from the calls of its turn, in their order.

use super::ClaimSupport;
use super::files::{is_note, is_of_client, is_prose, is_scratch, is_set_up, is_test};
use super::step::{Action, Step};

/// A check that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub command: String,
    pub line: u64,
    /// None if the transcript does not show it.
    passed: Option<bool>,
}

/// The changes and checks of a turn.
#[derive(Default)]
pub(crate) struct Support {
    /// The changed files that are no prose.
    pub files: Vec<String>,
    pub tests_edited: bool,
    /// Line of the answer to the last edit; 0 without one.
    pub last_edit: u64,
    /// The checks up to the last edit, and since then. Only the ends of the latter matter.
    stale: Vec<Step>,
    since: Vec<Step>,
    /// Something ran since the last edit that may have checked the work.
    ran_other: bool,
    /// A sub-agent ran.
    ran_agent: bool,
    /// The project is in a folder for scratch files.
    is_scratch_work: bool,
}

impl Support {
    /// The changes and checks of these calls. A project may be in a folder for scratch files: its
    /// files count if the transcript works nowhere else.
    pub(crate) fn new(steps: Vec<Step>, works_elsewhere: bool) -> Self {
        let edits = steps.iter().filter_map(|step| match &step.action {
            Action::Edit(files) => Some(files),
            _ => None,
        });
        let is_scratch_work = !works_elsewhere && edits.flatten().all(|file| is_scratch(file));
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
            Action::Edit(files) if !has_failed => {
                self.last_edit = step.line;
                files.iter().for_each(|file| self.edited(file));
            }
            Action::Edit(_) => {}
            Action::Other => self.ran_other = true,
            Action::SubAgent { in_background } => {
                self.ran_other = true;
                self.ran_agent |= *in_background || !self.files.is_empty();
            }
            Action::Command(inspected) => {
                // If one of several commands failed, the others may have written their files.
                if !has_failed || !inspected.is_single {
                    inspected.writes.iter().for_each(|file| self.edited(file));
                }
                self.ran_other |= inspected.may_check;
            }
        }
        self.ran_other |= step.hooks_may_check;
        if step.check().is_some() && !step.could_not_start() {
            self.since.push(step);
        }
    }

    /// True if a file outside of folders for scratch files was changed.
    pub(crate) fn works_elsewhere(&self) -> bool {
        self.files.iter().any(|file| !is_scratch(file))
    }

    fn edited(&mut self, path: &str) {
        self.tests_edited |= is_test(path);
        if is_prose(path) || is_of_client(path) || (is_scratch(path) && !self.is_scratch_work) {
            return;
        }
        // Beside work on a project, no check looks at how the machine is set up, and at notes.
        let is_set_up = is_set_up(path) || is_note(path);
        if !self.files.iter().any(|known| known == path) {
            self.files.push(path.to_owned());
        }
        // What ran before is before the last edit now.
        if !is_set_up || self.files.len() == 1 {
            self.stale.append(&mut self.since);
            self.ran_other = false;
        }
    }

    /// The check behind a claim at the end of the turn: a failure that no later run covers, or else
    /// the last check whose end is shown.
    pub(crate) fn standing(&self) -> (ClaimSupport, Option<Run>) {
        let since: Vec<_> =
            self.since.iter().filter_map(|step| Run::new(step, step.passed())).collect();
        let last = since.iter().rfind(|run| run.passed.is_some()).or_else(|| since.last());
        let stale = || self.stale.last().and_then(|step| Run::new(step, None));
        match (last, stale()) {
            (Some(run), _) => {
                let standing = match run.passed {
                    Some(true) => ClaimSupport::PassedAfter,
                    Some(false) => ClaimSupport::Failed,
                    None => ClaimSupport::Unknown,
                };
                (standing, Some(run.clone()))
            }
            _ if self.ran_other || self.ran_agent => (ClaimSupport::Unknown, None),
            (None, Some(run)) => (ClaimSupport::Stale, Some(run)),
            (None, None) => (ClaimSupport::None, None),
        }
    }
}

impl Run {
    fn new(step: &Step, passed: Option<bool>) -> Option<Self> {
        Some(Self { command: step.check()?.to_owned(), line: step.line, passed })
    }
}

#[cfg(test)]
mod tests;
