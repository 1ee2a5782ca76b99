//! Decorators of checks: a timeout, a retry, the cache, the mode, and the rest of a check
//! after a deadline.

mod cached;
mod mode;
mod retry;
mod slotted;
mod timeout;

use std::sync::Arc;

use async_trait::async_trait;
use gate_core::decide::evidence::Evidence;

use crate::check::{Check, CheckContext};
use crate::id::CheckId;

pub(crate) use cached::Cached;
pub(crate) use mode::WithMode;
pub(crate) use retry::Retry;
pub(crate) use slotted::{NO_SLOT, Slotted};
pub(crate) use timeout::{Timeout, shown};

/// Something around a check: it runs it, or does not, and may change what it
/// says.
#[async_trait]
pub(crate) trait Decoration: Send + Sync {
    async fn run(&self, inner: &dyn Check, cx: &CheckContext) -> Evidence;
}

/// A check with something around it.
pub(crate) fn decorated(
    inner: Arc<dyn Check>,
    decoration: impl Decoration + 'static,
) -> Arc<dyn Check> {
    Arc::new(Decorated { inner, decoration })
}

struct Decorated<D> {
    inner: Arc<dyn Check>,
    decoration: D,
}

#[async_trait]
impl<D: Decoration> Check for Decorated<D> {
    fn id(&self) -> &CheckId {
        self.inner.id()
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        self.decoration.run(&*self.inner, cx).await
    }
}
