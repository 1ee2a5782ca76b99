//! The arguments of `gate baseline`.

use clap::Args;

use crate::commands::arguments::SettingsArgs;

/// The exit codes of `gate baseline`.
pub(crate) const CODES: &str = "\
Exit codes: 0, or 1 if there is none (outside of git, or nothing was committed), 2 or 5
nothing was found out";

#[derive(Debug, Args)]
pub(crate) struct Baseline {
    /// Show the one that waits for runs, and take none.
    #[arg(long, conflicts_with = "forget")]
    pub(crate) show: bool,
    /// Forget the one that waits for runs: they compare with history again.
    #[arg(long)]
    pub(crate) forget: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
