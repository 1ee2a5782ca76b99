//! The processes above this one: whether an agent that may work on this project is
//! among them.

use std::cell::LazyCell;

use crate::agent::{Process, is_of};
use crate::commands::ATTEND;
use crate::settings::{self, Places, Selection};

/// The nearest agent above this process that may work on the project of these places,
/// in words: one that a `gate run` started, or one that is known by its program.
pub(super) fn agent(places: &Places) -> Option<String> {
    let (project, is_named) = (places.top(), LazyCell::new(|| is_named(places)));
    Process::above().find_map(|process| {
        let pid = process.pid;
        let (who, is_of_it) = match (attended(&process), process.agent) {
            (Some(folder), _) => {
                let is_it = *folder == project.to_string_lossy();
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

/// The folder of the project whose agent a process of gate's attends: all that the
/// agent of a run starts stands below one.
fn attended(process: &Process) -> Option<&String> {
    process.words.get(2).filter(|_| process.words[1] == ATTEND)
}

/// Whether a project is known by a name in its settings: those of another folder can say
/// the same, and what is done there is done to both. In doubt it is.
fn is_named(places: &Places) -> bool {
    let resolved = settings::resolve(places, &Selection::default());
    resolved.map_or(true, |it| it.policy.project_id.is_some())
}
