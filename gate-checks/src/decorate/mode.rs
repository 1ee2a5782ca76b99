//! How much a check's outcome counts.

use async_trait::async_trait;
use gate_core::decide::evidence::Evidence;
use gate_core::decide::policy::Mode;

use crate::check::{Check, CheckContext, CheckId, Cost};

/// Writes the mode into the record.
pub(crate) struct WithMode<C> {
    pub(crate) inner: C,
    pub(crate) mode: Mode,
}

#[async_trait]
impl<C: Check> Check for WithMode<C> {
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
        Evidence { mode: self.mode, ..self.inner.run(cx).await }
    }
}
