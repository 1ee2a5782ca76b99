//! A fresh folder for one deciding run.
//!
//! Its path is random and gives nothing away: code under test cannot tell that gate runs it.
//! Nothing in it was written by an earlier run of the agent's code. So that cargo need not compile
//! all anew, it gets what the baseline's own run has built, and files that are as in the baseline
//! are dated before that.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, FileTimes, TryLockError};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use super::Workspace;
use super::builds::{MAX_DEPTH, profiles};
use crate::copy::Mapping;
use crate::disk_usage::disk_usage;
use crate::remove::remove_all;
use crate::site::CheckSite;
use crate::store;
use crate::temporary::Temporary;

/// The folder of a tree's state that lists its fresh folders: a gate that was killed cannot
/// remove its own.
const LIST: &str = "deciding";

/// The folder of a tree's state with build output of the baseline, by check.
pub(super) const BUILDS: &str = "deciding-builds";

/// Folders of build output, in the folder that a check runs in and at the top.
const OUTPUT: &str = "target";

/// Larger build output is made anew each time, in bytes.
const MAX_BUILD_BYTES: u64 = 6 << 30;

/// The entry of a fresh folder in the list, locked while the folder is in use.
#[derive(Debug)]
struct Entry {
    path: PathBuf,
    _lock: File,
}

/// A folder that goes with this, and its entry.
#[derive(Debug)]
pub(super) struct FreshFolder {
    temporary: Temporary,
    entry: Option<Entry>,
}

impl FreshFolder {
    fn new(list: Option<&Path>) -> io::Result<Self> {
        if let Some(list) = list {
            store::make_folder(list)?;
            sweep(list);
        }
        let temporary = Temporary::inside(&place(), "")?;
        let entry = list.map(|list| Entry::new(list, temporary.path())).transpose()?;
        Ok(Self { temporary, entry })
    }
}

impl Drop for FreshFolder {
    fn drop(&mut self) {
        // A run may have made folders read-only. What stays is swept by a later gate.
        if remove_all(self.temporary.path()).is_ok()
            && let Some(entry) = &self.entry
        {
            let _ = fs::remove_file(&entry.path);
        }
    }
}

impl Entry {
    fn new(list: &Path, folder: &Path) -> io::Result<Self> {
        let path = list.join(folder.file_name().unwrap_or_default());
        let lock = File::options().create_new(true).append(true).open(&path)?;
        lock.lock()?;
        fs::write(&path, folder.as_os_str().as_bytes())?;
        Ok(Self { path, _lock: lock })
    }
}

/// The folder for fresh folders: the user's choice, else one that is not in memory.
fn place() -> PathBuf {
    let disk = Path::new("/var/tmp");
    if std::env::var_os("TMPDIR").is_none() && disk.is_dir() {
        return disk.to_owned();
    }
    std::env::temp_dir()
}

/// Removes the listed folders that no gate uses.
fn sweep(list: &Path) {
    for leftover in listed(list) {
        // What cannot be removed stays in the list.
        let _ = leftover.remove();
    }
}

/// A fresh folder that its gate could not remove, since it was killed. It is locked for its
/// removal.
#[derive(Debug)]
pub(crate) struct Leftover {
    entry: PathBuf,
    /// The folder; it may be gone, with only its entry left.
    pub(crate) folder: PathBuf,
    _lock: File,
}

impl Leftover {
    /// `None` if a gate uses the folder, or writes the entry just now.
    fn try_lock(entry: PathBuf) -> Option<Self> {
        let lock = File::options().append(true).open(&entry).ok()?;
        if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            return None;
        }
        let folder = PathBuf::from(OsString::from_vec(fs::read(&entry).ok()?));
        folder.is_absolute().then_some(Self { entry, folder, _lock: lock })
    }

    /// True if the folder is there and belongs to this user.
    pub(crate) fn exists(&self) -> bool {
        let own = rustix::process::getuid().as_raw();
        let about = self.folder.symlink_metadata();
        about.is_ok_and(|about| about.is_dir() && about.uid() == own)
    }

    /// Removes the folder and its entry.
    ///
    /// # Errors
    ///
    /// A folder that cannot be removed: its entry stays.
    pub(crate) fn remove(&self) -> io::Result<()> {
        if self.exists() {
            remove_all(&self.folder)?;
        }
        fs::remove_file(&self.entry)
    }
}

/// The fresh folders of a tree that were left behind, from its folder of the state.
pub(crate) fn leftovers(tree_folder: &Path) -> Vec<Leftover> {
    listed(&tree_folder.join(LIST))
}

fn listed(list: &Path) -> Vec<Leftover> {
    let entries = fs::read_dir(list).into_iter().flatten().flatten();
    entries.filter_map(|entry| Leftover::try_lock(entry.path())).collect()
}

impl Workspace {
    /// A workspace that nobody has written to, with a random path. It is removed when it is
    /// dropped.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made.
    pub(crate) fn fresh(site: &CheckSite, real: &Path) -> io::Result<Self> {
        let list = site.state.as_ref().map(|state| store::tree_folder(state, real).join(LIST));
        let fresh = FreshFolder::new(list.as_deref())?;
        let folder = fresh.temporary.path().canonicalize()?;
        let copy = folder.join(real.file_name().unwrap_or("tree".as_ref()));
        let mapping = Mapping { real: real.to_owned(), copy };
        Ok(Self { folder, mapping, _owner: super::Owner::Fresh { _folder: fresh } })
    }

    /// Puts the baseline's build output into a fresh workspace. What cannot be copied is built.
    pub(crate) fn use_builds(&self, site: &CheckSite, check: &str) {
        let Some(kept) = self.builds_of(site, check) else { return };
        for (name, folder) in self.outputs(site) {
            let from = kept.join(name);
            if from.is_dir() && copy_folder(&from, &folder).is_err() {
                let _ = remove_all(&folder);
            }
        }
    }

    /// Keeps the build output of a run of the baseline: it was made by no code of the agent's.
    pub(crate) fn keep_builds(&self, site: &CheckSite, check: &str) {
        let Some(kept) = self.builds_of(site, check) else { return };
        // Without it the next run builds.
        let _ = remove_all(&kept);
        for (name, folder) in self.outputs(site) {
            // Beside the folders of profiles there may be files that tests have written.
            for profile in profiles(&folder, MAX_DEPTH) {
                let inside = profile.strip_prefix(&folder).unwrap_or(Path::new(""));
                if disk_usage(&profile) <= MAX_BUILD_BYTES {
                    move_folder(&profile, &kept.join(name).join(inside));
                }
            }
        }
    }

    fn builds_of(&self, site: &CheckSite, check: &str) -> Option<PathBuf> {
        let tree = store::tree_folder(site.state.as_ref()?, &self.mapping.real);
        let name = blake3::hash(check.as_bytes()).to_hex();
        Some(tree.join(BUILDS).join(&name[..16]))
    }

    /// Folders that build output may stand in, each with a name of its own.
    fn outputs(&self, site: &CheckSite) -> Vec<(&'static str, PathBuf)> {
        let project = self.mapping.folder(&site.project).unwrap_or_else(|| self.root().to_owned());
        let folders = BTreeSet::from([self.root().join(OUTPUT), project.join(OUTPUT)]);
        let mut outputs = vec![("chosen", self.folder.join("builds"))];
        outputs.extend(["first", "second"].into_iter().zip(folders));
        outputs
    }
}

/// Moves a folder, or leaves nothing at its new place.
fn move_folder(from: &Path, to: &Path) {
    let above = to.parent().unwrap_or(to);
    let moved = store::make_folder(above).and_then(|()| fs::rename(from, to));
    if moved.is_err() && copy_folder(from, to).is_err() {
        let _ = remove_all(to);
    }
}

/// Copies a folder with the times of its files, by which tools know that they are up to date.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let about = entry.metadata()?;
        if about.is_dir() {
            copy_folder(&from, &to)?;
        } else if about.is_symlink() {
            symlink(fs::read_link(&from)?, &to)?;
        } else if about.is_file() {
            fs::copy(&from, &to)?;
            let times = FileTimes::new().set_modified(about.modified()?);
            File::open(&to)?.set_times(times)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_folder_of_a_killed_gate_is_removed() {
        let state = tempfile::tempdir().unwrap();
        let list = state.path().join(LIST);
        let fresh = FreshFolder::new(Some(&list)).unwrap();
        let path = fresh.temporary.path().to_owned();
        sweep(&list);
        assert!(path.is_dir(), "it is in use");
        assert!(!path.to_string_lossy().contains("gate"), "{path:?}");
        let entry = fresh.entry.as_ref().unwrap().path.clone();
        let left = tempfile::tempdir().unwrap().keep();
        fs::write(list.join("left"), left.as_os_str().as_bytes()).unwrap();
        sweep(&list);
        assert!(!left.exists() && !list.join("left").exists());
        drop(fresh);
        assert!(!path.exists() && !entry.exists());
    }

    #[test]
    fn build_output_keeps_its_times() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("deps")).unwrap();
        fs::write(from.join("deps/a"), "a").unwrap();
        symlink("deps/a", from.join("b")).unwrap();
        File::open(from.join("deps/a")).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        copy_folder(&from, &to).unwrap();
        assert_eq!(
            fs::metadata(to.join("deps/a")).unwrap().modified().unwrap(),
            SystemTime::UNIX_EPOCH
        );
        assert_eq!(fs::read_link(to.join("b")).unwrap(), Path::new("deps/a"));
    }
}
