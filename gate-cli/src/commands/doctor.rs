//! `gate doctor`: finds what is missing or wrong here, and proves that checks can fail.

mod agent;
mod card;
mod record;
mod tables;

use clap::Args;
use gate_checks::{CheckSite, Finding, Level, examine, examine_surroundings, self_test};
use gate_core::Policy;
use gate_core::config::{ConfigWarning, Resolved};

use self::card::doctor_card;
pub use self::record::{AgentRecord, DoctorRecord};
use super::arguments::SettingsArgs;
use super::common::{DONE, known_check};
use crate::agent::Agent;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory::BreakerSelector;
use crate::notify::{self, Notifier};
use crate::render::{self, print};
use crate::secrets;
use crate::trust::{self, Trust};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing is wrong, 1 something is, 2 or 5 nothing was found out"
)]
pub(crate) struct Doctor {
    /// Run each check in a copy of the work tree in which it has to fail, and send a test message
    /// to the places of [notify].
    #[arg(long)]
    pub(crate) self_test: bool,
    /// Look at this check alone.
    #[arg(long, value_name = "CHECK")]
    pub(crate) only: Option<String>,
    /// Test the hook of this agent instead: is it installed, trusted and called, and
    /// does it block a stop?
    #[arg(long, value_name = "AGENT", conflicts_with_all = [
        "self_test", "only", "config", "task_type", "exit_threshold",
    ])]
    pub(crate) agent: Option<Agent>,
    /// Update hooks that an older gate installed, of this agent or of all, and the tables of a
    /// PostgreSQL database. The tables are for the operator, with the role that owns them.
    #[arg(long)]
    pub(crate) fix: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Exit code if something is wrong.
const PROBLEMS: u8 = 1;

pub(super) fn run(invocation: &Invocation, args: &Doctor) -> Result<u8, Failure> {
    if args.fix {
        let agents = args.agent.map_or(Agent::ALL.to_vec(), |agent| vec![agent]);
        agents.into_iter().try_for_each(|agent| agent::fix(invocation, agent, args.json))?;
        agent::renew_copy(invocation, args.json)?;
        if args.agent.is_none() {
            tables::fix(invocation, args.json)?;
        }
    }
    if let Some(agent) = args.agent {
        return agent::run(invocation, agent, args.json);
    }
    let (settings, trust) =
        trust::settings_as_written(&invocation.places, &args.settings.selection())?;
    let policy = &settings.policy;
    if let Some(name) = &args.only {
        known_check(policy, name)?;
    }
    // A person waits for the doctor, which therefore waits for no other loop's checks.
    let site = CheckSite { ignore: policy.tree.ignore.clone(), slots: None, ..invocation.site()? };
    if args.self_test {
        trust.admit(policy, &site)?;
    }
    let record = examine_all(invocation, args, &settings, &trust, &site)?;
    let text = if args.json { render::json(&record)? } else { doctor_card(&record) };
    print(&secrets::masked(&text))?;
    Ok(if record.ok { DONE } else { PROBLEMS })
}

/// The findings about gate, the project and its checks, and with `--self-test` the proofs.
fn examine_all(
    invocation: &Invocation,
    args: &Doctor,
    settings: &Resolved,
    trust: &Trust,
    site: &CheckSite,
) -> Result<DoctorRecord, Failure> {
    let policy = &settings.policy;
    let mut gate_findings = examine_surroundings(policy, site);
    gate_findings.push(settings_finding(args, site));
    let is_about_key = |warning: &&ConfigWarning| matches!(warning, ConfigWarning::Gone { .. });
    let removed_keys = settings.warnings.iter().filter(is_about_key);
    gate_findings.extend(removed_keys.map(|warning| {
        let hint = "take it out of the file; of gate.toml, `gate trust` approves the rest";
        Finding::new(Level::Note, "setting-gone", warning.to_string()).hint(hint)
    }));
    gate_findings.extend(trust_problem(trust, policy, site));
    gate_findings.push(ledger_finding(invocation, policy));
    gate_findings.extend(message_finding(invocation, args, settings, trust));
    let agents = Agent::ALL.into_iter();
    gate_findings.extend(agents.filter_map(|agent| agent::hooks_finding(invocation, agent)));
    let mut project_findings = examine(policy, site);
    if args.only.is_some() {
        project_findings.retain(|finding| finding.check.is_none() || finding.check == args.only);
    }
    let proofs = if args.self_test {
        let events = if args.json { gate_checks::Events::nobody() } else { render::progress() };
        self_test(policy, site, args.only.as_deref(), events)?
    } else {
        Vec::new()
    };
    Ok(DoctorRecord::new(gate_findings, project_findings, proofs))
}

/// The file of the settings. They were read before, so there is no failure here.
fn settings_finding(args: &Doctor, site: &CheckSite) -> Finding {
    let project_file = site.project.join("gate.toml");
    let file = args.settings.config.as_ref().unwrap_or(&project_file);
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
    invocation: &Invocation,
    args: &Doctor,
    settings: &Resolved,
    trust: &Trust,
) -> Option<Finding> {
    let notifier = match Notifier::new(invocation, settings, trust) {
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
    // Only a message that arrives proves a place: an address may be wrong, a program missing.
    let problems = notifier.send(&notify::sample(&notifier));
    Some(if problems.is_empty() {
        Finding::new(Level::Ok, "notify", format!("a test message was sent to {places}"))
    } else {
        let message = format!("the test message was not sent: {}", problems.join("; "));
        Finding::new(Level::Problem, "notify-failed", message)
    })
}

/// The state of the store and of the breaker.
fn ledger_finding(invocation: &Invocation, policy: &Policy) -> Finding {
    let status = invocation
        .memory(policy)
        .and_then(|mut memory| memory.breaker(BreakerSelector::ThisTree, policy));
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
    let cause = status.message.unwrap_or_default();
    Finding::new(Level::Note, "breaker-open", format!("the breaker stopped a loop: {cause}"))
        .hint("gate breaker status")
}
