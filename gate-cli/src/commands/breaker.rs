//! `gate breaker`: the state of circuit breakers, and an operator's acts.

mod card;

use clap::{Args, Subcommand};
use gate_core::Verdict;
use gate_core::decide::breaker::Act;

use super::arguments::non_empty;
use super::common::DONE;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory::{BreakerSelector, BreakerStatus, Operation};
use crate::render::{self, print};
use crate::settings::{self, Selection};

const STATUS_CODES: &str = "\
Exit codes: 0 ready, 3 stopped, 5 the state could not be read";

#[derive(Debug, Subcommand)]
pub(crate) enum Breaker {
    /// Show which breakers are not closed, and why.
    #[command(after_help = STATUS_CODES)]
    Status(BreakerSelection),
    /// Close the open breakers and set their counters to zero. For the operator; recorded.
    Reset(BreakerOperation),
    /// Open the breaker of a task or a run, else of all work without a task. For the operator;
    /// recorded.
    Trip(BreakerOperation),
    /// Open a breaker until it is reset. For the operator; recorded.
    Isolate(BreakerOperation),
}

/// The breakers to look at; by default those of this work tree.
#[derive(Debug, Args)]
pub(crate) struct BreakerSelection {
    /// Those of this task.
    #[arg(long, value_name = "ID", conflicts_with = "run")]
    pub(crate) task: Option<String>,
    /// That of this run, loop or session.
    #[arg(long, visible_alias = "session", value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BreakerOperation {
    /// Why.
    #[arg(long, value_name = "TEXT", value_parser = non_empty)]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) selection: BreakerSelection,
}

pub(super) fn run(invocation: &Invocation, args: &Breaker) -> Result<u8, Failure> {
    let policy = settings::resolve(&invocation.places, &Selection::default())?.policy;
    let mut memory = invocation.memory(&policy)?;
    let selector = args.selection().selector();
    let (act, args) = match args {
        Breaker::Status(selection) => {
            let status = memory.breaker(selector, &policy)?;
            answer(selection, &status)?;
            return Ok(if status.stops() { Verdict::Tripped.exit_code() } else { DONE });
        }
        Breaker::Reset(args) => (Act::Reset, args),
        Breaker::Trip(args) => (Act::Trip, args),
        Breaker::Isolate(args) => (Act::Isolate, args),
    };
    invocation.operator(&format!("gate breaker {}", act.name().trim_start_matches("breaker_")))?;
    let status = memory.operate(Operation { selector, act, reason: &args.reason }, &policy)?;
    answer(&args.selection, &status)?;
    Ok(DONE)
}

fn answer(selection: &BreakerSelection, status: &BreakerStatus) -> Result<(), Failure> {
    print(&if selection.json { render::json(status)? } else { card::breaker_card(status) })
}

impl Breaker {
    /// The breakers that the command is about, and the form of its answer.
    pub(super) fn selection(&self) -> &BreakerSelection {
        match self {
            Self::Status(selection) => selection,
            Self::Reset(args) | Self::Trip(args) | Self::Isolate(args) => &args.selection,
        }
    }
}

impl BreakerSelection {
    fn selector(&self) -> BreakerSelector<'_> {
        match (&self.run, &self.task) {
            (Some(run), _) => BreakerSelector::Run(run),
            (None, Some(task)) => BreakerSelector::Task(task),
            (None, None) => BreakerSelector::ThisTree,
        }
    }
}
