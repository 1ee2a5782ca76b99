//! `gate log`: the latest records, a line each.

pub(super) mod card;

use gate_core::ledger::Sealed;
use serde_json::Value;

use super::common::DONE;
use super::entries;
use super::lines::{Flow, Lines};
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::settings::{self, Selection};
use clap::Args;
use std::num::NonZeroU64;

#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Go on with new records as they come.
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Show so many records.
    #[arg(short = 'n', value_name = "N", default_value = "20")]
    pub(crate) count: NonZeroU64,
    /// Show the records of this run, or of the runs of this name, alone.
    #[arg(long, value_name = "R")]
    pub(crate) run: Option<String>,
    /// Print the records as JSON, one a line, with their hashes.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Records that are shown by default.
pub(super) const DEFAULT_COUNT: u64 = 20;

pub(super) fn run(here: &Here, args: &Log) -> Result<u8, Failure> {
    let listing = Listing {
        count: Some(args.count.get()),
        run: args.run.as_deref(),
        follow: args.follow,
        json: args.json,
    };
    list(&mut opened(here)?, &listing)
}

/// The project's ledger.
pub(super) fn opened(here: &Here) -> Result<Memory, Failure> {
    let policy = settings::resolve(&here.places, &Selection::default())?.policy;
    here.memory(&policy)
}

/// The records to list, and their form.
pub(super) struct Listing<'a> {
    /// The number of latest records; none means all.
    pub(super) count: Option<u64>,
    /// Those of this run, or of the runs of this loop, alone.
    pub(super) run: Option<&'a str>,
    /// Wait for new records.
    pub(super) follow: bool,
    /// As JSON.
    pub(super) json: bool,
}

/// Lists records, the latest last.
pub(super) fn list(memory: &mut Memory, listing: &Listing<'_>) -> Result<u8, Failure> {
    let mut lines = if listing.json { Lines::for_program() } else { Lines::for_person() };
    let mut next = match listing.count {
        Some(count) => entries::start(memory, count, |sealed| listing.wants(sealed))?,
        None => 1,
    };
    loop {
        let shown = entries::each(memory, next, |sealed| listing.show(sealed, &mut lines))?;
        let flow = lines.flush()?;
        match shown {
            Some(after) if listing.follow && flow.is_continue() => next = after,
            _ => return Ok(DONE),
        }
        if lines.wait()?.is_break() {
            return Ok(DONE);
        }
    }
}

impl Listing<'_> {
    fn show(&self, sealed: &Sealed, lines: &mut Lines) -> Result<Flow, Failure> {
        if !self.wants(sealed) {
            return Ok(Flow::Continue(()));
        }
        lines.line(&if self.json { sealed.to_line() } else { card::log_line(sealed) })
    }

    fn wants(&self, sealed: &Sealed) -> bool {
        let Some(run) = self.run else { return true };
        let name = sealed.record.body.get("state").and_then(|state| state.get("loop"));
        sealed.record.run.as_deref() == Some(run) || name.and_then(Value::as_str) == Some(run)
    }
}
