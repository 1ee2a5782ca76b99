//! Tests that a phase of its own has written, in the decisions on the work that follows.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;

use gate_core::decide::evidence::Outcome;
use gate_core::decide::first_tests::FirstTests;
use gate_core::decide::policy::Policy;
use gate_core::text::{MAX_NAMES, some_names};
use serde_json::json;

use super::VerifiedTests;
use super::baseline_run::{BaselineRun, RunKind};
use super::context::context;
use super::identities::name;
use super::overlay::Overlay;
use super::verdict::Verdict;
use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::checks::command::test_checks;
use crate::report::{Status, Test, TestReport};
use crate::site::CheckSite;
use crate::worktree::shown;

/// Takes what is known of a baseline's tests over to a baseline that differs from it by these tests
/// alone. The new tests are demanded there as those that fail.
pub fn carry_tests(
    policy: &Policy,
    site: &CheckSite,
    (from, to): (&Baseline, &Baseline),
    first: &FirstTests,
) {
    let Some((tree, cx)) = context(policy, site, to, &Cancellation::default()) else { return };
    for (id, settings) in test_checks(policy, site) {
        let tests = VerifiedTests { id: &id, settings: &settings, cx: &cx };
        let failing = first.failing.get(id.as_str()).into_iter().flatten();
        let failing = failing.map(|id| Test { id: id.clone(), status: Status::Failed });
        let key = tests.key(RunKind::Tests);
        let Some(mut run) = from.result::<BaselineRun>(site, &tree, &key) else { continue };
        run.tests.extend(failing);
        // What is not kept is found out again.
        let _ = to.keep_result(site, &tree, &key, &run);
    }
}

impl VerifiedTests<'_> {
    /// The tests of this check that were written before the work, by name.
    pub(super) fn first_tests(&self) -> &[String] {
        let first = self.cx.first_tests.as_ref();
        first.and_then(|first| first.failing.get(self.id.as_str())).map_or(&[], Vec::as_slice)
    }

    /// Names the files whose tests were written before the work and edited since.
    pub(super) fn note_edited_first(&self, overlay: &Overlay<'_>, verdict: &mut Verdict) {
        let Some(first) = &self.cx.first_tests else { return };
        if verdict.evidence.outcome != Outcome::Fail {
            return;
        }
        let edited = overlay.changes.iter().map(|change| shown(change.path.as_os_str().as_bytes()));
        let edited: Vec<_> = edited.filter(|path| first.files.contains(path)).collect();
        if !edited.is_empty() {
            let names = some_names(&edited, MAX_NAMES);
            let note = format!("; locked, and edited since: put back {names}");
            verdict.evidence.summary.push_str(&note);
        }
    }

    /// Counts the tests that were written before the work and pass now. Those that did not build
    /// had no names: by now they are the ones that the baseline does not know.
    pub(super) fn count_first(
        &self,
        baseline: Option<&BaselineRun>,
        report: Option<&TestReport>,
        verdict: &mut Verdict,
    ) {
        let (Some(all), Some(report)) = (&self.cx.first_tests, report) else { return };
        let known: BTreeSet<_> =
            baseline.iter().flat_map(|run| &run.tests).map(|test| name(&test.id)).collect();
        let named = self.first_tests();
        let has_unnamed = !all.not_built.is_empty() && !known.is_empty();
        let passed = report.named(Status::Passed).map(name);
        let count =
            passed.filter(|id| named.contains(id) || (has_unnamed && !known.contains(id))).count();
        if count > 0 {
            verdict.add_detail("written_first", json!(count));
        }
    }
}
