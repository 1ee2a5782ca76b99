//! The settings that an operator approved.

use std::collections::BTreeMap;

use gate_core::history::kind;
use gate_core::ledger::Draft;
use jiff::Timestamp;
use serde_json::json;

use super::{Memory, body};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::Ledger;
use crate::store::View;
use crate::trust::{TrustReport, TrustState};

/// The approvals that the ledger has.
#[derive(Clone, Debug, Default)]
pub(super) struct RunConstraints {
    /// The digests of approved settings, by their path within the project.
    trusted: BTreeMap<String, String>,
}

impl RunConstraints {
    pub(super) fn read(reading: &mut View<'_>) -> Result<Self, Failure> {
        let sealed = reading.latest_of_type(kind::TRUST)?;
        // Each such record has the whole table.
        let trusted = sealed.and_then(|sealed| sealed.record.body.get("trusted").cloned());
        let trusted = trusted.and_then(|trusted| serde_json::from_value(trusted).ok());
        Ok(Self { trusted: trusted.unwrap_or_default() })
    }

    pub(super) fn trust_state(&self, settings: &TrustReport) -> TrustState {
        settings.state_with(&self.trusted)
    }
}

impl Memory {
    /// Records an approval of the settings at a path within the project. Without a digest
    /// it records that all approvals are withdrawn.
    pub(crate) fn trust(
        &mut self,
        (place, digest): (&str, Option<&str>),
        operator: &Operator,
    ) -> Result<Ledger, Failure> {
        self.retry(|memory| {
            let mut transaction = memory.begin()?;
            let mut trusted = RunConstraints::read(&mut transaction)?.trusted;
            match digest {
                Some(digest) => drop(trusted.insert(place.to_owned(), digest.to_owned())),
                None => trusted.clear(),
            }
            let change = json!({ "place": place, "digest": digest });
            let body = json!({ "trust": change, "trusted": trusted, "by": operator });
            let sealed = transaction.append(Draft {
                time: Timestamp::now().to_string(),
                kind: kind::TRUST.to_owned(),
                run: None,
                actor: operator.actor(),
                body: body::body(&body)?,
            })?;
            transaction.commit()?;
            Ok(body::place(&sealed))
        })
    }
}
