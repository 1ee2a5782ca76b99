//! The tests of a pull request.
//!
//! ```text
//! base's tests over the product ─► tree's own run ─► which of the base's tests does it still run?
//!       │ a test of a file that     │ passes, and the base's fail: a reviewer has to say if what
//!       ▼ stands as in the tree     ▼ the change did to tests is right
//!      fails: the end
//! ```
//!
//! If no test, no support and no setting of tests was changed or added, both runs would be the
//! same, and the tree's own is the only one. The base's run comes first: nothing of the tree's own
//! tests has run in the copy by then.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::integrity::{Guarded, Language, guarded, loaded_by_itself};
use serde_json::json;

use super::deciding::{Blame, Failures};
use super::identities::{Compared, Renamed, Sources, compare, names_all};
use super::overlay::{Overlay, Replacement};
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use super::verdict::Verdict;
use super::{Control, TestOutcome, VerifiedTests};
use crate::check::{CheckId, Occasion};
use crate::control::RunnerCommand;
use crate::report::{Status, Test, TestReport};
use crate::worktree::{File, WorkTree};

/// The most runs of the base's tests: each takes edited files that only follow a new name.
const MAX_RUNS: usize = 3;

/// The base's tests over the product of the tree.
struct BaseRun<'r> {
    run: TestOutcome,
    /// The files that explain why it did not pass; nothing if it passed.
    blame: Blame<'r>,
    /// Edited files that ran in the place of their old texts.
    adapted: BTreeSet<PathBuf>,
    /// The files that stood otherwise than in the tree.
    laid: Vec<&'r Replacement>,
}

impl VerifiedTests<'_> {
    /// The record of a check whose baseline is the base of a pull request.
    pub(super) async fn judge_pull_request(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        runner: Option<&RunnerCommand>,
    ) -> Result<Evidence, Trouble> {
        let mut workspace = TestWorkspace::open(tree, self.settings, self.cx).await?;
        let mut replacements = overlay.replacements(tree)?;
        if !overlay.baseline.has_tests(tree)? {
            replacements.retain(|file| !file.is_new());
        }
        let base = match replacements.is_empty() {
            true => None,
            false => Some(self.base_run(&mut workspace, overlay, &replacements).await?),
        };
        if let Some(base) = base.as_ref().filter(|base| base.is_decided(&workspace)) {
            let laid: Vec<_> = replacements.iter().collect();
            let mut verdict = Verdict::new(base.run.clone());
            verdict.add_detail("base_run", json!("failed"));
            verdict.refuse(base.run.clone(), &Compared::unknown(false), &laid);
            return Ok(verdict.finished());
        }
        let tree_run = self.tree_run(&mut workspace, overlay, runner).await?;
        let mut verdict = self.own_verdict(&mut workspace, Some(overlay), runner, tree_run).await?;
        let mut compared = None;
        if verdict.passed() && !self.is_approved() {
            let of_base = base.as_ref().and_then(|base| base.run.report.as_ref());
            compared = self.compare_names(&mut workspace, overlay, of_base, &verdict).await?;
        }
        if verdict.passed()
            && let Some(file) = workspace.tested_file_of_tree(self.id).await
        {
            verdict.is_about_the_tree(&file);
        }
        if verdict.falls_short && !self.cx.cancel.is_cancelled() {
            return Ok(self.in_tree_instead(verdict).await.finished());
        }
        match base {
            Some(base) => base.weigh(compared, overlay, &mut verdict),
            None => {
                if let Some(compared) = compared {
                    verdict.compare(&compared, overlay);
                }
            }
        }
        Ok(verdict.finished())
    }

    /// A reviewer has approved tests that are lost.
    fn is_approved(&self) -> bool {
        self.cx.occasion == Occasion::PullRequest { approved: true }
    }

    /// Runs the base's tests over the product. An edited file that only follows a new name of the
    /// product runs in the place of its old text.
    async fn base_run<'r>(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        replacements: &'r [Replacement],
    ) -> Result<BaseRun<'r>, Trouble> {
        let log = CheckId::new(format!("{}-base", self.id));
        let mut adapted: BTreeSet<PathBuf> = BTreeSet::new();
        for runs in 1.. {
            let laid: Vec<_> =
                replacements.iter().filter(|file| !adapted.contains(&file.path)).collect();
            workspace.sync(Contents::Replaced(&laid))?;
            let result = workspace.run(&log, None, true).await;
            if self.cx.cancel.is_cancelled() {
                break;
            }
            let none = Control::None(String::new());
            let run = self.let_go(workspace, TestOutcome::new(result, workspace.settings(), none));
            if run.passed() {
                return Ok(BaseRun { run, blame: Blame::default(), adapted, laid });
            }
            let failures = Failures::new(&run, &Compared::unknown(false));
            let blame = Blame::new(&failures, &laid, &self.inside(workspace.tree()));
            let adapts = self.adapts(workspace.tree(), overlay, &laid, &blame);
            if adapts.is_empty() || runs == MAX_RUNS {
                return Ok(BaseRun { run, blame, adapted, laid });
            }
            adapted.extend(adapts);
        }
        Err(Trouble::Ended)
    }

    /// The files that may run as they are in the place of what was laid for them: edited ones that
    /// only follow a new name, if these explain all failures; else new data, which the product may
    /// read. What a runner loads is code.
    fn adapts(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        laid: &[&Replacement],
        blame: &Blame<'_>,
    ) -> Vec<PathBuf> {
        let edited = blame.files.values().filter(|(file, _)| self.is_adapted(tree, overlay, file));
        let edited: Vec<_> = edited.map(|(file, _)| file.path.clone()).collect();
        let is_explained = blame.others.is_empty() && !blame.files.is_empty();
        if is_explained {
            return if edited.len() == blame.files.len() { edited } else { Vec::new() };
        }
        let data = laid.iter().filter(|file| file.is_new() && is_data(&file.path));
        data.map(|file| file.path.clone()).collect()
    }

    /// Runs the tree's own tests, with a control if one can be planted.
    async fn tree_run(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        runner: Option<&RunnerCommand>,
    ) -> Result<TestOutcome, Trouble> {
        let outcome = match runner {
            Some(runner) => {
                workspace.sync(Contents::Tree)?;
                workspace.note_changes(Some(overlay));
                self.with_control(workspace, runner).await?
            }
            None => {
                let reason = "the command starts no runner that gate has a control for".to_owned();
                TestOutcome::new(self.in_tree().await, self.settings, Control::None(reason))
            }
        };
        Ok(self.let_go(workspace, outcome))
    }

    /// Looks for tests of the base that are gone from the tree's own run, or skipped there; none if
    /// nothing can be compared. `of_base` is the report of the base's tests over the product, if they
    /// ran.
    // A product can leave out tests that nobody edited, which then are skipped in both runs, and a
    // source can be gone with the tests in it. Only a run of the base itself shows them. Marks without
    // a condition, and such about the machine, say the same as before.
    async fn compare_names(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        of_base: Option<&TestReport>,
        verdict: &Verdict,
    ) -> Result<Option<Compared>, Trouble> {
        let Some(report) = &verdict.report else { return Ok(None) };
        let skips = |report: &TestReport| report.named(Status::Skipped).next().is_some();
        let may_skip = skips(report) || of_base.is_some_and(skips);
        let is_unsure = may_skip && self.skips_by_condition(workspace.tree(), overlay)
            || overlay.lost_inline_tests(workspace.tree())?;
        let tests = if is_unsure {
            let run = self.baseline_run(workspace, overlay, (None, false)).await?;
            run.map(|run| run.tests).filter(|tests| !tests.is_empty())
        } else {
            let named = of_base.filter(|report| names_what_passed(report));
            named.map(|report| report.tests.clone())
        };
        let Some(tests) = tests else {
            let number = of_base.map_or(0, TestReport::executed);
            let lost = number.saturating_sub(report.executed());
            return Ok((lost > 0).then(|| Compared::fewer(number, report.executed())));
        };
        let tests = without_changing_parameters(tests, report);
        if !names_all(report) {
            return Ok(Some(Compared::unlisted(tests.len())));
        }
        let renamed = Renamed::new(overlay, &self.inside(workspace.tree()));
        let mut compared = compare(&tests, report, &renamed, &self.cx.allow);
        compared.relocate(&tests, report, || Sources::new(overlay, workspace.tree()));
        if overlay.has_approved_settings(self.cx.occasion) {
            compared.allow_what_is_not_run();
        }
        Ok(Some(compared))
    }
}

impl VerifiedTests<'_> {
    /// Looks for tests that are skipped under a condition of the product's, and for a product that
    /// skips tests.
    fn skips_by_condition(&self, tree: &WorkTree, overlay: &Overlay<'_>) -> bool {
        let may_skip = |path: &Path, is_free: fn(&str) -> bool| {
            let text = tree.bytes(path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            text.lines().any(|line| line.to_ascii_lowercase().contains("skip") && !is_free(line))
        };
        let is_of_tests = |path: &Path| {
            matches!(guarded(&path.to_string_lossy()), Some(Guarded::Test | Guarded::Support))
        };
        let product = overlay.changes.iter().map(|change| change.path.as_path());
        let tests = self.cx.tree.files().map(File::path);
        product.filter(|path| !is_of_tests(path)).any(|path| may_skip(path, |_| false))
            || tests.filter(|path| is_of_tests(path)).any(|path| may_skip(path, is_unconditional))
    }
}

/// A line that skips whatever the product is: by a mark without a condition, or by one about the
/// machine.
fn is_unconditional(line: &str) -> bool {
    const CONDITIONS: [&str; 11] = [
        "skipif",
        "skipIf",
        "skipUnless",
        "runIf",
        "importorskip",
        "pytest.skip(",
        "skipTest(",
        "SkipTest",
        "t.Skip",
        "this.skip(",
        "ctx.skip(",
    ];
    const MACHINE: [&str; 9] = [
        "sys.platform",
        "sys.version_info",
        "sys.implementation",
        "os.name",
        "os.uname",
        "platform.",
        "process.platform",
        "shutil.which",
        "runtime.GOOS",
    ];
    // `photos.name` and `cart.platform.old` are the product's.
    let is_whole = |at: usize| {
        !line[..at].ends_with(|char: char| char.is_alphanumeric() || matches!(char, '_' | '.'))
    };
    let names = |word: &&str| line.match_indices(*word).any(|(at, _)| is_whole(at));
    let is_call = line.trim_start().starts_with("t.skip(");
    !is_call && !CONDITIONS.iter().any(|word| line.contains(word)) || MACHINE.iter().any(names)
}

/// The tests without those whose parameters have other names in each run, such as a time, if as many
/// of them ran.
fn without_changing_parameters(mut tests: Vec<Test>, report: &TestReport) -> Vec<Test> {
    let stem = |id: &str| id.split_once('[').map(|(stem, _)| stem.to_owned());
    let mut executed: BTreeMap<String, usize> = BTreeMap::new();
    for test in report.tests.iter().filter(|test| test.status != Status::Skipped) {
        if let Some(stem) = stem(&test.id) {
            *executed.entry(stem).or_default() += 1;
        }
    }
    let mut needed: BTreeMap<String, usize> = BTreeMap::new();
    for test in tests.iter().filter(|test| test.status != Status::Skipped) {
        if let Some(stem) = stem(&test.id) {
            *needed.entry(stem).or_default() += 1;
        }
    }
    tests.retain(|test| {
        stem(&test.id).is_none_or(|stem| executed.get(&stem).copied().unwrap_or(0) < needed[&stem])
    });
    tests
}

/// Data is in no language that gate knows, and no runner loads it by itself.
fn is_data(path: &Path) -> bool {
    let name = path.to_string_lossy();
    Language::from_path(&name).is_none() && !loaded_by_itself(&name)
}

/// A runner that names failing tests alone says nothing of the others.
fn names_what_passed(report: &TestReport) -> bool {
    names_all(report) && report.named(Status::Passed).next().is_some()
}

impl BaseRun<'_> {
    /// The base's tests refuse, whatever the tree's own do: one fails whose file stands as in the
    /// tree, and only files of tests do not.
    fn is_decided(&self, workspace: &TestWorkspace) -> bool {
        let only_tests = self.laid.iter().all(|file| file.is_plain_test());
        let folder = workspace.folder_of_tests();
        let stands = |test: &String| {
            test.split_once("::").is_some_and(|(file, _)| folder.join(file).is_file())
        };
        only_tests && self.blame.others.iter().any(stands)
    }

    /// Puts the results of both runs together. If the tree's own tests pass and the base's do not,
    /// the files that the change edits make the difference.
    fn weigh(self, compared: Option<Compared>, overlay: &Overlay<'_>, verdict: &mut Verdict) {
        let Self { run, mut blame, adapted, laid } = self;
        let state = if run.passed() { "passed" } else { "failed" };
        let old = laid.iter().filter(|file| !file.is_new()).map(|file| file.name());
        let adapted = adapted.iter().map(|path| path.to_string_lossy());
        verdict.add_detail("base_run", json!(state));
        verdict.add_detail("overlaid", json!(old.collect::<Vec<_>>()));
        verdict.add_detail("adapted", json!(adapted.collect::<Vec<_>>()));
        if run.passed() {
            if let Some(compared) = compared {
                verdict.compare(&compared, overlay);
            }
            return;
        }
        let others = std::mem::take(&mut blame.others);
        if !others.is_empty() || blame.files.is_empty() {
            for file in laid.into_iter().filter(|file| !(file.is_new() && file.is_plain_test())) {
                let entry = blame.files.entry(&file.path).or_insert((file, Vec::new()));
                entry.1.extend(others.iter().cloned());
            }
        }
        let changed: Vec<_> = blame.files.into_values().collect();
        // A control that was left out says less than the base's own tests.
        if verdict.passed() || verdict.evidence.outcome == Outcome::Tamper {
            verdict.add_detail("failures_of_base", json!(true));
            verdict.needs_approval(run, &compared.unwrap_or(Compared::unknown(false)), &changed);
        } else {
            verdict.name_changed(&changed);
        }
    }
}
