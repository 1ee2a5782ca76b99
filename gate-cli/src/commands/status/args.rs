//! The arguments of `gate status`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Print one line of at most 120 characters, for a status bar.
    #[arg(long, conflicts_with = "json")]
    pub(crate) line: bool,
    /// Show it again each second, until Ctrl-C.
    #[arg(long, conflicts_with_all = ["line", "json"])]
    pub(crate) watch: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
