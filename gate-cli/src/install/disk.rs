//! Settings files on disk: read whole, written whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gate_platform::{RealPath, permissions, sync_folder};
use tempfile::Builder;

use crate::failure::Failure;

/// The file that a path leads to: links are followed, and a file that does not exist yet stands in the
/// real folder.
///
/// # Errors
///
/// A link that leads nowhere, or a folder that cannot be looked at.
pub(super) fn real_path(path: &Path) -> Result<PathBuf, Failure> {
    for folder in path.ancestors() {
        if folder.symlink_metadata().is_ok() {
            let real_folder = folder
                .real_path()
                .map_err(|error| Failure::file("file-unreadable", "follow", folder, &error))?;
            let missing_part = path.strip_prefix(folder).unwrap_or(Path::new(""));
            // Joined with nothing, a file's path would end with a slash.
            return Ok(match missing_part.as_os_str().is_empty() {
                true => real_folder,
                false => real_folder.join(missing_part),
            });
        }
    }
    Ok(path.to_owned())
}

/// The bytes of a file, if there is one.
///
/// # Errors
///
/// A file that exists and cannot be read.
pub(super) fn read(file: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::file("file-unreadable", "read", file, &error)),
    }
}

/// Writes a file as a whole: nobody ever reads half of it, and an older file's permissions stay.
///
/// # Errors
///
/// Something cannot be written; the old file then stays.
pub(super) fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace(file, bytes).map_err(|error| Failure::file("file-unwritable", "write", file, &error))
}

fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let old_permissions = fs::metadata(file).map(|metadata| metadata.permissions()).ok();
    let mut builder = Builder::new();
    builder.prefix(".gate-");
    // Before the user's mask.
    if let Some(permissions) = permissions(0o666) {
        builder.permissions(permissions);
    }
    let mut new_file = builder.tempfile_in(folder)?;
    new_file.write_all(bytes)?;
    if let Some(permissions) = old_permissions {
        new_file.as_file().set_permissions(permissions)?;
    }
    new_file.as_file().sync_all()?;
    new_file.persist(file).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Removes a file, and each of these folders that is empty then.
///
/// # Errors
///
/// The file exists and cannot be removed.
pub(super) fn remove(file: &Path, folders: &[PathBuf]) -> Result<(), Failure> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Failure::file("file-unwritable", "remove", file, &error));
        }
        _ => {}
    }
    for folder in folders.iter().rev().filter(|folder| file.starts_with(folder)) {
        // A folder that is not empty stays.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}
