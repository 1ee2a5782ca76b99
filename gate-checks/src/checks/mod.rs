//! The checks, one file each, and the choice of one by its name.

mod acceptance;
mod acceptance_criteria;
mod clean_git;
mod command;
mod handoff;
mod integrity;
mod launch;
mod not_installed;
mod own;
mod plugin;
mod review;
mod test_run;
mod verified_tests;

use std::sync::Arc;
use std::time::Duration;

use gate_core::decide::checks::{CheckKind, Cost};
use gate_core::decide::policy::{CheckPolicy, Mode, Policy};

use crate::cache::{CachedCommand, EvidenceCache};
use crate::check::{Check, CheckId, GatherOptions};
use crate::decorate::{BoundCheck, Cached};
use crate::site::CheckSite;

pub(crate) use acceptance::{Verify, written_commands};
use acceptance_criteria::AcceptanceCriteria;
use clean_git::CleanGit;
use command::CommandCheck;
use handoff::Handoff;
use integrity::Integrity;
use plugin::Plugin;
use review::Review;

pub use command::{RequiredTests, required_tests};
pub use plugin::{PluginAnswer, PluginOutcome, PluginRequest};
use verified_tests::TestsFirst;
pub use verified_tests::{
    BASE_UNREAD, RedTests, RerunTree, SealedTrial, TooSlow, carry_tests, is_test_allowed,
    learn_tests, red_tests, rerun, tests_first_policy, try_sealed_tests, unknown_superseded,
};

/// A check, with the facts by which it is scheduled.
#[derive(Clone)]
pub(crate) struct Planned {
    pub(crate) check: Arc<dyn Check>,
    pub(crate) cost: Cost,
    /// The check runs again if new files appeared while checks ran: they may change its outcome.
    pub(crate) rerun_on_new_files: bool,
    /// The checks that have to pass before this one starts.
    pub(crate) needs: Vec<CheckId>,
    pub(crate) mode: Mode,
    /// The check does not fit the budget of a hook, and is not started.
    pub(crate) is_too_long: bool,
}

/// The checks that a policy configures, or one of them alone. Those of the calling program run
/// in the place of the plug-ins of their names.
pub(crate) fn plan(
    policy: &Policy,
    site: &CheckSite,
    cache: &Arc<EvidenceCache>,
    options: &GatherOptions,
) -> Vec<Planned> {
    let only = options.checks.only();
    let mut planned = Vec::new();
    for (name, settings) in &policy.checks {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let kind = CheckKind::for_check(name, settings);
        let brought = own::planned(&options.own_checks, name, settings);
        let reads_all_files = matches!(kind, CheckKind::CleanGit | CheckKind::Integrity);
        planned.push(Planned {
            cost: Cost::for_check(name, settings),
            rerun_on_new_files: reads_all_files || brought.is_some(),
            check: brought.unwrap_or_else(|| configured(name, settings, policy, site, cache)),
            needs: settings.needs.iter().map(CheckId::new).collect(),
            mode: settings.mode,
            is_too_long: false,
        });
    }
    planned
}

/// The check of this name: a built-in one, a command, or a plug-in.
fn configured(
    name: &str,
    settings: &CheckPolicy,
    policy: &Policy,
    site: &CheckSite,
    cache: &Arc<EvidenceCache>,
) -> Arc<dyn Check> {
    let id = CheckId::new(name);
    match CheckKind::for_check(name, settings) {
        CheckKind::CleanGit => reads_files(CleanGit::new(id, settings), settings),
        CheckKind::Criteria => {
            starts_commands(AcceptanceCriteria::new(id, settings), limit(settings))
        }
        CheckKind::Handoff => reads_files(Handoff::new(id, settings), settings),
        CheckKind::Integrity => reads_files(Integrity::new(id, policy), settings),
        CheckKind::TestsFirst => {
            let limit = limit(settings).saturating_mul(TRIES);
            starts_commands(TestsFirst::new(id, settings), limit)
        }
        CheckKind::Review => {
            let command = CachedCommand { words: settings.command.clone(), uses_baseline: false };
            runs_program(Review::new(id, settings), command, settings, cache)
        }
        CheckKind::Command => {
            let check = CommandCheck::new(id, settings, site);
            let uses_baseline = check.uses_baseline();
            let command = CachedCommand { words: check.words().to_vec(), uses_baseline };
            runs_program(check, command, settings, cache)
        }
        CheckKind::Plugin => {
            let check = Plugin::new(id, settings);
            let words = vec![check.program().to_owned()];
            let command = CachedCommand { words, uses_baseline: false };
            runs_program(check, command, settings, cache)
        }
    }
}

/// Adds the timeout to a check that only reads files. It is cheap, so its result is not
/// cached.
fn reads_files(check: impl Check + 'static, settings: &CheckPolicy) -> Arc<dyn Check> {
    let limit = limit(settings);
    let check = Arc::new(check);
    Arc::new(BoundCheck { check, limit, retries: 0, takes_slot: false, cached: None })
}

/// Adds the timeout and a slot to a check that starts commands beside what it reads.
fn starts_commands(check: impl Check + 'static, limit: Duration) -> Arc<dyn Check> {
    let check = Arc::new(check);
    Arc::new(BoundCheck { check, limit, retries: 0, takes_slot: true, cached: None })
}

/// Adds the timeout, retries, a slot and the cache to a check that runs a program.
fn runs_program(
    check: impl Check + 'static,
    command: CachedCommand,
    settings: &CheckPolicy,
    cache: &Arc<EvidenceCache>,
) -> Arc<dyn Check> {
    // A check that verifies its tests runs its command several times, each within the limit.
    let runs = if command.uses_baseline { TRIES } else { 1 };
    let limit = limit(settings).saturating_mul(runs);
    let cached = Cached { policy: settings.clone(), command, cache: Arc::clone(cache) };
    Arc::new(BoundCheck {
        check: Arc::new(check),
        limit,
        retries: settings.retry,
        takes_slot: true,
        cached: Some(cached),
    })
}

/// The most runs of one command in a check that verifies its tests.
const TRIES: u32 = 8;

fn limit(settings: &CheckPolicy) -> Duration {
    Duration::from_millis(settings.timeout_ms)
}
