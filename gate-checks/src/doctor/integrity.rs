//! Proving that `integrity` sees what gets around the checks.

use std::fs;

use gate_core::decide::evidence::Outcome;

use super::bench::{Bench, Trouble};
use super::proof::{Proof, SelfTestOutcome};

/// A module that hides a test runner.
const PLANTED: &str = "pytest.py";

/// A new file that hides a tool: it has to be found.
pub(super) fn prove(bench: &Bench<'_>) -> Result<Proof, Trouble> {
    let root = &bench.copy.root;
    if !root.join(".git").is_dir() {
        return Ok(bench.not_shown("the project is in no git repository"));
    }
    let before = bench.run()?;
    if before.outcome != Outcome::Pass {
        let how = format!("it does not pass where nothing was changed: {}", before.summary);
        return Ok(bench.proof(SelfTestOutcome::NotShown, how, &before));
    }
    fs::write(root.join(PLANTED), "")?;
    let after = bench.run()?;
    let (standing, how) = match after.outcome {
        Outcome::Fail | Outcome::Tamper if after.summary.contains(PLANTED) => {
            (SelfTestOutcome::CanFail, format!("it found {PLANTED}, which was added"))
        }
        Outcome::Pass => (
            SelfTestOutcome::CannotFail,
            format!("it passed although {PLANTED} was added: look at `[[integrity.allow]]`"),
        ),
        _ => (SelfTestOutcome::NotShown, after.summary.clone()),
    };
    Ok(bench.proof(standing, how, &after))
}
