//! `gate doctor`: finds what is missing or wrong here, and proves that checks can fail.

mod agent;
mod args;
mod card;
mod record;
mod tables;

use gate_checks::{CheckSite, Finding, Level, examine, examine_surroundings, self_test};
use gate_core::Policy;
use gate_core::config::{ConfigWarning, Resolved};

pub(crate) use self::args::Doctor;
use self::card::doctor_card;
pub use self::record::{AgentRecord, DoctorRecord};
use super::common::{DONE, known_check};
use crate::agent::Agent;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::Which;
use crate::notify::{self, Notifier};
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
        if args.agent.is_none() {
            tables::fix(here, args.json)?;
        }
    }
    if let Some(agent) = args.agent {
        return agent::run(here, agent, args.json);
    }
    let (settings, trust) = trust::settings_as_written(&here.places, &args.settings.selection())?;
    let policy = &settings.policy;
    if let Some(name) = &args.only {
        known_check(policy, name)?;
    }
    // A person waits for it, and for no other loop's checks.
    let site = CheckSite { ignore: policy.tree.ignore.clone(), slots: None, ..here.site()? };
    if args.self_test {
        trust.admit(policy, &site)?;
    }
    let record = examined(here, args, (&settings, &trust), &site)?;
    let text = if args.json { render::json(&record)? } else { doctor_card(&record) };
    print(&secrets::masked(&text))?;
    Ok(if record.ok { DONE } else { PROBLEMS })
}

fn examined(
    here: &Here,
    args: &Doctor,
    (settings, trust): (&Resolved, &Trust),
    site: &CheckSite,
) -> Result<DoctorRecord, Failure> {
    let policy = &settings.policy;
    let mut gate = examine_surroundings(policy, site);
    gate.push(settings_finding(args, site));
    let is_about_key = |warning: &&ConfigWarning| matches!(warning, ConfigWarning::Gone { .. });
    let removed_keys = settings.warnings.iter().filter(is_about_key);
    gate.extend(removed_keys.map(|warning| {
        let hint = "take it out of the file; of gate.toml, `gate trust` approves the rest";
        Finding::new(Level::Note, "setting-gone", warning.to_string()).hint(hint)
    }));
    gate.extend(trust_problem(trust, policy, site));
    gate.push(ledger_finding(here, policy));
    gate.extend(message_finding(here, args, settings, trust));
    gate.extend(Agent::ALL.into_iter().filter_map(|agent| agent::installed(here, agent)));
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

/// The places that `[notify]` names, and with `--self-test` a message to each.
fn message_finding(
    here: &Here,
    args: &Doctor,
    settings: &Resolved,
    trust: &Trust,
) -> Option<Finding> {
    let notifier = match Notifier::new(here, settings, trust) {
        Ok(Some(notifier)) => notifier,
        Ok(None) if settings.notify.names_a_place() => {
            let message = "nobody approved the settings that name a place for messages";
            let finding = Finding::new(Level::Problem, "config-not-trusted", message);
            return Some(finding.hint("gate trust"));
        }
        Ok(None) => return None,
        Err(failure) => {
            let finding = Finding::new(Level::Problem, &failure.code, failure.message);
            return Some(Finding { hint: failure.hint, ..finding });
        }
    };
    let places = notifier.places();
    if !args.self_test || args.only.is_some() {
        let message = format!("messages about ends of loops go to {places}");
        return Some(Finding::new(Level::Ok, "notify", message));
    }
    let problems = notifier.send(&notify::sample(&notifier));
    Some(if problems.is_empty() {
        Finding::new(Level::Ok, "notify", format!("a test message was sent to {places}"))
    } else {
        let message = format!("the test message was not sent: {}", problems.join("; "));
        Finding::new(Level::Problem, "notify-failed", message)
    })
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
