//! Proving that `integrity` sees what gets around the checks.

use std::fs;

use gate_core::decide::evidence::Outcome;

use super::bench::{Bench, Trouble};
use super::proof::{Proof, SelfTestOutcome};

/// A module that hides a test runner.
const PLANTED: &str = "pytest.py";

/// A new file that hides a tool: it has to be found.
pub(super) fn prove(bench: &Bench<'_>) -> Result<Proof, Trouble> {
    if let Some(proof) = bench.does_not_begin("nothing was changed")? {
        return Ok(proof);
    }
    fs::write(bench.copy.root.join(PLANTED), "")?;
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
