//! A loop around an agent: after each iteration gate decides if the loop may end.
//!
//! ```sh
//! cargo run --example gate_a_loop -- PROMPT.md claude -p
//! ```

#![allow(clippy::print_stderr, reason = "a program answers")]

use std::error::Error;
use std::io::Write;
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use gate_cli::{Gate, Request, Source, Verdict, time_to_retry};

/// Most iterations of one start.
const LIMIT: u64 = 20;

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("nothing was decided: {error}");
        ExitCode::from(5)
    })
}

fn run() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [task, agent @ ..] = words.as_slice() else {
        return Err("usage: gate_a_loop PROMPT.md AGENT [ARGUMENT…]".into());
    };
    let task = fs::read_to_string(task)?;
    let gate = Gate::builder(".").build()?;
    let (mut feedback, mut wait) = (String::new(), Duration::ZERO);
    for iteration in 1..=LIMIT {
        thread::sleep(wait);
        let mut request = Request::default();
        request.asker.run = Some("nightly".to_owned());
        request.asker.iteration = Some(iteration);
        // A new start is a new run.
        request.asker.new_run = iteration == 1;
        let protocol = gate.prompt(&request)?;
        let output = ask(agent, format!("{task}\n\n{protocol}\n\n{feedback}"))?;
        // None if a signal ended it, which is no success either.
        request.turn.agent_exit_code = Some(output.status.code().unwrap_or(1));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let record = gate.check_with(&Source::from(text), &request)?;
        let decision = &record.decision;
        for reason in &decision.reasons {
            eprintln!("{iteration} {}: {}", decision.verdict.name(), reason.message);
        }
        if decision.verdict != Verdict::Continue {
            return Ok(ExitCode::from(decision.verdict.exit_code()));
        }
        feedback.clone_from(&decision.feedback);
        // Longer than nothing if the agent ran into a limit of its service.
        wait = time_to_retry(&record);
    }
    eprintln!("not done after {LIMIT} iterations");
    Ok(ExitCode::from(Verdict::Tripped.exit_code()))
}

/// Runs the agent once, with the prompt on its standard input.
fn ask(agent: &[String], prompt: String) -> Result<Output, Box<dyn Error>> {
    let (program, arguments) = agent.split_first().ok_or("name the agent's program")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let mut stdin = agent.stdin.take().ok_or("the agent has no standard input")?;
    // An agent that does not read its prompt has its reasons.
    thread::spawn(move || drop(stdin.write_all(prompt.as_bytes())));
    Ok(agent.wait_with_output()?)
}
