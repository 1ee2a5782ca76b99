//! The place of the copy in which tests decide. Its path is random and gives nothing away: code under
//! test that looks for a word in it does not see that gate runs it. It stays the same, since compilers
//! keep paths in what they build.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gate_platform::{MetadataExt, OsStrExt, OsStringExt, RealPath, permissions, user};

use crate::remove::remove_any;
use crate::store;

/// The file in a workspace that names the place.
const PLACE: &str = "place";

/// The place that a workspace has, if it is there and no other user can write to it.
pub(super) fn known_place(workspace: &Path) -> Option<PathBuf> {
    let place = PathBuf::from(OsString::from_vec(fs::read(workspace.join(PLACE)).ok()?));
    let metadata = place.symlink_metadata().ok()?;
    let is_ours = metadata.is_dir() && metadata.uid() == user();
    let is_private = metadata.mode() & 0o077 == 0;
    (place.is_absolute() && is_ours && is_private).then_some(place)
}

/// The place of a workspace. A new one is made in the folder that the state stands in, so that both go
/// together, else among temporary files.
///
/// # Errors
///
/// A folder that cannot be made.
pub(super) fn find_or_make(workspace: &Path, above_state: Option<&Path>) -> io::Result<PathBuf> {
    if let Some(place) = known_place(workspace) {
        return Ok(place);
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix("");
    if let Some(permissions) = permissions(0o700) {
        builder.permissions(permissions);
    }
    let beside_state = above_state.and_then(|folder| builder.tempdir_in(folder).ok());
    let new_folder = match beside_state {
        Some(folder) => folder,
        None => builder.tempdir_in(temporary_files())?,
    };
    let place = new_folder.keep().real_path()?;
    store::write_file(&workspace.join(PLACE), place.as_os_str().as_bytes())?;
    Ok(place)
}

/// Removes all that stands in a place.
///
/// # Errors
///
/// A file that cannot be removed.
pub(super) fn empty(place: &Path) -> io::Result<()> {
    for entry in fs::read_dir(place)? {
        remove_any(&entry?.path())?;
    }
    Ok(())
}

/// The folder of temporary files: the user's choice, else one on the disk. `/tmp` is often in memory.
fn temporary_files() -> PathBuf {
    let folder_on_disk = Path::new("/var/tmp");
    if std::env::var_os("TMPDIR").is_none() && folder_on_disk.is_dir() {
        return folder_on_disk.to_owned();
    }
    std::env::temp_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_stays_as_long_as_it_is_ours_alone() {
        let workspace = tempfile::tempdir().unwrap();
        let above = tempfile::tempdir().unwrap();
        let first = find_or_make(workspace.path(), Some(above.path())).unwrap();
        assert_eq!(find_or_make(workspace.path(), None).unwrap(), first);
        assert_eq!(first.parent(), Some(above.path()));
        assert!(!first.to_string_lossy().contains("gate"), "{first:?}");
        gate_platform::set_mode(&first, 0o755).unwrap();
        let second = find_or_make(workspace.path(), Some(&above.path().join("gone"))).unwrap();
        assert_ne!(second, first);
        for place in [first, second] {
            fs::remove_dir_all(place).unwrap();
        }
        assert_eq!(known_place(workspace.path()), None);
    }
}
