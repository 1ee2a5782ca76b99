//! `tests_first`: a phase in which only tests are written.
//!
//! The new tests have to load and to run, and one of them has to fail: the work that makes it pass
//! is not done yet. Old tests have to end as before. A file that does not load says nothing of a
//! missing behaviour, so it is refused. A compiled test is another case: it cannot be built before
//! what it calls exists, and is accepted if names are all that it lacks.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::first_tests::FirstTests;
use gate_core::decide::policy::{CheckPolicy, Mode, Policy};
use gate_core::integrity::{Guarded, is_prose, tests_in_source, with_baseline_inline_tests};
use gate_core::text::{MAX_NAMES, some_names};
use serde_json::json;

use super::baseline_run::{BaselineRun, RunKind};
use super::identities::{Renamed, compare, name, names_all, needing_the_work, new_and_passed};
use super::overlay::{Overlay, Replacement};
use super::test_workspace::{Contents, TestWorkspace};
use super::verdict::Verdict;
use super::{Trouble, VerifiedTests, context};
use crate::baseline::{Baseline, Change, What};
use crate::cancellation::Cancellation;
use crate::check::{Check, CheckContext, CheckId};
use crate::checks::command::test_checks;
use crate::checks::test_run::Ran;
use crate::report::{Status, Test, TestReport};
use crate::site::CheckSite;
use crate::worktree::{WorkTree, shown};

/// The check's name.
const NAME: &str = "tests_first";

/// Parts of compilers' messages about a name that does not exist, or that is called otherwise than
/// it is written: rustc, go, tsc, javac, kotlinc, csc, swiftc.
const MISSING_NAMES: [&str; 24] = [
    "error[E0061]",
    "error[E0407]",
    "error[E0412]",
    "error[E0422]",
    "error[E0423]",
    "error[E0425]",
    "error[E0432]",
    "error[E0433]",
    "error[E0560]",
    "error[E0599]",
    "error[E0609]",
    "undefined: ",
    " undefined (type ",
    "not enough arguments in call",
    "too many arguments in call",
    "unknown field ",
    "error TS2304",
    "error TS2305",
    "error TS2339",
    "error TS2554",
    "cannot find symbol",
    "Unresolved reference",
    "error CS0117",
    "cannot find '",
];

/// Parts of the same messages that say that a package is missing, which no work on the product adds.
const MISSING_PACKAGES: [&str; 3] = ["unlinked crate", "missing crate", "can't find crate"];

/// The remedy for a test file that does not load.
const LOAD: &str = "a test has to load and to fail by itself: use what does not exist yet inside \
                    the test, not at the top of its file";

/// The policy of a phase in which only tests are written. None if no check of tests is known whose
/// command gate can run in a copy.
pub fn tests_first_policy(policy: &Policy, site: &CheckSite) -> Option<Policy> {
    let tests: Vec<_> = test_checks(policy, site)
        .into_iter()
        .map(|(id, settings)| (id.as_str().to_owned(), settings))
        .collect();
    let (_, first) = tests.first()?;
    let timeout_ms = tests.iter().map(|(_, settings)| settings.timeout_ms).max()?;
    let own = CheckPolicy {
        mode: Mode::Require,
        command: Vec::new(),
        timeout_ms,
        needs: Vec::new(),
        hermetic: false,
        sealed: None,
        report: None,
        retry: 0,
        paths: Vec::new(),
        tests: tests.iter().cloned().collect(),
        ..first.clone()
    };
    let mut policy = policy.clone();
    policy.checks.retain(|name, _| name == "integrity");
    policy.checks.insert(NAME.to_owned(), own);
    Some(policy)
}

/// The check of a phase in which only tests are written.
pub(in crate::checks) struct TestsFirst {
    id: CheckId,
    tests: Vec<(CheckId, CheckPolicy)>,
}

/// The changed files.
#[derive(Default)]
struct ChangedFiles {
    /// Those with new or edited tests.
    tests: Vec<PathBuf>,
    /// Those that are no tests.
    others: Vec<String>,
}

impl TestsFirst {
    pub(in crate::checks) fn new(id: CheckId, settings: &CheckPolicy) -> Self {
        let tests = settings.tests.iter();
        Self { id, tests: tests.map(|(name, one)| (CheckId::new(name), one.clone())).collect() }
    }

    async fn look(&self, cx: &CheckContext) -> Result<Evidence, Trouble> {
        let tree = WorkTree::open(&cx.site)?;
        let Some(overlay) = Overlay::new(cx, &tree)? else {
            let summary = "outside of git, or nothing was committed: which tests are new is not \
                           known";
            return Ok(self.evidence(Outcome::Inconclusive, summary));
        };
        let changed = ChangedFiles::new(&overlay, &tree)?;
        if !changed.others.is_empty() {
            let names = some_names(&changed.others, MAX_NAMES);
            let summary = format!(
                "only tests may change in this phase: undo the changes of {names}; the next phase \
                 writes the code"
            );
            return Ok(self.evidence(Outcome::Fail, summary));
        }
        if changed.tests.is_empty() {
            let summary = "no test file is new or edited: write tests that fail until the work is \
                           done";
            return Ok(self.evidence(Outcome::Fail, summary));
        }
        let old = self.changed_old_tests(&tree, &overlay)?;
        if !old.is_empty() {
            let names = some_names(&old, MAX_NAMES);
            let summary = format!(
                "old tests stay as they are: undo the changes of {names}, but for whole new tests, \
                 or write the new ones in a file of their own"
            );
            return Ok(self.evidence(Outcome::Fail, summary));
        }
        let mut first = FirstTests {
            files: changed.tests.iter().map(|path| shown(path.as_os_str().as_bytes())).collect(),
            ..FirstTests::default()
        };
        for (id, settings) in &self.tests {
            let tests = VerifiedTests { id, settings, cx };
            if let Err(evidence) = tests.new_tests(&tree, &overlay, &changed, &mut first).await? {
                return Ok(*evidence);
            }
        }
        Ok(self.judged(&first))
    }

    /// The old files of tests in which more was done than to add tests. Their old texts would not
    /// decide any more: the next phase takes the new ones for the baseline's.
    fn changed_old_tests(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
    ) -> Result<Vec<String>, Trouble> {
        let replacements = overlay.replacements(tree, &BTreeSet::new())?;
        let old = replacements.iter().filter(|file| {
            !file.is_new() && !file.had_no_tests() && !keeps_tests(tree, overlay, &file.path)
        });
        Ok(old.map(Replacement::name).collect())
    }

    fn judged(&self, first: &FirstTests) -> Evidence {
        let mut evidence = if first.is_empty() {
            let what = match first.passing.as_slice() {
                [] => {
                    let files = some_names(&first.files, MAX_NAMES);
                    format!("the runner found no new test in {files}")
                }
                [one] => format!("the new test passes already: {one}"),
                all => format!("all new tests pass already: {}", some_names(all, MAX_NAMES)),
            };
            let summary = format!("{what}; write one that fails until the work is done");
            self.evidence(Outcome::Fail, summary)
        } else {
            let failing = first.names();
            let parts = [
                (&failing, ["new test fails", "new tests fail"]),
                (
                    &first.not_built,
                    ["file does not build before the work", "files do not build before the work"],
                ),
                (&first.passing, ["passes already", "pass already"]),
            ];
            let parts = parts.iter().filter(|(names, _)| !names.is_empty()).map(|(names, what)| {
                let what = what[usize::from(names.len() != 1)];
                format!("{} {what}: {}", names.len(), some_names(names, MAX_NAMES))
            });
            self.evidence(Outcome::Pass, parts.collect::<Vec<_>>().join("; "))
        };
        evidence.detail = Some(json!({ NAME: first }));
        evidence
    }
}

#[async_trait]
impl Check for TestsFirst {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        let began = Instant::now();
        let mut evidence = match self.look(cx).await {
            Ok(evidence) => evidence,
            Err(trouble) => self.evidence(Outcome::Inconclusive, trouble.to_string()),
        };
        self.id.as_str().clone_into(&mut evidence.check);
        evidence.with_duration(began.elapsed())
    }
}

impl ChangedFiles {
    fn new(overlay: &Overlay<'_>, tree: &WorkTree) -> Result<Self, Trouble> {
        let mut files = Self::default();
        for change in &overlay.changes {
            if is_test(overlay, tree, change)? {
                if change.what != What::Removed {
                    files.tests.push(change.path.clone());
                }
            } else if !is_prose(&change.path.to_string_lossy()) {
                files.others.push(shown(change.path.as_os_str().as_bytes()));
            }
        }
        Ok(files)
    }
}

/// True for a test, for what tests rest on, and for a source in which only tests are changed.
fn is_test(overlay: &Overlay<'_>, tree: &WorkTree, change: &Change) -> Result<bool, Trouble> {
    if matches!(change.guarded, Some(Guarded::Test | Guarded::Support)) {
        return Ok(true);
    }
    if change.guarded.is_some() || change.what != What::Edited {
        return Ok(false);
    }
    let texts = (overlay.baseline.content(tree, &change.path)?, tree.bytes(&change.path));
    let (Some(before), Some(now)) = texts else { return Ok(false) };
    let name = change.path.to_string_lossy();
    Ok(with_baseline_inline_tests(&name, &before.bytes, &now)
        .is_some_and(|product| lines(&product).eq(lines(&before.bytes))))
}

/// True for an edited file that has each of its old tests, with the same code.
fn keeps_tests(tree: &WorkTree, overlay: &Overlay<'_>, path: &Path) -> bool {
    let name = path.to_string_lossy();
    let tests = |bytes: &[u8]| tests_in_source(&name, &String::from_utf8_lossy(bytes));
    let before = overlay.baseline.content(tree, path).ok().flatten();
    let (Some(before), Some(now)) = (before, tree.bytes(path)) else { return false };
    let (before, mut now) = (tests(&before.bytes), tests(&now));
    let mut keeps = |test: &(String, String)| {
        let at = now.iter().position(|other| other == test);
        at.map(|at| now.swap_remove(at)).is_some()
    };
    !before.is_empty() && before.iter().all(&mut keeps)
}

/// The lines of a source without the empty ones: some stand around new tests.
fn lines(source: &[u8]) -> impl Iterator<Item = &[u8]> {
    source.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty())
}

impl VerifiedTests<'_> {
    /// Runs the tree's tests, and adds the new ones. The error is the record of a run that does not
    /// hold.
    async fn new_tests(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        changed: &ChangedFiles,
        first: &mut FirstTests,
    ) -> Result<Result<(), Box<Evidence>>, Trouble> {
        let mut workspace = TestWorkspace::open(tree, self.settings, self.cx).await?;
        let Some(before) = self.tests_before(&mut workspace, overlay).await? else {
            let summary = "the tests that were there before are not known: the command names none";
            return Ok(Err(self.stopped(Outcome::Inconclusive, summary)));
        };
        workspace.sync(Contents::Tree)?;
        let log = CheckId::new(format!("{}-first", self.id));
        let ran = workspace.run(&log, true).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let ran = match ran {
            Ok(ran) => ran,
            Err(evidence) => return Ok(Err(evidence)),
        };
        let Some(report) = ran.report.clone() else {
            let summary = "the command names no test, so that no test can be seen to fail: it \
                           needs a known test runner, or `report`";
            return Ok(Err(self.stopped(Outcome::Inconclusive, summary)));
        };
        let not_built = not_built(&report, &changed.tests, &self.inside(tree));
        if not_built.is_empty() && (!report.errors.is_empty() || !names_all(&report)) {
            return Ok(Err(self.does_not_load(ran)));
        }
        let renamed = Renamed::new(overlay, &self.inside(tree));
        let compared = compare(&before, &report, &renamed, &self.cx.allow);
        if let Some(wrong) = compared.wrong().filter(|_wrong| not_built.is_empty()) {
            return Ok(Err(self.stopped(Outcome::Fail, &format!("{wrong}; put it back"))));
        }
        let passed: BTreeSet<_> = before
            .iter()
            .filter(|test| test.status == Status::Passed)
            .map(|t| name(&t.id))
            .collect();
        let (old, new): (Vec<_>, Vec<_>) =
            needing_the_work(&before, &report).into_iter().partition(|id| passed.contains(id));
        if !old.is_empty() {
            let names = some_names(&old, MAX_NAMES);
            let summary = format!(
                "tests that passed before fail now: {names}; leave old tests as they are, and add \
                 new ones"
            );
            return Ok(Err(self.stopped(Outcome::Fail, &summary)));
        }
        first.failing.insert(self.id.as_str().to_owned(), new);
        first.passing.extend(new_and_passed(&before, &report));
        first.not_built.extend(not_built);
        Ok(Ok(()))
    }

    /// The baseline's tests, which may be none. They also have to be known for the decisions of the
    /// next phase. None if the command does not show them.
    async fn tests_before(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
    ) -> Result<Option<Vec<Test>>, Trouble> {
        let mut deciding = workspace.deciding(self.settings)?;
        let run = self.baseline_run(&mut deciding, overlay).await?;
        if let Some(run) = run.filter(|run| !run.tests.is_empty()) {
            return Ok(Some(run.tests));
        }
        // This run shows whether the baseline had no test yet.
        workspace.sync(Contents::Baseline(overlay))?;
        let log = CheckId::new(format!("{}-baseline", self.id));
        let ran = workspace.run(&log, true).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let report = ran.ok().and_then(|ran| ran.report);
        let had_none = report.is_some_and(|report| {
            let counted = report.executed().saturating_add(report.skipped);
            counted == 0 && report.errors.is_empty() && report.problems.is_empty()
        });
        Ok(had_none.then(Vec::new))
    }

    fn stopped(&self, outcome: Outcome, summary: &str) -> Box<Evidence> {
        Box::new(self.id.record(outcome, summary))
    }

    /// The record of tests that do not load, with the runner's message.
    fn does_not_load(&self, ran: Ran) -> Box<Evidence> {
        let mut evidence = ran.judged(self.settings);
        if evidence.outcome == Outcome::Fail {
            evidence.summary = format!("{}; {LOAD}", evidence.summary);
        } else if evidence.outcome == Outcome::Pass {
            evidence.outcome = Outcome::Inconclusive;
        }
        Box::new(evidence)
    }
}

/// The test files that lack only names of the product, as far as the compiler says; empty if
/// anything else is wrong.
fn not_built(report: &TestReport, tests: &[PathBuf], inside: &Path) -> Vec<String> {
    let outside = report.failures.iter().filter(|failure| failure.test.is_none());
    let files = outside.map(|failure| {
        let file = inside.join(failure.file.as_deref()?);
        let has = |parts: &[&str]| parts.iter().any(|part| failure.message.contains(part));
        let lacks_names = has(&MISSING_NAMES) && !has(&MISSING_PACKAGES);
        (lacks_names && tests.contains(&file)).then(|| shown(file.as_os_str().as_bytes()))
    });
    let files: Option<BTreeSet<_>> = files.collect();
    files.map(Vec::from_iter).unwrap_or_default()
}

/// Takes what is known of a baseline's tests over to a baseline that differs from it by these tests
/// alone. The new tests are demanded there as those that fail.
pub fn carry_tests(
    policy: &Policy,
    site: &CheckSite,
    (from, to): (&Baseline, &Baseline),
    first: &FirstTests,
) {
    let Some((tree, cx)) = context(policy, site, to, &Cancellation::default()) else { return };
    for (id, settings) in test_checks(policy, site) {
        let tests = VerifiedTests { id: &id, settings: &settings, cx: &cx };
        let failing = first.failing.get(id.as_str()).into_iter().flatten();
        let failing = failing.map(|id| Test { id: id.clone(), status: Status::Failed });
        let key = tests.key(RunKind::Tests);
        let Some(mut run) = from.result::<BaselineRun>(site, &tree, &key) else { continue };
        run.tests.extend(failing);
        // What is not kept is found out again.
        let _ = to.keep_result(site, &tree, &key, &run);
    }
}

impl VerifiedTests<'_> {
    /// The tests of this check that were written before the work, by name.
    pub(super) fn first_tests(&self) -> &[String] {
        let first = self.cx.options.first_tests.as_ref();
        first.and_then(|first| first.failing.get(self.id.as_str())).map_or(&[], Vec::as_slice)
    }

    /// Names the files whose tests were written before the work and edited since.
    pub(super) fn note_edited_first(&self, overlay: &Overlay<'_>, verdict: &mut Verdict) {
        let Some(first) = &self.cx.options.first_tests else { return };
        if verdict.evidence.outcome != Outcome::Fail {
            return;
        }
        let edited = overlay.changes.iter().map(|change| shown(change.path.as_os_str().as_bytes()));
        let edited: Vec<_> = edited.filter(|path| first.files.contains(path)).collect();
        if !edited.is_empty() {
            let names = some_names(&edited, MAX_NAMES);
            let note = format!("; locked, and edited since: put back {names}");
            verdict.evidence.summary.push_str(&note);
        }
    }

    /// Counts the tests that were written before the work and pass now. Those that did not build
    /// had no names: by now they are the ones that the baseline does not know.
    pub(super) fn count_first(
        &self,
        baseline: Option<&BaselineRun>,
        report: Option<&TestReport>,
        verdict: &mut Verdict,
    ) {
        let (Some(all), Some(report)) = (&self.cx.options.first_tests, report) else { return };
        let known: BTreeSet<_> =
            baseline.iter().flat_map(|run| &run.tests).map(|test| name(&test.id)).collect();
        let named = self.first_tests();
        let has_unnamed = !all.not_built.is_empty() && !known.is_empty();
        let passed = report.named(Status::Passed).map(name);
        let count =
            passed.filter(|id| named.contains(id) || (has_unnamed && !known.contains(id))).count();
        if count > 0 {
            verdict.add_detail("written_first", json!(count));
        }
    }
}

#[cfg(test)]
mod tests;
