//! The clients that call gate.

use super::inspection::hook_state;
use super::{HookState, Roots};
use crate::agent::Agent;
use crate::settings::Places;

/// The clients whose settings have gate's hooks.
#[derive(Default)]
pub(crate) struct HookedClients {
    pub(crate) installed: Vec<&'static str>,
    pub(crate) are_outdated: bool,
    /// They skip the hooks until a person has reviewed them.
    pub(crate) untrusted: Vec<&'static str>,
}

impl HookedClients {
    /// Settings that cannot be read have none; `gate doctor --agent` says why.
    pub(crate) fn read(places: &Places) -> Self {
        let mut clients = Self::default();
        let Ok(roots) = Roots::new(places) else { return clients };
        for agent in Agent::ALL {
            match hook_state(agent, &roots).unwrap_or(HookState::Absent) {
                HookState::Absent => {}
                HookState::Untrusted => clients.untrusted.push(agent.name()),
                state => {
                    clients.installed.push(agent.name());
                    clients.are_outdated |= state == HookState::Outdated;
                }
            }
        }
        clients
    }
}
