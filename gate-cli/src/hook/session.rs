//! The state of an agent's session between its hooks.
//!
//! Each session has a file in the state folder, and beside it the list of the work
//! tree's files at the person's last prompt. Losing either never helps an agent: gate
//! then looks at more, not less.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gate_checks::worktree::FileList;
use gate_platform::DirBuilderExt;
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
    /// The program that reported the session's start.
    pub(crate) client: Option<ClientProcess>,
    /// Shells that ran in the background at the last stop.
    pub(crate) shells: BTreeSet<String>,
    /// The prompts that the client was scheduled to send, as of the last stop.
    pub(crate) scheduled: Vec<String>,
    /// The text about a failure that the agent gets with the next prompt.
    pub(crate) advice: Option<String>,
    /// The commit that was checked out at the last prompt.
    pub(crate) head: Option<String>,
    /// News of earlier turns that no person has read yet: the last stop was refused.
    pub(crate) unread: News,
    /// News of the turn that goes on.
    pub(crate) news: News,
    /// Why the tree of the last prompt could not be noted.
    pub(crate) no_prompt_tree: Option<String>,
}

/// Changes that a person should read of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[Vec<String>; 2]", into = "[Vec<String>; 2]")]
pub(crate) struct News {
    pub(crate) tests: Vec<String>,
    pub(crate) settings: Vec<String>,
}

impl From<[Vec<String>; 2]> for News {
    fn from([tests, settings]: [Vec<String>; 2]) -> Self {
        Self { tests, settings }
    }
}

impl From<News> for [Vec<String>; 2] {
    fn from(news: News) -> Self {
        [news.tests, news.settings]
    }
}

/// A client's process. A number alone could be another process's by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(i32, i64)", into = "(i32, i64)")]
pub(crate) struct ClientProcess {
    pub(crate) pid: i32,
    /// The time of its start, in the kernel's ticks since the system's start.
    pub(crate) start_ticks: i64,
}

impl From<(i32, i64)> for ClientProcess {
    fn from((pid, start_ticks): (i32, i64)) -> Self {
        Self { pid, start_ticks }
    }
}

impl From<ClientProcess> for (i32, i64) {
    fn from(process: ClientProcess) -> Self {
        (process.pid, process.start_ticks)
    }
}

/// Another session in the same work tree.
pub(crate) struct OtherSession {
    pub(crate) state: SessionState,
    /// The work tree's files at its last prompt, if it is in a turn.
    pub(crate) prompt_files: Option<FileList>,
}

impl Session {
    /// A new session if no session is saved under this id. `None` without a state folder or an id.
    pub(crate) fn open(
        state_folder: Option<&Path>,
        root: &Path,
        agent: Agent,
        id: Option<&str>,
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

    /// Ends the session, as its client reported.
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

    /// The live sessions in this work tree that other people or scripts started.
    pub(crate) fn other_sessions(&self) -> Vec<OtherSession> {
        let sessions = self.neighbour_files().filter_map(|file| {
            let state = read(&file).filter(|state| !state.is_nested)?;
            let prompt_files = if state.in_turn { read_file_list(&file) } else { None };
            Some(OtherSession { state, prompt_files })
        });
        sessions.collect()
    }

    /// The live sessions in this work tree that an agent started.
    pub(crate) fn nested_sessions(&self) -> Vec<SessionState> {
        let states = self.neighbour_files().filter_map(|file| read(&file));
        states.filter(|state| state.is_nested).collect()
    }

    /// The files of the other live sessions in this work tree.
    fn neighbour_files(&self) -> impl Iterator<Item = PathBuf> {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        live_session_files(folder).filter(|file| *file != self.file)
    }
}

/// A session other than the one with this id works in a work tree.
pub(crate) fn has_other_session(
    state_folder: Option<&Path>,
    root: &Path,
    own_id: Option<&str>,
) -> bool {
    let Some(state_folder) = state_folder else { return false };
    // The caller does not know which client's session it is, so the id counts with any.
    let own_files: Vec<_> =
        Agent::ALL.iter().map(|agent| file_name(*agent, own_id.unwrap_or_default())).collect();
    live_session_files(&folder(state_folder, root)).any(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        !own_files.contains(&name)
    })
}

/// A session in a work tree is not over.
pub(crate) fn has_open_session(state_folder: Option<&Path>, root: &Path) -> bool {
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

/// The message was not shown in this work tree before. Marks it as shown. Without a state folder
/// every message is new: one too many is better than one too few.
pub(crate) fn is_new_message(state_folder: Option<&Path>, root: &Path, message: &str) -> bool {
    let Some(state_folder) = state_folder else { return true };
    let folder = folder(state_folder, root);
    if create_private_folder(&folder).is_err() {
        return true;
    }
    let mark = folder.join(format!("{}.shown", hex(message.as_bytes())));
    fs::OpenOptions::new().write(true).create_new(true).open(mark).is_ok()
}

/// The present time as the states of sessions have it.
pub(super) fn millis_since_1970() -> Option<u64> {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    u64::try_from(since_1970.as_millis()).ok()
}

fn file_name(agent: Agent, id: &str) -> String {
    format!("{}.json", hex(format!("{} {id}", agent.name()).as_bytes()))
}

/// This agent's hook was the first of a session to be called. A program that reads the hook files of
/// several clients calls the hook of each, and one of them judges.
pub(crate) fn is_first_hook(
    state_folder: Option<&Path>,
    root: &Path,
    agent: Agent,
    session: &str,
) -> bool {
    let Some(state_folder) = state_folder else { return true };
    let folder = folder(state_folder, root);
    if create_private_folder(&folder).is_err() {
        return true;
    }
    let mark = folder.join(format!("{}.first", hex(session.as_bytes())));
    // Hooks run side by side: only one of them can create the file.
    match fs::OpenOptions::new().write(true).create_new(true).open(&mark) {
        Ok(mut file) => file.write_all(agent.name().as_bytes()).is_ok(),
        Err(_) => fs::read(mark).is_ok_and(|first_agent| first_agent == agent.name().as_bytes()),
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
    let paths = entries.map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter(|path| is_live(path))
}

/// A name for a file that anything can stand for: a path, an id, a message.
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
    let written_at = fs::metadata(file).and_then(|metadata| metadata.modified());
    // A file from the future is new: clocks of network disks differ.
    written_at.is_ok_and(|time| time.elapsed().map_or(true, |age| age < SESSION_TIMEOUT))
}

/// Writes a file whole or not at all.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new(""));
    create_private_folder(folder)?;
    let mut new_file = tempfile::NamedTempFile::new_in(folder)?;
    new_file.write_all(bytes)?;
    new_file.persist(file).map(drop).map_err(|error| error.error)
}

fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(state: &Path, id: &str) -> Session {
        Session::open(Some(state), Path::new("/w"), Agent::Codex, Some(id)).unwrap()
    }

    #[test]
    fn a_session_is_found_again_and_another_one_beside_it() {
        let state = tempfile::tempdir().unwrap();
        let mut first = open(state.path(), "a");
        assert!(first.other_sessions().is_empty());
        first.state.in_turn = true;
        first.save();
        first.save_files(&FileList::default());
        assert!(open(state.path(), "a").state.in_turn);
        let second = open(state.path(), "b");
        assert_eq!(second.state, SessionState::default());
        let neighbours = second.other_sessions();
        assert_eq!(neighbours.len(), 1);
        assert_eq!(neighbours[0].prompt_files, Some(FileList::default()));
    }

    #[test]
    fn a_clock_that_is_ahead_hides_no_session() {
        let state = tempfile::tempdir().unwrap();
        let mut session = open(state.path(), "a");
        session.state.in_turn = true;
        session.save();
        let ahead = SystemTime::now() + SESSION_TIMEOUT;
        fs::File::options().write(true).open(&session.file).unwrap().set_modified(ahead).unwrap();
        assert_eq!(open(state.path(), "b").other_sessions().len(), 1);
    }

    #[test]
    fn a_session_that_an_agent_started_is_no_other_one() {
        let state = tempfile::tempdir().unwrap();
        let mut nested = open(state.path(), "nested");
        nested.state.is_nested = true;
        nested.save();
        assert!(open(state.path(), "a").other_sessions().is_empty());
    }

    #[test]
    fn a_message_is_new_once() {
        let state = tempfile::tempdir().unwrap();
        let is_new = |message| is_new_message(Some(state.path()), Path::new("/w"), message);
        assert!(is_new("first") && !is_new("first") && is_new("second"));
    }

    #[test]
    fn a_state_is_saved_in_the_form_of_older_versions() {
        let process = ClientProcess { pid: 7, start_ticks: 99 };
        assert_eq!(serde_json::to_string(&process).unwrap(), "[7,99]");
        let news = News { tests: vec!["a".to_owned()], settings: Vec::new() };
        assert_eq!(serde_json::to_string(&news).unwrap(), r#"[["a"],[]]"#);
        assert_eq!(serde_json::from_str::<News>(r#"[["a"],[]]"#).unwrap(), news);
    }
}
