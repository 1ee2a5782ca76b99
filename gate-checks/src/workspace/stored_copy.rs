//! The copy of a tree as it is stored, with the build output beside it: all of a tree's state
//! that can be made again.
//!
//! Whoever uses a workspace has locked it, and with it the build output of the baseline. The
//! build output of self-tests has locks of its own. Nothing that is locked is removed, and the
//! lock file itself stays, so that whoever waits for it has what it locks.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gate_platform::OsStrExt;

use super::caches::STORED_CACHES;
use super::{FOLDER, LOCK, place};
use crate::copy::SELF_TEST_BUILDS;
use crate::disk_usage::disk_usage;
use crate::remove::remove_any;
use crate::store;

/// The file in a workspace that names its tree.
const TREE_NAME: &str = "of";

/// The file in a workspace with the size of the stored copy, in bytes.
const SIZE: &str = "size";

/// A recorded size that is older is measured again when it is needed for the own copy: that
/// walks through all files, and builds grow slowly.
const SIZE_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// The copy of one tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredCopy {
    /// The tree's folder of the state.
    folder: PathBuf,
}

/// The use of a stored copy at this moment.
#[derive(Debug)]
pub(crate) enum CopyUse {
    /// No copy is stored.
    Absent,
    /// A check uses the copy.
    InUse,
    /// No check uses the copy, or can use it as long as this lives.
    Free(FreeCopy),
}

/// A stored copy that is locked for its removal.
#[derive(Debug)]
pub(crate) struct FreeCopy {
    copy: StoredCopy,
    _lock: File,
}

/// Notes that a workspace is used now, by this tree.
pub(super) fn note_use(workspace: &Path, lock: &File, tree: &Path) -> io::Result<()> {
    let name = tree.as_os_str().as_bytes();
    if fs::read(workspace.join(TREE_NAME)).ok().as_deref() != Some(name) {
        store::write_file(&workspace.join(TREE_NAME), name)?;
    }
    lock.set_modified(SystemTime::now())
}

impl StoredCopy {
    /// The copy in a tree's folder of the state, if one is stored there.
    pub(crate) fn new(tree_folder: PathBuf) -> Self {
        Self { folder: tree_folder }
    }

    fn workspace(&self) -> PathBuf {
        self.folder.join(FOLDER)
    }

    /// Locks the copy, unless a check uses it. It never waits.
    ///
    /// # Errors
    ///
    /// A lock file that cannot be opened or locked.
    pub(crate) fn try_lock(&self) -> io::Result<CopyUse> {
        let lock = match File::options().append(true).open(self.workspace().join(LOCK)) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(CopyUse::Absent),
            Err(error) => return Err(error),
        };
        match lock.try_lock() {
            Ok(()) => Ok(CopyUse::Free(FreeCopy { copy: self.clone(), _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(CopyUse::InUse),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The time of the last use, if it is known.
    pub(super) fn last_used(&self) -> Option<SystemTime> {
        fs::metadata(self.workspace().join(LOCK)).and_then(|metadata| metadata.modified()).ok()
    }

    /// The recorded size, in bytes.
    pub(super) fn recorded_size(&self) -> Option<u64> {
        fs::read_to_string(self.workspace().join(SIZE)).ok()?.parse().ok()
    }

    /// The recorded size, else the measured one, in bytes.
    pub(super) fn size(&self) -> u64 {
        match self.recorded_size() {
            Some(size) => size,
            None if self.workspace().join(TREE_NAME).exists() => self.measure(),
            None => 0,
        }
    }

    /// Measures the copy, unless that was done a short time ago.
    pub(super) fn renew_size(&self) {
        let measured_at =
            fs::metadata(self.workspace().join(SIZE)).and_then(|metadata| metadata.modified());
        let is_recent =
            measured_at.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < SIZE_LIFETIME));
        if !is_recent && self.workspace().join(TREE_NAME).exists() {
            self.measure();
        }
    }

    fn measure(&self) -> u64 {
        let size = [FOLDER, STORED_CACHES, SELF_TEST_BUILDS]
            .map(|name| self.folder.join(name))
            .into_iter()
            .chain(place::known_place(&self.workspace()))
            .map(|folder| disk_usage(&folder))
            .sum::<u64>();
        // A size that is not recorded is measured again.
        let _ = store::write_file(&self.workspace().join(SIZE), size.to_string().as_bytes());
        size
    }
}

impl FreeCopy {
    /// The last use was at least this long ago. A use at an unknown time counts as old.
    pub(crate) fn is_older(&self, age: Duration) -> bool {
        let Some(last_used) = self.copy.last_used() else { return true };
        last_used.elapsed().map_or(age.is_zero(), |elapsed| elapsed >= age)
    }

    /// The copy's tree is not there any more.
    pub(super) fn is_of_lost_tree(&self) -> bool {
        let Ok(name) = fs::read(self.copy.workspace().join(TREE_NAME)) else { return false };
        // A tree on a disk that cannot be read now may still be there.
        Path::new(OsStr::from_bytes(&name)).try_exists().is_ok_and(|exists| !exists)
    }

    /// The contents of the workspace but the lock, and the folder of the deciding copy, which stands
    /// elsewhere.
    pub(crate) fn workspace_contents(&self) -> Vec<PathBuf> {
        let mut paths: Vec<_> = place::known_place(&self.copy.workspace()).into_iter().collect();
        paths.extend(entries(&self.copy.workspace()));
        paths.retain(|path| !path.ends_with(LOCK));
        paths
    }

    /// The folders of build output beside the workspace that nobody uses.
    pub(crate) fn builds(&self) -> Vec<BuildFolder> {
        [STORED_CACHES, SELF_TEST_BUILDS]
            .into_iter()
            .flat_map(|name| entries(&self.copy.folder.join(name)))
            .filter_map(BuildFolder::try_lock)
            .collect()
    }

    /// Removes the copy with its build output. A file that cannot be removed stays.
    pub(super) fn remove(&self) {
        for path in self.workspace_contents() {
            let _ = remove_any(&path);
        }
        for builds in self.builds() {
            let _ = remove_any(&builds.path);
        }
    }
}

/// A folder of build output, locked for its removal.
#[derive(Debug)]
pub(crate) struct BuildFolder {
    pub(crate) path: PathBuf,
    _lock: File,
}

impl BuildFolder {
    /// `None` if a self-test uses it.
    fn try_lock(path: PathBuf) -> Option<Self> {
        let lock = File::open(&path).ok()?;
        lock.try_lock().ok()?;
        Some(Self { path, _lock: lock })
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
