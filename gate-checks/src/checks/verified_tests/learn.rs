//! Finding out a baseline's tests when it is taken, and which of them fail.

use std::time::{Duration, Instant};

use gate_core::decide::policy::{Allowance, Mode, Policy};
use tokio::runtime::Builder;

use super::baseline_run::{BaselineRun, RunKind};
use super::identities::{is_allowed, is_name_of};
use super::overlay::Overlay;
use super::test_workspace::TestWorkspace;
use super::{Trouble, VerifiedTests, open_context};
use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::check::SupersededTest;
use crate::checks::command::test_checks;
use crate::gather::GatherError;
use crate::site::CheckSite;
use crate::worktree::WorkTree;

/// Runs the commands of all checks that look at tests on a baseline, as far as its tests are not
/// known yet, and keeps their results with it. The tests of a command that fails stay unknown; it
/// runs again where they are needed. Returns the checks whose command was ended by its limit.
///
/// It blocks until the last command has ended, or until it is cancelled, and must not be called
/// inside of a tokio runtime.
///
/// # Errors
///
/// [`GatherError`]: nothing could be run.
pub fn learn_tests(
    policy: &Policy,
    site: &CheckSite,
    baseline: &Baseline,
    cancel: &Cancellation,
) -> Result<Vec<TooSlow>, GatherError> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut too_slow = Vec::new();
    let Some((tree, cx)) = open_context(policy, site, baseline, cancel) else {
        return Ok(too_slow);
    };
    for (id, settings) in test_checks(policy, site) {
        if cancel.is_cancelled() {
            break;
        }
        let check = VerifiedTests::new(&id, &settings, &cx);
        let limit = Duration::from_millis(settings.timeout_ms);
        let was_ended = runtime.block_on(async {
            let _slot = match &cx.slots {
                Some(slots) => slots.take(cancel, || ()).await,
                None => None,
            };
            let start = Instant::now();
            // A check that needs the tests runs the command again, and reports its errors.
            let is_known = check.learn(&tree).await.unwrap_or(false);
            !is_known && start.elapsed() >= limit && !cancel.is_cancelled()
        });
        if was_ended {
            too_slow.push(TooSlow { check: id.as_str().to_owned(), limit });
        }
    }
    Ok(too_slow)
}

/// A check whose tests did not end within its limit on the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooSlow {
    /// The check.
    pub check: String,
    /// Its limit.
    pub limit: Duration,
}

impl VerifiedTests<'_> {
    /// Runs the command on the baseline; false if it gave no result.
    async fn learn(&self, tree: &WorkTree) -> Result<bool, Trouble> {
        let Some(overlay) = Overlay::new(self.cx, tree)? else { return Ok(true) };
        let own_copy = TestWorkspace::open(tree, self.settings, self.cx).await?;
        let mut deciding_copy = own_copy.deciding_copy(self.settings)?;
        Ok(self.baseline_run(&mut deciding_copy, &overlay).await?.is_some())
    }
}

/// The tests of required checks that fail on the baseline, sorted and each once, but for those that
/// the settings or these allowances leave out. Nothing is run: a check whose command has not run on
/// the baseline yet adds no tests.
pub fn red_tests(
    policy: &Policy,
    site: &CheckSite,
    baseline: &Baseline,
    allow: &[Allowance],
) -> Vec<String> {
    let Some((tree, cx)) = open_context(policy, site, baseline, &Cancellation::default()) else {
        return Vec::new();
    };
    let mut red_tests = Vec::new();
    for (id, settings) in test_checks(policy, site) {
        if settings.mode != Mode::Require {
            continue;
        }
        let check = VerifiedTests::new(&id, &settings, &cx);
        let run: Option<BaselineRun> = baseline.result(site, &tree, &check.key(RunKind::Tests));
        red_tests.extend(run.iter().flat_map(BaselineRun::failed).map(str::to_owned));
    }
    red_tests.retain(|test| !is_allowed(test, &cx.allow) && !is_allowed(test, allow));
    red_tests.sort();
    red_tests.dedup();
    red_tests
}

/// The names of superseded tests that no test of the baseline has, each with its criterion. Nothing is
/// run: empty if a check's tests are not known.
pub fn unknown_superseded(
    policy: &Policy,
    site: &CheckSite,
    baseline: &Baseline,
) -> Vec<(String, String)> {
    let opened = open_context(policy, site, baseline, &Cancellation::default());
    let Some((tree, cx)) = opened.filter(|(_, cx)| !cx.superseded.is_empty()) else {
        return Vec::new();
    };
    let mut tests = Vec::new();
    for (id, settings) in test_checks(policy, site) {
        let key = VerifiedTests::new(&id, &settings, &cx).key(RunKind::Tests);
        match baseline.result::<BaselineRun>(site, &tree, &key) {
            Some(run) if !run.tests.is_empty() => tests.extend(run.tests),
            _ => return Vec::new(),
        }
    }
    let is_unknown =
        |named: &&SupersededTest| !tests.iter().any(|test| is_name_of(&named.test, &test.id));
    let unknown = cx.superseded.iter().filter(is_unknown);
    unknown.map(|named| (named.criterion.clone(), named.test.clone())).collect()
}
