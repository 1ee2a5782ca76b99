//! `gate doctor --agent`: whether gate stands in front of an agent's stop, and
//! blocks one.

use super::super::{DONE, Here, print};
use super::WRONG;
use crate::agent::Agent;
use crate::failure::Failure;
use crate::install::{Roots, looked_at};
use crate::render;
use crate::schema::AgentRecord;

pub(super) fn run(here: &Here, agent: Agent, json: bool) -> Result<u8, Failure> {
    let looked = looked_at(agent, &Roots::of(&here.places)?)?;
    let record = AgentRecord::new(agent.name(), looked.places, looked.findings);
    print(&if json { render::json(&record)? } else { render::agent_card(&record) })?;
    Ok(if record.ok { DONE } else { WRONG })
}
