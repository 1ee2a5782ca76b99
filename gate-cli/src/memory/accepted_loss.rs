//! A lost end of the ledger that an operator accepts: after a failover, a restored backup, a copied
//! file. The records that are there stay in force, and so do work items and leases.

use std::path::Path;

use gate_core::history::kind;
use gate_core::ledger::{Draft, Head};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::decision_transaction::GATE;
use super::{Memory, body};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::Ledger;
use crate::secrets;
use crate::store::Loss;

/// `gate.accepted.v1`: a loss that was accepted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct AcceptedLoss {
    /// Always `gate.accepted.v1`.
    pub schema: &'static str,
    /// The last record that the ledger had.
    pub marked: Head,
    /// The last record that it has. The ledger goes on after it.
    pub found: Head,
    /// The number of records that are missing; null if others stand in their places.
    pub missing: Option<u64>,
    /// The operator's reason.
    pub reason: String,
    /// The record of the loss.
    pub ledger: Ledger,
}

/// The record that goes with the reset of a lost ledger. The new ledger is compared with no older
/// mark.
pub(super) fn reset_record(actor: &str, reason: &str) -> Result<Draft, Failure> {
    let body = json!({
        "marked": Head::EMPTY, "found": Head::EMPTY, "missing": null, "reason": reason, "reset": true,
    });
    body::draft(kind::LOSS_ACCEPTED, None, actor, &body)
}

impl Memory {
    /// Copies the whole store to a new file, and returns the number of this project's records in
    /// it.
    pub(crate) fn back_up(&mut self, file: &Path) -> Result<u64, Failure> {
        let records = self.view()?.head()?.seq;
        self.store.back_up(file)?;
        Ok(records)
    }

    /// The loss; `None` if the ledger has the record that is marked here.
    pub(crate) fn loss(&mut self) -> Result<Option<Loss>, Failure> {
        Ok(self.store.loss(&self.project)?)
    }

    /// Reports the lost end of the ledger to the other machines of a fleet, by a record in what is
    /// left. Otherwise a machine that knows no later record would go on.
    /// The ledger of one machine has no other reader.
    pub(super) fn report_loss(&mut self) -> Result<(), Failure> {
        if !self.store.is_shared() {
            return Ok(());
        }
        let Some(Loss { marked_head, ledger_head }) = self.loss()? else { return Ok(()) };
        let machine = super::machine();
        let body = json!({ "marked": marked_head, "found": ledger_head, "machine": machine });
        let report = body::draft(kind::LOSS_NOTICED, None, GATE, &body)?;
        Ok(self.store.report_loss(&self.project, report)?)
    }

    /// Goes on after the last record that is there. The first new record names what is missing.
    pub(crate) fn accept_loss(
        &mut self,
        loss: Loss,
        reason: &str,
        operator: &Operator,
    ) -> Result<AcceptedLoss, Failure> {
        let Loss { marked_head: marked, ledger_head: found } = loss;
        let reason = secrets::masked(reason);
        let missing = (found.seq < marked.seq).then(|| marked.seq - found.seq);
        let body = json!({
            "marked": marked, "found": found, "missing": missing, "reason": reason, "by": operator,
        });
        let draft = body::draft(kind::LOSS_ACCEPTED, None, &operator.actor(), &body)?;
        self.store.accept(&self.project);
        let ledger = Ledger::place(&self.append(&draft)?);
        Ok(AcceptedLoss { schema: "gate.accepted.v1", marked, found, missing, reason, ledger })
    }
}
