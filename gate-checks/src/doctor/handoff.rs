//! Proving that `handoff` sees one that lacks something.

use std::fs;

use gate_core::decide::evidence::Outcome;

use super::bench::{Bench, Trouble, fetch, file};
use super::finding::{Proof, SelfTestOutcome};

/// A handoff that lacks nearly all.
const LACKING: &str = "## Handoff\n- objective: ...\n";

/// Replaces the first file by a handoff that lacks nearly all: it has to fail.
pub(super) fn prove(bench: &Bench<'_>) -> Result<Proof, Trouble> {
    fetch(bench)?;
    let before = bench.run()?;
    if before.outcome == Outcome::Fail {
        let how = format!("it fails as it is: {}", before.summary);
        return Ok(bench.proof(SelfTestOutcome::CanFail, how, &before));
    }
    let Some(file) = file(bench) else {
        return Ok(bench.not_shown("none of its files is there"));
    };
    let shown = file.strip_prefix(&bench.copy.project).unwrap_or(&file).display().to_string();
    fs::write(&file, LACKING)?;
    let after = bench.run()?;
    let [failed, passed] =
        ["failed", "passed"].map(|ended| format!("it {ended} with {shown} emptied"));
    Ok(bench.weigh(&after, failed, passed))
}
