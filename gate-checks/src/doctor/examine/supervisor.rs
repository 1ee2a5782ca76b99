//! Tests the supervisor, which ends the processes of checks.

use std::num::NonZeroU32;

use gate_core::config::{self, Layer};
use gate_core::decide::evidence::Outcome;
use gate_core::decide::policy::{CheckPolicy, Policy, Priority};

use crate::check::GatherOptions;
use crate::doctor::finding::{Finding, fine, note, problem};
use crate::gather::gather;
use crate::site::CheckSite;
use crate::temporary::Temporary;

/// The name of a check that does nothing.
const NAME: &str = "nothing";

/// The time limit of a program that does nothing.
const TIMEOUT_MS: u64 = 20_000;

/// Runs a program that does nothing under the site's supervisor.
pub(super) fn try_supervisor(policy: &Policy, site: &CheckSite) -> Finding {
    let Some(supervisor) = &site.supervisor else {
        let message = "gate does not find its own program: a process that leaves its group \
                       survives its check";
        return note("supervisor-unknown", message).hint("run gate from a file that stays there");
    };
    match run_nothing(policy, site) {
        Ok(()) => fine("supervisor", "child processes of checks can be stopped"),
        Err(cause) => {
            let program = supervisor.program.display();
            problem("supervisor-broken", format!("checks cannot be run under {program}: {cause}"))
                .hint("run `gate` by its own name")
        }
    }
}

/// Findings about what gate does elsewhere and not on this system.
pub(super) fn shortcomings() -> impl Iterator<Item = Finding> {
    gate_platform::SHORTCOMINGS.iter().map(|sentence| note("platform", *sentence))
}

fn run_nothing(policy: &Policy, site: &CheckSite) -> Result<(), String> {
    let folder = Temporary::new("try").map_err(|error| error.to_string())?;
    let mut policy = policy.clone();
    policy.checks = [(NAME.to_owned(), settings_of_nothing()?)].into();
    policy.jobs = NonZeroU32::MIN;
    let site = CheckSite {
        project: folder.path().join("tree"),
        state: Some(folder.path().join("state")),
        ignore: Vec::new(),
        callers_files: Vec::new(),
        ..site.clone()
    };
    std::fs::create_dir(&site.project).map_err(|error| error.to_string())?;
    let options = GatherOptions { fresh: true, ..GatherOptions::default() };
    let gathered = gather(&policy, site, &options).map_err(|error| error.to_string())?;
    match gathered.evidence.first() {
        Some(evidence) if evidence.outcome == Outcome::Pass => Ok(()),
        Some(evidence) => Err(evidence.summary.clone()),
        None => Err("it left no record".to_owned()),
    }
}

/// A required check that does nothing, with the default settings.
fn settings_of_nothing() -> Result<CheckPolicy, String> {
    let mut defaults = Layer::checks([NAME])
        .and_then(|layer| config::resolve(&[layer], None))
        .map_err(|error| error.message())?;
    let settings = defaults.policy.checks.remove(NAME).ok_or("it has no settings")?;
    let command = gate_platform::NOTHING.iter().map(|&word| word.to_owned()).collect();
    Ok(CheckPolicy { command, timeout_ms: TIMEOUT_MS, priority: Priority::Low, ..settings })
}
