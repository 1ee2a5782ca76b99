//! The context of a stop or a prompt: the session, the changes since the person's
//! prompt, and the projects and sessions that those changes belong to.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gate_checks::process::ProcessStat;
use gate_checks::worktree::{FileList, WorkTree, own_git_folder};
use gate_checks::{CheckSite, list_files};
use gate_core::Policy;
use gate_core::decide::situation::Work;

use super::Event;
use super::session::{ClientProcess, News, OtherSession, Session, millis_since_1970};
use super::typed;
use crate::agent::Agent;
use crate::invocation::Invocation;
use crate::settings::{FILE, Selection};
use crate::tool_inputs::ToolInputs;
use crate::trust;

/// Not `txt`: requirements.txt, CMakeLists.txt and data are no prose.
const PROSE_EXTENSIONS: [&str; 5] = ["md", "markdown", "rst", "adoc", "org"];

/// Beginnings of names of prose outside of a folder `docs`. Other texts may be templates, prompts or
/// expected output: a part of the product, which tests read.
const PROSE_NAMES: [&str; 5] = ["readme", "changelog", "license", "licence", "copying"];

/// A person's prompt, by the state of the changes that it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PersonsPrompt {
    AfterCheckedChanges,
    /// Changes of an earlier turn were never checked, so the tree from before them stays known.
    AfterUncheckedChanges,
}

pub(crate) struct TurnContext {
    /// The work tree's topmost folder.
    root: PathBuf,
    pub(crate) session: Option<Session>,
    /// The work tree's files at the time of the event.
    current_files: Option<FileList>,
    /// Files that changed since the person's prompt. `None` if the files at the prompt are not
    /// known.
    changed: Option<Vec<PathBuf>>,
    site: CheckSite,
}

impl TurnContext {
    /// Reads a work tree; `None` if it cannot be read. `old_tree` is the session's own, if the agent
    /// went to this one: a session that was never here is compared with its files there.
    pub(crate) fn open(
        invocation: &Invocation,
        agent: Agent,
        event: &Event,
        old_tree: Option<&Path>,
    ) -> Option<Self> {
        let ignore = trust::settings_in_force(&invocation.places, &Selection::default())
            .map(|(settings, _)| settings.policy.tree.ignore)
            .unwrap_or_default();
        let callers_files = event.transcript.iter().cloned().collect();
        let site = CheckSite { callers_files, ignore, ..invocation.site().ok()? };
        let root = WorkTree::open(&site).ok()?.root().to_owned();
        let state = invocation.places.state.as_deref();
        let session_id = event.session.as_deref();
        let session = Session::open(state, &root, agent, session_id);
        let current_files = list_files(&site).ok();
        let prompt_files = session
            .as_ref()
            .and_then(Session::files)
            .or_else(|| Session::open(state, old_tree?, agent, session_id)?.files());
        let changed =
            prompt_files.zip(current_files.as_ref()).map(|(old, new)| old.changes_to(new));
        Some(Self { root, session, current_files, changed, site })
    }

    /// Files changed since the person's last prompt.
    pub(crate) fn is_changed(&self) -> bool {
        self.changed.as_ref().is_some_and(|changed| !changed.is_empty())
    }

    /// No file of the tree was written or removed since a time, as far as is known.
    pub(super) fn is_unchanged_since(&self, time: SystemTime) -> bool {
        let Some(changed) = &self.changed else { return false };
        changed.iter().all(|file| {
            let path = self.root.join(file);
            // A removed file has left its time in the folder.
            let mut paths = path.ancestors().take_while(|path| path.starts_with(&self.root));
            let metadata = paths.find_map(|path| fs::symlink_metadata(path).ok());
            let modified_at = metadata.and_then(|metadata| metadata.modified().ok());
            modified_at.is_some_and(|modified_at| modified_at < time)
        })
    }

    /// Changes of earlier turns were never checked.
    pub(crate) fn has_unchecked_changes(&self) -> bool {
        let Some(session) = &self.session else { return false };
        // A turn that never stopped was broken off.
        let is_broken_off = session.state.in_turn && self.is_changed();
        is_broken_off || session.state.owed.values().any(Vec::is_empty)
    }

    /// Why the tree of the last prompt is not known, if a prompt was reported.
    pub(crate) fn no_prompt_tree(&self) -> Option<String> {
        let state = &self.session.as_ref()?.state;
        if state.prompted_at.is_some() && gate_checks::head(&self.site).is_none() {
            return Some("nothing is committed here: `git commit`".to_owned());
        }
        state.no_prompt_tree.clone()
    }

    /// HEAD moved since the transcript was created, or that is not known. The agent's commits hide
    /// its changes from a look at uncommitted files.
    pub(crate) fn has_committed(&self, transcript: Option<&Path>) -> bool {
        let session_began = transcript.and_then(|file| fs::metadata(file).ok()?.created().ok());
        let reflog = own_git_folder(&self.root).map(|folder| folder.join("logs/HEAD"));
        let head_moved = reflog.and_then(|file| fs::metadata(file).ok()?.modified().ok());
        session_began.zip(head_moved).is_none_or(|(began, moved)| moved >= began)
    }

    /// The files of this folder that changed since the person's prompt, relative to the root.
    pub(crate) fn changed_in(&self, folder: &Path) -> Vec<&Path> {
        let changed = self.changed.iter().flatten();
        let in_folder = changed.filter(|file| self.root.join(file).starts_with(folder));
        in_folder.map(PathBuf::as_path).collect()
    }

    /// The kind of the changes for a policy's checks. `None` if the files at the prompt are not
    /// known.
    pub(crate) fn work(&self, policy: &Policy) -> Option<Work> {
        let changed = self.changed.as_ref()?;
        Some(if changed.is_empty() {
            Work::None
        } else if changed
            .iter()
            .all(|file| is_prose(file) && !is_in_patterns(file, check_patterns(policy)))
        {
            Work::Prose
        } else {
            Work::Changed
        })
    }

    /// Folders of the projects to check: those with the settings nearest to each changed
    /// file, and those with a debt. Empty if `primary` has the work tree's only settings.
    pub(crate) fn projects(&self, primary: Option<&Path>) -> Vec<PathBuf> {
        let paths = self.current_files.iter().flat_map(FileList::paths);
        let settings = paths.filter(|path| path.file_name().is_some_and(|name| name == FILE));
        let folders: BTreeSet<_> =
            settings.filter_map(Path::parent).map(|folder| self.root.join(folder)).collect();
        if folders.iter().all(|folder| primary == Some(folder.as_path())) {
            return Vec::new();
        }
        let mut projects = BTreeSet::new();
        for file in self.changed.iter().flatten() {
            let path = self.root.join(file);
            let nearest = path.ancestors().skip(1).find(|folder| folders.contains(*folder));
            projects.extend(nearest.map(Path::to_owned));
        }
        let owed = self.session.iter().flat_map(|session| session.state.owed.keys());
        projects.extend(owed.filter(|folder| folders.contains(*folder)).cloned());
        projects.into_iter().collect()
    }

    /// Files that others changed: another session, or a person who committed, merged or pulled
    /// meanwhile.
    pub(crate) fn others_files(&self, transcript: Option<&Path>) -> Vec<PathBuf> {
        let Some(session) = &self.session else { return Vec::new() };
        // The changes in a nested session's tree are the work of the agent that started it.
        if session.state.is_nested {
            return Vec::new();
        }
        let own_inputs = ToolInputs::read(transcript.or(session.state.transcript.as_deref()));
        let mut files = self.committed_by_others(session, &own_inputs);
        files.extend(self.changed_by_sessions(session, &own_inputs));
        files.into_iter().collect()
    }

    /// Files of commits since the prompt, if no call of the agent moved HEAD. Files that its calls
    /// name are its own: a script may commit them.
    fn committed_by_others(&self, session: &Session, own_inputs: &ToolInputs) -> BTreeSet<PathBuf> {
        let Some(prompt_head) = session.state.head.as_deref() else { return BTreeSet::new() };
        let current_head = gate_checks::head(&self.site).filter(|head| head != prompt_head);
        let Some(current_head) = current_head else { return BTreeSet::new() };
        // Calls that cannot be read may have committed.
        let mut nested_sessions = session.nested_sessions().into_iter();
        let is_by_agent = own_inputs.is_empty()
            || own_inputs.can_move_head()
            || nested_sessions.any(|state| {
                let inputs = ToolInputs::read(state.transcript.as_deref());
                inputs.is_empty() || inputs.can_move_head()
            });
        if is_by_agent {
            return BTreeSet::new();
        }
        let files = gate_checks::committed_files(&self.site, prompt_head, &current_head)
            .unwrap_or_default();
        files.into_iter().filter(|file| !own_inputs.has_file(file)).collect()
    }

    /// Files that another session changed, and this one did not.
    ///
    /// A file that either session may have changed belongs to the one whose transcript names it. It
    /// counts as this session's if both transcripts name it, or neither does.
    fn changed_by_sessions(&self, session: &Session, own_inputs: &ToolInputs) -> BTreeSet<PathBuf> {
        let mut foreign_files = BTreeSet::new();
        let Some(current_files) = &self.current_files else { return foreign_files };
        let other_sessions = session.other_sessions();
        if other_sessions.is_empty() {
            return foreign_files;
        }
        let turn_files = self.changed.iter().flatten();
        let own_files: BTreeSet<_> =
            session.state.changed.iter().chain(turn_files).cloned().collect();
        for OtherSession { state, prompt_files } in other_sessions {
            let inputs = ToolInputs::read(state.transcript.as_deref());
            let turn_files = prompt_files.map(|files| files.changes_to(current_files));
            let changed = state.changed.iter().cloned().chain(turn_files.unwrap_or_default());
            foreign_files.extend(changed.filter(|file| {
                !own_inputs.has_file(file) && (!own_files.contains(file) || inputs.has_file(file))
            }));
        }
        foreign_files
    }

    /// The session had events before, and no agent started its client.
    pub(crate) fn is_persons_session(&self) -> bool {
        let known_session = self.session.as_ref().filter(|session| session.files().is_some());
        known_session.is_some_and(|session| !session.state.is_nested)
    }

    /// Saves the files at the session's start. Some clients report no prompt, so the
    /// first turn is compared with these.
    pub(crate) fn begin_session(&mut self, is_nested: bool) {
        let Some(session) = &mut self.session else { return };
        // A session that is resumed has another client, if the first one is gone.
        let client = session.state.client.filter(|client| is_alive(*client));
        session.state.client = client.or_else(typed::starter);
        session.state.is_over = false;
        session.save();
        if let (None, Some(files)) = (session.files(), &self.current_files) {
            session.state.is_nested = is_nested;
            session.state.started_at = millis_since_1970();
            session.save();
            session.save_files(files);
        }
    }

    /// Notes the shells and the scheduled prompts that go on after a stop.
    pub(crate) fn note_background(&mut self, event: &Event) {
        let Some(session) = &mut self.session else { return };
        let shells = event.tasks.iter().filter(|task| task.is_shell);
        session.state.shells = shells.map(|task| task.id.clone()).collect();
        session.state.scheduled =
            event.scheduled.iter().map(|prompt| prompt.text.clone()).collect();
        session.save();
    }

    /// Begins a turn: changes from now on are the agent's.
    pub(crate) fn begin(&mut self, project: &Path, update: impl FnOnce(&mut Session)) {
        let is_changed = self.is_changed();
        let changed = self.changed.clone().unwrap_or_default();
        let Some(session) = &mut self.session else { return };
        // The last turn was broken off, so no stop has checked its changes yet.
        if session.state.in_turn && is_changed {
            session.state.owed.entry(project.to_owned()).or_default();
            session.add_changed(&changed);
        }
        session.state.in_turn = true;
        session.state.is_over = false;
        let News { tests, settings } = std::mem::take(&mut session.state.news);
        session.state.unread.tests.extend(tests);
        session.state.unread.settings.extend(settings);
        session.state.head = gate_checks::head(&self.site);
        update(session);
        session.save();
        if let Some(files) = &self.current_files {
            session.save_files(files);
        }
    }

    /// Ends the turn, unless the stop was refused, or is a pause.
    pub(crate) fn end(&mut self, transcript: Option<&Path>, goes_on: bool) {
        let changed = self.changed.clone().unwrap_or_default();
        let Some(session) = &mut self.session else { return };
        session.add_changed(&changed);
        session.state.in_turn = goes_on;
        if let Some(transcript) = transcript {
            session.state.transcript = Some(transcript.to_owned());
        }
        session.save();
        // Checks write files too. Listed again now, such files are no changes of the next turn.
        if !goes_on && let Ok(files) = list_files(&self.site) {
            session.save_files(&files);
        }
    }
}

/// The client still runs: its number is not another process's by now.
fn is_alive(client: ClientProcess) -> bool {
    ProcessStat::read(client.pid)
        .is_some_and(|stat| stat.start_ticks == client.start_ticks && !stat.is_zombie)
}

fn is_prose(file: &Path) -> bool {
    let lower = |part: &OsStr| part.to_string_lossy().to_lowercase();
    let name = file.file_name().unwrap_or_default();
    let has_prose_name = PROSE_NAMES.iter().any(|prose| lower(name).starts_with(prose));
    let Some(extension) = file.extension().map(lower) else {
        // `license-server` is a program.
        return has_prose_name && !name.to_string_lossy().contains(char::is_lowercase);
    };
    let folders = file.parent().into_iter().flat_map(Path::components);
    let is_in_docs = folders.into_iter().any(|folder| lower(folder.as_os_str()) == "docs");
    PROSE_EXTENSIONS.contains(&extension.as_str()) && (has_prose_name || is_in_docs)
}

/// The globs, paths and commands of a policy's checks.
fn check_patterns(policy: &Policy) -> impl Iterator<Item = &String> {
    let checks = policy.checks.values();
    checks.flat_map(|check| check.files.iter().chain(&check.paths).chain(&check.command))
}

/// A pattern has the file's name, or is a glob with the file's extension. The globs are read roughly:
/// a file that is taken for no prose is checked, which is the safe mistake.
fn is_in_patterns<'p>(file: &Path, mut patterns: impl Iterator<Item = &'p String>) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let glob = file.extension().map(|extension| format!("*.{}", extension.to_string_lossy()));
    let glob = glob.unwrap_or_default();
    patterns.any(|pattern| {
        pattern.contains(&*name) || pattern.ends_with(&glob) || pattern == "**" || pattern == "*"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_known_by_its_ending_and_no_prose_where_a_check_names_it() {
        for file in ["docs/a.MD", "web/docs/b/c.rst", "README.md", "api/CHANGELOG", "LICENSE-MIT"] {
            assert!(is_prose(Path::new(file)), "{file}");
        }
        for file in
            ["a.rs", "requirements.txt", "templates/mail.md", "docs/conf.py", "bin/license-server"]
        {
            assert!(!is_prose(Path::new(file)), "{file}");
        }
        let is_named = |file: &str, patterns: &[&str]| {
            let patterns: Vec<_> = patterns.iter().map(|word| (*word).to_owned()).collect();
            is_in_patterns(Path::new(file), patterns.iter())
        };
        assert!(is_named("fix_plan.md", &["fix_plan.md"]));
        assert!(!is_named("README.md", &["fix_plan.md"]));
        assert!(is_named("README.md", &["notes/**/*.md"]));
    }
}
