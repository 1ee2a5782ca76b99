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
use crate::baseline::{Baseline, BaselineError, What};
use crate::check::{CheckContext, CheckId, PrivateRun};
use crate::checks::launch::CopyReport;
use crate::checks::test_run::{NO_BYTECODE, Ran, TestRun};
use crate::control::{self, Changed, Control, Place};
use crate::logs::Logs;
use crate::report::{TestReport, with_options};
use crate::runner::RunnerCommand;
use crate::site::CheckSite;
use crate::workspace::{Layout, OpenedFiles, Workspace};
use crate::worktree::{Snapshot, WorkTree, WorktreeError};

/// Why nothing could be tried.
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

/// The time in which others have to leave the tree alone.
const QUIET: Duration = Duration::from_millis(300);

/// The workspace, and a check in it.
pub(super) struct TestWorkspace {
    workspace: Workspace,
    tree: WorkTree,
    /// With the files that the digest leaves out: tests may need them.
    snapshot: Arc<Snapshot>,
    /// The tree's own site.
    real: Arc<CheckSite>,
    cx: CheckContext,
    settings: CheckPolicy,
    files: Vec<PathBuf>,
    /// Files of the work tree to which dependencies lead.
    led_to: Vec<PathBuf>,
    /// Those that were opened while the command ran.
    opened: Mutex<BTreeSet<PathBuf>>,
    /// New files of the tree, and edited ones.
    changed: (Vec<PathBuf>, Vec<PathBuf>),
    /// Python keeps what it compiles: dates tell which source it is of.
    compiles: bool,
}

/// The files that the workspace shall have.
#[derive(Clone, Copy)]
pub(super) enum Contents<'a> {
    /// The tree as it stands.
    Tree,
    /// The tree with these files in the place of its own.
    Replaced(&'a [&'a Replacement]),
    /// The baseline.
    Baseline(&'a Overlay<'a>),
    /// The tree with these files as the baseline had them.
    PutBack(&'a Overlay<'a>, &'a [PathBuf]),
}

impl TestWorkspace {
    /// Waits for the workspace.
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
            real: Arc::clone(&cx.site),
            cx: CheckContext { site: Arc::new(site), ..cx.clone() },
            files: Vec::new(),
            led_to: Vec::new(),
            opened: Mutex::default(),
            changed: (Vec::new(), Vec::new()),
            compiles: false,
            workspace,
        })
    }

    /// The copy in which the baseline's tests decide; the workspace is ours in both.
    pub(super) fn deciding(&self, settings: &CheckPolicy) -> io::Result<Self> {
        let workspace = self.workspace.deciding()?;
        let site = Arc::new(workspace.site(&self.real, &settings.env)?);
        Ok(Self {
            settings: workspace.settings(settings),
            tree: self.tree.clone(),
            snapshot: Arc::clone(&self.snapshot),
            real: Arc::clone(&self.real),
            cx: CheckContext { site, ..self.cx.clone() },
            files: self.files.clone(),
            led_to: self.led_to.clone(),
            opened: Mutex::default(),
            changed: self.changed.clone(),
            compiles: true,
            workspace,
        })
    }

    /// Makes the deciding copy hold these files, with what the run of this baseline has built and no
    /// more. `changed` are the files that are not as in the baseline.
    pub(super) fn lay(
        &mut self,
        id: &CheckId,
        contents: Contents<'_>,
        changed: &BTreeSet<&Path>,
        caches: Option<&Baseline>,
    ) -> Result<(), Trouble> {
        let mut layout = self.layout(contents)?;
        self.workspace.date(&mut layout, changed, &self.real);
        self.write(&layout)?;
        let digest = caches.map(Baseline::digest);
        Ok(self.workspace.restore_caches(&self.real, id.as_str(), digest)?)
    }

    /// Empties it of all that a private run may have left.
    pub(super) fn end_private(&self) -> io::Result<()> {
        self.workspace.end_private()
    }

    /// Puts sealed tests into the deciding copy.
    pub(super) fn lay_sealed(&self, from: &Path, files: &[PathBuf]) -> io::Result<()> {
        self.workspace.begin_private()?;
        let root = self.workspace.root();
        for file in files {
            let to = root.join(file);
            // Through a link of the tree they would be written to where it leads.
            let mut folders = to.ancestors().skip(1).take_while(|folder| *folder != root);
            if let Some(link) = folders.find(|folder| folder.is_symlink()) {
                let link = link.strip_prefix(root).unwrap_or(link).display();
                let error = format!("sealed tests cannot be laid over {link}, which is a link");
                return Err(io::Error::other(error));
            }
            fs::create_dir_all(to.parent().unwrap_or(&to))?;
            match fs::remove_file(&to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => fs::write(&to, fs::read(from.join(file))?)?,
            }
        }
        Ok(())
    }

    /// From now on nothing of a run is kept but its exit code and its report.
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
        self.workspace.keep_caches(&self.real, id.as_str(), baseline.digest());
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
            Contents::Baseline(overlay) => overlay.lay_all(&self.tree, &mut layout)?,
            Contents::PutBack(overlay, files) => {
                overlay.lay_files(&self.tree, &mut layout, files)?;
            }
        }
        Ok(layout)
    }

    fn write(&mut self, layout: &Layout) -> Result<(), Trouble> {
        self.workspace.sync(layout, &self.snapshot, &self.real)?;
        self.files = layout.files();
        self.led_to = layout.led_to();
        Ok(())
    }

    /// Notes the files that the agent has changed, for controls.
    pub(super) fn note_changes(&mut self, overlay: &Overlay<'_>) {
        for change in &overlay.changes {
            match change.what {
                What::Added => self.changed.0.push(change.path.clone()),
                What::Edited => self.changed.1.push(change.path.clone()),
                What::Removed => {}
            }
        }
    }

    /// Plants a control for a runner that was found; none if no place is known.
    pub(super) fn plant(&self, found: &RunnerCommand) -> io::Result<Option<Control>> {
        let cwd = self.folder_of_tests();
        let (root, files) = (self.workspace.root(), self.files.as_slice());
        let changed = Changed { added: &self.changed.0, edited: &self.changed.1 };
        let place = Place { root, cwd: &cwd, files, args: &found.args, changed };
        control::plant(found.runner, &place)
    }

    /// Runs the tests of a control; with all others if they cannot be told apart.
    pub(super) async fn run_control(
        &self,
        id: &CheckId,
        found: &RunnerCommand,
        control: &Control,
    ) -> Result<Ran, Box<Evidence>> {
        let mut settings = self.settings.clone();
        if let Some(args) = found.args_of_control(control, &self.folder_of_tests()) {
            let before = settings.command.len().saturating_sub(found.args.len());
            settings.command.truncate(before);
            settings.command.extend(args);
        }
        self.run_with(&settings, id, Some(control), true).await
    }

    /// Runs the command once, and to its end whatever fails if it is to keep going.
    pub(super) async fn run(&self, id: &CheckId, keep_going: bool) -> Result<Ran, Box<Evidence>> {
        self.run_with(&self.settings, id, None, keep_going).await
    }

    async fn run_with(
        &self,
        settings: &CheckPolicy,
        id: &CheckId,
        control: Option<&Control>,
        keep_going: bool,
    ) -> Result<Ran, Box<Evidence>> {
        let mapping = self.workspace.mapping();
        let mut variables = self.workspace.variables();
        if self.compiles {
            variables.push((NO_BYTECODE.to_owned(), String::new()));
        }
        let run = TestRun {
            id,
            settings,
            cx: &self.cx,
            keep_going,
            variables,
            copy_report: CopyReport {
                mapping: Some(mapping),
                hidden: control.map(|control| &control.id),
            },
        };
        let mut opened = OpenedFiles::watch(self.tree.root(), &self.led_to);
        let ran = run.run().await;
        self.note_opened(opened.take());
        let mut ran = ran?;
        if let Some(control) = control {
            // The next time all of it is written anew.
            let _ = control.remove();
            self.workspace.forget_builds(&control.id);
        }
        let report = ran.report.iter_mut();
        for text in report.flat_map(|report| {
            let tests = report.tests.iter_mut().map(|test| &mut test.id);
            let failures = report.failures.iter_mut().map(|failure| &mut failure.message);
            tests.chain(&mut report.errors).chain(&mut report.problems).chain(failures)
        }) {
            if text.contains('/') {
                *text = mapping.to_real(text);
            }
        }
        Ok(ran)
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
    /// nothing about the copy. Others open files of the tree too, such as an editor or another
    /// check. So a suspicion has to be confirmed by another run, and by quiet while nothing runs.
    pub(super) async fn tested_file_of_tree(&self, check: &CheckId) -> Option<PathBuf> {
        let suspected = self.take_opened();
        if suspected.is_empty() {
            return None;
        }
        let mut others = OpenedFiles::watch(self.tree.root(), &self.led_to);
        sleep(QUIET).await;
        if !others.take().is_empty() {
            return None;
        }
        let log = CheckId::new(format!("{check}-isolation"));
        self.workspace.forget_compiled_of_tree();
        // Only the files that it opens count.
        drop(self.run(&log, false).await);
        suspected.intersection(&self.take_opened()).next().cloned()
    }

    /// From now on the command runs these files of the tree alone, if its runner has an option
    /// for that; a report names the other ones. True if the command runs less than before.
    pub(super) fn run_only(
        &mut self,
        found: &RunnerCommand,
        own: &[PathBuf],
        report: &TestReport,
    ) -> bool {
        let place = Selection {
            root: self.workspace.root(),
            tree: self.tree.root(),
            cwd: &self.folder_of_tests(),
            args: &found.args,
        };
        let words = found.alone.then(|| place.words(found.runner, own, report)).flatten();
        let command = words.and_then(|words| with_options(&self.settings.command, words));
        let Some(command) = command.filter(|command| *command != self.settings.command) else {
            return false;
        };
        self.settings.command = command;
        true
    }

    /// The folder in the copy in which the command runs.
    pub(super) fn folder_of_tests(&self) -> PathBuf {
        self.cx.site.folder_of(&self.settings)
    }

    /// From now on the command runs these files alone.
    pub(super) fn run_files(&mut self, files: &[&str]) {
        self.settings.command = with_files(&self.settings.command, files.iter().copied());
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
