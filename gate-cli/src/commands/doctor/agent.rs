//! `gate doctor --agent`: checks that gate stands in front of an agent's stop, and that it blocks
//! one.

use gate_checks::{Finding, Level};

use super::super::common::DONE;
use super::super::install::changes;
use super::PROBLEMS;
use super::card::agent_card;
use super::record::AgentRecord;
use crate::agent::Agent;
use crate::clients::facts;
use crate::failure::Failure;
use crate::install::{self, HookProgram, HookState, Roots};
use crate::invocation::Invocation;
use crate::render::{self, print};

/// Brings the hooks of an agent up to date. Prints the changes, unless the answer is one
/// JSON object.
pub(super) fn fix(invocation: &Invocation, agent: Agent, json: bool) -> Result<(), Failure> {
    let roots = Roots::new(&invocation.places)?;
    for scope in install::outdated_scopes(agent, &roots)? {
        let plan = install::update(agent, scope, &roots)?;
        plan.apply()?;
        if !json {
            print(&changes(&plan, false))?;
        }
    }
    Ok(())
}

/// Renews a copy of gate that no settings call by its path.
pub(super) fn renew_copy(invocation: &Invocation, json: bool) -> Result<(), Failure> {
    let program = HookProgram::new(&Roots::new(&invocation.places)?)?;
    match program.renew_copy()? {
        Some(copy) if !json => print(&format!("renewed {}\n", copy.display())),
        _ => Ok(()),
    }
}

/// A finding about installed hooks: from which moment a turn's changes count, and which stops count
/// as a person's; or that an older gate wrote them, or that they call another build. If settings
/// cannot be read, `gate doctor --agent` says why.
pub(super) fn hooks_finding(invocation: &Invocation, agent: Agent) -> Option<Finding> {
    let state = install::hook_state(agent, &Roots::new(&invocation.places).ok()?).ok()?;
    let name = agent.name();
    match state {
        HookState::Outdated => {
            let message = format!("the hooks for {name} are not as this version writes them");
            let hint = format!("gate doctor --fix, or see gate doctor --agent {name}");
            Some(Finding::new(Level::Note, "hooks-outdated", message).hint(hint))
        }
        HookState::Current => {
            let hook = &facts(agent).hook;
            let beginning = match (hook.events.prompt.is_empty(), hook.events.start.is_some()) {
                (false, _) => "a turn's changes count from the person's prompt",
                (true, true) => "it reports no prompts, so changes count from the session's start",
                (true, false) => "it reports neither prompts nor starts: each red test refuses",
            };
            let persons_stops = match hook.headless_words.as_slice() {
                [] => "each stop counts as a person's".to_owned(),
                words => {
                    format!("`{}` counts as a script, all else as a person", words.join("`, `"))
                }
            };
            let message = format!("{name}: {beginning}; {persons_stops}");
            Some(Finding::new(Level::Ok, "hooks-installed", message))
        }
        HookState::Absent | HookState::Untrusted => None,
    }
}

pub(super) fn run(invocation: &Invocation, agent: Agent, json: bool) -> Result<u8, Failure> {
    let inspection = install::inspect(agent, &Roots::new(&invocation.places)?)?;
    let record = AgentRecord::new(agent.name(), inspection.places, inspection.findings);
    print(&if json {
        render::json(&record)?
    } else {
        agent_card(&record, &facts(agent).source())
    })?;
    Ok(if record.ok { DONE } else { PROBLEMS })
}
