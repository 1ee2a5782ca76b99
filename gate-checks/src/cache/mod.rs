//! The evidence cache: earlier records of exactly the same work.
//!
//! A record is found again by a [key](key) over the tree, the commit and the
//! index, the check's settings, the environment that it sees, its programs and
//! gate's version. A `pass` is kept only for checks that are marked hermetic. A
//! `fail` is kept for all, because it cannot make an exit. But its cause may lie
//! outside of the tree (a dependency that is not installed, a server), so it is
//! taken once, within [`FAIL_LIFETIME`], and then the check runs again. With
//! `paths`, a pass is also kept for the run, by the files that match alone,
//! until the check is run and does not pass. A pass of any check is kept for stops
//! that are only released: it counts there for the same files, whatever the commit.
//!
//! A record is offered while checks run, and kept only once it is known that
//! the tree did not change under them.

mod key;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use gate_core::decide::evidence::{Evidence, NOT_RUN_AGAIN, Outcome};

use crate::store;

pub(crate) use key::{CachedCommand, Work};

/// The most records that are stored for a work tree.
const MAX_RECORDS: usize = 200;

/// The time in which a failure can be taken again.
const FAIL_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// After this time without a decision a run is over, and so are its passes.
const RUN_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// The records of one work tree.
#[derive(Debug)]
pub(crate) struct EvidenceCache {
    folder: Option<PathBuf>,
    /// Earlier records are ignored.
    is_fresh: bool,
    /// The checks only let an agent go: a pass on the same files is enough.
    is_session: bool,
    offers: Mutex<Vec<Offer>>,
}

#[derive(Debug)]
struct Offer {
    file: PathBuf,
    evidence: Evidence,
}

impl EvidenceCache {
    /// The records inside a work tree's folder of the state; without it no record is found or kept.
    /// With `is_fresh` no record is found.
    pub(crate) fn new(tree_folder: Option<&Path>, is_fresh: bool, is_session: bool) -> Self {
        let folder = tree_folder.map(|folder| folder.join("evidence"));
        Self { folder, is_fresh, is_session, offers: Mutex::default() }
    }

    /// An earlier record that still holds.
    pub(crate) fn find(&self, work: &Work<'_>) -> Option<Evidence> {
        let folder = self.folder.as_ref()?;
        if self.is_fresh {
            return None;
        }
        let (mut record, reason) = if let Some(record) = Self::find_by_tree(folder, work) {
            (record, "nothing has changed since")
        } else if let Some(record) = Self::find_by_paths(folder, work) {
            (record, "nothing that matches paths changed")
        } else {
            (self.find_release(folder, work)?, "it passed on these files")
        };
        if record.check != work.check.as_str() {
            return None;
        }
        record.cached = true;
        record.duration_ms = 0;
        record.summary.push_str(&format!("{NOT_RUN_AGAIN}{reason})"));
        record.log = record.log.filter(|log| Path::new(log).is_file());
        Some(record)
    }

    fn find_by_tree(folder: &Path, work: &Work<'_>) -> Option<Evidence> {
        let file = record_file(folder, "tree", &work.tree_key());
        let record = read(&file)?;
        let holds = match record.outcome {
            // A failure is taken once: only who removes its file takes it.
            Outcome::Fail => age(&file) < FAIL_LIFETIME && fs::remove_file(&file).is_ok(),
            _ => work.policy.hermetic,
        };
        holds.then_some(record)
    }

    fn find_by_paths(folder: &Path, work: &Work<'_>) -> Option<Evidence> {
        let file = record_file(folder, "paths", &work.paths_key()?);
        let record = read_young(&file)?;
        // The run goes on: the record stays young.
        let _ = File::options()
            .write(true)
            .open(&file)
            .and_then(|file| file.set_modified(SystemTime::now()));
        Some(record)
    }

    fn find_release(&self, folder: &Path, work: &Work<'_>) -> Option<Evidence> {
        if !self.is_session {
            return None;
        }
        read_young(&record_file(folder, "release", &work.release_key()))
    }

    /// Offers a record that may be kept. Stored records of the same work are older and go.
    pub(crate) fn offer(&self, work: &Work<'_>, evidence: &Evidence) {
        let Some(folder) = &self.folder else { return };
        let has_passed = evidence.outcome == Outcome::Pass && evidence.flaky.is_empty();
        let holds_again = evidence.outcome == Outcome::Fail || (has_passed && work.is_hermetic());
        self.offer_as(record_file(folder, "tree", &work.tree_key()), holds_again, evidence);
        self.offer_as(record_file(folder, "release", &work.release_key()), has_passed, evidence);
        if let Some(key) = work.paths_key() {
            self.offer_as(record_file(folder, "paths", &key), has_passed, evidence);
        }
    }

    fn offer_as(&self, file: PathBuf, is_kept: bool, evidence: &Evidence) {
        let _ = fs::remove_file(&file);
        if is_kept {
            self.lock_offers().push(Offer { file, evidence: evidence.clone() });
        }
    }

    /// Keeps the offers: the tree did not change meanwhile. Where files appeared, a pass may owe itself
    /// to them: then `keeps_passes` is `false`.
    pub(crate) fn keep(&self, keeps_passes: bool) {
        let mut offers = std::mem::take(&mut *self.lock_offers());
        offers.retain(|offer| keeps_passes || offer.evidence.outcome == Outcome::Fail);
        for offer in &offers {
            if let Ok(text) = serde_json::to_vec(&offer.evidence) {
                // A record that is not kept is made again.
                let _ = store::write_file(&offer.file, &text);
            }
        }
        if let (Some(folder), false) = (&self.folder, offers.is_empty()) {
            keep_newest(folder);
        }
    }

    /// Forgets the offers: the tree that they are about is not known.
    pub(crate) fn forget(&self) {
        self.lock_offers().clear();
    }

    fn lock_offers(&self) -> MutexGuard<'_, Vec<Offer>> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn record_file(folder: &Path, kind: &str, key: &blake3::Hash) -> PathBuf {
    folder.join(format!("{kind}-{}.json", key.to_hex()))
}

/// A record; `None` if it is damaged.
fn read(file: &Path) -> Option<Evidence> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// A record of a run that may still go on.
fn read_young(file: &Path) -> Option<Evidence> {
    if age(file) < RUN_LIFETIME { read(file) } else { None }
}

/// The age of a file; the longest if it is unknown.
fn age(file: &Path) -> Duration {
    fs::metadata(file)
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|modified| modified.elapsed().ok())
        .unwrap_or(Duration::MAX)
}

/// Removes the records that were written longest ago.
fn keep_newest(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut by_age: Vec<_> = entries.map(|entry| (age(&entry.path()), entry.path())).collect();
    by_age.sort();
    for (_, path) in by_age.into_iter().skip(MAX_RECORDS) {
        // Another gate may have removed it already.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_records_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MAX_RECORDS + 5 {
            let file = folder.path().join(format!("{number}.json"));
            let written = SystemTime::now() - Duration::from_secs(10 * number as u64);
            File::create(file).unwrap().set_modified(written).unwrap();
        }
        keep_newest(folder.path());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MAX_RECORDS);
        assert!(folder.path().join("0.json").exists());
        assert!(!folder.path().join(format!("{}.json", MAX_RECORDS + 4)).exists());
    }
}
