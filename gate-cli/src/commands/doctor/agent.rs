//! `gate doctor --agent`: whether gate stands in front of an agent's stop, and
//! blocks one.

use gate_checks::Finding;

use super::super::common::DONE;
use super::super::install::changes;
use super::PROBLEMS;
use super::card::agent_card;
use super::record::AgentRecord;
use crate::agent::Agent;
use crate::context::Here;
use crate::failure::Failure;
use crate::install::{self, Roots};
use crate::render::{self, print};

/// Brings the hooks of an agent up to date. Prints the changes, unless the answer is one
/// JSON object.
pub(super) fn fix(here: &Here, agent: Agent, json: bool) -> Result<(), Failure> {
    for plan in install::fixes(agent, &Roots::new(&here.places)?)? {
        plan.apply()?;
        if !json {
            print(&changes(&plan, false))?;
        }
    }
    Ok(())
}

/// A finding about hooks that an older gate wrote. If settings cannot be read,
/// `gate doctor --agent` says why.
pub(super) fn outdated(here: &Here, agent: Agent) -> Option<Finding> {
    install::outdated(agent, &Roots::new(&here.places).ok()?).ok()?
}

pub(super) fn run(here: &Here, agent: Agent, json: bool) -> Result<u8, Failure> {
    let result = install::inspect(agent, &Roots::new(&here.places)?)?;
    let record = AgentRecord::new(agent.name(), result.places, result.findings);
    print(&if json { render::json(&record)? } else { agent_card(&record) })?;
    Ok(if record.ok { DONE } else { PROBLEMS })
}
