//! The logs of checks: the output of their commands, for a person to read.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gate_platform::permissions;

use crate::id::CheckId;
use crate::store;

/// The folder of a tree's state with a folder for each call.
const LOGS: &str = "logs";

/// The most calls whose logs are stored for a work tree.
const MAX_CALLS: usize = 20;

/// A younger log stays in any case: a decision that names it may just be read.
const MIN_AGE_TO_REMOVE: Duration = Duration::from_secs(60 * 60);

/// The logs of one call: a folder with a file a check.
#[derive(Debug)]
pub(crate) struct Logs {
    /// The folder of all calls' logs; `None` without state.
    parent: Option<PathBuf>,
    /// The folder of this call, made with its first log. `None` in it: logs cannot be kept.
    folder: OnceLock<Option<LogFolder>>,
}

/// The folder of one call. It is locked as long as the call runs, so that nobody removes it.
#[derive(Debug)]
struct LogFolder {
    path: PathBuf,
    _lock: Option<File>,
}

/// A folder of old logs, locked for its removal.
#[derive(Debug)]
pub(crate) struct OldLogs {
    pub(crate) folder: PathBuf,
    _lock: File,
}

/// The logs of a tree's calls that have ended, from its folder of the state, that are at least
/// this old. Logs of the last hour are never among them.
pub(crate) fn old_logs(tree_folder: &Path, age: Duration) -> Vec<OldLogs> {
    let age = age.max(MIN_AGE_TO_REMOVE);
    let mut folders = store::folders(&tree_folder.join(LOGS)).unwrap_or_default();
    folders.retain(|folder| !store::is_younger(folder, age));
    folders.into_iter().filter_map(OldLogs::try_lock).collect()
}

impl OldLogs {
    /// `None` if the call still runs.
    fn try_lock(folder: PathBuf) -> Option<Self> {
        let lock = File::open(&folder).ok()?;
        lock.try_lock().ok()?;
        Some(Self { folder, _lock: lock })
    }
}

impl Logs {
    /// Logs inside a work tree's folder of the state; without it, in a temporary folder that stays.
    pub(crate) fn new(tree_folder: Option<&Path>) -> Self {
        Self { parent: tree_folder.map(|folder| folder.join(LOGS)), folder: OnceLock::new() }
    }

    /// Logs that nobody keeps.
    pub(crate) fn discarded() -> Self {
        Self { parent: None, folder: OnceLock::from(None) }
    }

    /// Keeps a check's log, and returns its path: `None` if it cannot be written. A decision does
    /// not depend on it.
    pub(crate) fn keep(&self, check: &CheckId, text: &str) -> Option<PathBuf> {
        let folder = self.folder.get_or_init(|| self.make_folder()).as_ref()?;
        let file = folder.path.join(format!("{check}.log"));
        store::write_file(&file, text.as_bytes()).ok().map(|()| file)
    }

    fn make_folder(&self) -> Option<LogFolder> {
        let path = self.make_path()?;
        let lock = File::open(&path).ok().filter(|folder| folder.try_lock().is_ok());
        Some(LogFolder { path, _lock: lock })
    }

    fn make_path(&self) -> Option<PathBuf> {
        let Some(parent) = &self.parent else {
            return private_folder("gate-logs-").tempdir().ok().map(|folder| folder.keep());
        };
        store::make_folder(parent).ok()?;
        // The names begin with the time, so that the first ones are the oldest.
        store::keep_newest(parent, MAX_CALLS - 1, MIN_AGE_TO_REMOVE);
        let prefix = format!("{:013}-", milliseconds_since_1970());
        private_folder(&prefix).tempdir_in(parent).ok().map(|folder| folder.keep())
    }
}

/// The builder of a folder for this user alone.
fn private_folder(prefix: &str) -> tempfile::Builder<'_, '_> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    if let Some(permissions) = permissions(0o700) {
        builder.permissions(permissions);
    }
    builder
}

fn milliseconds_since_1970() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_young_log_is_kept_whatever_their_number() {
        let tree = tempfile::tempdir().unwrap();
        let id = CheckId::new("tests");
        let files: Vec<_> = (0..MAX_CALLS + 3)
            .map(|n| Logs::new(Some(tree.path())).keep(&id, &n.to_string()).unwrap())
            .collect();
        assert_eq!(fs::read_dir(tree.path().join("logs")).unwrap().count(), files.len());
        assert_eq!(fs::read_to_string(files.last().unwrap()).unwrap(), (MAX_CALLS + 2).to_string());
    }

    #[test]
    fn one_call_has_one_folder() {
        let logs = Logs::new(None);
        let (one, two) = (logs.keep(&CheckId::new("a"), ""), logs.keep(&CheckId::new("b"), ""));
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_eq!(one.parent(), two.parent());
        fs::remove_dir_all(one.parent().unwrap()).unwrap();
    }
}
