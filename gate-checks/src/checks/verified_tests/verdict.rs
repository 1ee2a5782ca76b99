//! The verdict over a run: the control, the baseline's tests, the tree as it stands.

use gate_core::decide::evidence::{Evidence, Outcome};
use serde_json::{Value, json};

use super::baseline_tests::BaselineTests;
use super::control_outcome::ControlOutcome;
use super::identities::{self, Renamed, compare, is_allowed, names_all};
use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use super::{Control, TestOutcome, VerifiedTests, tell};
use crate::check::CheckId;
use crate::control::RunnerCommand;
use crate::report;

/// Overlaid files that a summary names.
const NAMED: usize = 2;

/// A record that is almost ready.
pub(super) struct Verdict {
    pub(super) evidence: Evidence,
    /// Further members of the evidence's detail.
    pub(super) told: Value,
    pub(super) report: Option<report::TestReport>,
    pub(super) falls_short: bool,
}

/// The meaning of a control that did not fail.
enum Meaning {
    Tamper,
    /// It says nothing, and why.
    Nothing(&'static str),
}

impl Verdict {
    pub(super) fn new(tried: TestOutcome) -> Self {
        let falls_short = tried.falls_short();
        let told = match &tried.control {
            Control::None(why) => json!({ "control": "none", "why_none": why }),
            Control::Planted(held) => {
                json!({ "control": held.name(), "exit_code_with_control": tried.code })
            }
        };
        Self { evidence: tried.evidence, told, report: tried.report, falls_short }
    }

    pub(super) fn finished(self) -> Evidence {
        let Self { mut evidence, told, .. } = self;
        tell(&mut evidence, told);
        evidence
    }

    pub(super) fn tell(&mut self, name: &str, value: Value) {
        if let Some(told) = self.told.as_object_mut() {
            told.insert(name.to_owned(), value);
        }
    }

    pub(super) fn becomes(&mut self, outcome: Outcome, summary: String) {
        self.evidence.outcome = outcome;
        self.evidence.summary = summary;
        self.falls_short = false;
    }
}

impl VerifiedTests<'_> {
    /// Weighs what a try told: first the control, then the baseline's tests.
    pub(super) async fn weigh(
        &self,
        workspace: &mut TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        found: Option<&RunnerCommand>,
        tried: TestOutcome,
    ) -> Result<Verdict, Trouble> {
        let tried = self.let_go(workspace, tried);
        self.remember(workspace, overlay, found, &tried);
        let TestOutcome { control, code, .. } = &tried;
        let held = match control {
            Control::Planted(held) => Some(*held),
            Control::None(_) => None,
        };
        let (report, code, passed) = (tried.report.clone(), *code, tried.passed());
        let mut verdict = Verdict::new(tried);
        if let (Some(held), Some(found)) =
            (held.filter(|held| *held != ControlOutcome::Failed), found)
            && (passed || code == Some(0) || held == ControlOutcome::Passed)
        {
            match self.means(workspace, overlay, found, held).await? {
                Meaning::Tamper => {
                    verdict.becomes(Outcome::Tamper, held.told(code));
                    return Ok(verdict);
                }
                Meaning::Nothing(why) => {
                    verdict.tell("control", json!("none"));
                    verdict.tell("why_none", json!(why));
                }
            }
        }
        let (Some(overlay), true) = (overlay, passed) else { return Ok(verdict) };
        let planted = found.is_some_and(|found| workspace.is_about_tests(found));
        let names_tests = report.as_ref().is_some_and(names_all);
        let known = self.known(workspace, overlay, found, planted).await?;
        let known = known.filter(|known| !known.tests.is_empty());
        match (known, report) {
            (Some(known), Some(report)) if names_tests => {
                self.hold_against(&known, &report, workspace, overlay, &mut verdict);
            }
            (Some(known), _) => {
                let gone = known.tests.len();
                let summary = format!("none of the baseline's {gone} tests is told of any more");
                verdict.becomes(Outcome::Fail, summary);
            }
            (None, _) => {
                verdict.tell("baseline", json!({ "known": false }));
                if names_tests {
                    verdict.evidence.summary.push_str("; the baseline's tests are not known");
                }
            }
        }
        Ok(verdict)
    }

    /// Failing tests that the operator lets go do not count.
    fn let_go(&self, workspace: &TestWorkspace, tried: TestOutcome) -> TestOutcome {
        let Some(report) = &tried.report else { return tried };
        let failed = || report.named(report::Status::Failed);
        let held = matches!(tried.control, Control::Planted(ControlOutcome::Failed));
        if !held || failed().next().is_none() || !failed().all(|id| is_allowed(id, &self.cx.allow))
        {
            return tried;
        }
        let mut report = report.clone();
        report.failed = report.failed.saturating_sub(failed().count() as u64);
        report.tests.retain(|test| test.status != report::Status::Failed);
        report.failures.clear();
        let judged = report::judge(Some(&report), Some(0), workspace.settings().report);
        let mut evidence = tried.evidence;
        (evidence.outcome, evidence.summary) = (judged.outcome, judged.summary);
        (evidence.exit_code, evidence.excerpt) = (Some(0), None);
        tell(&mut evidence, judged.detail);
        TestOutcome { evidence, report: Some(report), ..tried }
    }

    /// A run on a tree that is its own baseline tells what the baseline's tests are.
    fn remember(
        &self,
        workspace: &TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        found: Option<&RunnerCommand>,
        tried: &TestOutcome,
    ) {
        let Some(overlay) = overlay.filter(|overlay| overlay.changes.is_empty()) else { return };
        let planted = found.is_some_and(|found| workspace.is_about_tests(found));
        let held = match tried.control {
            Control::Planted(held) => Some(held),
            Control::None(_) => None,
        };
        let outcome = if planted { held } else { None };
        let known = BaselineTests::new(tried.report.as_ref(), outcome);
        // What is not known may only lack something at this moment.
        if !known.tests.is_empty() {
            self.keep(workspace, overlay, planted, &known);
            if let (false, Some(held)) = (planted, held) {
                self.keep(workspace, overlay, true, &BaselineTests::new(None, Some(held)));
            }
        }
    }

    /// Finds the meaning of a control that did not fail. A project's own settings may leave it
    /// out: then it did not fail on the baseline either.
    async fn means(
        &self,
        workspace: &mut TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        found: &RunnerCommand,
        held: ControlOutcome,
    ) -> Result<Meaning, Trouble> {
        if held == ControlOutcome::Masked {
            return Ok(Meaning::Tamper);
        }
        let known = match overlay {
            Some(overlay) => self.known(workspace, overlay, Some(found), true).await?,
            None => None,
        };
        let part = found.runner.selects(&found.args) || !found.seen;
        Ok(match (known.and_then(|known| known.control), held) {
            (Some(true), _) => Meaning::Tamper,
            (Some(false), _) => Meaning::Nothing("it is left out in the baseline too"),
            (None, ControlOutcome::NoTest) => Meaning::Nothing("no test is told of"),
            (None, ControlOutcome::Missing) if part => {
                Meaning::Nothing("the command was not seen to run all tests")
            }
            (None, _) => Meaning::Tamper,
        })
    }

    fn hold_against(
        &self,
        known: &BaselineTests,
        report: &report::TestReport,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        verdict: &mut Verdict,
    ) {
        let cwd =
            identities::inside(&self.cx.site.folder_of(self.settings), workspace.tree().root());
        let renamed = Renamed::new(overlay, &cwd);
        let compared = compare(&known.tests, report, &renamed, &self.cx.allow);
        verdict.tell("baseline", compared.detail());
        if let Some(wrong) = compared.wrong() {
            let summary = format!("{wrong}; of all tests, {}", verdict.evidence.summary);
            verdict.becomes(Outcome::Fail, summary);
        }
    }

    /// After a run with the baseline's tests: the tree with its own.
    pub(super) async fn as_it_stands(
        &self,
        workspace: &mut TestWorkspace,
        (overlay, found): (&Overlay<'_>, Option<&RunnerCommand>),
        verdict: &mut Verdict,
    ) -> Result<(), Trouble> {
        let overlaid = &overlay.names();
        let files = some(overlaid);
        let passed = verdict.evidence.outcome == Outcome::Pass;
        if !passed && !verdict.falls_short {
            if verdict.evidence.outcome == Outcome::Fail {
                let how = format!("; with {files} as in the baseline");
                verdict.evidence.summary.push_str(&how);
            }
            return Ok(());
        }
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let own = if passed { overlay.own_tests() } else { None };
        if own.as_ref().is_some_and(Vec::is_empty) {
            // What is left of its tests has passed.
            return Ok(());
        }
        workspace.sync(Contents::Tree)?;
        if let (Some(own), Some(found), Some(report)) = (&own, found, &verdict.report) {
            workspace.narrow(found, own, report);
        }
        let log = CheckId::new(format!("{}-as-it-stands", self.id));
        let none = Control::None(String::new());
        let stands =
            TestOutcome::new(workspace.run(&log, None, false).await, workspace.settings(), none);
        match (passed, stands.passed()) {
            (true, true) => {}
            (true, false) => {
                verdict.falls_short = stands.falls_short();
                verdict.evidence = stands.evidence;
                verdict.evidence.summary.push_str("; with the baseline's tests it passed");
            }
            (false, true) => {
                let summary = format!(
                    "with {files} as in the baseline: {}; a change that is meant needs `path` in \
                     [[integrity.allow]]",
                    verdict.evidence.summary
                );
                verdict.becomes(Outcome::Fail, summary);
            }
            // It is not what was laid over it.
            (false, false) => {
                verdict.falls_short = stands.falls_short();
                verdict.evidence = stands.evidence;
            }
        }
        Ok(())
    }

    /// Runs the command in the tree itself, if the copy lacks something.
    pub(super) async fn in_tree_instead(&self, mut verdict: Verdict) -> Verdict {
        let none = Control::None(String::new());
        let tried = TestOutcome::new(self.in_tree().await, self.settings, none);
        if tried.passed() {
            let summary = format!(
                "it passes in the work tree alone; in the copy that gate tests: {}; what tests \
                 need and git ignores has to be tracked, or made by the tests (or set `control = \
                 false`)",
                verdict.evidence.summary
            );
            verdict.becomes(Outcome::Inconclusive, summary);
            return verdict;
        }
        verdict.evidence = tried.evidence;
        verdict
    }
}

/// The first of these files, and how many more there are.
fn some(files: &[String]) -> String {
    let first = files.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests;
