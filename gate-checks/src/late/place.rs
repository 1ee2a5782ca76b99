//! Where the order and the record of one check are kept.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use gate_core::decide::evidence::Evidence;
use serde::{Deserialize, Serialize};

use crate::check::CheckId;
use crate::store;

/// The files of one check of one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    folder: PathBuf,
    name: String,
}

/// What a carrier found out.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    key: String,
    evidence: Evidence,
}

/// The part of an order that says what it is about.
#[derive(Debug, Deserialize)]
struct Keyed {
    key: String,
}

impl Place {
    /// The place of a project's check: a tree may hold many projects.
    pub(super) fn new(folder: &Path, project: &Path, check: &CheckId) -> Self {
        let project = blake3::hash(project.as_os_str().as_encoded_bytes()).to_hex();
        Self { folder: folder.to_owned(), name: format!("{check}-{}", &project[..16]) }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of the order.
    pub(super) fn order(&self) -> PathBuf {
        self.folder.join(format!("{}.order", self.name))
    }

    fn record(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.name))
    }

    /// Whether this order is the one that counts.
    pub(super) fn holds(&self, order: &File) -> bool {
        let there = fs::symlink_metadata(self.order()).map(|it| (it.dev(), it.ino()));
        let ours = order.metadata().map(|it| (it.dev(), it.ino()));
        matches!((there, ours), (Ok(there), Ok(ours)) if there == ours)
    }

    /// Whether a carrier works on this.
    pub(super) fn runs(&self, key: &str) -> bool {
        let Ok(order) = File::open(self.order()) else { return false };
        let keyed = serde_json::from_reader(io::BufReader::new(&order));
        let is_this = keyed.is_ok_and(|keyed: Keyed| keyed.key == key);
        is_this && matches!(order.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    /// Keeps what was found out about a key.
    pub(super) fn keep(&self, key: &str, evidence: Evidence) -> io::Result<()> {
        let record = Record { key: key.to_owned(), evidence };
        store::write_file(&self.record(), &serde_json::to_vec(&record)?)
    }

    /// Takes what was found out about a key: nobody else gets it.
    pub(super) fn take(&self, key: &str, check: &str) -> Option<Evidence> {
        let record: Record = serde_json::from_slice(&fs::read(self.record()).ok()?).ok()?;
        let is_this = record.key == key && record.evidence.check == check;
        (is_this && fs::remove_file(self.record()).is_ok()).then_some(record.evidence)
    }

    /// Removes both; a carrier that works on the order ends.
    pub(super) fn clear(&self) {
        for file in [self.order(), self.record()] {
            // Most often it is not there.
            let _ = fs::remove_file(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use gate_core::decide::evidence::Outcome;
    use gate_core::decide::policy::Mode;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn place(folder: &Path) -> Place {
        Place::new(folder, Path::new("/project"), &CheckId::new("tests"))
    }

    fn evidence() -> Evidence {
        Evidence::new("tests", Mode::Require, Outcome::Pass)
    }

    #[test]
    fn a_record_is_taken_once_and_for_its_own_key_and_check() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        place.keep("key", evidence()).unwrap();
        let mode = fs::metadata(place.record()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(place.take("another", "tests"), None);
        assert_eq!(place.take("key", "lint"), None);
        assert_eq!(place.take("key", "tests"), Some(evidence()));
        assert_eq!(place.take("key", "tests"), None);
    }

    #[test]
    fn a_damaged_record_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        place.keep("key", evidence()).unwrap();
        let whole = fs::read(place.record()).unwrap();
        for damaged in [&whole[..whole.len() - 1], b"", b"{\"key\":\"key\"}"] {
            fs::write(place.record(), damaged).unwrap();
            assert_eq!(place.take("key", "tests"), None);
        }
    }

    #[test]
    fn an_order_runs_while_it_is_locked_and_counts_until_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        fs::write(place.order(), "{\"key\":\"key\"}").unwrap();
        assert!(!place.runs("key"));
        let order = File::open(place.order()).unwrap();
        order.try_lock().unwrap();
        assert!(place.runs("key") && !place.runs("another"));
        assert!(place.holds(&order));
        fs::write(folder.path().join("new"), "{\"key\":\"key\"}").unwrap();
        fs::rename(folder.path().join("new"), place.order()).unwrap();
        assert!(!place.runs("key") && !place.holds(&order));
        place.clear();
        assert!(!place.order().exists() && !place.holds(&order));
    }

    #[test]
    fn projects_of_one_tree_are_apart() {
        let (folder, tests) = (Path::new("/state"), CheckId::new("tests"));
        let [one, two] = ["/a", "/b"].map(|it| Place::new(folder, Path::new(it), &tests));
        assert_ne!(one.order(), two.order());
    }
}
