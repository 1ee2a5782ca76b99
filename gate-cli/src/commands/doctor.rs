//! `gate doctor`: finds what is missing or wrong here, and proves that checks can fail.

mod agent;
mod args;
mod card;
mod record;

use gate_checks::{CheckSite, Finding, Level, examine, examine_surroundings, self_test};
use gate_core::Policy;

pub(crate) use self::args::Doctor;
use self::card::doctor_card;
pub use self::record::{AgentRecord, DoctorRecord};
use super::common::{DONE, known_check};
use crate::agent::Agent;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::Which;
use crate::render::{self, print};
use crate::secrets;
use crate::trust::{self, Trust};

/// Exit code if something is wrong.
const PROBLEMS: u8 = 1;

pub(super) fn run(here: &Here, args: &Doctor) -> Result<u8, Failure> {
    if args.fix {
        let agents = args.agent.map_or(Agent::ALL.to_vec(), |agent| vec![agent]);
        agents.into_iter().try_for_each(|agent| agent::fix(here, agent, args.json))?;
        agent::renew_copy(here, args.json)?;
    }
    if let Some(agent) = args.agent {
        return agent::run(here, agent, args.json);
    }
    let (settings, trust) = trust::settings_as_written(&here.places, &args.settings.selection())?;
    let policy = settings.policy;
    if let Some(name) = &args.only {
        known_check(&policy, name)?;
    }
    // A person waits for it, and for no other loop's checks.
    let site = CheckSite { ignore: policy.tree_ignore.clone(), slots: None, ..here.site()? };
    if args.self_test {
        trust.admit(&policy, &site)?;
    }
    let record = examined(here, args, (&policy, &trust), &site)?;
    let text = if args.json { render::json(&record)? } else { doctor_card(&record) };
    print(&secrets::masked(&text))?;
    Ok(if record.ok { DONE } else { PROBLEMS })
}

fn examined(
    here: &Here,
    args: &Doctor,
    (policy, trust): (&Policy, &Trust),
    site: &CheckSite,
) -> Result<DoctorRecord, Failure> {
    let mut gate = examine_surroundings(policy, site);
    gate.push(settings_finding(args, site));
    gate.extend(trust_problem(trust, policy, site));
    gate.push(ledger_finding(here, policy));
    gate.extend(Agent::ALL.into_iter().filter_map(|agent| agent::outdated(here, agent)));
    let mut others = examine(policy, site);
    if args.only.is_some() {
        others.retain(|finding| finding.check.is_none() || finding.check == args.only);
    }
    let proofs = if args.self_test {
        let events = if args.json { gate_checks::Events::nobody() } else { render::progress() };
        self_test(policy, site, args.only.as_deref(), events)?
    } else {
        Vec::new()
    };
    Ok(DoctorRecord::new(gate, others, proofs))
}

/// The file of the settings. They were read before, so there is no failure here.
fn settings_finding(args: &Doctor, site: &CheckSite) -> Finding {
    let project = site.project.join("gate.toml");
    let file = args.settings.config.as_ref().unwrap_or(&project);
    if args.settings.config.is_some() || file.is_file() {
        let message = format!("the settings are those of {}", file.display());
        return Finding::new(Level::Ok, "settings", message);
    }
    let message = "the project has no gate.toml: the defaults hold";
    Finding::new(Level::Note, "settings-default", message).hint("gate init")
}

/// A problem, if the settings start something that is not approved.
fn trust_problem(trust: &Trust, policy: &Policy, site: &CheckSite) -> Option<Finding> {
    let failure = trust.admit(policy, site).err()?;
    let finding = Finding::new(Level::Problem, &failure.code, failure.message);
    Some(Finding { hint: failure.hint, ..finding })
}

/// The state of the store and of the breaker.
fn ledger_finding(here: &Here, policy: &Policy) -> Finding {
    let status = here.memory(policy).and_then(|mut memory| memory.breaker(Which::Here, policy));
    let status = match status {
        Ok(status) => status,
        Err(failure) => {
            let finding = Finding::new(Level::Problem, &failure.code, failure.message);
            return Finding { hint: failure.hint, ..finding };
        }
    };
    let project = &status.project;
    if !status.stops() {
        return Finding::new(Level::Ok, "ledger", format!("decision log of {project}: readable"));
    }
    let why = status.message.unwrap_or_default();
    Finding::new(Level::Note, "breaker-open", format!("the breaker is open: {why}"))
        .hint("gate breaker status")
}
