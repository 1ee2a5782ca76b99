//! `gate ledger`: shows, verifies and copies the records.

mod accept;
pub(super) mod card;
mod store;
mod verify;

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use gate_core::ledger::Head;

use super::arguments::non_empty;
use super::common::DONE;
use super::entries;
use super::log::{self, Log};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::render::{self, print};
use gate_card::Lines;
use gate_lens::log::card::record_card;

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

pub(super) fn run(invocation: &Invocation, args: &Ledger) -> Result<u8, Failure> {
    match args {
        Ledger::Verify(args) => verify::run(invocation, args),
        Ledger::Show(args) => show(invocation, args),
        Ledger::Accept(args) => accept::run(invocation, args),
        Ledger::Backup { file } => backup(invocation, file),
        Ledger::Export => export(invocation),
        Ledger::Head { json } => head(invocation, *json),
    }
}

fn show(invocation: &Invocation, args: &Show) -> Result<u8, Failure> {
    let mut memory = log::open_ledger(invocation)?;
    let Some(number) = args.number else {
        let count = if args.all { None } else { Some(log::DEFAULT_COUNT) };
        return log::list(&mut memory, &Log { json: args.json, ..Log::default() }, count);
    };
    let mut view = memory.view()?;
    let (entry, last_seq) = (view.entry(number.get())?, view.head()?.seq);
    drop(view);
    let sealed = entry.ok_or_else(|| {
        let message = format!("there is no record {number}: the ledger ends at record {last_seq}");
        Failure::usage("unknown-record", message).hint("`gate log` lists the latest records")
    })?;
    let mut lines = Lines::new(args.json);
    let text = if args.json { sealed.to_line() } else { record_card(&sealed) };
    if lines.line(&text)?.is_continue() {
        let _ = lines.flush()?;
    }
    Ok(DONE)
}

fn export(invocation: &Invocation) -> Result<u8, Failure> {
    let mut lines = Lines::new(true);
    entries::each(&mut log::open_ledger(invocation)?, 1, |sealed| lines.line(&sealed.to_line()))?;
    let _ = lines.flush()?;
    Ok(DONE)
}

fn backup(invocation: &Invocation, file: &Path) -> Result<u8, Failure> {
    let copy = invocation.places.folder.join(file);
    let mut memory = log::open_ledger(invocation)?;
    let record_count = memory.back_up(&copy)?;
    print(&format!("copied to {}: {record_count} records of this project\n", copy.display()))?;
    Ok(DONE)
}

fn head(invocation: &Invocation, json: bool) -> Result<u8, Failure> {
    let head = log::open_ledger(invocation)?.view()?.head()?;
    print(&if json { render::json(&head)? } else { format!("{head}\n") })?;
    Ok(DONE)
}
