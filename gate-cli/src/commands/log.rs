//! `gate log`: the latest records, a line each.

use gate_core::protocol::ledger::Sealed;
use serde_json::Value;

use super::common::DONE;
use super::entries;
use super::lines::{Flow, Lines};
use crate::args::Log;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::render;
use crate::settings::{self, Selection};

/// How many records are shown where nobody says.
pub(super) const COUNT: u64 = 20;

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

/// Which records are listed, and how.
pub(super) struct Listing<'a> {
    /// So many of the latest; all where it is none.
    pub(super) count: Option<u64>,
    /// Those of this run, or of the runs of this loop, alone.
    pub(super) run: Option<&'a str>,
    /// Whether new records are waited for.
    pub(super) follow: bool,
    /// As JSON.
    pub(super) json: bool,
}

/// Lists records, the latest last.
pub(super) fn list(memory: &mut Memory, listing: &Listing<'_>) -> Result<u8, Failure> {
    let mut lines = if listing.json { Lines::exact() } else { Lines::shown() };
    let mut next = match listing.count {
        Some(count) => entries::start(memory, count, |sealed| listing.wants(sealed))?,
        None => 1,
    };
    loop {
        let shown = entries::each(memory, next, |sealed| listing.show(sealed, &mut lines))?;
        let flow = lines.flush()?;
        match shown.filter(|_| listing.follow && flow.is_continue()) {
            Some(after) => next = after,
            None => return Ok(DONE),
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
        lines.line(&if self.json { sealed.to_line() } else { render::log_line(sealed) })
    }

    fn wants(&self, sealed: &Sealed) -> bool {
        let name = || sealed.record.body.get("state")?.get("loop").and_then(Value::as_str);
        self.run.is_none_or(|run| sealed.record.run.as_deref() == Some(run) || name() == Some(run))
    }
}
