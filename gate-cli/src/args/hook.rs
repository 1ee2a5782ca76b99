//! `gate hook`, `off`, `on` and `status`.

use std::time::Duration;

use clap::Args;

use crate::agent::Agent;
use crate::settings::parse_duration;

#[derive(Debug, Args)]
#[command(after_help = CODES)]
pub(crate) struct Hook {
    /// The agent whose client calls.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Agent,
    /// The most time that the hook may take, below the client's own limit: a check that
    /// takes longer goes on by itself, and the next stop waits for it.
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub(crate) deadline: Option<Duration>,
}

/// The exit code says nothing: clients take any other than 0 in their own ways.
const CODES: &str = "\
A refusal is one JSON object on stdout; to let the agent stop, nothing is printed.
Where a session begins, its baseline is taken, and nothing is printed.
Exit code: 0, whatever is replied";

#[derive(Debug, Args)]
pub(crate) struct Off {
    /// For so long, such as 1h; until `gate on` if not given.
    #[arg(long = "for", value_name = "D", value_parser = parse_duration)]
    pub(crate) length: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct On {
    /// Have the agents' sessions in this work tree end only with an explicit signal and
    /// green checks.
    #[arg(long)]
    pub(crate) session: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
