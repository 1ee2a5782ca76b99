//! The baseline's tests that fail there, as far as a stored run shows.

use gate_core::decide::policy::{Allowance, Mode, Policy};

use super::VerifiedTests;
use super::baseline_run::{BaselineRun, RunKind};
use super::context::context;
use super::identities::is_allowed;
use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::checks::command::test_checks;
use crate::site::CheckSite;

/// The tests of required checks that fail on the baseline, each once, but for those that the
/// settings or these allowances leave out. Nothing is run: tests that were not found out yet are
/// not listed.
pub fn red_tests(
    policy: &Policy,
    site: &CheckSite,
    baseline: &Baseline,
    allow: &[Allowance],
) -> Vec<String> {
    let Some((tree, cx)) = context(policy, site, baseline, &Cancellation::default()) else {
        return Vec::new();
    };
    let mut red = Vec::new();
    for (id, settings) in test_checks(policy, site) {
        if settings.mode != Mode::Require {
            continue;
        }
        let tests = VerifiedTests { id: &id, settings: &settings, cx: &cx };
        let run: Option<BaselineRun> = baseline.result(site, &tree, &tests.key(RunKind::Tests));
        red.extend(run.iter().flat_map(BaselineRun::failed).map(str::to_owned));
    }
    red.retain(|test| !is_allowed(test, &cx.allow) && !is_allowed(test, allow));
    red.sort();
    red.dedup();
    red
}
