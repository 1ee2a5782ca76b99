//! The files of a work tree at one moment, in a form that is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use gate_platform::{OsStrExt, OsStringExt, git_name};

use super::Snapshot;

/// Bytes of an entry before its name: the kind and the hash.
const ENTRY_HEAD_BYTES: usize = 33;

/// The names of all files, relative to the root, each with a hash of its kind and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    files: BTreeMap<Vec<u8>, [u8; ENTRY_HEAD_BYTES]>,
}

impl FileList {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        let mut files = BTreeMap::new();
        for file in snapshot.files() {
            let mut head = [0; ENTRY_HEAD_BYTES];
            head[0] = file.kind() as u8;
            head[1..].copy_from_slice(file.hash());
            files.insert(file.path_bytes().to_vec(), head);
        }
        Self { files }
    }

    /// The list as bytes: for each file its kind, its hash, its name and a zero.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, head) in &self.files {
            bytes.extend_from_slice(head);
            bytes.extend_from_slice(name);
            bytes.push(0);
        }
        bytes
    }

    /// Reads a list; `None` if the bytes are cut off.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut files = BTreeMap::new();
        while !bytes.is_empty() {
            let (head, behind) = bytes.split_at_checked(ENTRY_HEAD_BYTES)?;
            let end = memchr::memchr(0, behind)?;
            files.insert(behind[..end].to_vec(), head.try_into().ok()?);
            bytes = &behind[end + 1..];
        }
        Some(Self { files })
    }

    /// The names of all files, relative to the root.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(|name| Path::new(OsStr::from_bytes(name)))
    }

    /// The content of a file: `blake3:` and 64 hex digits over its bytes.
    pub fn content(&self, file: &Path) -> Option<String> {
        self.files.get(git_name(file).as_ref()).map(content_digest)
    }

    /// The files with this content.
    pub fn with_content(&self, digest: &str) -> Vec<&Path> {
        let files = self.files.iter().filter(|(_, head)| content_digest(head) == digest);
        files.map(|(name, _)| Path::new(OsStr::from_bytes(name))).collect()
    }

    /// The files that are new, gone or different in a later list.
    pub fn changes_to(&self, later: &Self) -> Vec<PathBuf> {
        let removed = self.files.keys().filter(|name| !later.files.contains_key(*name));
        let changed = later.files.iter().filter(|(name, head)| self.files.get(*name) != Some(head));
        let names: BTreeSet<_> = removed.chain(changed.map(|(name, _)| name)).collect();
        names.into_iter().map(|name| PathBuf::from(OsString::from_vec(name.clone()))).collect()
    }
}

fn content_digest(head: &[u8; ENTRY_HEAD_BYTES]) -> String {
    let hash: String = head[1..].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("blake3:{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(files: &[(&str, u8)]) -> FileList {
        let entry =
            |(name, hash): &(&str, u8)| (name.as_bytes().to_vec(), [*hash; ENTRY_HEAD_BYTES]);
        FileList { files: files.iter().map(entry).collect() }
    }

    #[test]
    fn a_list_is_read_as_it_was_written_and_a_torn_one_not_at_all() {
        let before = list(&[("a", 0), ("b/c", 10)]);
        let bytes = before.to_bytes();
        assert_eq!(FileList::from_bytes(&bytes), Some(before));
        assert_eq!(FileList::from_bytes(&bytes[..bytes.len() - 1]), None);
        assert_eq!(FileList::from_bytes(b""), Some(FileList::default()));
    }

    #[test]
    fn new_gone_and_different_files_are_changes() {
        let (before, after) =
            (list(&[("a", 1), ("b", 1), ("c", 1)]), list(&[("b", 2), ("c", 1), ("d", 1)]));
        let names: Vec<_> =
            before.changes_to(&after).iter().map(|path| path.display().to_string()).collect();
        assert_eq!(names, ["a", "b", "d"]);
    }
}
