//! A ledger's head is marked apart from it, so that one that was removed, cut or replaced is
//! noticed.

use gate_core::ledger::Head;

use super::error::StoreError;
use super::heads::{KnownMark, MarkFile, NewMark};
use super::loss::{Acceptance, Loss, Losses, moved_out};
use super::view::View;

/// The expectation of a ledger, from outside of it.
#[derive(Debug)]
pub(super) struct Expectation {
    pub(super) mark: Option<KnownMark>,
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

impl Expectation {
    pub(super) fn head(&self) -> Option<Head> {
        self.mark.map(|mark| mark.head)
    }

    /// Fails if the ledger does not have the record that is marked, or if another machine has
    /// reported that it knows later ones. A ledger that goes on after the mark was written by
    /// others, or by a gate that was killed before it marked.
    pub(super) fn compare(&self, view: &mut View<'_>) -> Result<Comparison, StoreError> {
        let Losses { open, accepted: acceptance } = Losses::read(view)?;
        if self.is_renewed {
            return Ok(Comparison { acceptance, replaces: true });
        }
        if let Some(loss) = open {
            return Err(loss.into());
        }
        let Some(KnownMark { head: marked_head, acceptance: marked_acceptance }) = self.mark else {
            return Ok(Comparison { acceptance, replaces: false });
        };
        let ledger_head = view.head()?;
        if ledger_head == marked_head || holds(view, marked_head)? {
            return Ok(Comparison { acceptance, replaces: false });
        }
        // What this machine marked after an acceptance, it marked with that acceptance. So a loss
        // that was accepted since the mark is the one of the marked record.
        let time = |acceptance: Option<Acceptance>| acceptance.map(|acceptance| acceptance.time);
        if marked_acceptance.is_ok_and(|marked| time(acceptance) > time(marked)) {
            return Ok(Comparison { acceptance, replaces: true });
        }
        Err(Loss { marked_head, ledger_head }.into())
    }
}

/// The mark of a ledger that a transaction changes.
#[derive(Debug)]
pub(super) struct LedgerMark<'s> {
    pub(super) file: MarkFile,
    pub(super) expectation: Expectation,
    pub(super) comparison: Comparison,
    /// As of [`Store::renewed_project`](super::Store).
    pub(super) renewed_project: &'s mut Option<String>,
}

impl LedgerMark<'_> {
    /// Marks the head after a commit. What is recorded is durable by now, so nothing fails here: a
    /// mark that cannot be written lags behind, as one does after a crash.
    pub(super) fn advance(self, head: Head) {
        if Some(head) == self.expectation.head() || head.seq == 0 {
            return;
        }
        let Comparison { acceptance, replaces } = self.comparison;
        let mark = NewMark { head, acceptance, replaces };
        if self.file.keep(mark).is_ok() && self.expectation.is_renewed {
            *self.renewed_project = None;
        }
    }
}

/// The ledger has the marked record, or has shown where it went.
fn holds(view: &mut View<'_>, marked_head: Head) -> Result<bool, StoreError> {
    match view.entry(marked_head.seq)? {
        Some(entry) => Ok(entry.record.hash() == marked_head.hash),
        None => is_moved_out(view, marked_head),
    }
}

/// A record shows that an older gate of another machine moved the marked record out since. The next
/// record, if it is still there, has to follow the marked one.
fn is_moved_out(view: &mut View<'_>, marked_head: Head) -> Result<bool, StoreError> {
    let is_named = moved_out(view)?.iter().any(|moved| moved.may_hold(marked_head.seq));
    let next_entry = view.entry(marked_head.seq + 1)?;
    Ok(is_named && next_entry.is_none_or(|next| next.record.prev == marked_head.hash))
}
