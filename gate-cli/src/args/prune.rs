//! The arguments of `gate prune`.

use std::time::Duration;

use clap::Args;

use crate::settings::parse_duration;

#[derive(Debug, Args)]
#[command(after_help = CODES)]
pub(crate) struct Prune {
    /// Keep what was used within this time, such as 12h or 7d.
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    pub(crate) older: Option<Duration>,
    /// Show what would be removed, and remove nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

const CODES: &str = "\
Exit codes: 0 removed, 1 something could not be removed, 2 or 5 nothing was looked at";
