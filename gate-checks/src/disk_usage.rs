//! The space that files take on the disk.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The unit of `st_blocks`, in bytes.
const BLOCK_BYTES: u64 = 512;

/// The space that a file or a folder with all in it takes, in bytes. A file with several names
/// counts once, links are not followed, and what cannot be read counts nothing.
pub(crate) fn disk_usage(path: &Path) -> u64 {
    let mut seen = HashSet::new();
    path.symlink_metadata().map_or(0, |about| usage(path, &about, &mut seen))
}

fn usage(path: &Path, about: &Metadata, seen: &mut HashSet<(u64, u64)>) -> u64 {
    let own = about.blocks() * BLOCK_BYTES;
    if !about.is_dir() {
        let is_new = about.nlink() <= 1 || seen.insert((about.dev(), about.ino()));
        return if is_new { own } else { 0 };
    }
    let mut sum = own;
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if let Ok(about) = entry.metadata() {
            sum += usage(&entry.path(), &about, seen);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

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
