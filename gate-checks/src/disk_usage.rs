//! The space that files take on the disk.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::path::Path;

use gate_platform::MetadataExt;

/// The unit of `st_blocks`, in bytes.
const BLOCK_BYTES: u64 = 512;

/// The space that a file or a folder with all in it takes, in bytes. A file with several names
/// counts once, links are not followed, and a folder that cannot be read counts as empty.
pub(crate) fn disk_usage(path: &Path) -> u64 {
    let mut counted_inodes = HashSet::new();
    path.symlink_metadata().map_or(0, |metadata| usage(path, &metadata, &mut counted_inodes))
}

/// `counted_inodes` are the files with several names so far, by device and inode.
fn usage(path: &Path, metadata: &Metadata, counted_inodes: &mut HashSet<(u64, u64)>) -> u64 {
    let bytes = metadata.blocks() * BLOCK_BYTES;
    if !metadata.is_dir() {
        let has_other_names = metadata.nlink() > 1;
        let is_counted =
            has_other_names && !counted_inodes.insert((metadata.dev(), metadata.ino()));
        return if is_counted { 0 } else { bytes };
    }
    let mut total = bytes;
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if let Ok(metadata) = entry.metadata() {
            total += usage(&entry.path(), &metadata, counted_inodes);
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use gate_platform::symlink;

    use super::*;

    #[test]
    fn a_file_with_two_names_counts_once_and_a_link_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("inner")).unwrap();
        let empty = disk_usage(folder.path());
        fs::write(at("inner/a"), vec![b'x'; 1 << 20]).unwrap();
        let one = disk_usage(folder.path());
        assert!((1 << 20..2 << 20).contains(&(one - empty)), "{empty} {one}");
        fs::hard_link(at("inner/a"), at("b")).unwrap();
        symlink(at("inner"), at("link")).unwrap();
        assert!(disk_usage(folder.path()) - one < 1 << 16);
        assert_eq!(disk_usage(&at("missing")), 0);
    }
}
