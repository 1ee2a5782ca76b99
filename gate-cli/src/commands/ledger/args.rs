//! The arguments of `gate ledger`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use gate_core::ledger::Head;

use crate::commands::arguments::non_empty;

#[derive(Debug, Subcommand)]
pub(crate) enum Ledger {
    /// Verify a ledger: find edited, removed, inserted or reordered records. Without FILE, the
    /// database and the ledgers of its other projects, too.
    #[command(after_help = VERIFY_CODES)]
    Verify(Verify),
    /// Show one record whole, or the latest ones, a line each.
    Show(Show),
    /// Go on after a lost end: a failover, a restored backup, a copied file. For the operator;
    /// recorded.
    Accept(Accept),
    /// Copy the whole store to a new file, while gates run.
    Backup {
        /// The file; it must not exist.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print all records as JSONL, each with its hash.
    Export,
    /// Print the number and the hash of the last record, to be kept elsewhere.
    Head {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

const VERIFY_CODES: &str = "\
Exit codes: 0 all is whole, 1 it is not, 2 or 5 it could not be read";

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// An export of a ledger; `-` is the standard input. The project's own
    /// ledger if not given.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// A head that is known, as `gate ledger head` printed it: a ledger that
    /// ends before it was cut.
    #[arg(long, value_name = "SEQ:HASH")]
    pub(crate) head: Option<Head>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Accept {
    /// The cause of the loss.
    #[arg(long, value_name = "TEXT", value_parser = non_empty)]
    pub(crate) reason: String,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The record's number; the last 20 records if not given.
    #[arg(value_name = "N")]
    pub(crate) number: Option<NonZeroU64>,
    /// Show all records.
    #[arg(long, conflicts_with = "number")]
    pub(crate) all: bool,
    /// Print the records as JSON, one a line, with their hashes.
    #[arg(long)]
    pub(crate) json: bool,
}
