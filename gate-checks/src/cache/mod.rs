//! The evidence cache: earlier records of exactly the same work.
//!
//! A record is found again by a [key](key) over the tree, the commit and the
//! index, the check's settings, the environment that it sees, its programs and
//! gate's version. A `pass` is kept only for checks that are marked hermetic. A
//! `fail` is kept of all, for it cannot make an exit; but what was missing may
//! come from outside of the tree (an installed dependency, a server), so it is
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

/// Most records that are stored for a work tree.
const MAX_RECORDS: usize = 200;

/// Lifetime of a failure.
const FAIL_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// After this time without a decision a run is over, and so are its passes.
const RUN_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// The records of one work tree.
#[derive(Debug)]
pub(crate) struct EvidenceCache {
    folder: Option<PathBuf>,
    /// Ignores earlier records.
    fresh: bool,
    /// Accepts passes that only let an agent go.
    plain: bool,
    offered: Mutex<Vec<Offer>>,
}

#[derive(Debug)]
struct Offer {
    file: PathBuf,
    evidence: Evidence,
}

impl EvidenceCache {
    /// The records inside a work tree's folder of the state; without one
    /// nothing is found or kept. With `fresh` nothing is found.
    pub(crate) fn new(tree: Option<&Path>, fresh: bool, plain: bool) -> Self {
        let folder = tree.map(|tree| tree.join("evidence"));
        Self { folder, fresh, plain, offered: Mutex::default() }
    }

    /// An earlier record that still holds.
    pub(crate) fn find(&self, work: &Work<'_>) -> Option<Evidence> {
        let folder = self.folder.as_ref()?;
        if self.fresh {
            return None;
        }
        let (mut found, why) = if let Some(found) = Self::same_tree(folder, work) {
            (found, "nothing has changed since")
        } else if let Some(found) = Self::same_paths(folder, work) {
            (found, "nothing that matches paths changed")
        } else {
            (self.same_release(folder, work)?, "it passed on these files")
        };
        if found.check != work.check.as_str() {
            return None;
        }
        found.cached = true;
        found.duration_ms = 0;
        found.summary.push_str(&format!("{NOT_RUN_AGAIN}{why})"));
        found.log = found.log.filter(|log| Path::new(log).is_file());
        Some(found)
    }

    fn same_tree(folder: &Path, work: &Work<'_>) -> Option<Evidence> {
        let file = named(folder, "tree", &work.tree_key());
        let found = read(&file)?;
        let holds = match found.outcome {
            // Not a second time.
            Outcome::Fail => age(&file) < FAIL_LIFETIME && fs::remove_file(&file).is_ok(),
            _ => work.policy.hermetic,
        };
        holds.then_some(found)
    }

    fn same_paths(folder: &Path, work: &Work<'_>) -> Option<Evidence> {
        let file = named(folder, "paths", &work.paths_key()?);
        let found = read_young(&file)?;
        // The run goes on: the record stays young.
        let _ = File::options()
            .write(true)
            .open(&file)
            .and_then(|file| file.set_modified(SystemTime::now()));
        Some(found)
    }

    fn same_release(&self, folder: &Path, work: &Work<'_>) -> Option<Evidence> {
        if !self.plain {
            return None;
        }
        read_young(&named(folder, "release", &work.release_key()))
    }

    /// A record that may be kept. Whatever is known of the same work is older
    /// and goes.
    pub(crate) fn offer(&self, work: &Work<'_>, evidence: &Evidence) {
        let Some(folder) = &self.folder else { return };
        let passed = evidence.outcome == Outcome::Pass && evidence.flaky.is_empty();
        let kept = evidence.outcome == Outcome::Fail || (passed && work.is_hermetic());
        self.offer_as(named(folder, "tree", &work.tree_key()), kept, evidence);
        self.offer_as(named(folder, "release", &work.release_key()), passed, evidence);
        if let Some(key) = work.paths_key() {
            self.offer_as(named(folder, "paths", &key), passed, evidence);
        }
    }

    fn offer_as(&self, file: PathBuf, kept: bool, evidence: &Evidence) {
        let _ = fs::remove_file(&file);
        if kept {
            self.offered().push(Offer { file, evidence: evidence.clone() });
        }
    }

    /// Keeps what was offered: the tree did not change meanwhile. Where files
    /// appeared, a pass may owe itself to them and is not kept.
    pub(crate) fn keep(&self, passes: bool) {
        let mut offered = std::mem::take(&mut *self.offered());
        offered.retain(|offer| passes || offer.evidence.outcome == Outcome::Fail);
        for offer in &offered {
            if let Ok(text) = serde_json::to_vec(&offer.evidence) {
                // A record that is not kept is made again.
                let _ = store::write_file(&offer.file, &text);
            }
        }
        if let (Some(folder), false) = (&self.folder, offered.is_empty()) {
            keep_newest(folder);
        }
    }

    /// Forgets what was offered: the tree that it is about is not known.
    pub(crate) fn forget(&self) {
        self.offered().clear();
    }

    fn offered(&self) -> MutexGuard<'_, Vec<Offer>> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(folder: &Path, kind: &str, key: &blake3::Hash) -> PathBuf {
    folder.join(format!("{kind}-{}.json", key.to_hex()))
}

/// A record; what is damaged is none.
fn read(file: &Path) -> Option<Evidence> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// A record of a run that may still go on.
fn read_young(file: &Path) -> Option<Evidence> {
    if age(file) < RUN_LIFETIME { read(file) } else { None }
}

/// Age of a file; the longest if unknown.
fn age(file: &Path) -> Duration {
    let written = fs::metadata(file).and_then(|metadata| metadata.modified());
    written.ok().and_then(|written| written.elapsed().ok()).unwrap_or(Duration::MAX)
}

/// Removes the records that were written longest ago.
fn keep_newest(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut dated: Vec<_> = entries.map(|entry| (age(&entry.path()), entry.path())).collect();
    dated.sort();
    for (_, path) in dated.into_iter().skip(MAX_RECORDS) {
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
