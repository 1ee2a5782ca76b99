//! Checks that the settings may name and that this version does not have.

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;

use crate::check::{Check, CheckContext, CheckId, Cost};

/// Says that it did not look.
pub(crate) struct Missing {
    id: CheckId,
}

impl Missing {
    pub(crate) fn new(id: CheckId) -> Self {
        Self { id }
    }
}

#[async_trait]
impl Check for Missing {
    fn id(&self) -> &CheckId {
        &self.id
    }

    fn cost(&self) -> Cost {
        Cost::Look
    }

    async fn run(&self, _: &CheckContext) -> Evidence {
        let summary = format!("this version of gate has no check {}", self.id);
        Evidence { summary, ..Evidence::new(self.id.as_str(), Mode::default(), Outcome::Skipped) }
    }
}
