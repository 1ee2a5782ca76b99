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
use gate_core::integrity::{Guarded, Language, guarded};
use serde_json::json;

use super::identities::{Compared, is_allowed};
use super::overlay::{Overlay, Replacement, ReplacementKind, is_data};
use super::test_workspace::{Contents, TestWorkspace};
use super::verdict::Verdict;
use super::{TestOutcome, Trouble, VerifiedTests, add_detail};
use crate::check::{CheckId, Occasion};
use crate::report::{self, Status};

/// The most runs of the baseline's tests: each takes files with new names of the product.
const MAX_RUNS: usize = 3;

/// The most tests that a record names as left out. If more are left out, the exit ends no
/// approval of a test.
const MAX_LEFT_OUT_NAMES: usize = 500;

/// The baseline's tests over the product of the tree.
pub(super) struct OldTests {
    pub(super) run: TestOutcome,
    /// The files that explain why it did not pass; nothing if it passed.
    blame: Blame,
    /// The files that stood otherwise than in the tree.
    pub(super) laid: Vec<Replacement>,
    /// The files among them whose old texts ran with new names of the product.
    renamed: BTreeSet<String>,
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
    /// By their place among those that were laid, each with its tests as far as they are known.
    files: BTreeMap<usize, Vec<String>>,
    /// Tests of files that stand as in the tree, which no replaced file explains.
    others: Vec<String>,
}

impl VerifiedTests<'_> {
    /// Runs the baseline's tests over the product. If an edited file fails and its edit shows new names
    /// of the product, its old text runs once more with these.
    pub(super) async fn old_tests(
        &self,
        deciding: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        mut laid: Vec<Replacement>,
    ) -> Result<OldTests, Trouble> {
        let log = CheckId::new(format!("{}-deciding", self.id));
        let mut renamed = BTreeSet::new();
        for runs in 1.. {
            self.lay(deciding, overlay, &laid)?;
            let result = deciding.run(&log, true).await;
            if self.cx.cancel.is_cancelled() {
                break;
            }
            let run = self.let_go(deciding, TestOutcome::new(result, deciding.settings()));
            if run.passed() {
                return Ok(OldTests { run, blame: Blame::default(), laid, renamed });
            }
            let blame = Blame::new(&Failures::new(&run), &laid, &self.inside(deciding.tree()));
            let replacements = self.with_new_names(deciding, overlay, &laid, &blame);
            let is_new_data = |file: &Replacement| file.is_new() && is_data(&file.path);
            let may_need_data = !blame.is_explained() && laid.iter().any(is_new_data);
            if replacements.is_empty() && !may_need_data || runs == MAX_RUNS {
                return Ok(OldTests { run, blame, laid, renamed });
            }
            for (at, replacement) in replacements {
                renamed.insert(replacement.name());
                laid[at] = replacement;
            }
            if may_need_data {
                // The product may read it.
                laid.retain(|file| !is_new_data(file));
            }
        }
        Err(Trouble::Ended)
    }

    /// Makes the deciding copy the tree with these files in the place of its own.
    pub(super) fn lay(
        &self,
        deciding: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        laid: &[Replacement],
    ) -> Result<(), Trouble> {
        let old: BTreeSet<_> =
            laid.iter().filter(|file| file.is_old()).map(|file| file.path.as_path()).collect();
        let changed = overlay.changes.iter().map(|change| change.path.as_path());
        let changed = changed.filter(|path| !old.contains(path)).collect();
        let is_poisonable = overlay.changes_builds(deciding.tree());
        let caches = if is_poisonable { None } else { Some(overlay.baseline) };
        let laid: Vec<_> = laid.iter().collect();
        deciding.lay(self.id, Contents::Replaced(&laid), &changed, caches)
    }

    /// The files with new names of the product in their old texts, if edited files explain a failure.
    fn with_new_names(
        &self,
        deciding: &TestWorkspace,
        overlay: &Overlay<'_>,
        laid: &[Replacement],
        blame: &Blame,
    ) -> Vec<(usize, Replacement)> {
        let tree = deciding.tree();
        let names = overlay.product_names(tree);
        if !blame.is_explained() || names.is_empty() {
            return Vec::new();
        }
        // A name is often used in more files than those that fail first.
        let files = laid.iter().enumerate();
        let renamed = files.filter_map(|(at, file)| {
            let replacement = file.with_new_names(tree, overlay, &names)?;
            (!replacement.is_same(file)).then_some((at, replacement))
        });
        renamed.collect()
    }

    /// Failing tests that the operator lets go do not count.
    pub(super) fn let_go(&self, workspace: &TestWorkspace, run: TestOutcome) -> TestOutcome {
        let Some(report) = &run.report else { return run };
        let failed: Vec<_> = report.named(Status::Failed).collect();
        let only_tests = report.errors.is_empty() && report.problems.is_empty();
        if !only_tests
            || failed.is_empty()
            || !failed.iter().all(|id| is_allowed(id, &self.cx.allow))
        {
            return run;
        }
        let number = failed.len() as u64;
        let left_out: Vec<_> = failed.into_iter().take(MAX_LEFT_OUT_NAMES).collect();
        let left_out = json!({ "left_out": left_out, "left_out_count": number });
        let mut report = report.clone();
        report.failed = report.failed.saturating_sub(number);
        report.skipped += number;
        for test in report.tests.iter_mut().filter(|test| test.status == Status::Failed) {
            test.status = Status::Skipped;
        }
        report.failures.clear();
        let mut judged = report::judge(Some(&report), Some(0), workspace.settings().report);
        if report.executed() == 0 {
            judged.outcome = Outcome::Pass;
            judged.summary = "every failing test is one that a person left out".to_owned();
        }
        let mut evidence = run.evidence;
        (evidence.outcome, evidence.summary) = (judged.outcome, judged.summary);
        (evidence.exit_code, evidence.excerpt) = (Some(0), None);
        add_detail(&mut evidence, judged.detail);
        add_detail(&mut evidence, left_out);
        TestOutcome { evidence, report: Some(report) }
    }
}

impl OldTests {
    /// The baseline's tests refuse, whatever the tree's own do: one fails whose file stands as in the
    /// tree, and only files of tests do not.
    pub(super) fn is_decided(&self, deciding: &TestWorkspace) -> bool {
        let only_tests = self.laid.iter().all(Replacement::is_plain_test);
        let folder = deciding.folder_of_tests();
        let stands = |test: &String| {
            test.split_once("::").is_some_and(|(file, _)| folder.join(file).is_file())
        };
        only_tests && self.blame.others.iter().any(stands)
    }

    /// Puts the results of both runs together. If the tree's own tests pass and the baseline's do not,
    /// the files that stood otherwise make the difference.
    pub(super) fn weigh(
        self,
        compared: &Compared,
        (overlay, occasion): (&Overlay<'_>, Occasion),
        verdict: &mut Verdict,
    ) {
        let Self { run, mut blame, laid, renamed } = self;
        verdict.add_detail("base_run", json!(if run.passed() { "passed" } else { "failed" }));
        let old = laid.iter().filter(|file| !file.is_new()).map(Replacement::name);
        verdict.add_detail("overlaid", json!(old.collect::<Vec<_>>()));
        verdict.add_detail("adapted", json!(renamed));
        if run.passed() {
            verdict.compare(compared, overlay);
            return;
        }
        let others = std::mem::take(&mut blame.others);
        if !others.is_empty() || blame.files.is_empty() {
            let is_about = |file: &Replacement| !(file.is_new() && file.is_plain_test());
            let any = laid.iter().any(is_about);
            for (at, file) in laid.iter().enumerate() {
                if is_about(file) || !any {
                    blame.files.entry(at).or_default().extend(others.iter().cloned());
                }
            }
        }
        let changed = blame.files.into_iter().map(|(at, tests)| (&laid[at], tests));
        let changed: Vec<_> = changed.collect();
        // A control that was left out says less than the baseline's own tests.
        if verdict.passed() || verdict.evidence.outcome == Outcome::Tamper {
            verdict.add_detail("failures_of_base", json!(true));
            verdict.needs_approval(run, compared, &changed);
        } else if occasion.is_pull_request() {
            // A reviewer sees both at once; an agent mends its own failures first.
            verdict.name_changed(&changed);
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
    /// True if edited files explain the whole failure.
    fn is_explained(&self) -> bool {
        self.others.is_empty() && !self.files.is_empty()
    }

    fn new(failures: &Failures, laid: &[Replacement], cwd: &Path) -> Self {
        use ReplacementKind::{Edited, Inline, Recipe};
        let mut blame = Self::default();
        let all = || laid.iter().enumerate();
        if failures.is_broken {
            let able = all().filter(|(_, file)| matches!(file.kind, Edited | Inline | Recipe));
            let able: Vec<_> = able.collect();
            let is_named =
                |file: &Replacement| failures.errors.contains(&*file.path.to_string_lossy());
            let named: Vec<_> = able.iter().filter(|(_, file)| is_named(file)).copied().collect();
            for (at, _) in if named.is_empty() { able } else { named } {
                blame.files.insert(at, Vec::new());
            }
            return blame;
        }
        for test in &failures.tests {
            match all().find(|(_, file)| file.owns(cwd, test)) {
                Some((at, _)) => blame.files.entry(at).or_default().push(test.clone()),
                None => blame.others.push(test.clone()),
            }
        }
        // A test that was not edited may rest on a file that was.
        let rests_on = all().filter(|(_, file)| {
            file.kind == Recipe || file.kind == Edited && is_support(&file.path)
        });
        let rests_on: Vec<_> = rests_on.map(|(at, _)| at).collect();
        if !blame.others.is_empty() && !rests_on.is_empty() {
            let others = std::mem::take(&mut blame.others);
            for at in rests_on {
                blame.files.entry(at).or_insert_with(|| others.clone());
            }
        }
        blame
    }
}

/// True for helpers, fixtures and snapshots.
fn is_support(path: &Path) -> bool {
    let Some(path) = path.to_str() else { return true };
    guarded(path) == Some(Guarded::Support) || Language::from_path(path).is_none()
}
