//! Stored baselines, in the state of their work tree.
//!
//! Each run has a baseline of its own. A baseline that was taken before any run began waits until
//! runs need it. Bytes that no commit has stand beside it, by their hashes.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gate_platform::OpenOptionsExt;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::BaselineError;
use super::{Baseline, Body, Origin, VERSION, folder};
use crate::site::CheckSite;
use crate::store;
use crate::worktree::WorkTree;

/// The most files about runs that are stored for a work tree: up to three for each.
const MAX_RUNS: usize = 150;

/// A younger file stays in any case: no run is longer.
const YOUNG: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The file of the baseline that waits for runs.
const WAITING: &str = "waiting.json";

/// Texts of tests that an earlier version laid over later baselines.
const OLD_TEXTS: &str = "old-texts";

/// The digest of a baseline's content. It covers neither the time nor whether a session took it:
/// the results that are stored for a tree hold for the same tree later.
pub(super) fn digest(body: &Body) -> String {
    let origin = match body.origin {
        Origin::Session => Origin::Taken,
        origin => origin,
    };
    let timeless = Body { time: String::new(), origin, ..body.clone() };
    // The body holds texts and numbers alone, which always become JSON.
    let text = serde_json::to_vec(&timeless).unwrap_or_default();
    format!("blake3:{}", blake3::hash(&text))
}

impl Baseline {
    /// The baseline of a run; without a run's name, that which waits for runs. `None` if nothing is
    /// stored.
    ///
    /// # Errors
    ///
    /// A stored baseline that cannot be read, or is damaged.
    pub fn kept(site: &CheckSite, run: Option<&str>) -> Result<Option<Self>, BaselineError> {
        let tree = WorkTree::open(site)?;
        let Some(folder) = folder(site, &tree) else { return Ok(None) };
        let file = file(&folder, run);
        let text = match fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(BaselineError::Io { path: file, source }),
        };
        let body: Body = serde_json::from_slice(&text).map_err(|error| {
            let problem = format!("the baseline is damaged: {error}");
            BaselineError::Damaged { path: file.clone(), problem }
        })?;
        if body.version != VERSION {
            let problem = format!(
                "a baseline of version {} was found, and {VERSION} is known; take it again",
                body.version
            );
            return Err(BaselineError::Damaged { path: file, problem });
        }
        if !body.old_texts.is_empty() {
            return Ok(None);
        }
        let baseline = Self::new(body, [].into());
        let bytes_folder = bytes_folder(&folder, &baseline.digest);
        let refs = fs::read(refs_file(&folder, run))
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .map(Arc::new);
        Ok(Some(Self { folder: Some(bytes_folder.into()), refs, ..baseline }))
    }

    /// Stores the baseline for a run; without a run's name, for the runs that begin from now on.
    /// Without a state folder nothing is stored.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub fn keep(&self, site: &CheckSite, run: Option<&str>) -> Result<(), BaselineError> {
        let tree = WorkTree::open(site)?;
        let Some(folder) = folder(site, &tree) else { return Ok(()) };
        // The bytes come first: a baseline that is read has all of its own.
        for (hash, bytes) in &*self.bytes {
            write(&bytes_folder(&folder, &self.digest).join(hash), bytes)?;
        }
        let text = serde_json::to_vec(&*self.body).unwrap_or_default();
        write(&file(&folder, run), &text)?;
        // A path that is no text cannot be stored: then nothing is known of the beginning.
        match self.refs.as_deref().map(serde_json::to_vec) {
            Some(Ok(refs)) => write(&refs_file(&folder, run), &refs)?,
            _ => drop(fs::remove_file(refs_file(&folder, run))),
        }
        if let Some(run) = run {
            let _ = fs::remove_file(end_file(&folder, run));
        }
        let old_texts = folder.join(OLD_TEXTS);
        crate::remove::remove_all(&old_texts)
            .map_err(|source| BaselineError::Io { path: old_texts, source })?;
        for subfolder in ["runs", "bytes", "tests", "begun"] {
            store::keep_newest(&folder.join(subfolder), MAX_RUNS, YOUNG);
        }
        Ok(())
    }

    /// Notes the commit that was checked out when a run ended without an `exit`. Without a state
    /// folder nothing is noted.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn note_end(site: &CheckSite, run: &str, head: &str) -> Result<(), BaselineError> {
        let tree = WorkTree::open(site)?;
        let Some(folder) = folder(site, &tree) else { return Ok(()) };
        write(&end_file(&folder, run), head.as_bytes())
    }

    /// Takes back a note on a run's end: it goes on.
    pub fn forget_end(site: &CheckSite, run: &str) {
        let folder = WorkTree::open(site).ok().and_then(|tree| folder(site, &tree));
        if let Some(folder) = folder {
            let _ = fs::remove_file(end_file(&folder, run));
        }
    }

    /// Moves the notes of ended runs from one commit to a later one that another loop made.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn move_ends(
        site: &CheckSite,
        old_commit: &str,
        new_commit: &str,
    ) -> Result<(), BaselineError> {
        let tree = WorkTree::open(site)?;
        let Some(folder) = folder(site, &tree) else { return Ok(()) };
        if old_commit == new_commit {
            return Ok(());
        }
        for entry in fs::read_dir(folder.join("runs")).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_note = path.extension().is_some_and(|extension| extension == "head");
            if is_note && fs::read_to_string(&path).is_ok_and(|head| head == old_commit) {
                write(&path, new_commit.as_bytes())?;
            }
        }
        Ok(())
    }

    /// The commit that was checked out when this run ended. `None` if that is not known: the run may
    /// have been killed.
    pub fn ended_at(site: &CheckSite, run: &str) -> Option<String> {
        let folder = folder(site, &WorkTree::open(site).ok()?)?;
        fs::read_to_string(end_file(&folder, run)).ok()
    }

    /// Compares the times at which two baselines were taken. A time that cannot be read counts as
    /// the oldest.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        let taken_at = |baseline: &Self| baseline.time().parse::<Timestamp>().ok();
        taken_at(self) > taken_at(other)
    }

    /// Notes that a session of this name has begun. Returns `true` if no call before this one has
    /// named it: only then is nothing in the tree its agent's own. Without state it is never `true`.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub fn begins(site: &CheckSite, session: &str) -> Result<bool, BaselineError> {
        let tree = WorkTree::open(site)?;
        let Some(folder) = folder(site, &tree) else { return Ok(false) };
        let path = folder.join("begun").join(name_of(session));
        if let Err(source) = store::make_folder(&folder.join("begun")) {
            return Err(BaselineError::Io { path, source });
        }
        // Of two calls at once, one creates the file.
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        match created {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(source) => Err(BaselineError::Io { path, source }),
        }
    }

    /// Forgets the baselines of runs that cannot be read.
    ///
    /// # Errors
    ///
    /// A file that cannot be removed.
    pub fn forget_damaged(site: &CheckSite) -> Result<(), BaselineError> {
        let tree = WorkTree::open(site)?;
        let Some(folder) = folder(site, &tree) else { return Ok(()) };
        for entry in fs::read_dir(folder.join("runs")).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let body =
                fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Body>(&text).ok());
            if body.is_none_or(|body| body.version != VERSION) {
                fs::remove_file(&path).map_err(|source| BaselineError::Io { path, source })?;
            }
        }
        Ok(())
    }

    /// Forgets the baseline of a run; without a run's name, that which waits for runs. Changes since
    /// then are not judged as an agent's work. Returns `true` if there was a baseline.
    ///
    /// # Errors
    ///
    /// A file that cannot be removed.
    pub fn forget(site: &CheckSite, run: Option<&str>) -> Result<bool, BaselineError> {
        let tree = WorkTree::open(site)?;
        let Some(folder) = folder(site, &tree) else { return Ok(false) };
        let path = file(&folder, run);
        let _ = fs::remove_file(refs_file(&folder, run));
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(BaselineError::Io { path, source }),
        }
    }
}

/// The path of a run's baseline.
fn file(folder: &Path, run: Option<&str>) -> PathBuf {
    let Some(run) = run else { return folder.join(WAITING) };
    folder.join("runs").join(format!("{}.json", name_of(run)))
}

/// The path of the branches, work trees and stash beside a run's baseline.
fn refs_file(folder: &Path, run: Option<&str>) -> PathBuf {
    file(folder, run).with_extension("refs")
}

/// The path of the note on a run's end.
fn end_file(folder: &Path, run: &str) -> PathBuf {
    folder.join("runs").join(format!("{}.head", name_of(run)))
}

/// A run's name as that of a file.
fn name_of(run: &str) -> String {
    blake3::hash(run.as_bytes()).to_hex()[..32].to_owned()
}

/// The folder of the bytes that a baseline has and no commit does.
fn bytes_folder(folder: &Path, digest: &str) -> PathBuf {
    let name = digest.trim_start_matches("blake3:");
    folder.join("bytes").join(name.get(..32).unwrap_or(name))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), BaselineError> {
    store::write_durable_file(path, bytes)
        .map_err(|source| BaselineError::Io { path: path.to_owned(), source })
}

impl Baseline {
    /// The stored result of a check on the baseline; `key` names the check, its command, and the kind
    /// of result.
    pub(crate) fn result<T: DeserializeOwned>(
        &self,
        site: &CheckSite,
        tree: &WorkTree,
        key: &str,
    ) -> Option<T> {
        let text = fs::read(self.result_file(site, tree, key)?).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Stores the result of a check on the baseline. Without a state folder nothing is stored.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub(crate) fn keep_result(
        &self,
        site: &CheckSite,
        tree: &WorkTree,
        key: &str,
        result: &impl Serialize,
    ) -> Result<(), BaselineError> {
        let Some(path) = self.result_file(site, tree, key) else { return Ok(()) };
        let text = serde_json::to_vec(result).unwrap_or_default();
        store::write_file(&path, &text).map_err(|source| BaselineError::Io { path, source })
    }

    fn result_file(&self, site: &CheckSite, tree: &WorkTree, key: &str) -> Option<PathBuf> {
        let name = blake3::hash(format!("{}\0{key}", self.digest()).as_bytes()).to_hex();
        Some(folder(site, tree)?.join("tests").join(format!("{}.json", &name[..32])))
    }
}
