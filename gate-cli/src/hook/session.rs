//! What is kept of an agent's session between its hooks.
//!
//! Each session has a file below the state folder, and beside it the list of the work
//! tree's files as they were at the person's last prompt. Nothing here leads to an
//! `exit`: if it is lost, more is looked at, not less.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder};
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gate_checks::worktree::FileList;
use serde::{Deserialize, Serialize};

use crate::agent::Agent;

/// A session in which nothing happened for so long is over.
const OVER: Duration = Duration::from_secs(12 * 60 * 60);

/// How many files of one session's turns are kept by name.
const MAX_FILES: usize = 5_000;

/// A session of an agent in one work tree.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) kept: Kept,
    file: PathBuf,
}

/// What is kept of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Kept {
    /// The session's transcript.
    pub(crate) transcript: Option<PathBuf>,
    /// Whether an agent started its client: what it does is that agent's work.
    pub(crate) is_nested: bool,
    /// Whether its interactive turns need an `exit` (`gate on --session`).
    pub(crate) needs_exit: bool,
    /// Whether a turn has begun and not stopped yet.
    pub(crate) in_turn: bool,
    /// What was red, or empty, in each project that the session changed and whose
    /// checks were not green since.
    pub(crate) owed: BTreeMap<PathBuf, Vec<String>>,
    /// Files that changed in its turns, relative to the work tree's root.
    pub(crate) changed: BTreeSet<PathBuf>,
    /// When the person's last prompt came, in seconds since 1970.
    pub(crate) prompted_at: Option<u64>,
}

impl Session {
    /// The session of this id; a new one if nothing is kept of it. None without a
    /// state folder or an id.
    pub(crate) fn open(
        state: Option<&Path>,
        root: &Path,
        (agent, id): (Agent, Option<&str>),
    ) -> Option<Self> {
        let name = hex(format!("{} {}", agent.name(), id?).as_bytes());
        let file = folder(state?, root).join(format!("{name}.json"));
        let kept = read(&file).unwrap_or_default();
        Some(Self { kept, file })
    }

    /// The work tree's files as they were at the person's last prompt, or at the last
    /// stop where the client reports no prompts.
    pub(crate) fn files(&self) -> Option<FileList> {
        files_of(&self.file)
    }

    /// Keeps the session. What cannot be kept is found out again.
    pub(crate) fn keep(&self) {
        let text = serde_json::to_vec(&self.kept).unwrap_or_default();
        let _ = write(&self.file, &text);
    }

    /// Keeps the work tree's files.
    pub(crate) fn keep_files(&self, files: &FileList) {
        let _ = write(&self.file.with_extension("files"), &files.to_bytes());
    }

    /// Remembers files that changed in its turns.
    pub(crate) fn add_changed(&mut self, files: &[PathBuf]) {
        self.kept.changed.extend(files.iter().cloned());
        while self.kept.changed.len() > MAX_FILES {
            self.kept.changed.pop_first();
        }
    }

    /// The other sessions in the same work tree that were not started by an agent and
    /// are not over, each with its files at its last prompt if it is in a turn.
    pub(crate) fn others(&self) -> Vec<(Kept, Option<FileList>)> {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path()).filter(|path| {
            path.extension().is_some_and(|it| it == "json") && *path != self.file && is_live(path)
        });
        let others = files.filter_map(|path| {
            let kept = read(&path).filter(|kept| !kept.is_nested)?;
            let files = files_of(&path).filter(|_| kept.in_turn);
            Some((kept, files))
        });
        others.collect()
    }
}

/// Switches the sessions of a work tree whose turn is not over to need an `exit`, or
/// back. Returns how many there are.
pub(crate) fn require_exit(state: Option<&Path>, root: &Path, needs_exit: bool) -> usize {
    let Some(state) = state else { return 0 };
    let entries = fs::read_dir(folder(state, root)).into_iter().flatten().flatten();
    let files = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|it| it == "json") && is_live(path));
    let sessions = files.filter_map(|file| Some(Session { kept: read(&file)?, file }));
    sessions
        .map(|session| {
            Session { kept: Kept { needs_exit, ..session.kept }, file: session.file }.keep();
        })
        .count()
}

/// Whether a message is new in a folder. It counts as shown from now on.
pub(crate) fn is_news_here(state: Option<&Path>, root: &Path, message: &str) -> bool {
    let Some(state) = state else { return true };
    let folder = folder(state, root);
    if make(&folder).is_err() {
        return true;
    }
    let mark = folder.join(format!("{}.shown", hex(message.as_bytes())));
    fs::OpenOptions::new().write(true).create_new(true).open(mark).is_ok()
}

fn folder(state: &Path, root: &Path) -> PathBuf {
    state.join("sessions").join(hex(root.as_os_str().as_encoded_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

fn read(file: &Path) -> Option<Kept> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

fn files_of(file: &Path) -> Option<FileList> {
    FileList::from_bytes(&fs::read(file.with_extension("files")).ok()?)
}

fn is_live(file: &Path) -> bool {
    let written = fs::metadata(file).and_then(|metadata| metadata.modified());
    written.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age < OVER))
}

/// Writes a file whole or not at all.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new(""));
    make(folder)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(bytes)?;
    new.persist(file).map(drop).map_err(|error| error.error)
}

fn make(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(state: &Path, id: &str) -> Session {
        Session::open(Some(state), Path::new("/w"), (Agent::Codex, Some(id))).unwrap()
    }

    #[test]
    fn a_session_is_found_again_and_another_one_beside_it() {
        let state = tempfile::tempdir().unwrap();
        let mut one = open(state.path(), "a");
        assert!(one.others().is_empty());
        one.kept.in_turn = true;
        one.keep();
        one.keep_files(&FileList::default());
        assert!(open(state.path(), "a").kept.in_turn);
        let other = open(state.path(), "b");
        assert_eq!(other.kept, Kept::default());
        let others = other.others();
        assert_eq!(others.len(), 1);
        assert_eq!(others[0].1, Some(FileList::default()));
    }

    #[test]
    fn a_session_that_an_agent_started_is_no_other_one() {
        let state = tempfile::tempdir().unwrap();
        let mut nested = open(state.path(), "nested");
        nested.kept.is_nested = true;
        nested.keep();
        assert!(open(state.path(), "a").others().is_empty());
    }

    #[test]
    fn a_message_is_new_once() {
        let state = tempfile::tempdir().unwrap();
        let here = |message| is_news_here(Some(state.path()), Path::new("/w"), message);
        assert!(here("none") && !here("none") && here("other"));
    }
}
