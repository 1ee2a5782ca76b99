//! A workspace: a copy of the work tree that stays, so that what tools have built in
//! it is there the next time.
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
//! which are linked to. The folders that stay warm are as the last run left them.

mod builds;
mod fresh;
mod layout;
mod opened_files;
mod stored_copy;
mod sweep;
mod sync;
#[cfg(test)]
mod tests;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
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

use fresh::FreshFolder;
pub(crate) use fresh::leftovers;
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

/// The variable that a project's own paths stand in most often.
const NO_SYNC: (&str, &str) = ("UV_NO_SYNC", "1");

/// A workspace that is ours as long as this lives.
#[derive(Debug)]
pub(crate) struct Workspace {
    folder: PathBuf,
    mapping: Mapping,
    _owner: Owner,
}

/// The thing that makes a workspace ours; it ends with it.
#[derive(Debug)]
enum Owner {
    /// It stays. Released when the file is closed.
    Warm { _lock: File },
    /// There is no state to keep it in.
    Temporary { _folder: Temporary, _lock: File },
    /// It is for one run.
    Fresh { _folder: FreshFolder },
}

impl Workspace {
    /// The workspace of a tree, once no other check uses it; none if the wait was cancelled.
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
        let copy = folder.join("tree").join(real.file_name().unwrap_or("tree".as_ref()));
        let mapping = Mapping { real: real.to_owned(), copy };
        let owner = match temporary {
            Some(folder) => Owner::Temporary { _folder: folder, _lock: lock },
            None => Owner::Warm { _lock: lock },
        };
        Ok(Some(Self { folder, mapping, _owner: owner }))
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
        let touched = match self.lay(layout) {
            Ok(touched) => touched,
            Err(_) => {
                remove_all(&self.folder.join("tree"))?;
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
        let kept = self.folder.join("laid");
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
        let (config, count) = (self.folder.join("git-config"), self.folder.join("commits"));
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

    /// Variables that a command needs here: what is linked to is not to be changed.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        vec![(NO_SYNC.0.to_owned(), NO_SYNC.1.to_owned())]
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
