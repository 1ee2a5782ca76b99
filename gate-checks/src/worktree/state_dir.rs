//! The folder of the state that holds the caches of one work tree.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use gate_platform::MetadataExt;

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
    /// The folder of the work tree, below the state.
    folder: PathBuf,
}

impl StateDir {
    /// The folder for the work tree with this root.
    pub(super) fn new(state: &Path, root: &Path) -> Self {
        Self { state: state.into(), folder: store::tree_folder(state, root) }
    }

    /// The bytes that are stored under a name.
    pub(super) fn read(&self, name: &str) -> Option<Vec<u8>> {
        self.check_owner().ok()?;
        let file = content::open(&self.folder.join(name)).ok()?;
        let size = file.metadata().ok()?.len();
        let mut bytes = Vec::with_capacity(usize::try_from(size.min(MAX_FILE_BYTES)).ok()?);
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Stores bytes under a name, all or nothing.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.create()?;
        store::write_file(&self.folder.join(name), bytes)
    }

    /// A folder for one scan, which is removed when it is dropped.
    pub(super) fn scratch(&self) -> io::Result<Temporary> {
        self.create()?;
        Temporary::inside(&self.folder, ".scratch")
    }

    fn create(&self) -> io::Result<()> {
        store::make_folder(&self.folder)?;
        self.check_owner()
    }

    /// # Errors
    ///
    /// A folder below the state that is a link, belongs to somebody else, or that others can write to:
    /// whoever can write there could tell gate that files have not changed.
    fn check_owner(&self) -> io::Result<()> {
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
