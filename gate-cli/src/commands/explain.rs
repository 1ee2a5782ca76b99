//! `gate explain`: what a reason's or a warning's code means.

use gate_core::decide::reason::{ReasonCode, WarningCode, explain};

use super::{DONE, print};
use crate::args::Explain;
use crate::failure::Failure;

pub(super) fn run(args: &Explain) -> Result<u8, Failure> {
    let Some(code) = &args.code else {
        print(&all())?;
        return Ok(DONE);
    };
    let explanation = explain(code).ok_or_else(|| {
        Failure::usage("unknown-code", format!("no reason or warning has the code `{code}`"))
            .hint("`gate explain` without a code lists all")
    })?;
    print(&format!("{code}\n\n{explanation}\n"))?;
    Ok(DONE)
}

fn all() -> String {
    let reasons = ReasonCode::ALL.iter().map(|code| entry(code.code(), code.explanation()));
    let warnings = WarningCode::ALL.iter().map(|code| entry(code.code(), code.explanation()));
    let list = |entries: Vec<String>| entries.join("\n");
    format!("Reasons\n\n{}\n\nWarnings\n\n{}\n", list(reasons.collect()), list(warnings.collect()))
}

/// A code with the first sentence of its explanation.
fn entry(code: &str, explanation: &str) -> String {
    let first = explanation.split_inclusive(". ").next().unwrap_or(explanation).trim_end();
    format!("  {code:<28}{first}")
}
