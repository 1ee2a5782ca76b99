//! The run that decides: the baseline's tests over the tree's product.
//!
//! ```text
//! the baseline's tests over the product ─► tree's own run ─► which of the baseline's still run?
//!       │ a test of a file that             │ passes, and the baseline's fail: a person has to say
//!       ▼ stands as in the tree             ▼ if what was done to tests is right
//!      fails: the end
//! ```
//!
//! If no test, no support and no setting of tests was changed or added, both runs would be the same,
//! and there is one. The baseline's run comes first: nothing of the tree's own tests has run in its
//! copy by then.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gate_core::decide::evidence::Outcome;
use gate_core::decide::policy::CheckPolicy;
use gate_core::integrity::{Guarded, Language, guarded};
use gate_core::text::{MAX_NAMES, counted, some_names};
use serde_json::json;

use super::identities::{Comparison, is_allowed};
use super::overlay::{Overlay, Replacement, ReplacementKind, is_data};
use super::test_workspace::{Contents, TestWorkspace};
use super::verdict::{ChangedFile, Verdict};
use super::{TestOutcome, Trouble, VerifiedTests, add_detail};
use crate::check::{CheckId, Occasion};
use crate::checks::test_run::excerpt;
use crate::report::{self, Status};

/// The most runs of the baseline's tests. Each run but the first has further files with new names of
/// the product, or the new data.
const MAX_RUNS: usize = 3;

/// The most tests that a record names as left out. If more are left out, the exit ends no
/// approval of a test.
const MAX_LEFT_OUT_NAMES: usize = 500;

/// The baseline's tests over the product of the tree.
pub(super) struct OldTests {
    pub(super) run: TestOutcome,
    /// The files that explain why the run did not pass; empty if it passed.
    blame: Blame,
    /// The files that stood otherwise than in the tree.
    pub(super) replacements: Vec<Replacement>,
    /// The names of those whose old texts ran with new names of the product.
    adapted: BTreeSet<String>,
}

/// The reasons why a run with the baseline's tests did not pass.
struct Failures {
    /// The tests that failed.
    tests: Vec<String>,
    /// Errors outside of tests, such as of a compiler.
    errors: String,
    /// No test ran, or something outside of tests failed.
    is_broken: bool,
}

/// The files that explain why a run did not pass.
#[derive(Debug, Default)]
struct Blame {
    /// The failing tests of each replaced file, as far as they are known, by the index of its
    /// replacement.
    tests_by_file: BTreeMap<usize, Vec<String>>,
    /// Failing tests of files that stand as in the tree, which no replaced file explains.
    unexplained: Vec<String>,
}

impl VerifiedTests<'_> {
    /// Runs the baseline's tests over the product. If an edited file fails and its edit shows new names
    /// of the product, its old text runs once more with these.
    pub(super) async fn run_old_tests(
        &self,
        deciding_copy: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        mut replacements: Vec<Replacement>,
    ) -> Result<OldTests, Trouble> {
        let log = CheckId::new(format!("{}-deciding", self.id));
        let cwd = self.folder_in(deciding_copy.tree());
        let mut adapted = BTreeSet::new();
        for number_of_run in 1.. {
            self.lay(deciding_copy, Some(overlay), &replacements)?;
            let result = deciding_copy.run(&log, true).await;
            if self.cx.cancel.is_cancelled() {
                break;
            }
            let settings = deciding_copy.settings();
            let run = self.leave_out_let_go(settings, TestOutcome::new(result, settings));
            let run = self
                .without_superseded_files(deciding_copy, Some(overlay), &replacements, run)
                .await?;
            if run.has_passed() {
                return Ok(OldTests { run, blame: Blame::default(), replacements, adapted });
            }
            let blame = Blame::new(&Failures::new(&run), &replacements, &cwd);
            let with_new_names = self.with_new_names(deciding_copy, overlay, &replacements, &blame);
            let is_new_data = |file: &Replacement| file.is_new() && is_data(&file.path);
            let may_need_data = !blame.is_complete() && replacements.iter().any(is_new_data);
            if with_new_names.is_empty() && !may_need_data || number_of_run == MAX_RUNS {
                return Ok(OldTests { run, blame, replacements, adapted });
            }
            for (index, replacement) in with_new_names {
                adapted.insert(replacement.name());
                replacements[index] = replacement;
            }
            if may_need_data {
                // New data was left out as a fixture of new tests, but the product may read it.
                replacements.retain(|file| !is_new_data(file));
            }
        }
        Err(Trouble::Ended)
    }

    /// Makes the deciding copy the tree with these files in the place of its own.
    pub(super) fn lay(
        &self,
        deciding_copy: &mut TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        replacements: &[Replacement],
    ) -> Result<(), Trouble> {
        let contents = Contents::Replaced(replacements);
        let Some(overlay) = overlay else {
            return deciding_copy.lay(self.id, contents, &BTreeSet::new(), None);
        };
        let as_in_baseline: BTreeSet<_> = replacements
            .iter()
            .filter(|file| file.is_old())
            .map(|file| file.path.as_path())
            .collect();
        let changed = overlay.changes.iter().map(|change| change.path.as_path());
        let unlike_baseline = changed.filter(|path| !as_in_baseline.contains(path)).collect();
        // Changed code that runs while the work is built would build something else than the caches
        // of the baseline hold.
        let has_stale_caches = overlay.has_changed_build_code(deciding_copy.tree());
        let caches = if has_stale_caches { None } else { Some(overlay.baseline) };
        deciding_copy.lay(self.id, contents, &unlike_baseline, caches)
    }

    /// The files with new names of the product in their old texts, if edited files explain a failure;
    /// each with the index of the replacement that it takes the place of.
    fn with_new_names(
        &self,
        deciding_copy: &TestWorkspace,
        overlay: &Overlay<'_>,
        replacements: &[Replacement],
        blame: &Blame,
    ) -> Vec<(usize, Replacement)> {
        let tree = deciding_copy.tree();
        let names = overlay.product_names(tree);
        if !blame.is_complete() || names.is_empty() {
            return Vec::new();
        }
        // A name is often used in more files than those that fail first.
        let files = replacements.iter().enumerate();
        let with_new_names = files.filter_map(|(index, file)| {
            let replacement = file.with_new_names(tree, overlay, &names)?;
            (!replacement.has_same_text(file)).then_some((index, replacement))
        });
        with_new_names.collect()
    }

    /// A person lets this test fail.
    pub(super) fn is_let_go(&self, id: &str) -> bool {
        self.superseded.has(id) || is_allowed(id, &self.cx.allow)
    }

    /// The run without the failing tests that a person lets go: they count as skipped. If nothing else
    /// failed, the command counts as if it had passed.
    pub(super) fn leave_out_let_go(&self, settings: &CheckPolicy, run: TestOutcome) -> TestOutcome {
        let Some(report) = &run.report else { return run };
        let (superseded, left_out): (Vec<_>, Vec<_>) = report
            .named(Status::Failed)
            .filter(|id| self.is_let_go(id))
            .map(str::to_owned)
            .partition(|id| self.superseded.has(id));
        let count = (superseded.len() + left_out.len()) as u64;
        if count == 0 {
            return run;
        }
        let mut notes = json!({});
        if !superseded.is_empty() {
            notes["superseded"] = self.superseded.detail(&superseded);
        }
        if !left_out.is_empty() {
            notes["left_out"] = left_out.iter().take(MAX_LEFT_OUT_NAMES).cloned().collect();
            notes["left_out_count"] = json!(left_out.len());
        }
        let mut report = report.clone();
        report.failed = report.failed.saturating_sub(count);
        report.skipped += count;
        let failed = report.tests.iter_mut().filter(|test| test.status == Status::Failed);
        for test in failed.filter(|test| self.is_let_go(&test.id)) {
            test.status = Status::Skipped;
        }
        report
            .failures
            .retain(|failure| failure.test.as_ref().is_none_or(|test| !self.is_let_go(test)));
        let has_failed =
            report.failed > 0 || !report.errors.is_empty() || !report.problems.is_empty();
        let exit_code = if has_failed { run.evidence.exit_code } else { Some(0) };
        let mut judged = report::judge(Some(&report), exit_code, settings.report);
        // A report without an executed test is no pass by itself: it may have found none.
        if !has_failed && report.executed() == 0 {
            judged.outcome = Outcome::Pass;
            judged.summary = "every failing test is one that a person lets go".to_owned();
        }
        let mut evidence = run.evidence;
        (evidence.outcome, evidence.summary) = (judged.outcome, judged.summary);
        if !superseded.is_empty() {
            let tests = counted(superseded.len(), "superseded test");
            let names = some_names(&superseded, MAX_NAMES);
            evidence.summary.push_str(&format!("; beside {tests}, which may fail: {names}"));
        }
        evidence.exit_code = exit_code;
        add_detail(&mut evidence, judged.detail);
        add_detail(&mut evidence, notes);
        let failures = evidence.failures();
        if !has_failed {
            evidence.excerpt = None;
        } else if evidence.excerpt.is_some() && !failures.is_empty() {
            evidence.excerpt = Some(excerpt(&failures));
        }
        TestOutcome { evidence, report: Some(report) }
    }
}

impl OldTests {
    /// The baseline's tests refuse, whatever the tree's own do: one fails whose file stands as in the
    /// tree, and only files of tests do not.
    pub(super) fn is_decided(&self, deciding_copy: &TestWorkspace) -> bool {
        let has_replaced_tests_alone = self.replacements.iter().all(Replacement::is_plain_test);
        let folder = deciding_copy.folder_of_tests();
        let has_file = |test: &String| {
            test.split_once("::").is_some_and(|(file, _)| folder.join(file).is_file())
        };
        has_replaced_tests_alone && self.blame.unexplained.iter().any(has_file)
    }

    /// Puts the results of both runs together. If the tree's own tests pass and the baseline's do not,
    /// the files that stood otherwise make the difference.
    pub(super) fn weigh(
        self,
        comparison: &Comparison,
        overlay: &Overlay<'_>,
        occasion: Occasion,
        verdict: &mut Verdict,
    ) {
        let Self { run, mut blame, replacements, adapted } = self;
        verdict.add_detail("base_run", json!(if run.has_passed() { "passed" } else { "failed" }));
        let overlaid = replacements.iter().filter(|file| !file.is_new()).map(Replacement::name);
        verdict.add_detail("overlaid", json!(overlaid.collect::<Vec<_>>()));
        verdict.add_detail("adapted", json!(adapted));
        if run.has_passed() {
            verdict.compare(comparison, overlay);
            return;
        }
        let unexplained = std::mem::take(&mut blame.unexplained);
        if !unexplained.is_empty() || blame.tests_by_file.is_empty() {
            // No other test rests on a new test file. If only such files were left out, one of them
            // makes the difference all the same, and all are named.
            let is_suspect = |file: &Replacement| !(file.is_new() && file.is_plain_test());
            let has_suspect = replacements.iter().any(is_suspect);
            for (index, file) in replacements.iter().enumerate() {
                if is_suspect(file) || !has_suspect {
                    let tests = blame.tests_by_file.entry(index).or_default();
                    tests.extend(unexplained.iter().cloned());
                }
            }
        }
        let changed_files: Vec<_> = blame
            .tests_by_file
            .into_iter()
            .map(|(index, tests)| ChangedFile { replacement: &replacements[index], tests })
            .collect();
        // A control that was left out says less than the baseline's own tests.
        if verdict.has_passed() || verdict.evidence.outcome == Outcome::Tamper {
            verdict.add_detail("failures_of_base", json!(true));
            verdict.demand_approval(run, comparison, &changed_files);
        } else if occasion.is_pull_request() {
            // A reviewer sees both at once; an agent mends its own failures first.
            verdict.name_changed_files(&changed_files);
        }
    }
}

impl Failures {
    fn new(run: &TestOutcome) -> Self {
        let Some(report) = &run.report else {
            let errors = run.evidence.excerpt.clone().unwrap_or_default();
            return Self { tests: Vec::new(), errors, is_broken: true };
        };
        let tests: Vec<_> = report.named(Status::Failed).map(str::to_owned).collect();
        let is_broken = !report.errors.is_empty() || report.executed() == 0;
        let excerpt = run.evidence.excerpt.as_deref().unwrap_or_default();
        let errors = format!("{}\n{excerpt}", report.errors.join("\n"));
        Self { tests, errors, is_broken }
    }
}

impl Blame {
    fn new(failures: &Failures, replacements: &[Replacement], cwd: &Path) -> Self {
        use ReplacementKind::{Edited, Inline, Recipe};
        let mut blame = Self::default();
        if failures.is_broken {
            // Old text can break a build: what it names may be gone from the product. If the errors
            // name no replaced file, any of them may be the cause.
            let mut may_break = Vec::new();
            let mut named_in_errors = Vec::new();
            for (index, file) in replacements.iter().enumerate() {
                if matches!(file.kind, Edited | Inline | Recipe) {
                    may_break.push(index);
                    if failures.errors.contains(&*file.path.to_string_lossy()) {
                        named_in_errors.push(index);
                    }
                }
            }
            let blamed = if named_in_errors.is_empty() { may_break } else { named_in_errors };
            blame.tests_by_file = blamed.into_iter().map(|index| (index, Vec::new())).collect();
            return blame;
        }
        for test in &failures.tests {
            match replacements.iter().position(|file| file.has_test(cwd, test)) {
                Some(index) => {
                    blame.tests_by_file.entry(index).or_default().push(test.clone());
                }
                None => blame.unexplained.push(test.clone()),
            }
        }
        // A test that was not edited may rest on a file that was.
        let support: Vec<_> = replacements
            .iter()
            .enumerate()
            .filter(|(_, file)| {
                file.kind == Recipe || file.kind == Edited && is_support(&file.path)
            })
            .map(|(index, _)| index)
            .collect();
        if !blame.unexplained.is_empty() && !support.is_empty() {
            let unexplained = std::mem::take(&mut blame.unexplained);
            for index in support {
                blame.tests_by_file.entry(index).or_insert_with(|| unexplained.clone());
            }
        }
        blame
    }

    /// Edited files explain the whole failure.
    fn is_complete(&self) -> bool {
        self.unexplained.is_empty() && !self.tests_by_file.is_empty()
    }
}

/// A helper, a fixture or a snapshot.
fn is_support(path: &Path) -> bool {
    let Some(path) = path.to_str() else { return true };
    guarded(path) == Some(Guarded::Support) || Language::from_path(path).is_none()
}
