//! The checks behind the claims that agents made in the loops of a report, from the transcripts in
//! their run folders.

use gate_core::Policy;
use schemars::JsonSchema;
use serde::Serialize;

use crate::audit::{AuditTools, ClaimSupport, Claims, Transcript, read_all};
use gate_core::Failure;

/// The checks that the transcripts show behind claims of completion. Observed, never evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BehindClaims {
    /// Transcripts that were read.
    pub transcripts: u64,
    /// Turns that changed files.
    pub changed: u64,
    /// The claims among those turns.
    #[serde(flatten)]
    pub claims: Claims,
}

impl BehindClaims {
    /// Reads the transcripts of loops; `None` if no turn that changed files claimed to be done.
    ///
    /// # Errors
    ///
    /// Settings that cannot be used.
    pub fn read(
        files: Vec<Transcript>,
        policy: &Policy,
        tools: AuditTools<'_>,
    ) -> Result<Option<Self>, Failure> {
        let record = read_all(files, Vec::new(), policy, tools)?;
        let behind =
            Self { transcripts: record.files, changed: record.changed, claims: record.all };
        Ok((behind.claims.claims > 0).then_some(behind))
    }

    /// The figures in a sentence, the worst first.
    pub fn sentence(&self) -> String {
        let claims = match self.claims.claims {
            1 => "1 claim of a turn that changed files".to_owned(),
            many => format!("{many} claims of turns that changed files"),
        };
        let shown = ClaimSupport::WORST_FIRST.iter().filter_map(|support| {
            let number = self.claims.number(*support);
            let check = match support {
                ClaimSupport::PassedAfter => "with a check that passed after the last edit",
                ClaimSupport::Stale => "with an older check alone",
                ClaimSupport::Failed => "with one that failed",
                ClaimSupport::None => "with none",
                ClaimSupport::Unknown => "that cannot be told",
            };
            (number > 0).then(|| format!("{number} {check}"))
        });
        format!("{claims}: {}", shown.collect::<Vec<_>>().join(", "))
    }
}
