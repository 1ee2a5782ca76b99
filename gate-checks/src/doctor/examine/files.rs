//! The files of `acceptance_criteria` and `handoff`: can they be read?

use gate_core::decide::evidence::Outcome;
use gate_core::decide::policy::Policy;

use crate::doctor::finding::{Finding, fine, problem};
use crate::gather::{GatherOptions, gather};
use crate::site::CheckSite;

/// The check itself finds the errors: it reads files, and runs nothing. A handoff that is not there
/// yet is no fault of the settings.
pub(super) fn look(what: &str, name: &str, policy: &Policy, site: &CheckSite) -> Finding {
    let mut alone = policy.clone();
    alone.checks.retain(|check, _| check == name);
    alone.checks.values_mut().for_each(|check| check.needs.clear());
    let wanted = GatherOptions { fresh: true, ..GatherOptions::default() };
    let gathered = match gather(&alone, site.clone(), &wanted) {
        Ok(gathered) => gathered,
        Err(error) => return problem("checks-unavailable", error.to_string()),
    };
    let Some(evidence) = gathered.evidence.into_iter().next() else {
        return problem(&format!("{what}-unknown"), "it left no record");
    };
    match evidence.outcome {
        Outcome::Pass | Outcome::Fail => {
            fine(&format!("{what}-found"), format!("built-in: {}", evidence.summary))
        }
        _ => problem(&format!("{what}-unknown"), evidence.summary).hint("put `files` right"),
    }
}
