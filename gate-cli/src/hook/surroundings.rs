//! What stands around a stop or a prompt: the session, what changed since the person's
//! prompt, and which projects and sessions those changes belong to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gate_checks::worktree::{FileList, WorkTree};
use gate_checks::{CheckSite, list_files};
use gate_core::Policy;
use gate_core::decide::release::Work;

use super::Event;
use super::mentions::ToolInputs;
use super::session::Session;
use crate::agent::Agent;
use crate::context::Here;
use crate::settings::{self, FILE, Selection};

/// Endings of prose. Not `txt`: requirements.txt, CMakeLists.txt and data are no prose.
const PROSE: [&str; 5] = ["md", "markdown", "rst", "adoc", "org"];

/// What stands around an event.
pub(crate) struct Surroundings {
    /// The work tree's topmost folder.
    root: PathBuf,
    pub(crate) session: Option<Session>,
    /// The files as they are.
    now: Option<FileList>,
    /// The files that changed since the person's prompt; none where nobody knows.
    changed: Option<Vec<PathBuf>>,
    site: CheckSite,
}

impl Surroundings {
    /// Those of an event in a project; none where the work tree cannot be read.
    pub(crate) fn of(here: &Here, agent: Agent, event: &Event) -> Option<Self> {
        let ignore = settings::resolve(&here.places, &Selection::default())
            .map(|settings| settings.policy.tree_ignore)
            .unwrap_or_default();
        let callers_files = event.transcript.iter().cloned().collect();
        let site = CheckSite { callers_files, ignore, ..here.site().ok()? };
        let root = WorkTree::open(&site).ok()?.root().to_owned();
        let state = here.places.state.as_deref();
        let session = Session::open(state, &root, (agent, event.session.as_deref()));
        let now = list_files(&site).ok();
        let before = session.as_ref().and_then(Session::files);
        let changed = before.zip(now.as_ref()).map(|(before, now)| before.changes_to(now));
        Some(Self { root, session, now, changed, site })
    }

    /// Whether files are other ones than at the person's last prompt.
    pub(crate) fn is_changed(&self) -> bool {
        self.changed.as_ref().is_some_and(|changed| !changed.is_empty())
    }

    /// Whether HEAD moved since the session's transcript was begun, or nobody can tell:
    /// what an agent has committed is no uncommitted change.
    pub(crate) fn has_committed(&self, transcript: Option<&Path>) -> bool {
        let begun = transcript.and_then(|file| fs::metadata(file).ok()?.created().ok());
        let moved = fs::metadata(self.root.join(".git/logs/HEAD"));
        let moved = moved.and_then(|metadata| metadata.modified()).ok();
        begun.zip(moved).is_none_or(|(begun, moved)| moved >= begun)
    }

    /// What changed, for a policy's checks. None where nobody knows what was before.
    pub(crate) fn work(&self, policy: &Policy) -> Option<Work> {
        let changed = self.changed.as_ref()?;
        Some(if changed.is_empty() {
            Work::None
        } else if changed.iter().all(|file| is_prose(file) && !is_named(file, words_of(policy))) {
            Work::Prose
        } else {
            Work::Changed
        })
    }

    /// The folders of the projects that changes belong to: each file's nearest
    /// settings. Empty where the work tree has no settings but these.
    pub(crate) fn projects(&self, primary: Option<&Path>) -> Vec<PathBuf> {
        let names = self.now.iter().flat_map(FileList::paths);
        let settings = names.filter(|path| path.file_name().is_some_and(|name| name == FILE));
        let folders: BTreeSet<_> =
            settings.filter_map(Path::parent).map(|inside| self.root.join(inside)).collect();
        if folders.iter().all(|folder| primary == Some(folder.as_path())) {
            return Vec::new();
        }
        let nearest = |file: &PathBuf| {
            let file = self.root.join(file);
            file.ancestors().skip(1).find(|folder| folders.contains(*folder)).map(Path::to_owned)
        };
        let changed = self.changed.iter().flatten().filter_map(nearest);
        let owed = self.session.iter().flat_map(|session| session.kept.owed.keys().cloned());
        let all: BTreeSet<_> = changed.chain(owed).filter(|it| folders.contains(it)).collect();
        all.into_iter().collect()
    }

    /// Files that another session changed, and this one did not. What both may have
    /// changed belongs to whose transcript names it; what neither or both name is this
    /// session's.
    pub(crate) fn others_files(&self, transcript: Option<&Path>) -> Vec<PathBuf> {
        let (Some(session), Some(now)) = (&self.session, &self.now) else { return Vec::new() };
        if session.kept.is_nested {
            return Vec::new();
        }
        let others = session.others();
        if others.is_empty() {
            return Vec::new();
        }
        let turn = self.changed.iter().flatten();
        let own: BTreeSet<_> = session.kept.changed.iter().chain(turn).cloned().collect();
        let own_inputs = ToolInputs::of(transcript.or(session.kept.transcript.as_deref()));
        let mut theirs = BTreeSet::new();
        for (kept, files) in others {
            let inputs = ToolInputs::of(kept.transcript.as_deref());
            let turn = files.map(|files| files.changes_to(now)).unwrap_or_default();
            let all = kept.changed.iter().cloned().chain(turn);
            theirs.extend(all.filter(|file| {
                let is_named = inputs.name(file) && !own_inputs.name(file);
                if own.contains(file) { is_named } else { !own_inputs.name(file) }
            }));
        }
        theirs.into_iter().collect()
    }

    /// Whether the session is known, and no agent started its client.
    pub(crate) fn is_a_persons(&self) -> bool {
        let known = self.session.as_ref().filter(|session| session.files().is_some());
        known.is_some_and(|session| !session.kept.is_nested)
    }

    /// A session began. Some clients report no prompt, so what stands now is what its
    /// first turn is compared with.
    pub(crate) fn began(&mut self, is_nested: bool) {
        let Some(session) = &mut self.session else { return };
        if let (None, Some(now)) = (session.files(), &self.now) {
            session.kept.is_nested = is_nested;
            session.keep();
            session.keep_files(now);
        }
    }

    /// A prompt came: what changes from now on is the agent's turn.
    pub(crate) fn prompted(&mut self, project: &Path, keep: impl FnOnce(&mut Session)) {
        let is_changed = self.is_changed();
        let changed = self.changed.clone().unwrap_or_default();
        let Some(session) = &mut self.session else { return };
        // The last turn was broken off: nobody looked at what it changed.
        if session.kept.in_turn && is_changed {
            session.kept.owed.entry(project.to_owned()).or_default();
            session.add_changed(&changed);
        }
        session.kept.in_turn = true;
        keep(session);
        session.keep();
        if let Some(now) = &self.now {
            session.keep_files(now);
        }
    }

    /// The agent stops: its turn is over unless it was refused.
    pub(crate) fn stopped(&mut self, transcript: Option<&Path>, is_refused: bool) {
        let changed = self.changed.clone().unwrap_or_default();
        let Some(session) = &mut self.session else { return };
        session.add_changed(&changed);
        session.kept.in_turn = is_refused;
        if let Some(transcript) = transcript {
            session.kept.transcript = Some(transcript.to_owned());
        }
        session.keep();
        // What checks wrote is no change of the next turn.
        if let (false, Ok(after)) = (is_refused, list_files(&self.site)) {
            session.keep_files(&after);
        }
    }
}

fn is_prose(file: &Path) -> bool {
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| PROSE.contains(&ending.as_str()))
}

/// The words in which checks say what they are about.
fn words_of(policy: &Policy) -> impl Iterator<Item = &String> {
    let checks = policy.checks.values();
    checks.flat_map(|check| check.files.iter().chain(&check.paths).chain(&check.command))
}

/// Whether one of these words is about a file: by its name, or by its ending in a glob.
fn is_named<'w>(file: &Path, mut words: impl Iterator<Item = &'w String>) -> bool {
    let text = |part: Option<&std::ffi::OsStr>| part.map(|it| it.to_string_lossy().into_owned());
    let name = text(file.file_name()).unwrap_or_default();
    let ending = text(file.extension()).map(|ending| format!("*.{ending}")).unwrap_or_default();
    words.any(|word| word.contains(&name) || word.ends_with(&ending) || word == "**" || word == "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_known_by_its_ending_and_no_prose_where_a_check_names_it() {
        assert!(is_prose(Path::new("docs/a.MD")) && !is_prose(Path::new("a.rs")));
        assert!(!is_prose(Path::new("requirements.txt")));
        let is_named = |file: &str, words: &[&str]| {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            is_named(Path::new(file), words.iter())
        };
        assert!(is_named("fix_plan.md", &["fix_plan.md"]));
        assert!(!is_named("README.md", &["fix_plan.md"]));
        assert!(is_named("README.md", &["notes/**/*.md"]));
    }
}
