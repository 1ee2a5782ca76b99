//! Folders of gate's own in the system's temporary folder, which go with their process.
//!
//! A process that is killed cannot remove its folders. So each folder is locked as long as its
//! process lives, and whoever makes the next one first removes those that no process has locked.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use gate_platform::{MetadataExt, open_folder, permissions, user};
use tempfile::TempDir;

use crate::remove::remove_all;

/// The prefix of the names of all such folders.
const PREFIX: &str = "gate-";

/// The purposes of folders, which follow the prefix: another program's folder may have that too.
const PURPOSES: [&str; 8] =
    ["base", "self-test", "report", "workspace", "git", "try", "copy", "demo"];

/// A folder that is younger may not be locked yet.
const MIN_AGE_TO_SWEEP: Duration = Duration::from_secs(60);

/// A temporary folder: it is removed when this is dropped, or by a later gate.
#[derive(Debug)]
pub struct Temporary {
    folder: TempDir,
    /// The lock of the folder: it ends when the file is closed.
    _lock: File,
}

impl Temporary {
    /// Makes a folder for a purpose, such as `self-test`.
    ///
    /// # Errors
    ///
    /// A temporary folder that cannot be written.
    pub fn new(purpose: &str) -> io::Result<Self> {
        static SWEPT: Once = Once::new();
        debug_assert!(PURPOSES.contains(&purpose), "{purpose} is swept");
        let parent = std::env::temp_dir();
        SWEPT.call_once(|| sweep(&parent, MIN_AGE_TO_SWEEP));
        Self::inside(&parent, &format!("{PREFIX}{purpose}-"))
    }

    /// Makes a folder in another one, which is not swept.
    pub(crate) fn inside(parent: &Path, prefix: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix);
        if let Some(permissions) = permissions(0o700) {
            builder.permissions(permissions);
        }
        let folder = builder.tempdir_in(parent)?;
        let lock = open_folder(folder.path())?;
        // If folders cannot be locked, no gate sweeps this one.
        let _ = lock.try_lock();
        Ok(Self { folder, _lock: lock })
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes this user's folders that no process has locked.
fn sweep(parent: &Path, min_age: Duration) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if is_gates(&name.to_string_lossy()) {
            // Another gate may sweep at the same time.
            let _ = remove_unlocked(&entry.path(), min_age);
        }
    }
}

fn is_gates(name: &str) -> bool {
    let purpose_and_random = name.strip_prefix(PREFIX).and_then(|name| name.rsplit_once('-'));
    purpose_and_random.is_some_and(|(purpose, _)| PURPOSES.contains(&purpose))
}

fn remove_unlocked(folder: &Path, min_age: Duration) -> io::Result<()> {
    let metadata = folder.symlink_metadata()?;
    let is_old = metadata.modified()?.elapsed().is_ok_and(|age| age >= min_age);
    let is_users = metadata.is_dir() && metadata.uid() == user();
    if !is_users || !is_old {
        return Ok(());
    }
    let lock = File::open(folder)?;
    if lock.try_lock().is_ok() { remove_all(folder) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in a folder.
    fn names(place: &Path) -> Vec<String> {
        let entries = fs::read_dir(place).unwrap().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn copies_of_killed_gates_filled_the_disk() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for name in ["gate-self-test-abc", "gate-report-abc", "gate-other-abc", "gate-late-held"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::create_dir(at("gate-self-test-abc/sealed")).unwrap();
        fs::write(at("gate-self-test-abc/sealed/a"), "").unwrap();
        gate_platform::set_mode(&at("gate-self-test-abc/sealed"), 0o500).unwrap();
        fs::write(at("gate-late-file"), "").unwrap();
        gate_platform::symlink(at("gate-other-abc"), at("gate-git-link")).unwrap();
        let held = File::open(at("gate-late-held")).unwrap();
        held.try_lock().unwrap();
        sweep(place.path(), MIN_AGE_TO_SWEEP);
        assert_eq!(names(place.path()).len(), 6, "one that is made just now is not locked yet");
        sweep(place.path(), Duration::ZERO);
        let left = ["gate-git-link", "gate-late-file", "gate-late-held", "gate-other-abc"];
        assert_eq!(names(place.path()), left);
    }

    #[test]
    fn a_folder_goes_with_its_owner() {
        let folder = Temporary::new("copy").unwrap();
        let path = folder.path().to_owned();
        let other = File::open(&path).unwrap();
        assert!(other.try_lock().is_err(), "it is held");
        drop(folder);
        assert!(!path.exists());
    }
}
