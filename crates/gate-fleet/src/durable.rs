//! Files and folders that are still there after the power was lost.
//!
//! A new file is durable once it was synced and so was the folder that has its name. The same
//! holds for a new folder and the one above it.

use std::fs::DirBuilder;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use gate_platform::DirBuilderExt;
use tempfile::Builder;

pub use gate_platform::sync_folder;

/// Makes a folder for this user alone, and those above it. All their names are durable then,
/// also those of folders that another process has just made.
///
/// # Errors
///
/// A folder that cannot be made or synced.
pub fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    for folder in path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
        match sync_folder(folder) {
            // gate reads the folders that it makes, so this one was there before.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            synced => synced?,
        }
    }
    Ok(())
}

/// Writes a file for this user alone, whole or not at all, and makes its folder if it is missing.
/// The file and its name are durable then.
///
/// # Errors
///
/// A folder that cannot be written.
pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    make_folder(folder)?;
    let mut file = Builder::new().prefix(".gate-").suffix(".tmp").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(folder.join(name))?;
    sync_folder(folder)
}
