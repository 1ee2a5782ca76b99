//! The arguments of `gate doctor`.

use clap::Args;

use crate::agent::Agent;
use crate::commands::arguments::SettingsArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing is wrong, 1 something is, 2 or 5 nothing was found out"
)]
pub(crate) struct Doctor {
    /// Run each check in a copy of the work tree in which it has to fail, and send a test message
    /// to the places of [notify].
    #[arg(long)]
    pub(crate) self_test: bool,
    /// Look at this check alone.
    #[arg(long, value_name = "CHECK")]
    pub(crate) only: Option<String>,
    /// Test the hook of this agent instead: is it installed, trusted and called, and
    /// does it block a stop?
    #[arg(long, value_name = "AGENT", conflicts_with_all = [
        "self_test", "only", "config", "task_type", "exit_threshold",
    ])]
    pub(crate) agent: Option<Agent>,
    /// Update hooks that an older gate installed, of this agent or of all, and the tables of a
    /// PostgreSQL database. The tables are for the operator, with the role that owns them.
    #[arg(long)]
    pub(crate) fix: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
