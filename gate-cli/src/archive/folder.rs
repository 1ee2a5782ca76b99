//! A folder of archives, which one call at a time writes to.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The prefix of files that are not whole yet.
const UNFINISHED: &str = ".gate-archive-";

/// The file that a writer of an archive locks.
const LOCK_FILE: &str = ".gate-archive.lock";

/// A folder of archives. Nobody else writes to it meanwhile.
#[derive(Debug)]
pub(crate) struct ArchiveFolder {
    path: PathBuf,
    _lock: File,
}

impl ArchiveFolder {
    /// Opens the folder, and makes it if it is missing. Removes the files whose writer was killed
    /// before they were whole.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written, or that somebody else writes an archive to.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let path = path.canonicalize()?;
        let lock = File::options().create(true).append(true).open(path.join(LOCK_FILE))?;
        lock.try_lock().map_err(|_| io::Error::other("somebody else writes an archive there"))?;
        let folder = Self { path, _lock: lock };
        for entry in fs::read_dir(&folder.path)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// A file that is removed unless it gets its name.
pub(super) fn unfinished(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)
}
