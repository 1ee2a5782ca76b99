//! `gate work ci`: the result of continuous integration, for an item that waits for it.

use gate_checks::{Cancellation, Checks, GatherOptions};
use gate_core::Policy;
use gate_core::config::Resolved;
use gate_core::decide::evidence::Outcome;
use gate_core::exit::WorkPhase;
use gate_fleet::work::WorkError;

use super::{Ci, CiResult};
use super::{NEGATIVE, answer};
use crate::commands::common::DONE;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::render;
use crate::settings::Selection;
use crate::trust::{self, Trust};

pub(super) fn run(invocation: &Invocation, args: &Ci) -> Result<u8, Failure> {
    let (settings, trust) = trust::settings_as_written(&invocation.places, &Selection::default())?;
    let mut memory = invocation.memory(&settings.policy)?;
    let state = memory.work(&args.id)?.work.state;
    if state.phase != WorkPhase::CiPending {
        let event = args.result.unwrap_or(CiResult::Passed).event();
        return Err(WorkError::Invalid { from: state.phase, event }.into());
    }
    let failed = match args.result {
        Some(_) => None,
        None => checked(invocation, &settings, &trust, &Cancellation::default())?,
    };
    let passed = args.result.unwrap_or(CiResult::Passed) == CiResult::Passed && failed.is_none();
    let reason = args.reason.clone().or(failed);
    answer(&mut memory, args.json, |memory| memory.ci(&args.id, passed, reason.as_deref()))?;
    Ok(if passed { DONE } else { NEGATIVE })
}

/// The checks of `[work] ci` that failed, in words; `None` if all passed.
///
/// # Errors
///
/// No check is named, or one that is not configured; settings that nobody approved; a check that is
/// inconclusive: it is no result of CI.
pub(crate) fn checked(
    invocation: &Invocation,
    settings: &Resolved,
    trust: &Trust,
    cancel: &Cancellation,
) -> Result<Option<String>, Failure> {
    let policy = ci_policy(settings)?;
    gate_checks::validate(&policy)?;
    let site = invocation.site()?;
    trust.admit(&policy, &site)?;
    let options = GatherOptions {
        checks: Checks::All,
        events: render::progress(),
        cancel: cancel.clone(),
        ..GatherOptions::default()
    };
    let evidence = gate_checks::gather(&policy, site, &options)?.evidence;
    let inconclusive = evidence
        .iter()
        .find(|evidence| matches!(evidence.outcome, Outcome::Inconclusive | Outcome::Skipped));
    if let Some(evidence) = inconclusive {
        let message = format!("{}: {}", evidence.check, evidence.summary);
        return Err(Failure::usage("ci-inconclusive", message)
            .hint("nothing changed; run it again, or give the result with --result"));
    }
    let failures: Vec<_> = evidence
        .iter()
        .filter(|evidence| evidence.outcome != Outcome::Pass)
        .map(|evidence| format!("{}: {}", evidence.check, evidence.summary))
        .collect();
    Ok(if failures.is_empty() { None } else { Some(failures.join("; ")) })
}

/// The policy with the checks of CI alone.
fn ci_policy(settings: &Resolved) -> Result<Policy, Failure> {
    let names = &settings.work.ci;
    let mut policy = settings.policy.clone();
    let missing = names.iter().find(|name| !policy.checks.contains_key(*name));
    if names.is_empty() {
        return Err(bad_setting("`ci` in [work] names no check".to_owned())
            .hint("name the checks there, or give a CI's result with --result"));
    }
    if let Some(name) = missing {
        return Err(bad_setting(format!(
            "`ci` in [work] names `{name}`, and no such check is configured"
        )));
    }
    policy.checks.retain(|name, _| names.contains(name));
    Ok(policy)
}

fn bad_setting(message: String) -> Failure {
    let failure = Failure::usage("config-invalid", message);
    Failure { key: Some("work.ci".to_owned()), ..failure }
}

impl CiResult {
    fn event(self) -> &'static str {
        match self {
            Self::Passed => gate_fleet::work::Cause::CiPassed.as_str(),
            Self::Failed => gate_fleet::work::Cause::CiFailed.as_str(),
        }
    }
}
