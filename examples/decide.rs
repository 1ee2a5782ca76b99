//! Decides without input or output: the caller brings the text and the evidence.
//!
//! ```sh
//! cargo run --example decide
//! ```

#![allow(clippy::print_stdout, reason = "a program answers")]

use std::error::Error;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;
use gate_core::{Input, Policy, decide, scan};

const OUTPUT: &str = "\
The parser is in place: all tasks are completed, and it is ready for review.

EXIT_STATUS: COMPLETE
EXIT_REASON: every criterion is met";

fn main() -> Result<(), Box<dyn Error>> {
    let policy = Policy::default();
    for outcome in [Outcome::Pass, Outcome::Fail] {
        let scan = scan(OUTPUT.as_bytes(), &policy)?;
        let mut input = Input::new(scan.signal, scan.hits);
        input.evidence.push(Evidence::new("tests", Mode::Require, outcome));
        let decision = decide(&input, &policy);
        println!("tests {outcome:?}: {}", decision.verdict.name());
        for reason in &decision.reasons {
            println!("  {}", reason.message);
        }
    }
    Ok(())
}
