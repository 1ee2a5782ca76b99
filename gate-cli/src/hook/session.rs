//! The state of an agent's session between its hooks.
//!
//! Each session has a file in the state folder, and beside it the list of the work
//! tree's files at the person's last prompt. Losing either never helps an agent: gate
//! then looks at more, not less.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder};
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gate_checks::worktree::FileList;
use serde::{Deserialize, Serialize};

use crate::agent::Agent;

/// A session without events for so long is over.
const SESSION_TIMEOUT: Duration = Duration::from_secs(12 * 60 * 60);

/// Names of changed files that are saved for one session.
const MAX_CHANGED_FILES: usize = 5_000;

/// A session of an agent in one work tree.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) state: SessionState,
    file: PathBuf,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SessionState {
    pub(crate) transcript: Option<PathBuf>,
    /// An agent started the client, so its changes are that agent's work.
    pub(crate) is_nested: bool,
    /// Interactive turns need an `exit` too (`gate on --session`).
    pub(crate) needs_exit: bool,
    /// A turn has begun and not stopped yet.
    pub(crate) in_turn: bool,
    /// Projects that the session changed and whose checks were not green since, each with
    /// the names of the checks or tests that were red. Empty if none ran.
    pub(crate) owed: BTreeMap<PathBuf, Vec<String>>,
    /// Files that changed in the session's turns, relative to the work tree's root.
    pub(crate) changed: BTreeSet<PathBuf>,
    /// The time of the session's start, in milliseconds since 1970.
    pub(crate) started_at: Option<u64>,
    /// The time of the last prompt, in milliseconds since 1970.
    pub(crate) prompted_at: Option<u64>,
    /// The client said that the session is over.
    pub(crate) is_over: bool,
    /// The program that reported the session's start, by its number and the time of its start.
    pub(crate) client: Option<(i32, i64)>,
    /// Shells that ran in the background at the last stop.
    pub(crate) shells: BTreeSet<String>,
    /// The prompts that the client was scheduled to send, as of the last stop.
    pub(crate) scheduled: Vec<String>,
    /// A failure that the agent reads of with the next prompt.
    pub(crate) advice: Option<String>,
    /// The commit that was checked out at that prompt.
    pub(crate) head: Option<String>,
    /// The news of changed tests and settings that no person has read yet: the last stop was
    /// refused.
    pub(crate) unread: [Vec<String>; 2],
    /// The same of the turn that goes on.
    pub(crate) news: [Vec<String>; 2],
    /// Why the tree of that prompt could not be noted.
    pub(crate) no_prompt_tree: Option<String>,
}

impl Session {
    /// A new session if none is saved under this id. None without a state folder or an
    /// id.
    pub(crate) fn open(
        state_folder: Option<&Path>,
        root: &Path,
        (agent, id): (Agent, Option<&str>),
    ) -> Option<Self> {
        let file = folder(state_folder?, root).join(file_name(agent, id?));
        let state = read(&file).unwrap_or_default();
        Some(Self { state, file })
    }

    /// The work tree's files at the person's last prompt, or at the last stop if the
    /// client reports no prompts.
    pub(crate) fn files(&self) -> Option<FileList> {
        read_file_list(&self.file)
    }

    /// Ends the session: its client said so.
    pub(crate) fn end(mut self) {
        self.state.is_over = true;
        self.save();
    }

    /// Saves the state. A failure is ignored: the next hook then checks more.
    pub(crate) fn save(&self) {
        let text = serde_json::to_vec(&self.state).unwrap_or_default();
        let _ = write(&self.file, &text);
    }

    /// Saves the list of the work tree's files.
    pub(crate) fn save_files(&self, files: &FileList) {
        let _ = write(&self.file.with_extension("files"), &files.to_bytes());
    }

    pub(crate) fn add_changed(&mut self, files: &[PathBuf]) {
        self.state.changed.extend(files.iter().cloned());
        while self.state.changed.len() > MAX_CHANGED_FILES {
            self.state.changed.pop_first();
        }
    }

    /// The other sessions in this work tree that no agent started and that are not over.
    /// A session in a turn comes with its files at its last prompt.
    pub(crate) fn others(&self) -> Vec<(SessionState, Option<FileList>)> {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let files = live_session_files(folder).filter(|file| *file != self.file);
        let others = files.filter_map(|file| {
            let state = read(&file).filter(|state| !state.is_nested)?;
            let files = if state.in_turn { read_file_list(&file) } else { None };
            Some((state, files))
        });
        others.collect()
    }

    /// The sessions in this work tree that an agent started and that are not over.
    pub(crate) fn nested(&self) -> Vec<SessionState> {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let files = live_session_files(folder).filter(|file| *file != self.file);
        files.filter_map(|file| read(&file).filter(|state| state.is_nested)).collect()
    }
}

/// True if another session than this one works in a work tree.
pub(crate) fn is_anothers(state_folder: Option<&Path>, root: &Path, own: Option<&str>) -> bool {
    let Some(state_folder) = state_folder else { return false };
    let own: Vec<_> =
        Agent::ALL.iter().map(|agent| file_name(*agent, own.unwrap_or_default())).collect();
    live_session_files(&folder(state_folder, root)).any(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        !own.contains(&name)
    })
}

/// True if a session in a work tree is not over.
pub(crate) fn has_open(state_folder: Option<&Path>, root: &Path) -> bool {
    live_sessions(state_folder, root).any(|session| !session.state.is_over)
}

/// The latest beginning of a session, or of a turn, in a work tree, in milliseconds since 1970.
pub(crate) fn latest_beginning(state_folder: Option<&Path>, root: &Path) -> Option<u64> {
    let states = live_sessions(state_folder, root).map(|session| session.state);
    states.filter_map(|state| state.prompted_at.max(state.started_at)).max()
}

/// Makes the live sessions of a work tree need an `exit`, or not. Returns their number.
pub(crate) fn require_exit(state_folder: Option<&Path>, root: &Path, needs_exit: bool) -> usize {
    let mut count = 0;
    for mut session in live_sessions(state_folder, root) {
        session.state.needs_exit = needs_exit;
        session.save();
        count += 1;
    }
    count
}

/// True if a message was not shown in this work tree before. Marks the message as shown.
pub(crate) fn is_new_message(state_folder: Option<&Path>, root: &Path, message: &str) -> bool {
    let Some(state_folder) = state_folder else { return true };
    let folder = folder(state_folder, root);
    if create_private_folder(&folder).is_err() {
        return true;
    }
    let mark = folder.join(format!("{}.shown", hex(message.as_bytes())));
    fs::OpenOptions::new().write(true).create_new(true).open(mark).is_ok()
}

fn file_name(agent: Agent, id: &str) -> String {
    format!("{}.json", hex(format!("{} {id}", agent.name()).as_bytes()))
}

/// True if this agent's hook was the first of a session to be called. A program that reads the hook
/// files of several clients calls the hook of each, and one of them judges.
pub(crate) fn is_first_hook(
    state_folder: Option<&Path>,
    root: &Path,
    (agent, session): (Agent, &str),
) -> bool {
    let Some(state_folder) = state_folder else { return true };
    let folder = folder(state_folder, root);
    if create_private_folder(&folder).is_err() {
        return true;
    }
    let mark = folder.join(format!("{}.first", hex(session.as_bytes())));
    match fs::OpenOptions::new().write(true).create_new(true).open(&mark) {
        Ok(mut file) => file.write_all(agent.name().as_bytes()).is_ok(),
        Err(_) => fs::read(mark).is_ok_and(|first| first == agent.name().as_bytes()),
    }
}

fn folder(state_folder: &Path, root: &Path) -> PathBuf {
    state_folder.join("sessions").join(hex(root.as_os_str().as_encoded_bytes()))
}

fn live_sessions(state_folder: Option<&Path>, root: &Path) -> impl Iterator<Item = Session> {
    let folder = state_folder.map(|state_folder| folder(state_folder, root));
    let files = folder.into_iter().flat_map(|folder| live_session_files(&folder));
    files.filter_map(|file| Some(Session { state: read(&file)?, file }))
}

fn live_session_files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter(|path| is_live(path))
}

fn hex(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

fn read(file: &Path) -> Option<SessionState> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

fn read_file_list(file: &Path) -> Option<FileList> {
    FileList::from_bytes(&fs::read(file.with_extension("files")).ok()?)
}

fn is_live(file: &Path) -> bool {
    let written = fs::metadata(file).and_then(|metadata| metadata.modified());
    // A file from the future is new: clocks of network disks differ.
    written.is_ok_and(|at| at.elapsed().map_or(true, |age| age < SESSION_TIMEOUT))
}

/// Writes a file whole or not at all.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new(""));
    create_private_folder(folder)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(bytes)?;
    new.persist(file).map(drop).map_err(|error| error.error)
}

fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn open(state: &Path, id: &str) -> Session {
        Session::open(Some(state), Path::new("/w"), (Agent::Codex, Some(id))).unwrap()
    }

    #[test]
    fn a_session_is_found_again_and_another_one_beside_it() {
        let state = tempfile::tempdir().unwrap();
        let mut one = open(state.path(), "a");
        assert!(one.others().is_empty());
        one.state.in_turn = true;
        one.save();
        one.save_files(&FileList::default());
        assert!(open(state.path(), "a").state.in_turn);
        let other = open(state.path(), "b");
        assert_eq!(other.state, SessionState::default());
        let others = other.others();
        assert_eq!(others.len(), 1);
        assert_eq!(others[0].1, Some(FileList::default()));
    }

    #[test]
    fn a_clock_that_is_ahead_hides_no_session() {
        let state = tempfile::tempdir().unwrap();
        let mut one = open(state.path(), "a");
        one.state.in_turn = true;
        one.save();
        let ahead = SystemTime::now() + SESSION_TIMEOUT;
        fs::File::options().write(true).open(&one.file).unwrap().set_modified(ahead).unwrap();
        assert_eq!(open(state.path(), "b").others().len(), 1);
    }

    #[test]
    fn a_session_that_an_agent_started_is_no_other_one() {
        let state = tempfile::tempdir().unwrap();
        let mut nested = open(state.path(), "nested");
        nested.state.is_nested = true;
        nested.save();
        assert!(open(state.path(), "a").others().is_empty());
    }

    #[test]
    fn a_message_is_new_once() {
        let state = tempfile::tempdir().unwrap();
        let here = |message| is_new_message(Some(state.path()), Path::new("/w"), message);
        assert!(here("none") && !here("none") && here("other"));
    }
}
