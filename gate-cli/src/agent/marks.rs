//! Variables that agents' programs set for the processes that they start.

use std::fmt::{self, Display, Formatter};

use clap::ValueEnum;

use super::Agent;
use crate::clients::{self, ClientFacts, facts};

/// A variable that an agent's program set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    name: &'static str,
    /// Its value shows that the agent's program started a tool.
    is_of_tool: bool,
}

/// This variable as a mark, if an agent's program sets it for the programs that it starts.
pub(crate) fn mark(name: &str, value: &str) -> Option<Mark> {
    if !clients::may_name(name) {
        return None;
    }
    clients::all().find_map(|ClientFacts { marks, .. }| {
        let name = marks.hooks.iter().chain(&marks.tools).find(|mark| *mark == name)?;
        let is_of_tool = marks.tool_values.get(name).is_some_and(|end| value.ends_with(end));
        Some(Mark { name, is_of_tool })
    })
}

/// This variable carries the session of an agent's program to the programs that it starts. Variables
/// that people set themselves, such as keys and folders of settings, do not.
pub(crate) fn is_of_session(name: &str, value: &str) -> bool {
    let is_of_client = || {
        clients::all().any(|ClientFacts { marks, hook, .. }| {
            let lists = [&marks.hooks, &marks.tools, &marks.client, &marks.session];
            lists.into_iter().flatten().chain(&hook.project_variable).any(|mark| mark == name)
        })
    };
    clients::may_name(name) && is_of_client()
        || name == NAMED && Agent::from_str(value, true).is_ok()
}

impl Mark {
    /// This agent's client sets the variable for its own hooks as well.
    pub(crate) fn is_for_hooks(self, agent: Agent) -> bool {
        !self.is_of_tool && facts(agent).marks.hooks.iter().any(|mark| mark == self.name)
    }

    /// This agent's client itself has the variable from its own starter.
    pub(crate) fn is_for_client(self, agent: Agent) -> bool {
        facts(agent).marks.client.iter().any(|mark| mark == self.name)
    }
}

impl Display for Mark {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, if self.is_of_tool { " of a tool" } else { "" })
    }
}

/// A variable that several agents set to their own name.
pub(crate) const NAMED: &str = "AGENT";

/// The variable in which `gate run` gives its agent the run's id. A hook that finds it is
/// probably called inside of a run; anybody can set it, so it proves nothing.
pub(crate) const IN_RUN: &str = "GATE_RUN";
