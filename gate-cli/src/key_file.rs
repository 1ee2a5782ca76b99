//! The key of the tokens: 32 random bytes in a file of the state folder that only its owner can
//! read.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use gate_platform::{MetadataExt, NO_FOLLOW, OpenOptionsExt, effective_user};
use tempfile::NamedTempFile;

use crate::store::TOKEN_KEY;
use gate_fleet::durable;

/// Reads the key in a state folder, or makes it. Of several processes that
/// make one at the same time, the first wins, and all get its key.
pub(crate) fn key(folder: &Path) -> io::Result<[u8; 32]> {
    let file = folder.join(TOKEN_KEY);
    match read(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        result => return result,
    }
    durable::make_folder(folder)?;
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(io::Error::from)?;
    let mut new_file = NamedTempFile::new_in(folder)?;
    new_file.write_all(&random)?;
    new_file.as_file().sync_all()?;
    // Another process may have made the key meanwhile: then that one counts.
    match new_file.persist_noclobber(&file) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(error.error),
        _ => {
            durable::sync_folder(folder)?;
            read(&file)
        }
    }
}

/// Reads a key. Fails on a file that other users can read, and on a link.
fn read(file: &Path) -> io::Result<[u8; 32]> {
    let mut file: File = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(file)?;
    let metadata = file.metadata()?;
    let is_own = metadata.uid() == effective_user();
    if !(metadata.is_file() && is_own && metadata.len() == 32 && metadata.mode() & 0o077 == 0) {
        return Err(io::Error::other("32 bytes that only this user can read are expected"));
    }
    let mut key = [0; 32];
    file.read_exact(&mut key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use gate_platform::{PermissionsExt, symlink};
    use std::collections::BTreeSet;
    use std::fs::{self, Permissions};
    use std::thread;

    use super::*;

    #[test]
    fn there_is_one_key_whoever_comes_first() {
        let state = tempfile::tempdir().unwrap();
        let folder = state.path().join("gate");
        let keys: BTreeSet<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| key(&folder).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(keys.len(), 1);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join(TOKEN_KEY))), (0o700, 0o600));
    }

    #[test]
    fn a_key_that_is_none_is_not_taken() {
        let state = tempfile::tempdir().unwrap();
        let (folder, file) = (state.path(), state.path().join(TOKEN_KEY));
        let good = key(folder).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        assert!(key(folder).is_err());
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(key(folder).unwrap(), good);
        fs::write(&file, &good[1..]).unwrap();
        assert!(key(folder).is_err());
        fs::rename(&file, folder.join("other")).unwrap();
        symlink(folder.join("other"), &file).unwrap();
        assert!(key(folder).is_err());
    }
}
