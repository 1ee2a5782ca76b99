//! The arguments of `gate breaker`.

use clap::{Args, Subcommand};

use crate::commands::arguments::non_empty;

const STATUS_CODES: &str = "\
Exit codes: 0 closed or half open, 3 open or isolated, 5 the state could not be read";

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
