//! Detects the agents that a user has.

use std::fs;
use std::path::Path;

use super::clients::folder;
use super::plan;
use super::roots::Roots;
use crate::agent::Agent;
use crate::clients::facts;

/// True if this user has the agent: its program is in PATH, or something stands in its
/// folder that gate did not put there.
pub(crate) fn is_here(agent: Agent, roots: &Roots) -> bool {
    facts(agent).programs.iter().any(|program| roots.in_path(program).is_some())
        || has_own_files(agent, roots, &folder(agent, roots))
}

fn has_own_files(agent: Agent, roots: &Roots, folder: &Path) -> bool {
    let made = plan::made(agent, roots);
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(Result::ok).any(|entry| !made.contains(&entry.path()))
}
