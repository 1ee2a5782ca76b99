//! The record of verified tests.

use std::collections::BTreeMap;
use std::path::Path;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::text::some_names;
use serde_json::{Value, json};

use super::baseline_run::{BaselineRun, RunKind};
use super::identities::{Comparison, MAX_LISTED, listed, stable_name};
use super::overlay::{Overlay, Replacement};
use super::test_workspace::TestWorkspace;
use super::{TestOutcome, VerifiedTests, add_detail};
use crate::report::{Status, TestReport};

/// Replaced files that a summary names.
const MAX_NAMED_FILES: usize = 2;

/// The record of a check that still runs. It begins with the record of one run, and each further step
/// adds to it or takes the pass away.
pub(super) struct Verdict {
    pub(super) evidence: Evidence,
    /// Further members of the evidence's detail.
    pub(super) detail: Value,
    pub(super) report: Option<TestReport>,
    /// As [`TestOutcome::has_failed_outside_tests`], as long as no later step has given the outcome.
    pub(super) has_failed_outside_tests: bool,
}

/// A replaced file whose old text fails, with those of its tests that fail, as far as they are known.
pub(super) struct ChangedFile<'r> {
    pub(super) replacement: &'r Replacement,
    pub(super) tests: Vec<String>,
}

impl Verdict {
    pub(super) fn new(run: TestOutcome) -> Self {
        let has_failed_outside_tests = run.has_failed_outside_tests();
        let TestOutcome { evidence, report } = run;
        Self { evidence, detail: json!({}), report, has_failed_outside_tests }
    }

    /// No control could fail the command, for this reason.
    pub(super) fn note_no_control(&mut self, reason: &str) {
        self.add_detail("control", json!("none"));
        self.add_detail("why_none", json!(reason));
    }

    pub(super) fn finish(self) -> Evidence {
        let Self { mut evidence, detail, .. } = self;
        add_detail(&mut evidence, detail);
        evidence
    }

    pub(super) fn add_detail(&mut self, name: &str, value: Value) {
        if let Some(detail) = self.detail.as_object_mut() {
            detail.insert(name.to_owned(), value);
        }
    }

    pub(super) fn has_passed(&self) -> bool {
        self.evidence.outcome == Outcome::Pass
    }

    pub(super) fn set_outcome(&mut self, outcome: Outcome, summary: String) {
        self.evidence.outcome = outcome;
        self.evidence.summary = summary;
        self.has_failed_outside_tests = false;
    }

    /// A pass that came from this file of the work tree in place of the copy's.
    pub(super) fn refuse_unisolated(&mut self, file: &Path) {
        let summary = format!(
            "not isolated: the tests loaded {} of the work tree, and not the copy's; install it in \
             a folder of the project (node_modules, .venv), or set `control = false`",
            file.display()
        );
        self.set_outcome(Outcome::Inconclusive, summary);
    }

    /// Takes in a comparison with the baseline's tests, if there is an older tree to compare with.
    pub(super) fn compare(&mut self, comparison: &Comparison, overlay: &Overlay<'_>) {
        if !overlay.is_judged_commit() {
            self.take_comparison(comparison);
        }
    }

    /// ControlNames removed files whose tests are gone with them: if they explain all that is gone, a person
    /// can approve that.
    pub(super) fn name_removed_files(
        &mut self,
        comparison: &Comparison,
        overlay: &Overlay<'_>,
        cwd: &Path,
    ) {
        let mut tests_by_file: BTreeMap<&Path, Vec<&String>> = BTreeMap::new();
        for test in comparison.not_run() {
            let Some(file) = overlay.removed_file_of(cwd, test) else { return };
            tests_by_file.entry(file).or_default().push(test);
        }
        let removed: Vec<_> = tests_by_file
            .into_iter()
            .map(|(file, tests)| json!({ "file": file.to_string_lossy(), "tests": listed(&tests) }))
            .collect();
        if !removed.is_empty() {
            self.add_detail("changed", json!(removed));
        }
    }

    fn take_comparison(&mut self, comparison: &Comparison) {
        self.add_detail("baseline", comparison.detail());
        if let Some(difference) = comparison.difference() {
            let summary = format!("{difference}; of all tests, {}", self.evidence.summary);
            self.set_outcome(Outcome::Fail, summary);
        } else if comparison.is_without_baseline() {
            self.evidence.summary.push_str("; the baseline's tests are not known");
        }
    }

    /// The baseline's tests did not pass, and no edited file explains that.
    pub(super) fn refuse(&mut self, run: TestOutcome, replacements: &[Replacement]) {
        self.take_failed_run(run, &Comparison::without_baseline(false));
        self.evidence.summary.push_str(&replacement_clause(replacements.iter()));
    }

    /// Tests were changed so that they say something else: a person has to approve that.
    pub(super) fn demand_approval(
        &mut self,
        run: TestOutcome,
        comparison: &Comparison,
        changed_files: &[ChangedFile<'_>],
    ) {
        self.take_failed_run(run, comparison);
        self.name_changed_files(changed_files);
        let clause = replacement_clause(changed_files.iter().map(|file| file.replacement));
        let advice = "put back what was changed there, or a person has to approve it";
        self.evidence.summary.push_str(&format!("{clause}: {advice}"));
    }

    /// ControlNames the changed files whose old texts fail, with their tests.
    pub(super) fn name_changed_files(&mut self, changed_files: &[ChangedFile<'_>]) {
        let changed = changed_files
            .iter()
            .map(|file| json!({ "file": file.replacement.name(), "tests": listed(&file.tests) }));
        self.add_detail("changed", changed.collect());
    }

    /// Takes in a run of the baseline's tests that did not pass.
    fn take_failed_run(&mut self, run: TestOutcome, comparison: &Comparison) {
        self.evidence = run.evidence;
        self.take_comparison(comparison);
        self.has_failed_outside_tests = false;
        if self.evidence.outcome == Outcome::Pass {
            self.evidence.outcome = Outcome::Fail;
        }
    }
}

/// The files that stood otherwise than in the tree, as a part of a sentence.
fn replacement_clause<'r>(replacements: impl Iterator<Item = &'r Replacement>) -> String {
    let (mut new_files, mut old_files) = (Vec::new(), Vec::new());
    for file in replacements {
        if file.is_new() { &mut new_files } else { &mut old_files }.push(file.name());
    }
    if !old_files.is_empty() {
        format!("; with {} as in the baseline", some_names(&old_files, MAX_NAMED_FILES))
    } else if !new_files.is_empty() {
        format!("; without what is new: {}", some_names(&new_files, MAX_NAMED_FILES))
    } else {
        String::new()
    }
}

impl VerifiedTests<'_> {
    /// ControlNames the failing tests that failed on the baseline, as far as that is known.
    pub(super) fn note_red_in_baseline(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        verdict: &mut Verdict,
    ) {
        let Some(report) = &verdict.report else { return };
        let Some(baseline_run): Option<BaselineRun> =
            self.stored_result(workspace, overlay, RunKind::Tests)
        else {
            return;
        };
        let red_in_baseline: Vec<_> = baseline_run.failed().collect();
        let first_tests = self.first_tests();
        let red_tests: Vec<_> = report
            .named(Status::Failed)
            .filter(|id| red_in_baseline.contains(id) && !first_tests.contains(&stable_name(id)))
            .take(MAX_LISTED)
            .map(str::to_owned)
            .collect();
        if !red_tests.is_empty() {
            verdict.add_detail("red_before", json!(red_tests));
        }
    }

    /// Runs the command in the tree itself, if the copy lacks something. A pass there is none: the
    /// verdict becomes inconclusive.
    pub(super) async fn in_tree_instead(&self, mut verdict: Verdict) -> Verdict {
        let run_in_tree = TestOutcome::new(self.run_in_tree().await, self.settings);
        if run_in_tree.has_passed() {
            let summary = format!(
                "it passes in the work tree alone; in the copy that gate tests: {}; what tests \
                 need and git ignores has to be tracked, or made by the tests (or set `control = \
                 false`)",
                verdict.evidence.summary
            );
            verdict.set_outcome(Outcome::Inconclusive, summary);
            return verdict;
        }
        verdict.evidence = run_in_tree.evidence;
        verdict
    }
}

#[cfg(test)]
mod tests;
