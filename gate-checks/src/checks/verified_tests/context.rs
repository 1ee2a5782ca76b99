//! The context of a check outside of a decision.

use std::sync::Arc;

use gate_core::decide::policy::Policy;

use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::check::{About, CheckContext, Occasion};
use crate::event::Events;
use crate::logs::Logs;
use crate::site::CheckSite;
use crate::slots::Slots;
use crate::store;
use crate::worktree::WorkTree;

/// A check's context for a run whose result is no evidence; none if the work tree cannot be
/// read.
pub(super) fn context(
    policy: &Policy,
    site: &CheckSite,
    baseline: &Baseline,
    cancel: &Cancellation,
) -> Option<(WorkTree, CheckContext)> {
    let tree = WorkTree::open(site).ok()?;
    let snapshot = tree.snapshot().ok()?;
    let folder = site.state.as_ref().map(|state| store::tree_folder(state, tree.root()));
    let cx = CheckContext {
        site: Arc::new(site.clone()),
        tree: Arc::new(snapshot),
        baseline: Some(baseline.clone()),
        allow: policy.integrity.allow.clone().into(),
        occasion: Occasion::Loop,
        about: Arc::new(About::default()),
        first_tests: None,
        cancel: cancel.clone(),
        events: Events::nobody(),
        logs: Arc::new(Logs::new(folder.as_deref())),
        masker: Arc::new(site.masker()),
        slots: Slots::at(site, policy.machine_jobs),
        copies_max_bytes: policy.copies_max_bytes,
        private: None,
    };
    Some((tree, cx))
}
