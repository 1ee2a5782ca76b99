//! `gate breaker`: what the circuit breaker says, and an operator's acts.

use gate_core::Verdict;
use gate_core::decide::breaker::{Act, BreakerState};

use super::{DONE, Here, print};
use crate::args::{Breaker, Task};
use crate::failure::Failure;
use crate::memory::Operation;
use crate::render;
use crate::settings::{self, Selection};

pub(super) fn run(here: &Here, args: &Breaker) -> Result<u8, Failure> {
    let policy = settings::resolve(&here.places, &Selection::default())?.policy;
    let mut memory = here.memory(&policy)?;
    let task = args.of().task.as_str();
    let (act, args) = match args {
        Breaker::Status(of) => {
            let status = memory.breaker(task, &policy)?;
            answer(of, &status)?;
            return Ok(code(status.state));
        }
        Breaker::Reset(args) => (Act::Reset, args),
        Breaker::Trip(args) => (Act::Trip, args),
        Breaker::Isolate(args) => (Act::Isolate, args),
    };
    here.operator(&format!("gate breaker {}", act.name().trim_start_matches("breaker_")))?;
    let status = memory.operate(Operation { task, act, reason: &args.reason }, &policy)?;
    answer(&args.of, &status)?;
    Ok(DONE)
}

fn answer(of: &Task, status: &crate::memory::BreakerStatus) -> Result<(), Failure> {
    print(&if of.json { render::json(status)? } else { render::breaker_card(status) })
}

/// An open breaker has the code of the verdict that it gives.
fn code(state: BreakerState) -> u8 {
    match state {
        BreakerState::Closed | BreakerState::HalfOpen => DONE,
        BreakerState::Open | BreakerState::Isolated => Verdict::Tripped.exit_code(),
    }
}

impl Breaker {
    /// Which breaker, and how the answer is printed.
    pub(super) fn of(&self) -> &Task {
        match self {
            Self::Status(of) => of,
            Self::Reset(args) | Self::Trip(args) | Self::Isolate(args) => &args.of,
        }
    }
}
