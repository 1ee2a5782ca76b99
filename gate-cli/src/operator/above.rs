//! Finds an agent that may work on this project among the processes above this one.

use std::cell::LazyCell;

use gate_checks::worktree;

use crate::agent::{Process, is_of};
use crate::settings::{self, Places, Selection};
use crate::supervision::ATTEND;

/// The nearest agent above this process that may work on the project of these places,
/// in words: one that a `gate run` started, or one that is known by its program.
pub(super) fn agent(above: &[Process], places: &Places) -> Option<String> {
    let (project, is_named) = (places.top(), LazyCell::new(|| is_named(places)));
    let here = LazyCell::new(|| project_marks(places, None));
    above.iter().find_map(|process| {
        let pid = process.pid;
        let (who, is_of_project) = match (attended(process), process.agent) {
            (Some([folder, marks]), _) => {
                let is_same = *folder == project.to_string_lossy();
                let is_same = is_same || here.iter().any(|mark| marks.contains(mark));
                let who = format!("gate run started it (process {pid})");
                (who, is_same || is_of(folder.as_ref(), &project))
            }
            (None, Some(agent)) => {
                (format!("{} (process {pid})", agent.name()), process.works_on(&project))
            }
            (None, None) => return None,
        };
        (is_of_project || *is_named).then_some(who)
    })
}

/// The folder and the marks of the project, if gate attends the project's agent by this process.
/// All that the agent of a run starts is below such a process.
fn attended(process: &Process) -> Option<&[String; 2]> {
    let words = process.words.get(1..)?;
    let (command, project) = words.split_first()?;
    if command == ATTEND { project.first_chunk() } else { None }
}

/// The marks by which a project is known: digests of its identity here, and of its name in the
/// settings. An address may hold a secret, and everybody can read arguments. One of the marks
/// stays the same if the project is moved, or if it gets another name in its settings.
pub(crate) fn project_marks(places: &Places, id: Option<&str>) -> Vec<String> {
    let identity = worktree::identity(&places.top());
    [Some(identity.as_str()), id]
        .into_iter()
        .flatten()
        .map(|known_by| blake3::hash(known_by.as_bytes()).to_hex().to_string())
        .collect()
}

/// True if a project has a name in its settings: those of another folder can have the same name,
/// and an act there is an act on both. In doubt this is true.
fn is_named(places: &Places) -> bool {
    let resolved = settings::resolve(places, &Selection::default());
    resolved.map_or(true, |settings| settings.policy.project.id.is_some())
}
