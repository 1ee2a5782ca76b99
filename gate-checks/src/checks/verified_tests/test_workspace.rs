//! The workspace that tests run in.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gate_core::decide::evidence::Evidence;
use gate_core::decide::policy::CheckPolicy;
use tokio::time::sleep;

use super::overlay::{Overlay, Replacement};
use super::select::Selection;
use crate::baseline::{Baseline, BaselineError, ChangeKind};
use crate::check::{CheckContext, CheckId, PrivateRun};
use crate::checks::launch::CopyReport;
use crate::checks::test_run::{FinishedRun, NO_BYTECODE, TestRun};
use crate::control::{self, ChangedFiles, Control, TestTree};
use crate::logs::Logs;
use crate::report::{Test, TestReport, with_options};
use crate::runner::RunnerCommand;
use crate::site::CheckSite;
use crate::workspace::{Layout, OpenedFiles, Workspace};
use crate::worktree::{Snapshot, WorkTree, WorktreeError};

/// An error that leaves a check without an answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("the copy that the tests run in cannot be made: {0}")]
    Workspace(#[from] io::Error),
    #[error("the baseline cannot be compared: {0}")]
    Baseline(#[from] BaselineError),
    #[error("the work tree cannot be read: {0}")]
    Tree(#[from] WorktreeError),
    #[error("gate was interrupted")]
    Ended,
}

/// The time in which other programs have to leave the tree alone.
const QUIET: Duration = Duration::from_millis(300);

/// A copy of the tree, and a check in it.
pub(super) struct TestWorkspace {
    workspace: Workspace,
    tree: WorkTree,
    /// With the files that the digest leaves out: tests may need them.
    snapshot: Arc<Snapshot>,
    /// The tree's own site; the context's is that of the copy.
    tree_site: Arc<CheckSite>,
    cx: CheckContext,
    settings: CheckPolicy,
    /// The files that stand in the copy.
    files: Vec<PathBuf>,
    /// Files of the work tree to which links in the copy's dependencies lead.
    link_targets: Vec<PathBuf>,
    /// The link targets that were opened while the command ran.
    opened: Mutex<BTreeSet<PathBuf>>,
    /// New files of the tree.
    added: Vec<PathBuf>,
    /// Edited files of the tree.
    edited: Vec<PathBuf>,
    /// Python keeps its bytecode in the copy: the dates of sources tell which text it is of.
    keeps_bytecode: bool,
}

/// The files that the workspace shall have.
#[derive(Clone, Copy)]
pub(super) enum Contents<'a> {
    /// The tree as it stands.
    Tree,
    /// The tree with these files in the place of its own.
    Replaced(&'a [Replacement]),
    /// The baseline.
    Baseline(&'a Overlay<'a>),
    /// The tree with these files as the baseline had them.
    PutBack(&'a Overlay<'a>, &'a [PathBuf]),
}

impl TestWorkspace {
    /// Waits until no other check uses the workspace.
    pub(super) async fn open(
        tree: &WorkTree,
        settings: &CheckPolicy,
        cx: &CheckContext,
    ) -> Result<Self, Trouble> {
        let workspace = Workspace::open(&cx.site, tree.root(), &cx.cancel).await?;
        let workspace = workspace.ok_or(Trouble::Ended)?;
        let snapshot = if cx.site.ignore.is_empty() {
            Arc::clone(&cx.tree)
        } else {
            let all = CheckSite { ignore: Vec::new(), ..CheckSite::clone(&cx.site) };
            Arc::new(WorkTree::open(&all)?.snapshot()?)
        };
        let site = workspace.site(&cx.site, &settings.env)?;
        Ok(Self {
            settings: workspace.settings(settings),
            tree: tree.clone(),
            snapshot,
            tree_site: Arc::clone(&cx.site),
            cx: CheckContext { site: Arc::new(site), ..cx.clone() },
            files: Vec::new(),
            link_targets: Vec::new(),
            opened: Mutex::default(),
            added: Vec::new(),
            edited: Vec::new(),
            keeps_bytecode: false,
            workspace,
        })
    }

    /// The copy in which the baseline's tests decide. It shares the workspace's lock.
    pub(super) fn deciding_copy(&self, settings: &CheckPolicy) -> io::Result<Self> {
        let workspace = self.workspace.deciding_copy()?;
        let site = Arc::new(workspace.site(&self.tree_site, &settings.env)?);
        Ok(Self {
            settings: workspace.settings(settings),
            tree: self.tree.clone(),
            snapshot: Arc::clone(&self.snapshot),
            tree_site: Arc::clone(&self.tree_site),
            cx: CheckContext { site, ..self.cx.clone() },
            files: self.files.clone(),
            link_targets: self.link_targets.clone(),
            opened: Mutex::default(),
            added: self.added.clone(),
            edited: self.edited.clone(),
            keeps_bytecode: true,
            workspace,
        })
    }

    /// Makes the deciding copy hold these files, with what the run of this baseline has built and no
    /// more. `unlike_baseline` are the files that are not as in the baseline.
    pub(super) fn lay(
        &mut self,
        id: &CheckId,
        contents: Contents<'_>,
        unlike_baseline: &BTreeSet<&Path>,
        caches: Option<&Baseline>,
    ) -> Result<(), Trouble> {
        let mut layout = self.layout(contents)?;
        self.workspace.date(&mut layout, unlike_baseline, &self.tree_site);
        self.write(&layout)?;
        let digest = caches.map(Baseline::digest);
        Ok(self.workspace.restore_caches(&self.tree_site, id.as_str(), digest)?)
    }

    /// Empties the copy of all that a private run may have left.
    pub(super) fn end_private(&self) -> io::Result<()> {
        self.workspace.end_private()
    }

    /// Puts sealed tests into the deciding copy.
    pub(super) fn lay_sealed(&self, sealed_folder: &Path, files: &[PathBuf]) -> io::Result<()> {
        self.workspace.begin_private()?;
        let root = self.workspace.root();
        for file in files {
            let path = root.join(file);
            // Through a link of the tree the text would be written to where it leads.
            let mut folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
            if let Some(link) = folders.find(|folder| folder.is_symlink()) {
                let link = link.strip_prefix(root).unwrap_or(link).display();
                let error = format!("sealed tests cannot be laid over {link}, which is a link");
                return Err(io::Error::other(error));
            }
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => fs::write(&path, fs::read(sealed_folder.join(file))?)?,
            }
        }
        Ok(())
    }

    /// From now on a run leaves nothing but its exit code and its report.
    pub(super) fn keep_private(&mut self, private: PrivateRun) {
        self.cx.logs = Arc::new(Logs::discarded());
        self.cx.private = Some(Arc::new(private));
    }

    /// The folder that the copy stands in.
    pub(super) fn folder(&self) -> &Path {
        self.workspace.folder()
    }

    /// Keeps what a run of the baseline has built.
    pub(super) fn keep_caches(&self, id: &CheckId, baseline: &Baseline) {
        self.workspace.keep_caches(&self.tree_site, id.as_str(), baseline.digest());
    }

    /// Makes the workspace hold these files.
    pub(super) fn sync(&mut self, contents: Contents<'_>) -> Result<(), Trouble> {
        let layout = self.layout(contents)?;
        self.write(&layout)
    }

    fn layout(&self, contents: Contents<'_>) -> Result<Layout, Trouble> {
        let mut layout = self.workspace.layout(&self.snapshot)?;
        match contents {
            Contents::Tree => {}
            Contents::Replaced(files) => files.iter().for_each(|file| file.lay(&mut layout)),
            Contents::Baseline(overlay) => overlay.lay_baseline(&self.tree, &mut layout)?,
            Contents::PutBack(overlay, files) => {
                overlay.put_back_files(&self.tree, &mut layout, files)?;
            }
        }
        Ok(layout)
    }

    fn write(&mut self, layout: &Layout) -> Result<(), Trouble> {
        self.workspace.sync(layout, &self.snapshot, &self.tree_site)?;
        self.files = layout.files();
        self.link_targets = layout.link_targets();
        Ok(())
    }

    /// With the files that the agent has changed: controls are planted among them too.
    pub(super) fn with_changes(mut self, overlay: &Overlay<'_>) -> Self {
        for change in &overlay.changes {
            match change.kind {
                ChangeKind::Added => self.added.push(change.path.clone()),
                ChangeKind::Edited => self.edited.push(change.path.clone()),
                ChangeKind::Removed => {}
            }
        }
        self
    }

    /// Plants a control for a runner, which has just reported these tests; `None` if no place is
    /// known.
    pub(super) fn plant(
        &self,
        runner: &RunnerCommand,
        reported: &[Test],
    ) -> io::Result<Option<Control>> {
        let place = TestTree {
            root: self.workspace.root(),
            cwd: &self.folder_of_tests(),
            files: &self.files,
            args: &runner.args,
            reported,
            changed: ChangedFiles { added: &self.added, edited: &self.edited },
        };
        control::plant(runner.runner, &place)
    }

    /// Runs the tests of a control; with all others if they cannot be told apart.
    pub(super) async fn run_control(
        &self,
        id: &CheckId,
        runner: &RunnerCommand,
        control: &Control,
    ) -> Result<FinishedRun, Box<Evidence>> {
        let mut settings = self.settings.clone();
        if let Some(args) = control.args_alone(runner, &self.folder_of_tests()) {
            // The runner's arguments are the last words of the command.
            let words_before_args = settings.command.len().saturating_sub(runner.args.len());
            settings.command.truncate(words_before_args);
            settings.command.extend(args);
        }
        self.run_with(&settings, id, Some(control), true).await
    }

    /// Runs the command once, and to its end whatever fails if it is to keep going.
    pub(super) async fn run(
        &self,
        id: &CheckId,
        keep_going: bool,
    ) -> Result<FinishedRun, Box<Evidence>> {
        self.run_with(&self.settings, id, None, keep_going).await
    }

    async fn run_with(
        &self,
        settings: &CheckPolicy,
        id: &CheckId,
        control: Option<&Control>,
        keep_going: bool,
    ) -> Result<FinishedRun, Box<Evidence>> {
        let mapping = self.workspace.mapping();
        let mut variables = self.workspace.variables();
        if self.keeps_bytecode {
            variables.push((NO_BYTECODE.to_owned(), String::new()));
        }
        if self.files.iter().any(|file| file.extension().is_some_and(|ending| ending == "py")) {
            self.workspace.link_installed_bytecode(&self.tree_site);
        }
        let test_run = TestRun {
            id,
            settings,
            cx: &self.cx,
            keep_going,
            variables,
            copy_report: CopyReport {
                mapping: Some(mapping),
                hidden: control.map(|control| &control.names),
            },
        };
        let mut opened = OpenedFiles::watch(self.tree.root(), &self.link_targets);
        let result = test_run.run().await;
        self.note_opened(opened.take());
        let mut run = result?;
        if let Some(control) = control {
            // If the files cannot be removed, the next layout of the copy removes them.
            let _ = control.remove();
            self.workspace.forget_builds(&control.names);
        }
        if let Some(report) = &mut run.report {
            let names = report.tests.iter_mut().map(|test| &mut test.id);
            let messages = report.failures.iter_mut().map(|failure| &mut failure.message);
            let errors = report.errors.iter_mut().chain(&mut report.problems);
            for text in names.chain(messages).chain(errors).filter(|text| text.contains('/')) {
                *text = mapping.to_tree(text);
            }
        }
        Ok(run)
    }

    /// Notes files of the work tree that were opened during a run.
    pub(super) fn note_opened(&self, mut files: BTreeSet<PathBuf>) {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).append(&mut files);
    }

    /// The files of the work tree that were opened during runs since the last call.
    pub(super) fn take_opened(&self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut *self.opened.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A file of the work tree that the command loads in place of the copy's: a pass then says
    /// nothing about the copy. Other programs open files of the tree too, such as an editor or another
    /// check. So a suspicion has to be confirmed by another run, and by quiet while nothing runs.
    pub(super) async fn tested_file_of_tree(&self, check: &CheckId) -> Option<PathBuf> {
        let suspected = self.take_opened();
        if suspected.is_empty() {
            return None;
        }
        let mut opened_by_others = OpenedFiles::watch(self.tree.root(), &self.link_targets);
        sleep(QUIET).await;
        if !opened_by_others.take().is_empty() {
            return None;
        }
        let log = CheckId::new(format!("{check}-isolation"));
        self.workspace.forget_compiled_of_tree();
        // The run's result does not count, only the files that it opens.
        drop(self.run(&log, false).await);
        suspected.intersection(&self.take_opened()).next().cloned()
    }

    /// From now on the command runs these files of the tree alone, if its runner has an option
    /// for that. The report names the other files. Returns `true` if the command runs less than
    /// before.
    pub(super) fn run_only(
        &mut self,
        runner: &RunnerCommand,
        files: &[PathBuf],
        report: &TestReport,
    ) -> bool {
        let selection = Selection {
            root: self.workspace.root(),
            tree: self.tree.root(),
            cwd: &self.folder_of_tests(),
            args: &runner.args,
        };
        if !runner.starts_runner_alone {
            return false;
        }
        let Some(options) = selection.options(runner.runner, files, report) else { return false };
        let Some(command) = with_options(&self.settings.command, options) else { return false };
        let is_less = command != self.settings.command;
        self.settings.command = command;
        is_less
    }

    /// The folder in the copy in which the command runs.
    pub(super) fn folder_of_tests(&self) -> PathBuf {
        self.cx.site.folder_of(&self.settings)
    }

    /// From now on the command runs these files alone.
    pub(super) fn run_files<'f>(&mut self, files: impl IntoIterator<Item = &'f str>) {
        self.settings.command = with_files(&self.settings.command, files);
    }

    /// The files that stand in the copy, but for sealed ones.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The baseline's tests decide in this copy.
    pub(super) fn is_deciding(&self) -> bool {
        self.keeps_bytecode
    }

    pub(super) fn settings(&self) -> &CheckPolicy {
        &self.settings
    }

    pub(super) fn tree(&self) -> &WorkTree {
        &self.tree
    }
}

/// A runner's command with files; the command itself if the runner is not known.
pub(super) fn with_files<'f>(
    command: &[String],
    files: impl IntoIterator<Item = &'f str>,
) -> Vec<String> {
    let files = files.into_iter().map(str::to_owned).collect();
    with_options(command, files).unwrap_or_else(|| command.to_vec())
}
