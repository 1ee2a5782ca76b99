//! A workspace: two copies of the work tree that stay, so that the output of tools is there
//! the next time.
//!
//! ```text
//! own       the tree as it is
//! deciding  the tree's product with the baseline's tests; its caches are the baseline's
//! ```
//!
//! Each work tree has one, in its folder of the state; without state it is a temporary one, and
//! cold. Only one check uses it at a time: checks of one gate, and several gates, wait for each
//! other. Before it is used it is brought up to what it has to hold ([`Layout`]): only files whose
//! bytes are others are written, so that tools which go by times build what changed and no more.
//!
//! A workspace that nobody opened for a month is emptied, and that of a tree that is gone, when
//! another one is opened. If all take more room than the settings allow, those go that were
//! used least recently ([`sweep`]).
//!
//! Limits: files outside of the tree (`../other`), files that git ignores, and those that
//! tools find in the folders above are not there, but for folders of dependencies,
//! which are linked to. The folders that stay warm in the own copy are as the last run left them.

mod builds;
mod bytecode;
mod caches;
mod layout;
mod opened_files;
mod place;
mod stored_copy;
mod sweep;
mod sync;
#[cfg(test)]
mod tests;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gate_core::decide::policy::CheckPolicy;
use gate_platform::RealPath;
use tokio::time::sleep;

use crate::cancellation::Cancellation;
use crate::control::ControlNames;
use crate::copy::{self, Mapping};
use crate::remove::remove_all;
use crate::site::CheckSite;
use crate::store;
use crate::temporary::Temporary;
use crate::worktree::Snapshot;

pub(crate) use layout::Layout;
pub(crate) use opened_files::OpenedFiles;
pub(crate) use stored_copy::{CopyUse, FreeCopy, StoredCopy};
pub(crate) use sweep::{limit_copies, recorded_size};
use sync::Sync;

/// The folder of a workspace, in that of its tree's state.
const FOLDER: &str = "workspace";

/// The file in a workspace that its user locks.
const LOCK: &str = "lock";

/// The pause between two tries to lock a workspace.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// After so many commits a copy's repository begins anew, so that it does not grow.
const MAX_COMMITS: u64 = 100;

/// The variable with which a user chooses cargo's target folder.
const TARGET: &str = "CARGO_TARGET_DIR";

/// The folder of notes about the tree as it is, in which that copy also stands.
const OWN: &str = "own";

/// The folder of notes about the copy in which the baseline's tests decide.
const DECIDING: &str = "deciding";

/// A file beside the copies: sealed tests were laid, and may still be there.
const PRIVATE: &str = "private";

/// The variable for the folder of Python's bytecode. Python looks for bytecode there alone, so that a
/// tracked file is never used.
const COMPILED: &str = "PYTHONPYCACHEPREFIX";

/// The variable that keeps uv from bringing the environment up to date: the copy links to the tree's.
const NO_SYNC: (&str, &str) = ("UV_NO_SYNC", "1");

/// A copy of a workspace. Its lock is held as long as this lives.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The folder of notes about the copy.
    notes: PathBuf,
    /// The folder that the copy stands in, with its build output beside it.
    folder: PathBuf,
    mapping: Mapping,
    lock: Arc<WorkspaceLock>,
}

/// A workspace that no other check can use. Its copies share it.
#[derive(Debug)]
struct WorkspaceLock {
    workspace: PathBuf,
    /// The folder that the state stands in, unless that is in the tree.
    above_state: Option<PathBuf>,
    /// Set without state: then the workspace goes with its last copy.
    temporary: Option<Temporary>,
    /// Released when the file is closed.
    _file: File,
}

impl Drop for WorkspaceLock {
    fn drop(&mut self) {
        if self.temporary.is_some()
            && let Some(place) = place::known_place(&self.workspace)
        {
            // A run may have made folders read-only. Then they stay, in a temporary folder.
            let _ = remove_all(&place);
        }
    }
}

impl Workspace {
    /// The own copy of a tree, once no other check uses its workspace. `None` if the wait was
    /// cancelled.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made.
    pub(crate) async fn open(
        site: &CheckSite,
        tree_root: &Path,
        cancel: &Cancellation,
    ) -> io::Result<Option<Self>> {
        let temporary = match &site.state {
            Some(_) => None,
            None => Some(Temporary::new("workspace")?),
        };
        let folder = match (&site.state, &temporary) {
            (Some(state), _) => {
                store::tree_folder(&std::path::absolute(state)?, tree_root).join(FOLDER)
            }
            (None, Some(temporary)) => temporary.path().to_owned(),
            (None, None) => return Ok(None),
        };
        store::make_folder(&folder)?;
        let workspace = folder.real_path()?;
        let lock_file = File::options().create(true).append(true).open(workspace.join(LOCK))?;
        loop {
            match lock_file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if cancel.is_cancelled() => return Ok(None),
                Err(TryLockError::WouldBlock) => sleep(LOCK_POLL_INTERVAL).await,
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        if temporary.is_none() {
            stored_copy::note_use(&workspace, &lock_file, tree_root)?;
            sweep::remove_unused(&workspace);
        }
        // An earlier process was killed before it could remove sealed tests.
        if workspace.join(PRIVATE).exists() {
            if let Some(place) = place::known_place(&workspace) {
                place::empty(&place)?;
            }
            fs::remove_file(workspace.join(PRIVATE))?;
        }
        let notes = workspace.join(OWN);
        let copy = notes.join("tree").join(tree_root.file_name().unwrap_or("tree".as_ref()));
        let mapping = Mapping { tree_root: tree_root.to_owned(), copy };
        let real_state = site.state.as_ref().and_then(|state| state.real_path().ok());
        let above_state = real_state
            .and_then(|state| state.parent().map(Path::to_owned))
            .filter(|folder| !folder.starts_with(tree_root));
        let lock = Arc::new(WorkspaceLock { workspace, above_state, temporary, _file: lock_file });
        Ok(Some(Self { folder: notes.clone(), notes, mapping, lock }))
    }

    /// The copy in which the baseline's tests decide.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made.
    pub(crate) fn deciding_copy(&self) -> io::Result<Self> {
        let WorkspaceLock { workspace, above_state, .. } = &*self.lock;
        let folder = place::find_or_make(workspace, above_state.as_deref())?;
        let tree_root = self.mapping.tree_root.clone();
        let copy = folder.join(tree_root.file_name().unwrap_or("tree".as_ref()));
        Ok(Self {
            notes: workspace.join(DECIDING),
            folder,
            mapping: Mapping { tree_root, copy },
            lock: Arc::clone(&self.lock),
        })
    }

    /// Notes that sealed tests are laid here: if this process is killed, whoever opens the workspace
    /// next empties the copy.
    ///
    /// # Errors
    ///
    /// A note that cannot be written.
    pub(crate) fn begin_private(&self) -> io::Result<()> {
        store::write_file(&self.lock.workspace.join(PRIVATE), b"")
    }

    /// Empties this copy of all that a private run may have written.
    ///
    /// # Errors
    ///
    /// A file that cannot be removed.
    pub(crate) fn end_private(&self) -> io::Result<()> {
        place::empty(&self.folder)?;
        fs::remove_file(self.lock.workspace.join(PRIVATE))
    }

    /// The folder of Python's bytecode.
    pub(super) fn compiled_python(&self) -> PathBuf {
        self.folder.join("compiled")
    }

    /// The layout that equals the tree.
    ///
    /// # Errors
    ///
    /// A link that changes meanwhile.
    pub(crate) fn layout(&self, snapshot: &Snapshot) -> io::Result<Layout> {
        Layout::new(snapshot, &self.mapping)
    }

    /// Brings the copy up to a layout. If that fails, the copy is made anew.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, or that changes meanwhile; a repository that
    /// cannot be made.
    pub(crate) fn sync(
        &self,
        layout: &Layout,
        snapshot: &Snapshot,
        site: &CheckSite,
    ) -> io::Result<()> {
        store::make_folder(&self.notes)?;
        if !self.is_deciding() {
            // No check writes bytecode here, so a run of the agent's code did.
            remove_all(&self.compiled_python())?;
        }
        let touched_names = match self.sync_files(layout) {
            Ok(touched_names) => touched_names,
            Err(_) => {
                remove_all(self.root())?;
                self.sync_files(layout)?
            }
        };
        if snapshot.index.is_none() {
            return remove_all(&self.root().join(".git"));
        }
        self.commit(layout, site, &touched_names).or_else(|_| {
            // A run may have damaged the repository: it is made anew.
            remove_all(&self.root().join(".git"))?;
            self.commit(layout, site, &touched_names)
        })
    }

    fn sync_files(&self, layout: &Layout) -> io::Result<Vec<u8>> {
        let list_file = self.notes.join("laid");
        let synced = Sync::new(self.root(), layout, fs::read(&list_file).ok()).run()?;
        if let Some(list) = synced.renewed_list {
            // Files without an entry are read again.
            let _ = store::write_file(&list_file, &list);
        }
        Ok(synced.touched_names)
    }

    /// Commits the copy's files to its own repository: tests may run git.
    fn commit(&self, layout: &Layout, site: &CheckSite, touched_names: &[u8]) -> io::Result<()> {
        let git = self.root().join(".git");
        let (config_file, count_file) = (self.notes.join("git-config"), self.notes.join("commits"));
        let mut count =
            fs::read_to_string(&count_file).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut names = touched_names.to_vec();
        // A run may have changed the settings, by which git starts programs.
        let is_intact = git.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
            && fs::read(git.join("config"))
                .is_ok_and(|config| fs::read(&config_file).is_ok_and(|written| written == config));
        if !is_intact || count >= MAX_COMMITS {
            if git.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
                fs::remove_file(&git)?;
            }
            remove_all(&git)?;
            copy::init(self.root(), site, &self.mapping.tree_root)?;
            store::write_file(&config_file, &fs::read(git.join("config"))?)?;
            (count, names) = (0, layout.names());
        }
        if !names.is_empty() || count == 0 {
            copy::commit(self.root(), site, &self.mapping.tree_root, &names)?;
            store::write_file(&count_file, (count + 1).to_string().as_bytes())?;
        }
        Ok(())
    }

    /// The folder that the copy stands in, with its build output beside it.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The copy's topmost folder.
    pub(crate) fn root(&self) -> &Path {
        &self.mapping.copy
    }

    /// The paths of the tree and of this copy.
    pub(crate) fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// The site whose project is the copy's. The user's target folder of cargo is replaced: two trees
    /// that share one rebuild each other's output. `configured` are the variables that the settings
    /// name.
    pub(crate) fn site(&self, site: &CheckSite, configured: &[String]) -> io::Result<CheckSite> {
        let real_project = site.project.real_path()?;
        let Some(project) = self.mapping.folder(&real_project) else {
            return Err(io::Error::other("its project is not in the tree"));
        };
        let target = self.folder.join("builds").display().to_string();
        let environment = site.environment.iter().map(|(name, value)| {
            let copied_value = match name.as_str() {
                TARGET => target.clone(),
                _ if configured.contains(name) => self.mapping.to_copy(value),
                _ => self.mapping.variable(name, value),
            };
            (name.clone(), copied_value)
        });
        Ok(CheckSite { project, environment: environment.collect(), ..site.clone() })
    }

    /// Variables that a command needs here: files that links lead to are not changed, and caches that
    /// a run of the agent's code could write to are not read.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let compiled = self.compiled_python().display().to_string();
        let mut variables =
            vec![(NO_SYNC.0.to_owned(), NO_SYNC.1.to_owned()), (COMPILED.to_owned(), compiled)];
        if self.is_deciding() {
            variables.push(("TMPDIR".to_owned(), self.temporary_files().display().to_string()));
        }
        variables
    }

    fn is_deciding(&self) -> bool {
        self.notes.ends_with(DECIDING)
    }

    /// The folder for temporary files, in which some runners keep compiled code.
    pub(super) fn temporary_files(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// The settings of a check that is run here.
    pub(crate) fn settings(&self, check: &CheckPolicy) -> CheckPolicy {
        self.mapping.settings(check)
    }

    /// Removes cargo's output for the files of a control.
    pub(crate) fn forget_builds(&self, names: &ControlNames) {
        for target in [self.root().join("target"), self.folder.join("builds")] {
            builds::forget(&target, names);
        }
    }
}
