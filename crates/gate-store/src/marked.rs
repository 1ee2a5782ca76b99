//! A ledger's head is marked apart from it, so that one that was removed, cut or replaced is
//! noticed.

use gate_core::ledger::Head;

use super::error::StoreError;
use super::heads::{KnownMark, MarkFile, NewMark};
use super::loss::{Acceptance, Loss, Losses, moved_out};
use super::view::View;

/// A ledger's expectations from outside of it.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) known: Option<KnownMark>,
    /// Nothing is expected: the ledger was set aside, or its loss accepted.
    pub(super) is_renewed: bool,
}

/// The result of a comparison with a mark.
#[derive(Debug)]
pub(super) struct Comparison {
    /// The last acceptance of a loss in the ledger.
    acceptance: Option<Acceptance>,
    /// The next mark takes the place of a later one.
    replaces: bool,
}

impl Expected {
    pub(super) fn head(&self) -> Option<Head> {
        self.known.map(|known| known.head)
    }

    /// Fails if the ledger does not have the record that is marked, or if another machine has
    /// reported that it knows later ones. A ledger that goes on after the mark was written by
    /// others, or by a gate that was killed before it marked.
    pub(super) fn compare(&self, view: &mut View<'_>) -> Result<Comparison, StoreError> {
        let Losses { open, accepted: acceptance } = Losses::read(view)?;
        if self.is_renewed {
            return Ok(Comparison { acceptance, replaces: true });
        }
        if let Some(Loss { marked, found }) = open {
            return Err(StoreError::Lost { marked, found });
        }
        let Some(KnownMark { head: marked, acceptance: known }) = self.known else {
            return Ok(Comparison { acceptance, replaces: false });
        };
        let found = view.head()?;
        let there = if found == marked { None } else { view.entry(marked.seq)? };
        let is_there = match there {
            _ if found == marked => true,
            Some(entry) => entry.record.hash() == marked.hash,
            None => is_moved_out(view, marked)?,
        };
        if is_there {
            return Ok(Comparison { acceptance, replaces: false });
        }
        // What this machine marked after an acceptance, it marked with that acceptance. So a loss
        // that was accepted since the mark is the one of the marked record.
        let is_news = |known: Option<Acceptance>| {
            acceptance.map(|acceptance| acceptance.time) > known.map(|known| known.time)
        };
        if known.is_ok_and(is_news) {
            return Ok(Comparison { acceptance, replaces: true });
        }
        Err(StoreError::Lost { marked, found })
    }
}

/// The mark of a ledger that a transaction changes.
#[derive(Debug)]
pub(super) struct Mark<'s> {
    pub(super) file: MarkFile,
    pub(super) expected: Expected,
    pub(super) compared: Comparison,
    pub(super) renewed: &'s mut Option<String>,
}

impl Mark<'_> {
    /// Marks the head after a commit. What is recorded is durable by now, so nothing fails here: a
    /// mark that cannot be written lags behind, as one does after a crash.
    pub(super) fn advance(self, head: Head) {
        if Some(head) == self.expected.head() || head.seq == 0 {
            return;
        }
        let Comparison { acceptance, replaces } = self.compared;
        let mark = NewMark { head, acceptance, replaces };
        if self.file.keep(mark).is_ok() && self.expected.is_renewed {
            *self.renewed = None;
        }
    }
}

/// True if a record shows that an older gate of another machine moved the marked one out since,
/// and if the next record, if it is still there, follows the marked one.
fn is_moved_out(view: &mut View<'_>, marked: Head) -> Result<bool, StoreError> {
    let is_named = moved_out(view)?.iter().any(|moved| moved.may_hold(marked.seq));
    let next = view.entry(marked.seq + 1)?;
    Ok(is_named && next.is_none_or(|next| next.record.prev == marked.hash))
}
