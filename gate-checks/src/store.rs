//! State of gate-checks on disk: one folder per work tree, inside the state folder, that
//! only the user can read.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gate_platform::DirBuilderExt;
use tempfile::NamedTempFile;

/// The folder of the state with a folder for each work tree.
pub(crate) const TREES: &str = "trees";

/// The folder of the work tree with this root.
pub(crate) fn tree_folder(state: &Path, root: &Path) -> PathBuf {
    let name = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    state.join(TREES).join(&name[..32])
}

/// The folders of all work trees.
///
/// # Errors
///
/// A folder that cannot be read. A state folder without trees has none.
pub(crate) fn tree_folders(state: &Path) -> io::Result<Vec<PathBuf>> {
    folders(&state.join(TREES))
}

/// The folders in a folder, sorted. A folder that is not there has no folders.
///
/// # Errors
///
/// A folder that cannot be read.
pub(crate) fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// Makes a folder, with those above it, for this user alone.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Writes a file whole or not at all, for this user alone. A link in its place is replaced, not
/// followed. After a power cut the file may be empty, so it has to be one that can be made again.
pub(crate) fn write_file(file: &Path, bytes: &[u8]) -> io::Result<()> {
    put_in_place(write_temporary(file, bytes)?, file)
}

/// Writes a file that cannot be made again, as [`write_file`] does: after a power cut, too, it has its
/// old bytes or these.
pub(crate) fn write_durable_file(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = write_temporary(file, bytes)?;
    // A rename may be on the disk before the bytes are.
    temporary.as_file().sync_all()?;
    put_in_place(temporary, file)
}

/// Writes the bytes beside the file: a rename works within one file system alone.
fn write_temporary(file: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let folder = file.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let mut temporary = NamedTempFile::new_in(folder)?;
    temporary.write_all(bytes)?;
    Ok(temporary)
}

fn put_in_place(temporary: NamedTempFile, file: &Path) -> io::Result<()> {
    temporary.persist(file).map(drop).map_err(|error| error.error)
}

/// Removes all but the newest entries of a folder: those whose names are last, and those that were
/// written within this time, because a record may still name them.
pub(crate) fn keep_newest(folder: &Path, count: usize, age: Duration) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let old_count = paths.len().saturating_sub(count);
    for path in paths.into_iter().take(old_count).filter(|path| !is_younger(path, age)) {
        // Another gate may have removed it already.
        let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
    }
}

/// A file or folder that was written within this time.
pub(crate) fn is_younger(path: &Path, age: Duration) -> bool {
    fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|modified| modified.elapsed().is_ok_and(|elapsed| elapsed < age))
}

#[cfg(test)]
mod tests {
    use gate_platform::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_file_is_private_and_replaces_a_link() {
        for write in [write_file, write_durable_file] {
            let folder = tempfile::tempdir().unwrap();
            let (victim, file) = (folder.path().join("victim"), folder.path().join("state/file"));
            fs::write(&victim, "untouched").unwrap();
            make_folder(file.parent().unwrap()).unwrap();
            symlink(&victim, &file).unwrap();
            write(&file, b"ours").unwrap();
            assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
            assert_eq!(fs::read_to_string(&file).unwrap(), "ours");
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        }
    }

    #[test]
    fn the_newest_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["1", "2", "3"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        keep_newest(folder.path(), 2, Duration::from_secs(3600));
        assert!(folder.path().join("1").exists());
        keep_newest(folder.path(), 2, Duration::ZERO);
        assert!(!folder.path().join("1").exists() && folder.path().join("2").exists());
    }
}
