//! `gate work ci`: what continuous integration comes to, for an item that waits.

use gate_checks::{CancellationToken, Wanted};
use gate_core::Policy;
use gate_core::config::Resolved;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::exit::WorkPhase;
use gate_core::work::WorkError;

use super::{NOT, answer};
use crate::args::{Ci, CiResult};
use crate::commands::common::DONE;
use crate::context::Here;
use crate::failure::Failure;
use crate::render;
use crate::settings::Selection;
use crate::trust::{self, Trust};

pub(super) fn run(here: &Here, args: &Ci) -> Result<u8, Failure> {
    let (settings, trust) = trust::settings_as_written(&here.places, &Selection::default())?;
    let mut memory = here.memory(&settings.policy)?;
    let standing = memory.work(&args.id)?.work.standing;
    if standing.phase != WorkPhase::CiPending {
        let event = args.result.unwrap_or(CiResult::Passed).event();
        return Err(WorkError::Invalid { from: standing.phase, event }.into());
    }
    let (result, said) = match args.result {
        Some(result) => (result, None),
        None => checked(here, (&settings, &trust), &CancellationToken::new())?,
    };
    let reason = args.reason.clone().or(said);
    let passed = result == CiResult::Passed;
    answer(&mut memory, args.json, |memory| memory.ci(&args.id, passed, reason.as_deref()))?;
    Ok(if passed { DONE } else { NOT })
}

/// What the checks of `[work] ci` come to, and which of them did not pass.
///
/// # Errors
///
/// No check is named, or one that is not configured, settings that nobody approved;
/// and where a check could not
/// find out: then CI has not ended.
pub(crate) fn checked(
    here: &Here,
    (settings, trust): (&Resolved, &Trust),
    cancel: &CancellationToken,
) -> Result<(CiResult, Option<String>), Failure> {
    let policy = of_ci(settings)?;
    gate_checks::validate(&policy)?;
    let site = here.site()?;
    trust.admit(&policy, &site)?;
    let wanted = Wanted { all: true, cancel: cancel.clone(), ..Wanted::default() };
    let gathered = gate_checks::gather(&policy, site, &wanted, render::progress())?;
    let evidence = gathered.evidence;
    let unsure = |it: &&Evidence| matches!(it.outcome, Outcome::Inconclusive | Outcome::Skipped);
    if let Some(it) = evidence.iter().find(unsure) {
        let message = format!("{}: {}", it.check, it.summary);
        return Err(Failure::usage("ci-inconclusive", message)
            .hint("nothing changed; run it again, or give the result with --result"));
    }
    let bad = evidence.iter().filter(|it| it.outcome != Outcome::Pass);
    let bad: Vec<_> = bad.map(|it| format!("{}: {}", it.check, it.summary)).collect();
    let result = if bad.is_empty() { CiResult::Passed } else { CiResult::Failed };
    Ok((result, (!bad.is_empty()).then(|| bad.join("; "))))
}

/// The policy with the checks of CI alone.
fn of_ci(settings: &Resolved) -> Result<Policy, Failure> {
    let names = &settings.work_ci;
    let mut policy = settings.policy.clone();
    let missing = names.iter().find(|name| !policy.checks.contains_key(*name));
    let told = |message: String| {
        let failure = Failure::usage("config-invalid", message);
        Failure { key: Some("work.ci".to_owned()), ..failure }
    };
    if names.is_empty() {
        return Err(told("`ci` in [work] names no check".to_owned())
            .hint("name the checks there, or give a CI's result with --result"));
    }
    if let Some(name) = missing {
        return Err(told(format!(
            "`ci` in [work] names `{name}`, and no such check is configured"
        )));
    }
    policy.checks.retain(|name, _| names.contains(name));
    Ok(policy)
}

impl CiResult {
    fn event(self) -> &'static str {
        match self {
            Self::Passed => gate_core::work::Cause::CiPassed.as_str(),
            Self::Failed => gate_core::work::Cause::CiFailed.as_str(),
        }
    }
}
