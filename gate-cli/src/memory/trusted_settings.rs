//! The settings that an operator approved.

use std::collections::BTreeMap;

use gate_core::history::kind;
use serde_json::json;

use super::{Memory, body};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::Ledger;
use crate::store::View;

/// The digests of approved settings, by their path within the project.
pub(super) fn trusted_settings(view: &mut View<'_>) -> Result<BTreeMap<String, String>, Failure> {
    let sealed = view.latest_of_type(kind::TRUST)?;
    // Each such record has the whole table.
    let trusted = sealed.and_then(|sealed| sealed.record.body.get("trusted").cloned());
    Ok(trusted.and_then(|trusted| serde_json::from_value(trusted).ok()).unwrap_or_default())
}

impl Memory {
    /// Records an approval of the settings at a path within the project. Without a digest
    /// it records that all approvals are withdrawn.
    pub(crate) fn trust(
        &mut self,
        place: &str,
        digest: Option<&str>,
        operator: &Operator,
    ) -> Result<Ledger, Failure> {
        self.retry(|memory| {
            let mut transaction = memory.begin()?;
            let mut trusted = trusted_settings(&mut transaction)?;
            match digest {
                Some(digest) => drop(trusted.insert(place.to_owned(), digest.to_owned())),
                None => trusted.clear(),
            }
            let change = json!({ "place": place, "digest": digest });
            let body = json!({ "trust": change, "trusted": trusted, "by": operator });
            let draft = body::draft(kind::TRUST, None, &operator.actor(), &body)?;
            let sealed = transaction.append(draft)?;
            transaction.commit()?;
            Ok(Ledger::place(&sealed))
        })
    }
}
