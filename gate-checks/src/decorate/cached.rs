//! Taking an earlier record of the same work instead of running again.

use std::sync::Arc;

use async_trait::async_trait;
use gate_core::decide::evidence::Evidence;
use gate_core::decide::policy::CheckPolicy;

use crate::cache::EvidenceCache;
use crate::check::{Check, CheckContext, CheckId, Cost};

/// Looks for an earlier record first, and offers a new one.
pub(crate) struct Cached<C> {
    pub(crate) inner: C,
    pub(crate) policy: CheckPolicy,
    pub(crate) cache: Arc<EvidenceCache>,
}

#[async_trait]
impl<C: Check> Check for Cached<C> {
    fn id(&self) -> &CheckId {
        self.inner.id()
    }

    fn cost(&self) -> Cost {
        self.inner.cost()
    }

    fn minds_new_files(&self) -> bool {
        self.inner.minds_new_files()
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        if let Some(earlier) = self.cache.find(self.id(), &self.policy, cx) {
            return earlier;
        }
        let evidence = self.inner.run(cx).await;
        self.cache.offer(self.id(), &self.policy, cx, &evidence);
        evidence
    }
}
