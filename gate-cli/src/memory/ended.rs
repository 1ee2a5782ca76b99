//! The record of a loop's end.

use gate_core::history::kind;
use gate_core::protocol::ledger::Draft;
use jiff::Timestamp;
use serde::Serialize;

use super::turn::GATE;
use super::{Memory, body};
use crate::failure::Failure;
use crate::runner::{End, StoppedBy};

/// What is recorded of a loop's end. Money is in micro-dollars.
#[derive(Serialize)]
struct Ended<'e> {
    task: &'e str,
    tree: &'e str,
    stopped_by: StoppedBy,
    message: String,
    iterations: usize,
    tokens: u64,
    cost_micro_usd: u64,
    duration_ms: u64,
}

impl Memory {
    /// Records how a loop ended, and what its run has used.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(crate) fn ended(
        &mut self,
        name: Option<&str>,
        task: &str,
        end: &End,
    ) -> Result<(), Failure> {
        let spent = end.last.as_ref().and_then(|last| last.decision.spent()).unwrap_or_default();
        let tree = self.tree.clone();
        let said = Ended {
            task,
            tree: &tree,
            stopped_by: end.by,
            message: end.message(),
            iterations: end.runs.len(),
            tokens: spent.tokens,
            cost_micro_usd: spent.cost_micro_usd,
            duration_ms: u64::try_from(end.duration.as_millis()).unwrap_or(u64::MAX),
        };
        let run = end.last.as_ref().and_then(|last| last.run.as_deref()).or(name);
        let body = body::body(&said)?;
        self.write(|writing| {
            writing.append(Draft {
                time: Timestamp::now().to_string(),
                kind: kind::RUN_ENDED.to_owned(),
                run: run.map(str::to_owned),
                actor: GATE.to_owned(),
                body: body.clone(),
            })?;
            Ok(())
        })
    }
}
