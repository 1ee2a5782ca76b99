//! The checks behind the claims that agents made in the loops of a report, from the transcripts in
//! their run folders.

use std::collections::BTreeSet;
use std::fs;

use gate_core::Policy;
use gate_fleet::run::layout;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::audit::{ClaimSupport, Claims, Transcript, read_all};
use crate::context::Here;
use crate::failure::Failure;
use crate::governance::Runs;
use crate::loops::LoopRecord;

/// The checks that the transcripts show behind claims of completion. Observed, never evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct BehindClaims {
    /// Transcripts that were read.
    pub(super) transcripts: u64,
    /// Turns that changed files.
    pub(super) changed: u64,
    /// The claims among those turns.
    #[serde(flatten)]
    pub(super) claims: Claims,
}

impl BehindClaims {
    /// Reads the transcripts of this project's loops. None if no turn that changed files claimed
    /// to be done, and if no loop has a run folder.
    ///
    /// # Errors
    ///
    /// Settings that cannot be used.
    pub(super) fn read(
        here: &Here,
        policy: &Policy,
        loops: &[LoopRecord],
        since: Option<Timestamp>,
    ) -> Result<Option<Self>, Failure> {
        let project = Runs::here(&here.places)?;
        let names: BTreeSet<_> =
            loops.iter().filter_map(|one| one.run.split('#').next()).map(str::to_owned).collect();
        let mut files = Vec::new();
        for task in project.tasks()? {
            if !names.contains(&format!("{}-{}", project.id(), task.id())) {
                continue;
            }
            for run in task.runs()? {
                // A run without a record is no run of the night.
                let started = run.info().map(|info| info.start_time).ok();
                let is_wanted = started.is_some_and(|at| since.is_none_or(|since| at >= since));
                let path = run.file(layout::STDOUT);
                if let (true, Ok(metadata)) = (is_wanted, fs::metadata(&path)) {
                    let shown = path.display().to_string();
                    files.push(Transcript { path, shown, size: metadata.len() });
                }
            }
        }
        let record = read_all(files, Vec::new(), policy)?;
        let found = Self { transcripts: record.files, changed: record.changed, claims: record.all };
        Ok((found.claims.claims > 0).then_some(found))
    }

    /// The figures in a sentence.
    pub(super) fn sentence(&self) -> String {
        let claims = match self.claims.claims {
            1 => "1 claim of a turn that changed files".to_owned(),
            many => format!("{many} claims of turns that changed files"),
        };
        let shown = ClaimSupport::ALL.iter().filter_map(|support| {
            let number = self.claims.number(*support);
            let what = match support {
                ClaimSupport::PassedAfter => "with a check that passed after the last edit",
                ClaimSupport::Stale => "with an older check alone",
                ClaimSupport::Failed => "with one that failed",
                ClaimSupport::None => "with none",
                ClaimSupport::Unknown => "that cannot be told",
            };
            (number > 0).then(|| format!("{number} {what}"))
        });
        format!("{claims}: {}", shown.collect::<Vec<_>>().join(", "))
    }
}
