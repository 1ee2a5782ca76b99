//! Proving that `integrity` sees what gets around the checks.

use std::fs;

use gate_core::decide::evidence::Outcome;

use super::bench::{Bench, Trouble};
use super::proof::{Proof, SelfTestOutcome};

/// Settings of continuous integration that nobody allowed.
const PLANTED: &str = ".github/workflows/gate-self-test.yml";

/// A new file that nobody but the operator may add: it has to be found.
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
    let file = root.join(PLANTED);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&file, "on: push\njobs: {none: {continue-on-error: true}}\n")?;
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
