//! A lost end of the ledger that an operator accepts: after a failover, a restored backup, a copied
//! file. The records that are there stay in force, and so do work items and leases.

use std::path::Path;

use gate_core::history::kind;
use gate_core::ledger::{Draft, Head};
use jiff::Timestamp;
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
pub(super) fn reset_record(time: &str, actor: &str, reason: &str) -> Result<Draft, Failure> {
    let body = body::body(&json!({
        "marked": Head::EMPTY, "found": Head::EMPTY, "missing": null, "reason": reason, "reset": true,
    }))?;
    let (time, actor) = (time.to_owned(), actor.to_owned());
    Ok(Draft { time, kind: kind::LOSS_ACCEPTED.to_owned(), run: None, actor, body })
}

impl Memory {
    /// Copies the whole store to a new file, and returns the number of this project's records in
    /// it.
    pub(crate) fn back_up(&mut self, to: &Path) -> Result<u64, Failure> {
        let records = self.view()?.head()?.seq;
        self.store.back_up(to)?;
        Ok(records)
    }

    /// The loss; none if the ledger has the record that is marked here.
    pub(crate) fn loss(&mut self) -> Result<Option<Loss>, Failure> {
        Ok(self.store.loss(&self.project)?)
    }

    /// Reports the lost end of the ledger to the other machines of a fleet, by a record in what is
    /// left. Otherwise a machine that knows no later record would go on.
    pub(super) fn report_loss(&mut self) {
        let reported = self.store.report_loss(&self.project, |Loss { marked, found }| {
            let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
            let body =
                body::body(&json!({ "marked": marked, "found": found, "machine": machine }))?;
            let time = Timestamp::now().to_string();
            let (kind, actor) = (kind::LOSS_NOTICED.to_owned(), GATE.to_owned());
            Ok::<_, Failure>(Draft { time, kind, run: None, actor, body })
        });
        // If this fails, the others go on until they notice the loss themselves; this machine stops
        // in any case.
        let _ = reported;
    }

    /// Goes on after the last record that is there. The first new record names what is missing.
    pub(crate) fn accept_loss(
        &mut self,
        loss: Loss,
        reason: &str,
        operator: &Operator,
    ) -> Result<AcceptedLoss, Failure> {
        let Loss { marked, found } = loss;
        let reason = secrets::masked(reason);
        let missing = (found.seq < marked.seq).then(|| marked.seq - found.seq);
        let body = body::body(&json!({
            "marked": marked, "found": found, "missing": missing, "reason": reason, "by": operator,
        }))?;
        self.store.accept(&self.project);
        let sealed = self.append(&Draft {
            time: Timestamp::now().to_string(),
            kind: kind::LOSS_ACCEPTED.to_owned(),
            run: None,
            actor: operator.actor(),
            body,
        })?;
        let ledger = body::place(&sealed);
        Ok(AcceptedLoss { schema: "gate.accepted.v1", marked, found, missing, reason, ledger })
    }
}
