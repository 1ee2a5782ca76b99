//! The first turn of a loop that lists the open decisions of its task, before any work.

use std::fs;
use std::io;
use std::path::PathBuf;

use gate_checks::worktree::{Snapshot, WorkTree};
use gate_core::decide::open_decisions::Listing;

use super::agent_loop::Loop;
use crate::failure::Failure;
use crate::gate::{Gate, Judging};
use crate::memory::DecisionsKey;
use crate::record::Record;

/// The turns that an agent has for its list: a list that does not count is asked for once more.
pub(crate) const LISTING_TURNS: u64 = 2;

/// The most changed files that a record names.
const MAX_CHANGED_FILES: usize = 200;

/// The parameters of such a turn.
#[derive(Clone, Debug)]
pub(crate) struct ListingOrder {
    pub(crate) key: DecisionsKey,
    /// The file in which a person confirms the list.
    pub(crate) file: PathBuf,
    /// The work tree before the turn.
    pub(crate) tree: Snapshot,
    /// The folder of all runs, which may lie in the tree: what gate writes there is no change.
    pub(crate) runs: PathBuf,
}

impl ListingOrder {
    /// The list of the turn, and the files that it changed.
    pub(super) fn read(&self, gate: &Gate, judging: &Judging) -> Result<Listing, Failure> {
        let changes = self.tree.changes_to(&gate.snapshot()?);
        let root = WorkTree::open(gate.place()).map(|tree| tree.root().to_owned());
        let is_of_runs =
            |name: &String| root.as_ref().is_ok_and(|root| root.join(name).starts_with(&self.runs));
        let names = [changes.changed, changes.vanished, changes.appeared].concat();
        Ok(Listing {
            changed: names
                .into_iter()
                .filter(|name| !is_of_runs(name))
                .take(MAX_CHANGED_FILES)
                .collect(),
            file: Some(self.file.display().to_string()),
            ..Listing::read(&judging.scan.last_word)
        })
    }
}

impl Loop<'_> {
    /// Records the list of a turn. Returns `false` if the turn has none that counts.
    pub(super) fn note_listing(&self, record: &Record) -> Result<bool, Failure> {
        let listing = record.decision.input.observed.listing.as_ref();
        let (Some(order), Some(listing)) = (&self.order.listing, listing) else { return Ok(false) };
        if listing.objection().is_some() {
            return Ok(false);
        }
        // The agent may have left a file of its own in that place, in which all is confirmed.
        if let Err(error) = fs::remove_file(&order.file)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(Failure::file("folder-unwritable", "remove", &order.file, &error));
        }
        if let (Some(mut memory), [_, ..]) = (self.gate.memory(), listing.open.as_slice()) {
            memory.decisions_listed(&order.key, &self.order.agent, &listing.open)?;
        }
        Ok(true)
    }
}
