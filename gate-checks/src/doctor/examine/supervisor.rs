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

/// Time limit of a program that does nothing.
const TIMEOUT_MS: u64 = 20_000;

/// Runs a program that does nothing under the site's supervisor.
pub(super) fn look(policy: &Policy, site: &CheckSite) -> Finding {
    let Some(supervisor) = &site.supervisor else {
        let message = "gate does not find its own program: a process that leaves its group \
                       survives its check";
        return note("supervisor-unknown", message).hint("run gate from a file that stays there");
    };
    match answer(policy, site) {
        Ok(()) if cfg!(target_os = "linux") => {
            fine("supervisor", "child processes of checks can be stopped")
        }
        Ok(()) => note("supervisor", "the processes of a check are ended by their group"),
        Err(why) => {
            let program = supervisor.program.display();
            problem("supervisor-broken", format!("checks cannot be run under {program}: {why}"))
                .hint("run `gate` by its own name")
        }
    }
}

fn answer(policy: &Policy, site: &CheckSite) -> Result<(), String> {
    let folder = Temporary::new("try").map_err(|error| error.to_string())?;
    let mut policy = policy.clone();
    policy.checks = [("nothing".to_owned(), nothing()?)].into();
    policy.jobs = NonZeroU32::MIN;
    let site = CheckSite {
        project: folder.path().join("tree"),
        state: Some(folder.path().join("state")),
        ignore: Vec::new(),
        callers_files: Vec::new(),
        ..site.clone()
    };
    std::fs::create_dir(&site.project).map_err(|error| error.to_string())?;
    let wanted = GatherOptions { fresh: true, ..GatherOptions::default() };
    let gathered = gather(&policy, site, &wanted);
    let gathered = gathered.map_err(|error| error.to_string())?;
    match gathered.evidence.first() {
        Some(evidence) if evidence.outcome == Outcome::Pass => Ok(()),
        Some(evidence) => Err(evidence.summary.clone()),
        None => Err("it left no record".to_owned()),
    }
}

/// A required check that runs `true`, with the default settings.
fn nothing() -> Result<CheckPolicy, String> {
    let name = "nothing";
    let alone = Layer::checks([name]).and_then(|layer| config::resolve(&[layer], None));
    let mut alone = alone.map_err(|error| error.message())?;
    let settings = alone.policy.checks.remove(name).ok_or("it has no settings")?;
    let command = vec!["true".to_owned()];
    Ok(CheckPolicy { command, timeout_ms: TIMEOUT_MS, priority: Priority::Low, ..settings })
}
