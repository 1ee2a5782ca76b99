//! The sealed tests of a check on a tree without the work, before a loop begins: does the command find
//! them, and do they fail?

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gate_core::decide::checks::CheckKind;
use gate_core::decide::policy::Policy;
use gate_core::integrity::Language;
use tokio::runtime::Builder;

use super::identities::is_fully_named;
use super::overlay::Overlay;
use super::sealed_count::{SealedFile, SealedReport};
use super::test_workspace::{Contents, TestWorkspace};
use super::{Trouble, VerifiedTests};
use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::check::{CheckContext, CheckId, GatherOptions};
use crate::gather::GatherError;
use crate::programs::with_command;
use crate::report::{Status, TestReport};
use crate::runner::{Runner, RunnerCommand, recognise};
use crate::site::CheckSite;
use crate::store;
use crate::worktree::WorkTree;

/// Sealed tests on a tree without the work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SealedTrial {
    /// The tests that fail: they show whether the work is done.
    pub red: Vec<String>,
    /// The tests that pass without the work.
    pub green: Vec<String>,
    /// The number of further tests that pass without the work: the report names failing ones alone.
    pub unnamed_green: u64,
    /// The tests that the runner leaves out.
    pub skipped: Vec<String>,
    /// The files that do not load or build without the work.
    pub not_loaded: Vec<PathBuf>,
    /// The files that did not run, because others do not load.
    pub not_run: Vec<PathBuf>,
    /// The files that the command does not find, each with the probable reason.
    pub not_found: Vec<(PathBuf, String)>,
    /// The reason why nothing is known of the tests.
    pub obstacle: Option<String>,
}

impl SealedTrial {
    fn without_answer(obstacle: impl Into<String>) -> Self {
        Self { obstacle: Some(obstacle.into()), ..Self::default() }
    }
}

/// Runs the sealed tests of a check once, on a baseline or, without one, on the tree as it is, in a
/// copy. Nothing of the run is kept.
///
/// It blocks until the command has ended, or until it is cancelled, and must not be called inside of
/// a tokio runtime.
///
/// # Errors
///
/// [`GatherError`]: nothing could be run.
pub fn try_sealed_tests(
    policy: &Policy,
    site: &CheckSite,
    baseline: Option<&Baseline>,
    check: &str,
    cancel: &Cancellation,
) -> Result<SealedTrial, GatherError> {
    let settings = policy.checks.get(check).and_then(|check_policy| {
        let (settings, _) = with_command(check, check_policy, site)?;
        let is_command = CheckKind::for_check(check, &settings) == CheckKind::Command;
        is_command.then_some(settings)
    });
    let Some(settings) = settings else {
        let obstacle = format!("checks.{check} has no command yet, and the project shows none");
        return Ok(SealedTrial::without_answer(obstacle));
    };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let opened = WorkTree::open(site).and_then(|tree| Ok((tree.snapshot()?, tree)));
    let (snapshot, tree) = match opened {
        Ok(opened) => opened,
        Err(error) => return Ok(SealedTrial::without_answer(error.to_string())),
    };
    let folder = site.state.as_ref().map(|state| store::tree_folder(state, tree.root()));
    let options = GatherOptions {
        baseline: baseline.cloned(),
        cancel: cancel.clone(),
        ..GatherOptions::default()
    };
    let cx = CheckContext::new(policy, site, snapshot.into(), folder.as_deref(), options);
    let id = CheckId::new(check);
    let trial = runtime.block_on(async {
        let _slot = match &cx.slots {
            Some(slots) => slots.take(cancel, || ()).await,
            None => None,
        };
        VerifiedTests::new(&id, &settings, &cx).try_sealed(&tree).await
    });
    Ok(trial.unwrap_or_else(|trouble| SealedTrial::without_answer(trouble.to_string())))
}

impl VerifiedTests<'_> {
    async fn try_sealed(&self, tree: &WorkTree) -> Result<SealedTrial, Trouble> {
        let seal_and_paths = match self.seal(tree) {
            Ok(Some(seal)) => seal.files().map(|paths| (seal, paths)),
            Ok(None) => return Ok(SealedTrial::without_answer("nothing is sealed for this check")),
            Err(error) => Err(error),
        };
        let (seal, paths) = match seal_and_paths {
            Ok(seal_and_paths) => seal_and_paths,
            Err(error) => return Ok(SealedTrial::without_answer(error.to_string())),
        };
        let overlay = Overlay::new(self.cx, tree)?;
        let files = self.sealed_files(&seal.folder, &paths, overlay.as_ref(), tree)?;
        let own_copy = TestWorkspace::open(tree, self.settings, self.cx).await?;
        let mut deciding_copy = own_copy.deciding_copy(self.settings)?;
        let contents = overlay.as_ref().map_or(Contents::Tree, Contents::Baseline);
        deciding_copy.lay(self.id, contents, &BTreeSet::new(), None)?;
        let mut sealed_copy = deciding_copy.deciding_copy(self.settings)?;
        sealed_copy.lay_sealed(&seal.folder, &paths)?;
        let sealed_run = self.run_confined(&mut sealed_copy, &seal, &paths, None, None).await;
        sealed_copy.end_private()?;
        let run = match sealed_run?.run {
            Ok(run) => run,
            Err(evidence) => return Ok(SealedTrial::without_answer(evidence.summary)),
        };
        let Some(report) = run.report.filter(|report| !report.is_empty()) else {
            let obstacle = match (run.launched.missing_program(), run.launched.exit_code) {
                (Some((_, missing)), _) => missing,
                (None, Some(code)) => format!(
                    "the command names no tests, and ends with code {code}: gate cannot tell which \
                     of them ran"
                ),
                (None, None) => "a signal ended the command".to_owned(),
            };
            return Ok(SealedTrial::without_answer(obstacle));
        };
        let cwd = self.cx.site.folder_of(self.settings);
        let runner = recognise(self.settings, &cwd);
        let mut trial = SealedTrial::default();
        let silent_files = trial.sort(&report, &files);
        if !is_fully_named(&report) && report.errors.is_empty() {
            let copy = &mut deciding_copy;
            let unsealed = self.unsealed_run(copy, overlay.as_ref(), Vec::new(), &files).await?;
            let Some(unsealed) = unsealed else {
                let obstacle = "the command names failing tests alone, and does not pass without \
                                the sealed ones: gate cannot tell them from others";
                return Ok(SealedTrial::without_answer(obstacle));
            };
            let (unsealed, is_alone) = (unsealed.report.as_ref(), false);
            let report = SealedReport { report: &report, unsealed, is_alone };
            let count = self.count_sealed(&report, &files);
            if count.ran() == 0 {
                let reason =
                    |file: &PathBuf| (file.clone(), reason_not_found(file, runner.as_ref(), &cwd));
                trial.not_found = paths.iter().map(reason).collect();
            }
            trial.red = count.named(Status::Failed).to_vec();
            trial.unnamed_green = count.passed;
            trial.green.clear();
            return Ok(trial);
        }
        if silent_files.is_empty() {
            return Ok(trial);
        }
        if report.errors.is_empty() && report.problems.is_empty() {
            let reason =
                |file: &PathBuf| (file.clone(), reason_not_found(file, runner.as_ref(), &cwd));
            trial.not_found = silent_files.iter().map(reason).collect();
            return Ok(trial);
        }
        // A file that needs the work may keep all others from running; so may a broken project.
        deciding_copy.lay(self.id, contents, &BTreeSet::new(), None)?;
        let log = CheckId::new(format!("{}-unsealed", self.id));
        let unsealed_run = deciding_copy.run(&log, true).await;
        let unsealed_report = unsealed_run.ok().and_then(|run| run.report);
        let error = unsealed_report.as_ref().and_then(|report| report.errors.first());
        if let Some(error) = error {
            trial.obstacle =
                Some(format!("the command fails without the sealed tests, too: {error}"));
        } else {
            let is_named = |file: &PathBuf| {
                let name = file.to_string_lossy();
                report.errors.iter().any(|error| error.contains(&*name))
            };
            let (named, others): (Vec<_>, Vec<_>) = silent_files.into_iter().partition(is_named);
            // A compiler's report names packages.
            (trial.not_loaded, trial.not_run) = match named.is_empty() {
                true => (others, named),
                false => (named, others),
            };
        }
        Ok(trial)
    }
}

impl SealedTrial {
    /// Sorts the sealed tests of a report by their results, and returns the files without any.
    fn sort(&mut self, report: &TestReport, files: &[SealedFile]) -> Vec<PathBuf> {
        let mut reporting_files = BTreeSet::new();
        for test in &report.tests {
            let Some(file) = files.iter().find(|file| file.tests.has(&test.id)) else { continue };
            reporting_files.insert(&file.tests.path);
            let names = match test.status {
                Status::Passed => &mut self.green,
                Status::Failed => &mut self.red,
                Status::Skipped => &mut self.skipped,
            };
            names.push(test.id.clone());
        }
        let silent_files = files
            .iter()
            .map(|file| &file.tests)
            .filter(|file| file.holds_tests() && !reporting_files.contains(&file.path));
        silent_files.map(|file| file.path.clone()).collect()
    }
}

/// The probable reason why a command does not find a file, as a part of a sentence.
fn reason_not_found(file: &Path, runner: Option<&RunnerCommand>, cwd: &Path) -> String {
    let Some(RunnerCommand { runner, args, .. }) = runner else {
        return "the command does not run it".to_owned();
    };
    let language_of_runner = match runner {
        Runner::Pytest | Runner::Unittest => Some(Language::Python),
        Runner::Cargo | Runner::Nextest => Some(Language::Rust),
        Runner::Jest | Runner::Vitest | Runner::Mocha | Runner::Node => Some(Language::Js),
        Runner::Go => Some(Language::Go),
        Runner::Bats => Some(Language::Shell),
        Runner::Maven | Runner::Gradle => None,
    };
    let language = Language::from_path(&file.to_string_lossy());
    let name = runner.name();
    if language_of_runner.is_some_and(|of_runner| language != Some(of_runner)) {
        format!("{name} runs no such files")
    } else if args.iter().any(|word| cwd.join(word).is_file()) {
        "the command names its files, and not this one".to_owned()
    } else {
        format!("{name} does not look there, or takes no file of that name")
    }
}
