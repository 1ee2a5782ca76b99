//! Variables that agents' programs set for the processes that they start.

use super::Agent;
use crate::clients::{self, facts};

/// The variable with this name, if an agent's program sets it for what it starts.
pub(crate) fn mark(name: &str) -> Option<&'static str> {
    if !clients::may_name(name) {
        return None;
    }
    let marks = clients::all().map(|facts| &facts.marks);
    let mut names = marks.flat_map(|marks| marks.hooks.iter().chain(&marks.tools));
    names.find(|known| *known == name).map(String::as_str)
}

/// True if this agent's client sets the variable for its own hooks as well.
pub(crate) fn is_for_hooks(mark: &str, agent: Agent) -> bool {
    facts(agent).marks.hooks.iter().any(|known| known == mark)
}

/// The variable in which Claude Code names itself, and says whether it is a tool of the
/// agent's or a hook that it starts.
pub(crate) const SELF_NAMED: &str = "AI_AGENT";

/// The mark that Codex's starter leaves to Codex itself.
pub(crate) const BY_NPM: &str = "CODEX_MANAGED_BY_NPM";

/// The variable in which `gate run` gives its agent the run's id. A hook that finds it is
/// probably called inside of a run; anybody can set it, so it proves nothing.
pub(crate) const IN_RUN: &str = "GATE_RUN";
