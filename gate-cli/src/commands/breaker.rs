//! `gate breaker`: the state of circuit breakers, and an operator's acts.

mod args;
mod card;

use gate_core::Verdict;
use gate_core::decide::breaker::Act;

pub(crate) use self::args::Breaker;
use super::common::DONE;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{BreakerStatus, Operation, Which};
use crate::render::{self, print};
use crate::settings::{self, Selection};

pub(super) fn run(here: &Here, args: &Breaker) -> Result<u8, Failure> {
    let policy = settings::resolve(&here.places, &Selection::default())?.policy;
    let mut memory = here.memory(&policy)?;
    let which = args.selection().which();
    let (act, args) = match args {
        Breaker::Status(selection) => {
            let status = memory.breaker(which, &policy)?;
            answer(selection, &status)?;
            return Ok(if status.stops() { Verdict::Tripped.exit_code() } else { DONE });
        }
        Breaker::Reset(args) => (Act::Reset, args),
        Breaker::Trip(args) => (Act::Trip, args),
        Breaker::Isolate(args) => (Act::Isolate, args),
    };
    here.operator(&format!("gate breaker {}", act.name().trim_start_matches("breaker_")))?;
    let status = memory.operate(Operation { which, act, reason: &args.reason }, &policy)?;
    answer(&args.selection, &status)?;
    Ok(DONE)
}

fn answer(selection: &args::BreakerSelection, status: &BreakerStatus) -> Result<(), Failure> {
    print(&if selection.json { render::json(status)? } else { card::breaker_card(status) })
}

impl Breaker {
    /// The breakers that the command is about, and the form of its answer.
    pub(super) fn selection(&self) -> &args::BreakerSelection {
        match self {
            Self::Status(selection) => selection,
            Self::Reset(args) | Self::Trip(args) | Self::Isolate(args) => &args.selection,
        }
    }
}

impl args::BreakerSelection {
    fn which(&self) -> Which<'_> {
        match (&self.run, &self.task) {
            (Some(run), _) => Which::Run(run),
            (None, Some(task)) => Which::Task(task),
            (None, None) => Which::Here,
        }
    }
}
