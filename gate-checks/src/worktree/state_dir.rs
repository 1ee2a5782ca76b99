//! The folder of the state in which what is known of one work tree is kept.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::content;
use crate::store;
use crate::temporary::Temporary;

/// The largest file that is read back.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// The cached files of one work tree. They may be lost or damaged at any time; gate then makes
/// them again.
#[derive(Clone, Debug)]
pub(super) struct StateDir {
    state: PathBuf,
    folder: PathBuf,
}

impl StateDir {
    /// The folder for the work tree with this root.
    pub(super) fn new(state: &Path, root: &Path) -> Self {
        Self { state: state.into(), folder: store::tree_folder(state, root) }
    }

    /// The bytes that are stored under a name.
    pub(super) fn read(&self, name: &str) -> Option<Vec<u8>> {
        self.check().ok()?;
        let file = content::open(&self.folder.join(name)).ok()?;
        let size = file.metadata().ok()?.len();
        let mut bytes = Vec::with_capacity(usize::try_from(size.min(MAX_FILE_BYTES)).ok()?);
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Keeps bytes under a name, all or nothing.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.make()?;
        store::write_file(&self.folder.join(name), bytes)
    }

    /// A folder for the time of one look, which goes when it is dropped.
    pub(super) fn scratch(&self) -> io::Result<Temporary> {
        self.make()?;
        Temporary::inside(&self.folder, ".scratch")
    }

    fn make(&self) -> io::Result<()> {
        store::make_folder(&self.folder)?;
        self.check()
    }

    /// The folders below the state are real ones, and of the same owner.
    fn check(&self) -> io::Result<()> {
        let owner = fs::metadata(&self.state)?.uid();
        for folder in [self.state.join("trees"), self.folder.clone()] {
            let metadata = folder.symlink_metadata()?;
            if !metadata.is_dir() || metadata.uid() != owner || metadata.mode() & 0o022 != 0 {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
        }
        Ok(())
    }
}
