//! The arguments of `gate status`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
