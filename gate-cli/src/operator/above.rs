//! The processes above this one: whether one of them is an agent's program that
//! works on this project.

use std::path::Path;

use crate::agent::{Agent, Process};
use crate::commands::SUPERVISE;

/// The nearest of these processes that is an agent's program and works on a project,
/// and its number.
pub(super) fn client(above: &[Process], project: &Path) -> Option<(Agent, i64)> {
    above.iter().find_map(|process| {
        let agent = process.agent?;
        process.works_on(project).then_some((agent, process.pid))
    })
}

/// Whether a supervisor of gate's is among these processes: each agent of a run has
/// one. Whose it is says the run's folder, which takes longer to find out.
pub(super) fn is_supervised(above: &[Process]) -> bool {
    above.iter().any(|process| process.words.get(1).is_some_and(|it| it == SUPERVISE))
}
