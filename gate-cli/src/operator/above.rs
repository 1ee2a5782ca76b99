//! The processes above this one: whether an agent that may work on this project is
//! among them.

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
        let (who, is_of_it) = match (attended(process), process.agent) {
            (Some([folder, marks]), _) => {
                let is_it = *folder == project.to_string_lossy();
                let is_it = is_it || here.iter().any(|mark| marks.contains(mark));
                let who = format!("gate run started it (process {pid})");
                (who, is_it || is_of(folder.as_ref(), &project))
            }
            (None, Some(agent)) => {
                (format!("{} (process {pid})", agent.name()), process.works_on(&project))
            }
            (None, None) => return None,
        };
        (is_of_it || *is_named).then_some(who)
    })
}

/// The folder and the marks of the project whose agent a process of gate's attends: all
/// that the agent of a run starts stands below one.
fn attended(process: &Process) -> Option<&[String; 2]> {
    let words = process.words.get(1..)?;
    let (command, project) = words.split_first()?;
    if command == ATTEND { project.first_chunk() } else { None }
}

/// The marks of what a project is known by, here and in its settings: digests, because
/// an address may hold a secret and everybody reads arguments. They stay the same where
/// the project is moved, or its settings say another name.
pub(crate) fn project_marks(places: &Places, id: Option<&str>) -> Vec<String> {
    let identity = worktree::identity(&places.top());
    [Some(identity.as_str()), id]
        .into_iter()
        .flatten()
        .map(|known_by| blake3::hash(known_by.as_bytes()).to_hex().to_string())
        .collect()
}

/// True if a project is known by a name in its settings: those of another folder can say
/// the same, and what is done there is done to both. In doubt it is.
fn is_named(places: &Places) -> bool {
    let resolved = settings::resolve(places, &Selection::default());
    resolved.map_or(true, |settings| settings.policy.project_id.is_some())
}
