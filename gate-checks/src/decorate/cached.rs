//! Taking an earlier record of the same work instead of running again.

use std::sync::Arc;

use async_trait::async_trait;
use gate_core::decide::evidence::Evidence;
use gate_core::decide::policy::CheckPolicy;

use super::Decoration;
use crate::cache::{CachedCommand, EvidenceCache, Work};
use crate::check::{Check, CheckContext};

/// Looks for an earlier record first, and offers a new one.
pub(crate) struct Cached {
    pub(crate) policy: CheckPolicy,
    pub(crate) command: CachedCommand,
    pub(crate) cache: Arc<EvidenceCache>,
}

#[async_trait]
impl Decoration for Cached {
    async fn run(&self, inner: &dyn Check, cx: &CheckContext) -> Evidence {
        let work = Work { check: inner.id(), policy: &self.policy, command: &self.command, cx };
        if let Some(earlier) = self.cache.find(&work) {
            return earlier;
        }
        let mut evidence = inner.run(cx).await;
        // What is kept holds no secrets either.
        cx.masker.evidence(&mut evidence);
        self.cache.offer(&work, &evidence);
        evidence
    }
}
