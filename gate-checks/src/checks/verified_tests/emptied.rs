//! Runs beside superseded tests, or without the old files in whose places sealed ones stand.

use std::path::{Path, PathBuf};

use gate_core::decide::evidence::Outcome;
use gate_core::integrity::{Guarded, Language, guarded, loaded_by_itself};
use gate_core::text::{MAX_NAMES, some_names};
use serde_json::json;

use super::file_tests::FileTests;
use super::overlay::{Overlay, Replacement};
use super::superseded::Superseded;
use super::test_workspace::{Contents, TestWorkspace};
use super::{TestOutcome, Trouble, VerifiedTests, add_detail};
use crate::check::CheckId;
use crate::report::Status;
use crate::worktree::WorkTree;

/// A file of tests without its tests: an empty one, where a command may name it and the language knows
/// such files.
pub(super) fn emptied(file: &FileTests) -> Replacement {
    let name = file.path.to_string_lossy();
    let may_be_empty =
        matches!(Language::from_path(&name), Some(Language::Python | Language::Rust));
    Replacement::emptied(file.path.clone(), may_be_empty)
}

/// These are all files of tests that a copy has, and nothing ran without them.
pub(super) fn is_nothing_left(
    copy: &TestWorkspace,
    run: &TestOutcome,
    is_left_out: impl Fn(&Path) -> bool,
) -> bool {
    let is_other_test = |path: &&PathBuf| {
        let name = path.to_string_lossy();
        let is_plain = guarded(&name) == Some(Guarded::Test) && !loaded_by_itself(&name);
        is_plain && Language::from_path(&name).is_some() && !is_left_out(path)
    };
    let has_run_nothing =
        run.report.as_ref().is_none_or(|report| report.executed() == 0 && report.errors.is_empty());
    has_run_nothing && !copy.files().iter().any(|path| is_other_test(&path))
}

impl<'a> VerifiedTests<'a> {
    /// The check with the old tests that something else takes the place of.
    pub(super) fn superseding(&self, tree: &WorkTree, overlay: Option<&Overlay<'_>>) -> Self {
        let Self { id, settings, cx, .. } = *self;
        // A seal that cannot be read takes the pass later.
        let seal = self.seal(tree).ok().flatten();
        let paths = seal.and_then(|seal| seal.files().ok()).unwrap_or_default();
        let cwd = self.folder_in(tree);
        let superseded = Superseded::new(paths, &cx.superseded, tree, overlay, &cwd);
        Self { id, settings, cx, superseded }
    }
}

impl VerifiedTests<'_> {
    /// The run once more without the files in whose place sealed ones stand, where those may be all
    /// that it failed for: old text can break a build, and some reports name no test. It counts if it
    /// passes. The sealed files have to pass in any case.
    pub(super) async fn without_superseded_files(
        &self,
        copy: &mut TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        replacements: &[Replacement],
        run: TestOutcome,
    ) -> Result<TestOutcome, Trouble> {
        let files = &self.superseded.files;
        let names_other_failure =
            run.report.as_ref().is_some_and(|report| report.named(Status::Failed).next().is_some());
        if run.has_passed() || files.is_empty() || names_other_failure {
            return Ok(run);
        }
        let is_left_out = |path: &Path| files.iter().any(|file| file.path == path);
        let others = replacements.iter().filter(|file| !is_left_out(&file.path)).cloned();
        let contents: Vec<_> = others.chain(files.iter().map(emptied)).collect();
        match copy.is_deciding() {
            true => self.lay(copy, overlay, &contents)?,
            false => copy.sync(Contents::Replaced(&contents))?,
        }
        let log = CheckId::new(format!("{}-superseded", self.id));
        let result = copy.run(&log, true).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let mut reduced_run =
            self.leave_out_let_go(copy.settings(), TestOutcome::new(result, copy.settings()));
        if is_nothing_left(copy, &reduced_run, is_left_out) {
            let evidence = &mut reduced_run.evidence;
            evidence.outcome = Outcome::Pass;
            "sealed files stand in the place of all old ones".clone_into(&mut evidence.summary);
            (evidence.exit_code, evidence.excerpt) = (Some(0), None);
        }
        if !reduced_run.has_passed() {
            return Ok(run);
        }
        let names: Vec<_> =
            files.iter().map(|file| file.path.to_string_lossy().into_owned()).collect();
        let note = format!("; without superseded files: {}", some_names(&names, MAX_NAMES));
        reduced_run.evidence.summary.push_str(&note);
        let superseded = names.iter().map(|file| json!({ "file": file, "by": "a sealed file" }));
        let detail = json!({ "superseded": superseded.collect::<Vec<_>>() });
        add_detail(&mut reduced_run.evidence, detail);
        Ok(reduced_run)
    }
}
