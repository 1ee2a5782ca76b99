//! Finds an agent that may work on this project among the processes above this one.

use std::cell::LazyCell;

use gate_checks::worktree;

use crate::agent::{Process, is_of_project};
use crate::settings::{self, Places, Selection};
use crate::supervision::ATTEND;

/// The nearest agent above this process that may work on the project of these places,
/// in words: one that a `gate run` started, or one that is known by its program.
pub(super) fn working_agent(ancestors: &[Process], places: &Places) -> Option<String> {
    let project = places.top();
    // Only an agent above makes these needed, and mostly there is none.
    let is_named = LazyCell::new(|| is_named(places));
    let own_marks = LazyCell::new(|| project_marks(places, None));
    ancestors.iter().find_map(|process| {
        let pid = process.pid;
        let (description, is_of_project) = match (attended_project(process), process.agent) {
            (Some(AttendedProject { folder, marks }), _) => {
                let is_same = *folder == project.to_string_lossy()
                    || own_marks.iter().any(|mark| marks.contains(mark))
                    || is_of_project(folder.as_ref(), &project);
                (format!("gate run started it (process {pid})"), is_same)
            }
            (None, Some(agent)) => {
                (format!("{} (process {pid})", agent.name()), process.is_working_on(&project))
            }
            (None, None) => return None,
        };
        (is_of_project || *is_named).then_some(description)
    })
}

/// The project whose agent gate attends.
struct AttendedProject<'p> {
    folder: &'p String,
    /// The project's marks, with commas between them.
    marks: &'p String,
}

/// The project of the agent that gate attends by this process, if it does. All that the agent of a
/// run starts is below such a process.
fn attended_project(process: &Process) -> Option<AttendedProject<'_>> {
    match process.words.get(1..)? {
        [command, folder, marks, ..] if command == ATTEND => {
            Some(AttendedProject { folder, marks })
        }
        _ => None,
    }
}

/// The marks by which a project is known: digests of its identity here, and of its name in the
/// settings. An address may hold a secret, and everybody can read arguments. One of the marks
/// stays the same if the project is moved, or if it gets another name in its settings.
pub(crate) fn project_marks(places: &Places, id: Option<&str>) -> Vec<String> {
    let identity = worktree::identity(&places.top());
    [Some(identity.as_str()), id]
        .into_iter()
        .flatten()
        .map(|name| blake3::hash(name.as_bytes()).to_hex().to_string())
        .collect()
}

/// A project has a name in its settings: the settings of another folder can have the same name, and
/// an act there is an act on both. Settings that cannot be read count as named.
fn is_named(places: &Places) -> bool {
    let resolved = settings::resolve(places, &Selection::default());
    resolved.map_or(true, |settings| settings.policy.project.id.is_some())
}
