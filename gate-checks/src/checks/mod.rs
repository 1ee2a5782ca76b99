//! The checks, one file each, and the choice of one by its name.

mod acceptance;
mod acceptance_criteria;
mod clean_git;
mod command;
mod handoff;
mod integrity;
mod launch;
mod not_installed;
mod plugin;
mod review;
mod test_run;
mod verified_tests;

use std::sync::Arc;
use std::time::Duration;

use gate_core::decide::policy::{CheckPolicy, Policy};

use crate::cache::EvidenceCache;
use crate::check::{Check, CheckId};
use crate::check_kind::CheckKind;
use crate::decorate::{Cached, Retry, Slotted, Timeout, WithMode, decorated};
use crate::site::CheckSite;

use acceptance_criteria::AcceptanceCriteria;
use clean_git::CleanGit;
use command::CommandCheck;
use handoff::Handoff;
use integrity::Integrity;
use plugin::Plugin;
use review::Review;

pub use plugin::{PluginAnswer, PluginOutcome, PluginRequest};
pub use verified_tests::{PutBack, learn_tests, red_tests, rerun};

/// A check with the names of those that have to pass before it.
#[derive(Clone)]
pub(crate) struct Planned {
    pub(crate) check: Arc<dyn Check>,
    pub(crate) needs: Vec<CheckId>,
    pub(crate) mode: gate_core::decide::policy::Mode,
}

/// The checks that a policy configures, or one of them alone.
pub(crate) fn plan(
    policy: &Policy,
    site: &CheckSite,
    cache: &Arc<EvidenceCache>,
    only: Option<&str>,
) -> Vec<Planned> {
    let wanted = policy.checks.iter().filter(|(name, _)| only.is_none_or(|only| only == *name));
    let planned = wanted.map(|(name, settings)| Planned {
        check: configured(CheckId::new(name), settings, policy, site, cache),
        needs: settings.needs.iter().map(CheckId::new).collect(),
        mode: settings.mode,
    });
    planned.collect()
}

/// The check of this name: a built-in one, a command, or a plug-in.
fn configured(
    id: CheckId,
    settings: &CheckPolicy,
    policy: &Policy,
    site: &CheckSite,
    cache: &Arc<EvidenceCache>,
) -> Arc<dyn Check> {
    match CheckKind::for_check(id.as_str(), settings) {
        CheckKind::CleanGit => reads_files(CleanGit::new(id, settings), settings),
        CheckKind::Criteria => reads_files(AcceptanceCriteria::new(id, settings), settings),
        CheckKind::Handoff => reads_files(Handoff::new(id, settings), settings),
        CheckKind::Integrity => reads_files(Integrity::new(id, policy), settings),
        CheckKind::Review => runs_program(Review::new(id, settings), settings, cache),
        CheckKind::Command => runs_program(CommandCheck::new(id, settings, site), settings, cache),
        CheckKind::Plugin => runs_program(Plugin::new(id, settings), settings, cache),
    }
}

/// Adds the timeout and the mode to a check that only reads files. It is cheap, so its
/// result is not cached.
fn reads_files(check: impl Check + 'static, settings: &CheckPolicy) -> Arc<dyn Check> {
    let check = decorated(Arc::new(check), Timeout { limit: limit(settings) });
    decorated(check, WithMode { mode: settings.mode })
}

/// Adds the timeout, retries, a slot, the cache and the mode to a check that runs a program.
fn runs_program(
    check: impl Check + 'static,
    settings: &CheckPolicy,
    cache: &Arc<EvidenceCache>,
) -> Arc<dyn Check> {
    let check = decorated(bounded(check, settings), Slotted);
    let cached = Cached { policy: settings.clone(), cache: Arc::clone(cache) };
    decorated(decorated(check, cached), WithMode { mode: settings.mode })
}

/// Adds the timeout and the retries.
fn bounded(check: impl Check + 'static, settings: &CheckPolicy) -> Arc<dyn Check> {
    // One that is tried runs its command several times, each within the limit.
    let times = if check.uses_baseline() { TRIES } else { 1 };
    let check =
        decorated(Arc::new(check), Timeout { limit: limit(settings).saturating_mul(times) });
    decorated(check, Retry { times: settings.retry })
}

/// The most runs of one command in a check that verifies its tests.
const TRIES: u32 = 8;

fn limit(settings: &CheckPolicy) -> Duration {
    Duration::from_millis(settings.timeout_ms)
}
