//! Applies a check's mode to its outcome.

use async_trait::async_trait;
use gate_core::decide::evidence::Evidence;
use gate_core::decide::policy::Mode;

use super::Decoration;
use crate::check::{Check, CheckContext};

/// Writes the mode into the record.
pub(crate) struct WithMode {
    pub(crate) mode: Mode,
}

#[async_trait]
impl Decoration for WithMode {
    async fn run(&self, inner: &dyn Check, cx: &CheckContext) -> Evidence {
        Evidence { mode: self.mode, ..inner.run(cx).await }
    }
}
