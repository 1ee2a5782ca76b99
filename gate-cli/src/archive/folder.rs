//! A folder of archives, which one call at a time writes to.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{Archive, SIGNATURE, signature_file};

/// The prefix of files that are not whole yet.
const UNFINISHED: &str = ".gate-archive-";

/// The file that whoever writes an archive locks.
const LOCK_FILE: &str = ".gate-archive.lock";

/// A folder of archives. Nobody else writes to it meanwhile.
#[derive(Debug)]
pub(crate) struct ArchiveFolder {
    path: PathBuf,
    _lock: File,
}

impl ArchiveFolder {
    /// The folder, which is made where it is missing. Files are removed whose writer was killed
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
        for (name, path) in folder.files()? {
            if name.starts_with(UNFINISHED) {
                fs::remove_file(path)?;
            }
        }
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The archives of a project, by their signatures.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub(crate) fn archives(&self, project: &str) -> io::Result<Vec<Archive>> {
        let mut archives = Vec::new();
        for (name, path) in self.files()? {
            let Some(file) = name.strip_suffix(&format!(".{SIGNATURE}")) else { continue };
            let archive = serde_json::from_slice::<Archive>(&fs::read(path)?).ok();
            archives.extend(archive.filter(|one| one.project == project && one.file == file));
        }
        Ok(archives)
    }

    /// Removes an archive that no record names.
    pub(crate) fn remove(&self, archive: &Archive) {
        remove(&self.path.join(&archive.file));
    }

    fn files(&self) -> io::Result<Vec<(String, PathBuf)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            files.extend(entry.file_name().into_string().ok().map(|name| (name, entry.path())));
        }
        Ok(files)
    }
}

/// A file that is removed unless it gets its name.
pub(super) fn unfinished(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)
}

/// Removes an archive that no record names, and its signature. Where that fails, the next call
/// finds the signature.
pub(super) fn remove(archive: &Path) {
    if fs::remove_file(archive).is_ok() || !archive.exists() {
        let _ = fs::remove_file(signature_file(archive));
    }
}
