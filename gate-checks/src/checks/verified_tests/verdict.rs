//! The record of verified tests.

use std::collections::BTreeMap;
use std::path::Path;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::text::some_names;
use serde_json::{Value, json};

use super::baseline_run::{BaselineRun, RunKind};
use super::identities::{Compared, LISTED, name};
use super::overlay::{Overlay, Replacement};
use super::test_workspace::TestWorkspace;
use super::{TestOutcome, VerifiedTests, add_detail};
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
}

impl Verdict {
    pub(super) fn new(tried: TestOutcome) -> Self {
        let falls_short = tried.falls_short();
        Self { evidence: tried.evidence, detail: json!({}), report: tried.report, falls_short }
    }

    /// No control could fail the command, and why.
    pub(super) fn has_no_control(&mut self, why: &str) {
        self.add_detail("control", json!("none"));
        self.add_detail("why_none", json!(why));
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

    /// Names removed files whose tests are gone with them: if they explain all that is gone, a person
    /// can approve that.
    pub(super) fn name_lost(&mut self, compared: &Compared, overlay: &Overlay<'_>, cwd: &Path) {
        let mut lost: BTreeMap<&Path, Vec<&String>> = BTreeMap::new();
        for test in compared.missing() {
            let Some(file) = overlay.lost_owner(cwd, test) else { return };
            lost.entry(file).or_default().push(test);
        }
        let changed = lost.into_iter().map(|(file, tests)| {
            let listed = &tests[..tests.len().min(LISTED)];
            json!({ "file": file.to_string_lossy(), "tests": listed })
        });
        let changed: Vec<_> = changed.collect();
        if !changed.is_empty() {
            self.add_detail("changed", json!(changed));
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
    pub(super) fn refuse(&mut self, run: TestOutcome, laid: &[Replacement]) {
        self.take(run, &Compared::unknown(false));
        let laid: Vec<_> = laid.iter().collect();
        self.evidence.summary.push_str(&ground(&laid));
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
        let files: Vec<_> = files.iter().map(|(file, _)| *file).collect();
        let advice = "put back what was changed there, or a person has to approve it";
        self.evidence.summary.push_str(&format!("{}: {advice}", ground(&files)));
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

/// The files that stood otherwise than in the tree, as a part of a sentence.
fn ground(laid: &[&Replacement]) -> String {
    let (new, old): (Vec<&Replacement>, Vec<&Replacement>) =
        laid.iter().partition(|file| file.is_new());
    let [new, old] =
        [new, old].map(|files| files.iter().map(|file| file.name()).collect::<Vec<_>>());
    match (old.is_empty(), new.is_empty()) {
        (false, _) => format!("; with {} as in the baseline", some_names(&old, MAX_NAMED_FILES)),
        (true, false) => {
            format!("; without what is new: {}", some_names(&new, MAX_NAMED_FILES))
        }
        (true, true) => String::new(),
    }
}

impl VerifiedTests<'_> {
    /// Names the failing tests that failed on the baseline, as far as that is known.
    pub(super) fn note_red_before(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        verdict: &mut Verdict,
    ) {
        let kept: Option<BaselineRun> = self.kept(workspace, overlay, RunKind::Tests);
        let (Some(before), Some(report)) = (kept, &verdict.report) else { return };
        let before: Vec<_> = before.failed().collect();
        let first = self.first_tests();
        let failed = report.named(Status::Failed);
        let failed = failed.filter(|id| before.contains(id) && !first.contains(&name(id)));
        let red: Vec<_> = failed.take(LISTED).map(str::to_owned).collect();
        if !red.is_empty() {
            verdict.add_detail("red_before", json!(red));
        }
    }

    /// Runs the command in the tree itself, if the copy lacks something.
    pub(super) async fn in_tree_instead(&self, mut verdict: Verdict) -> Verdict {
        let tried = TestOutcome::new(self.in_tree().await, self.settings);
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
