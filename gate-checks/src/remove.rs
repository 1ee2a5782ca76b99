//! Removing folders that a program may have made read-only.

use std::fs;
use std::io;
use std::path::Path;

use gate_platform::set_mode;

/// Removes a folder, whatever a run has made of its modes.
pub(crate) fn remove_all(folder: &Path) -> io::Result<()> {
    if let Err(error) = fs::remove_dir_all(folder) {
        if error.kind() == io::ErrorKind::NotFound {
            return Ok(());
        }
        make_writable(folder)?;
        return fs::remove_dir_all(folder);
    }
    Ok(())
}

/// Removes a file, a link, or a folder as [`remove_all`] does.
pub(crate) fn remove_any(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => remove_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a folder and all in it writable.
fn make_writable(folder: &Path) -> io::Result<()> {
    set_mode(folder, 0o700)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
