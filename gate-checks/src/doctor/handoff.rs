//! Proving that `handoff` sees a handoff that lacks something.

use std::fs;

use gate_core::decide::evidence::Outcome;

use super::bench::{Bench, Trouble, copy_ignored_files, first_file};
use super::finding::{Proof, SelfTestOutcome};

/// A handoff that lacks nearly all.
const LACKING: &str = "## Handoff\n- objective: ...\n";

/// Replaces the first file by a handoff that lacks nearly all: the check has to fail.
pub(super) fn prove(bench: &Bench<'_>) -> Result<Proof, Trouble> {
    copy_ignored_files(bench)?;
    let unchanged = bench.run()?;
    if unchanged.outcome == Outcome::Fail {
        let account = format!("it fails as it is: {}", unchanged.summary);
        return Ok(bench.proof(SelfTestOutcome::CanFail, account, &unchanged));
    }
    let Some(file) = first_file(bench) else {
        return Ok(bench.not_shown("none of its files is there"));
    };
    let name = file.strip_prefix(&bench.copy.project).unwrap_or(&file).display().to_string();
    fs::write(&file, LACKING)?;
    let evidence = bench.run()?;
    let [failed, passed] =
        ["failed", "passed"].map(|result| format!("it {result} with {name} emptied"));
    Ok(bench.weigh(&evidence, failed, passed))
}
