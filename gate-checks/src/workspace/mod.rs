//! A workspace: two copies of the work tree that stay, so that what tools have built in
//! them is there the next time.
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
//! One that nobody opened for a month is emptied, and that of a tree that is gone, when
//! another one is opened. If all take more room than the settings allow, those go that were
//! used least recently ([`sweep`]).
//!
//! Limits: what stands outside of the tree (`../other`), what git ignores, and what
//! tools find in the folders above are not there, but for folders of dependencies,
//! which are linked to. The folders that stay warm in the own copy are as the last run left them.

mod builds;
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
use tokio::time::sleep;

use crate::cancellation::Cancellation;
use crate::control::Names;
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

/// The folder of a workspace, among what is kept of its tree, and the file in it that its user
/// locks.
const FOLDER: &str = "workspace";
const LOCK: &str = "lock";

/// The pause between two tries to lock a workspace.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// After so many commits its repository begins anew, so that it does not grow.
const MAX_COMMITS: u64 = 100;

/// The variable with which a user chooses cargo's target folder.
const TARGET: &str = "CARGO_TARGET_DIR";

/// The folders of the two copies.
const OWN: &str = "own";
const DECIDING: &str = "deciding";

/// A file beside the copies: sealed tests were laid, and may still be there.
const PRIVATE: &str = "private";

/// Python looks for compiled modules in this folder alone, and a tracked one is never used.
const COMPILED: &str = "PYTHONPYCACHEPREFIX";

/// The variable that a project's own paths stand in most often.
const NO_SYNC: (&str, &str) = ("UV_NO_SYNC", "1");

/// One of the copies of a workspace that is ours as long as this lives.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// What is known of the copy.
    notes: PathBuf,
    /// The folder that it stands in, with what is built beside it.
    folder: PathBuf,
    mapping: Mapping,
    owner: Arc<Owner>,
}

/// The thing that makes a workspace ours; it ends with it.
#[derive(Debug)]
struct Owner {
    workspace: PathBuf,
    /// The folder that the state stands in, if that is not the tree.
    above_state: Option<PathBuf>,
    /// There is no state to keep it in.
    temporary: Option<Temporary>,
    /// Released when the file is closed.
    _lock: File,
}

impl Drop for Owner {
    fn drop(&mut self) {
        if self.temporary.is_some()
            && let Some(place) = place::known(&self.workspace)
        {
            // A run may have made folders read-only; what stays is in a temporary folder.
            let _ = remove_all(&place);
        }
    }
}

impl Workspace {
    /// The own copy of a tree, once no other check uses its workspace; none if the wait was cancelled.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made.
    pub(crate) async fn open(
        site: &CheckSite,
        real: &Path,
        cancel: &Cancellation,
    ) -> io::Result<Option<Self>> {
        let temporary = match &site.state {
            Some(_) => None,
            None => Some(Temporary::new("workspace")?),
        };
        let folder = match (&site.state, &temporary) {
            (Some(state), _) => store::tree_folder(&std::path::absolute(state)?, real).join(FOLDER),
            (None, Some(temporary)) => temporary.path().to_owned(),
            (None, None) => return Ok(None),
        };
        store::make_folder(&folder)?;
        let folder = folder.canonicalize()?;
        let lock = File::options().create(true).append(true).open(folder.join(LOCK))?;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if cancel.is_cancelled() => return Ok(None),
                Err(TryLockError::WouldBlock) => sleep(LOCK_POLL_INTERVAL).await,
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        if temporary.is_none() {
            stored_copy::note_use(&folder, &lock, real)?;
            sweep::remove_unused(&folder);
        }
        if folder.join(PRIVATE).exists() {
            if let Some(place) = place::known(&folder) {
                place::empty(&place)?;
            }
            fs::remove_file(folder.join(PRIVATE))?;
        }
        let notes = folder.join(OWN);
        let copy = notes.join("tree").join(real.file_name().unwrap_or("tree".as_ref()));
        let mapping = Mapping { real: real.to_owned(), copy };
        let state = site.state.as_ref().and_then(|state| state.canonicalize().ok());
        let above_state = state.and_then(|state| state.parent().map(Path::to_owned));
        let above_state = above_state.filter(|above| !above.starts_with(real));
        let owner = Arc::new(Owner { workspace: folder, above_state, temporary, _lock: lock });
        Ok(Some(Self { folder: notes.clone(), notes, mapping, owner }))
    }

    /// The copy in which the baseline's tests decide.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made.
    pub(crate) fn deciding(&self) -> io::Result<Self> {
        let folder = place::find(&self.owner.workspace, self.owner.above_state.as_deref())?;
        let real = self.mapping.real.clone();
        let copy = folder.join(real.file_name().unwrap_or("tree".as_ref()));
        let (notes, owner) = (self.owner.workspace.join(DECIDING), Arc::clone(&self.owner));
        Ok(Self { notes, folder, mapping: Mapping { real, copy }, owner })
    }

    /// Notes that sealed tests are laid here: whoever opens the workspace next empties this copy,
    /// should this process not do so itself.
    ///
    /// # Errors
    ///
    /// A note that cannot be written.
    pub(crate) fn begin_private(&self) -> io::Result<()> {
        store::write_file(&self.owner.workspace.join(PRIVATE), b"")
    }

    /// Empties this copy of all that a private run may have written.
    ///
    /// # Errors
    ///
    /// A file that cannot be removed.
    pub(crate) fn end_private(&self) -> io::Result<()> {
        place::empty(&self.folder)?;
        fs::remove_file(self.owner.workspace.join(PRIVATE))
    }

    /// The folder of what Python has compiled.
    pub(super) fn compiled_python(&self) -> PathBuf {
        self.folder.join("compiled")
    }

    /// The layout that equals the tree.
    ///
    /// # Errors
    ///
    /// A link that changes meanwhile.
    pub(crate) fn layout(&self, tree: &Snapshot) -> io::Result<Layout> {
        Layout::new(tree, &self.mapping)
    }

    /// Brings it up to a layout. A workspace for which that fails is made anew.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, or that changes meanwhile; a repository that
    /// cannot be made.
    pub(crate) fn sync(
        &self,
        layout: &Layout,
        tree: &Snapshot,
        site: &CheckSite,
    ) -> io::Result<()> {
        store::make_folder(&self.notes)?;
        let touched = match self.lay(layout) {
            Ok(touched) => touched,
            Err(_) => {
                remove_all(self.root())?;
                self.lay(layout)?
            }
        };
        if tree.index.is_none() {
            return remove_all(&self.root().join(".git"));
        }
        self.commit(layout, site, &touched).or_else(|_| {
            // A run may have damaged the repository: it is made anew.
            remove_all(&self.root().join(".git"))?;
            self.commit(layout, site, &touched)
        })
    }

    fn lay(&self, layout: &Layout) -> io::Result<Vec<u8>> {
        let kept = self.notes.join("laid");
        let known = fs::read(&kept).ok();
        let (touched, renewed) = Sync::new(self.root(), layout, known).run()?;
        if let Some(renewed) = renewed {
            // What is not known is read again.
            let _ = store::write_file(&kept, &renewed);
        }
        Ok(touched)
    }

    /// Commits its files to its own repository: tests may run git.
    fn commit(&self, layout: &Layout, site: &CheckSite, touched: &[u8]) -> io::Result<()> {
        let git = self.root().join(".git");
        let (config, count) = (self.notes.join("git-config"), self.notes.join("commits"));
        let commits =
            fs::read_to_string(&count).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        let is_intact = git.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
            && fs::read(git.join("config"))
                .is_ok_and(|now| fs::read(&config).is_ok_and(|written| written == now));
        let (commits, names) = if is_intact && commits < MAX_COMMITS {
            (commits, touched.to_vec())
        } else {
            if git.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
                fs::remove_file(&git)?;
            }
            remove_all(&git)?;
            copy::init(self.root(), site, &self.mapping.real)?;
            store::write_file(&config, &fs::read(git.join("config"))?)?;
            (0, layout.names())
        };
        if !names.is_empty() || commits == 0 {
            copy::commit(self.root(), site, &self.mapping.real, &names)?;
            store::write_file(&count, (commits + 1).to_string().as_bytes())?;
        }
        Ok(())
    }

    /// The folder that it stands in, with what is built beside it.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its topmost folder.
    pub(crate) fn root(&self) -> &Path {
        &self.mapping.copy
    }

    /// The tree that it is a copy of, and where it stands.
    pub(crate) fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// The site whose project is in it. The user's target folder of cargo is replaced: two trees
    /// that share one rebuild each other's output. `configured` are the variables that the settings
    /// name.
    pub(crate) fn site(&self, site: &CheckSite, configured: &[String]) -> io::Result<CheckSite> {
        let real = site.project.canonicalize()?;
        let project = self.mapping.folder(&real);
        let project = project.ok_or_else(|| io::Error::other("its project is not in the tree"))?;
        let target = self.folder.join("builds").display().to_string();
        let environment = site.environment.iter().map(|(name, value)| {
            let value = match name.as_str() {
                TARGET => target.clone(),
                _ if configured.contains(name) => self.mapping.to_copy(value),
                _ => self.mapping.variable(name, value),
            };
            (name.clone(), value)
        });
        Ok(CheckSite { project, environment: environment.collect(), ..site.clone() })
    }

    /// Variables that a command needs here: what is linked to is not to be changed, and caches that a
    /// run of the agent's code could write to are not read.
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

    /// The folder for temporary files, in which some runners keep what they have compiled.
    pub(super) fn temporary_files(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// The settings of a check that is run here.
    pub(crate) fn settings(&self, check: &CheckPolicy) -> CheckPolicy {
        self.mapping.settings(check)
    }

    /// Removes what cargo has built of a control.
    pub(crate) fn forget_builds(&self, id: &Names) {
        for target in [self.root().join("target"), self.folder.join("builds")] {
            builds::forget(&target, id);
        }
    }
}
