//! A loop around an agent: after each iteration gate decides if the loop may end.
//!
//! ```sh
//! cargo run --example gate_a_loop -- my-agent --yes
//! ```

#![allow(clippy::print_stdout, reason = "a program answers")]

use std::error::Error;
use std::process::Command;

use gate_cli::{Gate, Verdict};

fn main() -> Result<(), Box<dyn Error>> {
    let mut command = std::env::args().skip(1);
    let agent = command.next().ok_or("usage: gate_a_loop AGENT [ARGUMENT…]")?;
    let arguments: Vec<_> = command.collect();
    let gate = Gate::builder(".").build()?;
    loop {
        let output = Command::new(&agent).args(&arguments).output()?;
        let record = gate.check(String::from_utf8_lossy(&output.stdout).into_owned())?;
        match record.decision.verdict {
            Verdict::Continue => println!("go on: {}", record.decision.feedback),
            Verdict::Exit => break println!("done"),
            verdict => return Err(format!("stopped, not done: {}", verdict.name()).into()),
        }
    }
    Ok(())
}
