//! The record of verified tests, from the own run's control to the run that decides.

use std::path::Path;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::text::some_names;
use serde_json::{Value, json};

use super::baseline_run::{BaselineRun, RunKind};
use super::control_outcome::ControlOutcome;
use super::identities::{Compared, LISTED, name};
use super::overlay::{Overlay, Replacement};
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use super::{Control, TestOutcome, VerifiedTests, add_detail};
use crate::control::{Kinds, RunnerCommand};
use crate::report::{Status, TestReport};

/// Replaced files that a summary names.
const MAX_NAMED_FILES: usize = 2;

/// A record that is almost ready.
pub(super) struct Verdict {
    pub(super) evidence: Evidence,
    /// Further members of the evidence's detail.
    pub(super) detail: Value,
    pub(super) report: Option<TestReport>,
    pub(super) falls_short: bool,
    control: Option<ControlOutcome>,
}

/// The meaning of a control that did not fail.
enum Meaning {
    Tamper,
    /// It says nothing, and why.
    Nothing(&'static str),
    /// The tests of these kinds say nothing, and the others failed as they must.
    Less(Kinds),
}

impl Verdict {
    pub(super) fn new(tried: TestOutcome) -> Self {
        let falls_short = tried.falls_short();
        let detail = match &tried.control {
            Control::None(why) => json!({ "control": "none", "why_none": why }),
            Control::Planted(outcome) => {
                let (kinds, code) = (tried.kinds.names(), tried.code);
                json!({
                    "control": outcome.name(), "controls": kinds, "exit_code_with_control": code
                })
            }
        };
        let control = match tried.control {
            Control::Planted(outcome) => Some(outcome),
            Control::None(_) => None,
        };
        Self { evidence: tried.evidence, detail, report: tried.report, falls_short, control }
    }

    pub(super) fn finished(self) -> Evidence {
        let Self { mut evidence, detail, .. } = self;
        add_detail(&mut evidence, detail);
        evidence
    }

    pub(super) fn add_detail(&mut self, name: &str, value: Value) {
        if let Some(detail) = self.detail.as_object_mut() {
            detail.insert(name.to_owned(), value);
        }
    }

    pub(super) fn passed(&self) -> bool {
        self.evidence.outcome == Outcome::Pass
    }

    pub(super) fn becomes(&mut self, outcome: Outcome, summary: String) {
        self.evidence.outcome = outcome;
        self.evidence.summary = summary;
        self.falls_short = false;
    }

    /// A pass that came from this file of the work tree in place of the copy's.
    pub(super) fn is_about_the_tree(&mut self, file: &Path) {
        let summary = format!(
            "not isolated: the tests loaded {} of the work tree, and not the copy's; install it in \
             a folder of the project (node_modules, .venv), or set `control = false`",
            file.display()
        );
        self.becomes(Outcome::Inconclusive, summary);
    }

    /// Takes in a comparison with the baseline's tests, if there is one.
    pub(super) fn compare(&mut self, compared: &Compared, overlay: &Overlay<'_>) {
        // Then nothing older is known.
        if !overlay.is_the_tree() {
            self.take_comparison(compared);
        }
    }

    fn take_comparison(&mut self, compared: &Compared) {
        self.add_detail("baseline", compared.detail());
        if let Some(wrong) = compared.wrong() {
            let summary = format!("{wrong}; of all tests, {}", self.evidence.summary);
            self.becomes(Outcome::Fail, summary);
        } else if compared.is_without_baseline() {
            self.evidence.summary.push_str("; the baseline's tests are not known");
        }
    }

    /// The baseline's tests did not pass, and no edited file explains that.
    pub(super) fn refuse(&mut self, run: TestOutcome, compared: &Compared, laid: &[&Replacement]) {
        self.take(run, compared);
        let (new, old): (Vec<_>, Vec<_>) = laid.iter().partition(|file| file.is_new());
        let [new, old] = [new, old].map(|files| names(&files));
        let ground = match (old.is_empty(), new.is_empty()) {
            (false, _) => {
                format!("; with {} as in the baseline", some_names(&old, MAX_NAMED_FILES))
            }
            (true, false) => {
                format!("; without what is new: {}", some_names(&new, MAX_NAMED_FILES))
            }
            (true, true) => String::new(),
        };
        self.evidence.summary.push_str(&ground);
    }

    /// Tests were changed so that they say something else: a person has to approve that.
    pub(super) fn needs_approval(
        &mut self,
        run: TestOutcome,
        compared: &Compared,
        files: &[(&Replacement, Vec<String>)],
    ) {
        self.take(run, compared);
        self.name_changed(files);
        let files: Vec<_> = files.iter().map(|(file, _)| file.name()).collect();
        let advice = format!(
            "; with {} as in the baseline: put back what was changed there, or a person has to \
             approve it",
            some_names(&files, MAX_NAMED_FILES)
        );
        self.evidence.summary.push_str(&advice);
    }

    /// Names the changed files whose old texts fail, with their tests.
    pub(super) fn name_changed(&mut self, files: &[(&Replacement, Vec<String>)]) {
        let changed = files.iter().map(|(file, tests)| {
            let listed = &tests[..tests.len().min(LISTED)];
            json!({ "file": file.name(), "tests": listed })
        });
        self.add_detail("changed", changed.collect());
    }

    /// Takes in a run of the baseline's tests that did not pass.
    fn take(&mut self, run: TestOutcome, compared: &Compared) {
        self.evidence = run.evidence;
        self.take_comparison(compared);
        self.falls_short = false;
        if self.evidence.outcome == Outcome::Pass {
            self.evidence.outcome = Outcome::Fail;
        }
    }
}

fn names(files: &[&&Replacement]) -> Vec<String> {
    files.iter().map(|file| file.name()).collect()
}

impl VerifiedTests<'_> {
    /// The record of the own run: its control has to have failed.
    pub(super) async fn own_verdict(
        &self,
        workspace: &mut TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        runner: Option<&RunnerCommand>,
        own: TestOutcome,
    ) -> Result<Verdict, Trouble> {
        let (code, passed, kinds) = (own.code, own.passed(), own.kinds);
        let mut verdict = Verdict::new(own);
        if let (Some(planted), Some(runner)) = (verdict.control, runner)
            && planted != ControlOutcome::Failed
            && (passed || code == Some(0) || planted.has_passed())
        {
            match self.meaning(workspace, overlay, runner, planted).await? {
                Meaning::Tamper => verdict.becomes(Outcome::Tamper, planted.summary(code)),
                Meaning::Nothing(why) => {
                    verdict.add_detail("control", json!("none"));
                    verdict.add_detail("why_none", json!(why));
                }
                Meaning::Less(silent) => {
                    verdict.add_detail("control", json!(ControlOutcome::Failed.name()));
                    verdict.add_detail("controls", json!(kinds.without(silent).names()));
                }
            }
        }
        if let Some(overlay) = overlay
            && verdict.evidence.outcome == Outcome::Fail
        {
            self.note_red_before(workspace, overlay, &mut verdict);
        }
        Ok(verdict)
    }

    /// Names the failing tests that failed on the baseline, as far as that is known.
    fn note_red_before(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        verdict: &mut Verdict,
    ) {
        let kinds = [RunKind::WithControl, RunKind::Warm];
        let before = kinds.iter().find_map(|kind| self.kept(workspace, overlay, *kind));
        let (Some(before), Some(report)) = (before, &verdict.report) else { return };
        let before: Vec<_> = before.failed().collect();
        let first = self.first_tests();
        let failed = report.named(Status::Failed);
        let failed = failed.filter(|id| before.contains(id) && !first.contains(&name(id)));
        let red: Vec<_> = failed.take(LISTED).map(str::to_owned).collect();
        if !red.is_empty() {
            verdict.add_detail("red_before", json!(red));
        }
    }

    /// Keeps a run on a tree that is its own baseline as a run on the baseline.
    pub(super) fn remember(
        &self,
        workspace: &TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        runner: Option<&RunnerCommand>,
        own: &TestOutcome,
    ) {
        let Some(overlay) = overlay.filter(|overlay| overlay.changes.is_empty()) else { return };
        let planted = runner.is_some_and(|runner| workspace.is_about_tests(runner));
        let control = match own.control {
            Control::Planted(outcome) => Some(outcome),
            Control::None(_) => None,
        };
        let code = own.evidence.exit_code;
        let run = BaselineRun::new(own.report.as_ref(), code, if planted { control } else { None });
        // What is not known may only lack something at this moment.
        if !run.tests.is_empty() {
            let kind = if planted { RunKind::WithControl } else { RunKind::Warm };
            self.keep(workspace, overlay, kind, &run);
            if let (false, Some(_)) = (planted, control) {
                let with_control = BaselineRun::new(None, code, control);
                self.keep(workspace, overlay, RunKind::WithControl, &with_control);
            }
        }
    }

    /// Finds the meaning of a control that did not fail. A project's own settings may leave it
    /// out: then it did not fail on the baseline either, or does with the baseline's settings.
    async fn meaning(
        &self,
        workspace: &mut TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        runner: &RunnerCommand,
        outcome: ControlOutcome,
    ) -> Result<Meaning, Trouble> {
        if outcome == ControlOutcome::Masked {
            return Ok(Meaning::Tamper);
        }
        let mut baseline = None;
        let mut has_other_settings = false;
        if let Some(overlay) = overlay {
            baseline = self.baseline_run(workspace, overlay, (Some(runner), true)).await?;
            let replacements = overlay.replacements(workspace.tree())?;
            let settings: Vec<_> = replacements.iter().filter(|file| file.is_settings()).collect();
            let occasion = self.cx.occasion;
            let are_approved =
                occasion.is_pull_request() && overlay.has_approved_settings(occasion);
            has_other_settings = !settings.is_empty() || are_approved;
            let is_left_out = matches!(outcome, ControlOutcome::Missing | ControlOutcome::NoTest);
            if is_left_out && are_approved {
                return Ok(Meaning::Nothing("settings that a person has approved leave it out"));
            }
            if is_left_out && has_other_settings {
                workspace.sync(Contents::Replaced(&settings))?;
                let again = self.with_control(workspace, runner).await?;
                if matches!(again.control, Control::Planted(ControlOutcome::Failed)) {
                    return Ok(Meaning::Nothing("changed settings leave it out"));
                }
            }
        }
        let failed_before = baseline.and_then(|baseline| baseline.control);
        if let ControlOutcome::Partly { passed, missing } = outcome {
            // Changed settings may leave some out, and a run that ends at a failure does not
            // reach them.
            let is_whole = workspace.is_about_tests(runner) && !has_other_settings;
            let lost = if is_whole { passed.or(missing) } else { passed };
            let is_tamper = match failed_before {
                Some(failed) => !failed.and(lost).is_empty(),
                None => !passed.is_empty(),
            };
            return Ok(if is_tamper { Meaning::Tamper } else { Meaning::Less(outcome.lost()) });
        }
        let part = runner.runner.selects(&runner.args);
        Ok(match (failed_before.map(Kinds::is_empty), outcome) {
            (Some(false), _) => Meaning::Tamper,
            (Some(true), _) => Meaning::Nothing("it is left out in the baseline too"),
            (None, ControlOutcome::NoTest) => Meaning::Nothing("the report names no test"),
            (None, ControlOutcome::Missing) if part => {
                Meaning::Nothing("the command was not seen to run all tests")
            }
            (None, _) => Meaning::Tamper,
        })
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

#[cfg(test)]
mod tests;
