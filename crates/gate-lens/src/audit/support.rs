//! The check behind a claim: from the calls of its turn, in their order.

use gate_report::runners::Runner;

use super::ClaimSupport;
use super::command::Scope;
use super::files::{is_note, is_of_client, is_plan, is_prose, is_scratch, is_set_up, is_test};
use super::output::{CheckEnd, CheckResult};
use super::step::{Action, Step};

/// A check that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub command: String,
    pub line: u64,
}

/// The check behind a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClaimBasis {
    pub support: ClaimSupport,
    /// The check that decides; none if no check does.
    pub run: Option<Run>,
    /// After it failed, a part of the same tests passed.
    pub later_part: Option<Run>,
}

/// A check since the last edit, with its result.
struct EndedCheck<'s> {
    step: &'s Step,
    /// None for a log, which shows the end of an earlier check.
    scope: Option<&'s Scope>,
    result: CheckResult,
}

/// The changes and checks of a turn.
#[derive(Default)]
pub(crate) struct Support {
    /// The changed files that are no prose.
    pub files: Vec<String>,
    pub tests_edited: bool,
    /// Line of the answer to the last edit; 0 without one.
    pub last_edit: u64,
    /// The commands with an output up to the last edit, and since then.
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
                self.ran_other |= inspected.other.is_some();
            }
        }
        self.ran_other |= step.hooks_may_check;
        if step.has_output() {
            self.since.push(step);
        }
    }

    /// A file outside of folders for scratch files was changed.
    pub(crate) fn works_elsewhere(&self) -> bool {
        self.files.iter().any(|file| !is_scratch(file))
    }

    fn edited(&mut self, path: &str) {
        self.tests_edited |= is_test(path);
        let is_text = is_prose(path) || is_plan(path) || is_of_client(path);
        if is_text || (is_scratch(path) && !self.is_scratch_work) {
            return;
        }
        // Beside work on a project, no check looks at how the machine is set up, and at notes.
        let is_beside_work = is_set_up(path) || is_note(path);
        if !self.files.iter().any(|file| file == path) {
            self.files.push(path.to_owned());
        }
        // What ran before is before the last edit now.
        if !is_beside_work || self.files.len() == 1 {
            self.stale.append(&mut self.since);
            self.ran_other = false;
        }
    }

    /// The check behind a claim at the end of the turn: the last failure that no later run covers, or
    /// else the last check that passed.
    pub(crate) fn standing(&self) -> ClaimBasis {
        let checks: Vec<_> = self.since.iter().filter_map(EndedCheck::new).collect();
        let is_failure = |at: &usize| {
            let later = &checks[at + 1..];
            checks[*at].result.end == CheckEnd::Failed
                && !later.iter().any(|check| check.takes_back(&checks[*at]))
        };
        if let Some(at) = (0..checks.len()).rev().find(is_failure) {
            let (failure, later) = (&checks[at], &checks[at + 1..]);
            let later_part = later.iter().rfind(|check| check.is_part_of(failure));
            return ClaimBasis {
                later_part: later_part.map(|check| Run::new(check.step)),
                ..ClaimBasis::by(ClaimSupport::Failed, Some(failure.step))
            };
        }
        // A log is the end of an earlier check, and none without one.
        let has_failed = checks.iter().any(|check| check.result.end == CheckEnd::Failed);
        let ended_so = |end| {
            let mut all = checks.iter().filter(|check| has_failed || check.scope.is_some());
            all.rfind(|check| check.result.end == end).map(|check| check.step)
        };
        // A command that may run other tests shows a failure: what passed is a part.
        if let Some(failing) = self.reported_failure() {
            return ClaimBasis::by(ClaimSupport::Unknown, Some(failing));
        }
        if let Some(passed) = ended_so(CheckEnd::Passed) {
            return ClaimBasis::by(ClaimSupport::PassedAfter, Some(passed));
        }
        if let Some(hidden) = ended_so(CheckEnd::Hidden) {
            return ClaimBasis::by(ClaimSupport::Unknown, Some(hidden));
        }
        if self.ran_other || self.ran_agent {
            return ClaimBasis::by(ClaimSupport::Unknown, None);
        }
        let stale = self
            .stale
            .iter()
            .rfind(|step| step.check().is_some() && step.result().end != CheckEnd::RanNothing);
        match stale {
            Some(stale) => ClaimBasis::by(ClaimSupport::Stale, Some(stale)),
            None => ClaimBasis::by(ClaimSupport::None, None),
        }
    }
}

impl Support {
    /// The last command since the last edit that is no known runner and reports failed tests, unless
    /// the same one reports later that all passed.
    fn reported_failure(&self) -> Option<&Step> {
        let reports: Vec<_> =
            self.since.iter().filter_map(|step| Some((step, step.reported()?))).collect();
        let last = reports.iter().rposition(|(_, passed)| !passed)?;
        let (failing, _) = reports[last];
        let is_same = |(step, _): &(&Step, bool)| step.command() == failing.command();
        if reports[last + 1..].iter().any(is_same) { None } else { Some(failing) }
    }
}

impl ClaimBasis {
    fn by(support: ClaimSupport, step: Option<&Step>) -> Self {
        Self { support, run: step.map(Run::new), later_part: None }
    }
}

impl Run {
    fn new(step: &Step) -> Self {
        Self { command: step.command().unwrap_or_default().to_owned(), line: step.line }
    }
}

impl<'s> EndedCheck<'s> {
    /// A check that ran tests, or a log of passed ones.
    fn new(step: &'s Step) -> Option<Self> {
        let scope = step.check().map(|check| check.scope.as_ref());
        let result = match scope {
            Some(_) => step.result(),
            None => {
                let tests = step.logged_passes()?;
                CheckResult { end: CheckEnd::Passed, tests: Some(tests) }
            }
        };
        let ran = result.end != CheckEnd::RanNothing;
        ran.then_some(Self { step, scope: scope.flatten(), result })
    }

    /// It passed, and shows that the tests of an earlier failure pass now.
    fn takes_back(&self, failure: &Self) -> bool {
        let counts = (self.result.tests, failure.result.tests);
        let has_as_many = || match counts {
            (Some(tests), Some(failed_run)) => tests >= failed_run,
            _ => false,
        };
        let takes_back = match (self.scope, failure.scope) {
            (Some(scope), Some(failed)) if scope.runner == failed.runner => {
                // go reports packages or tests, as it is asked.
                scope.covers(failed) || (scope.runner != Runner::Go && has_as_many())
            }
            // Another runner, after one that could not get to the tests.
            (Some(_), _) => counts.1.is_none(),
            (None, _) => counts.1.is_none() || has_as_many(),
        };
        self.result.end == CheckEnd::Passed && takes_back
    }

    /// It passed, and is a part of an earlier run of all tests.
    fn is_part_of(&self, failure: &Self) -> bool {
        let is_part = self.scope.zip(failure.scope).is_some_and(|(part, whole)| {
            part.runner == whole.runner && whole.is_whole() && !part.is_whole()
        });
        self.result.end == CheckEnd::Passed && is_part
    }
}

#[cfg(test)]
mod tests;
