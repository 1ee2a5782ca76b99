//! `gate ledger`: shows, verifies and copies the records.

mod accept;
mod args;
pub(super) mod card;
mod store;
mod verify;

use std::path::Path;

pub(crate) use self::args::{Ledger, Show, Verify};
use super::common::DONE;
use super::entries;
use super::lines::Lines;
use super::log::card::record_card;
use super::log::{self, Listing};
use crate::context::Here;
use crate::failure::Failure;
use crate::render::{self, print};

pub(super) fn run(here: &Here, args: &Ledger) -> Result<u8, Failure> {
    match args {
        Ledger::Verify(args) => verify::run(here, args),
        Ledger::Show(args) => show(here, args),
        Ledger::Accept(args) => accept::run(here, args),
        Ledger::Backup { file } => backup(here, file),
        Ledger::Export => export(here),
        Ledger::Head { json } => head(here, *json),
    }
}

fn show(here: &Here, args: &Show) -> Result<u8, Failure> {
    let mut memory = log::opened(here)?;
    let Some(number) = args.number else {
        let count = if args.all { None } else { Some(log::DEFAULT_COUNT) };
        return log::list(&mut memory, &Listing { count, json: args.json, ..Listing::default() });
    };
    let mut view = memory.view()?;
    let (found, last) = (view.entry(number.get())?, view.head()?.seq);
    drop(view);
    let sealed = found.ok_or_else(|| {
        let message = format!("there is no record {number}: the ledger ends at record {last}");
        Failure::usage("unknown-record", message).hint("`gate log` lists the latest records")
    })?;
    let mut lines = if args.json { Lines::for_program() } else { Lines::for_person() };
    let text = if args.json { sealed.to_line() } else { record_card(&sealed) };
    if lines.line(&text)?.is_continue() {
        let _ = lines.flush()?;
    }
    Ok(DONE)
}

fn export(here: &Here) -> Result<u8, Failure> {
    let mut lines = Lines::for_program();
    entries::each(&mut log::opened(here)?, 1, |sealed| lines.line(&sealed.to_line()))?;
    let _ = lines.flush()?;
    Ok(DONE)
}

fn backup(here: &Here, file: &Path) -> Result<u8, Failure> {
    let to = here.places.folder.join(file);
    let mut memory = log::opened(here)?;
    let records = memory.back_up(&to)?;
    print(&format!("copied to {}: {records} records of this project\n", to.display()))?;
    Ok(DONE)
}

fn head(here: &Here, json: bool) -> Result<u8, Failure> {
    let head = log::opened(here)?.view()?.head()?;
    print(&if json { render::json(&head)? } else { format!("{head}\n") })?;
    Ok(DONE)
}

impl Ledger {
    pub(super) fn json(&self) -> bool {
        match self {
            Self::Verify(args) => args.json,
            Self::Show(args) => args.json,
            Self::Accept(args) => args.json,
            Self::Head { json } => *json,
            Self::Backup { .. } | Self::Export => false,
        }
    }
}
