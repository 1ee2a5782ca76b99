//! Ledgers whose heads are marked apart from them, so that one that was removed, cut or replaced
//! is noticed.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::time::Duration;

use gate_core::history::kind;
use gate_core::ledger::{Draft, Head};

use super::error::StoreError;
use super::heads::{Heads, KnownMark, NewMark};
use super::loss::{Acceptance, Loss, Losses, moved_out};
use super::{Leasing, Lookup, Reading, Store, Writing};

/// A store whose heads are marked elsewhere.
#[derive(Debug)]
pub struct Marked<S> {
    store: S,
    heads: Option<Heads>,
    /// The project whose ledger was set aside, or whose loss was accepted, and has no new record
    /// yet.
    renewed: Option<String>,
}

impl<S: Store> Marked<S> {
    /// The store, with the place of the marks of its heads. Without marks, gate does not notice
    /// that a ledger was removed or cut.
    pub fn new(store: S, heads: Option<Heads>) -> Self {
        Self { store, heads, renewed: None }
    }

    fn is_renewed(&self, project: &str) -> bool {
        self.renewed.as_deref() == Some(project)
    }

    /// The mark that the ledger is compared with.
    fn expected(&self, project: &str) -> Expected {
        let is_renewed = self.is_renewed(project);
        let heads = if is_renewed { None } else { self.heads.as_ref() };
        let known = heads.and_then(|heads| heads.known_mark(self.store.place(), project));
        Expected { known: known.filter(|known| known.head.seq > 0), is_renewed }
    }
}

/// A ledger's expectations from outside of it.
struct Expected {
    known: Option<KnownMark>,
    /// Nothing is expected: the ledger was set aside, or its loss accepted.
    is_renewed: bool,
}

/// The result of a comparison with a mark.
struct Comparison {
    /// The last acceptance of a loss in the ledger.
    acceptance: Option<Acceptance>,
    /// The next mark takes the place of a later one.
    replaces: bool,
}

impl Expected {
    /// The lookups, with those of [`Expected::compare`].
    fn ahead<'l>(&self, ahead: &[Lookup<'l>]) -> Vec<Lookup<'l>> {
        let marked = self.known.map(|known| Lookup::Entry(known.head.seq));
        let own = [
            Lookup::Head,
            Lookup::LatestOfType(kind::LOSS_NOTICED, 1),
            Lookup::LatestOfType(kind::LOSS_ACCEPTED, 1),
        ];
        ahead.iter().copied().chain(own).chain(marked).collect()
    }

    /// Fails if the ledger does not have the record that is marked, or if another machine has
    /// reported that it knows later ones. A ledger that goes on after the mark was written by
    /// others, or by a gate that was killed before it marked.
    fn compare(&self, reading: &mut dyn Reading) -> Result<Comparison, StoreError> {
        let Losses { open, accepted: acceptance } = Losses::read(reading)?;
        if self.is_renewed {
            return Ok(Comparison { acceptance, replaces: true });
        }
        if let Some(Loss { marked, found }) = open {
            return Err(StoreError::Lost { marked, found });
        }
        let Some(KnownMark { head: marked, acceptance: known }) = self.known else {
            return Ok(Comparison { acceptance, replaces: false });
        };
        let found = reading.head()?;
        let there = if found == marked { None } else { reading.entry(marked.seq)? };
        let is_there = match there {
            _ if found == marked => true,
            Some(entry) => entry.record.hash() == marked.hash,
            None => is_moved_out(reading, marked)?,
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

/// A change of a ledger that nobody else changes meanwhile. Dropped, it is undone.
pub struct Transaction<'s> {
    ledger: Box<dyn Writing + 's>,
    mark: Option<Mark<'s>>,
}

impl<'s> Transaction<'s> {
    pub(super) fn new(ledger: impl Writing + 's) -> Self {
        Self { ledger: Box::new(ledger), mark: None }
    }

    /// Makes the changes durable, and marks the ledger's head.
    ///
    /// # Errors
    ///
    /// As of [`Leasing::commit`](super::Leasing::commit).
    pub fn commit(mut self) -> Result<(), StoreError> {
        let Some(mark) = self.mark.take() else { return self.ledger.commit() };
        let head = self.ledger.head()?;
        self.ledger.commit()?;
        mark.advance(head);
        Ok(())
    }
}

impl<'s> Deref for Transaction<'s> {
    type Target = dyn Writing + 's;

    fn deref(&self) -> &Self::Target {
        &*self.ledger
    }
}

impl DerefMut for Transaction<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.ledger
    }
}

impl fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").finish_non_exhaustive()
    }
}

/// The mark of a ledger that a transaction changes.
struct Mark<'s> {
    heads: &'s Heads,
    place: String,
    project: &'s str,
    expected: Expected,
    compared: Comparison,
    renewed: &'s mut Option<String>,
}

impl Mark<'_> {
    /// Marks the head after a commit. What is recorded is durable by now, so nothing fails here: a
    /// mark that cannot be written lags behind, as one does after a crash.
    fn advance(self, head: Head) {
        let known = self.expected.known.map(|known| known.head);
        if Some(head) == known || head.seq == 0 {
            return;
        }
        let Comparison { acceptance, replaces } = self.compared;
        let mark = NewMark { head, acceptance, replaces };
        if self.heads.keep(&self.place, self.project, mark).is_ok() && self.expected.is_renewed {
            *self.renewed = None;
        }
    }
}

impl<S: Store> Store for Marked<S> {
    fn read_ahead<'s>(
        &'s mut self,
        project: &'s str,
        ahead: &[Lookup<'_>],
    ) -> Result<Box<dyn Reading + 's>, StoreError> {
        let expected = self.expected(project);
        let mut view = self.store.read_ahead(project, &expected.ahead(ahead))?;
        expected.compare(&mut *view)?;
        Ok(view)
    }

    fn examine<'s>(
        &'s mut self,
        project: &'s str,
    ) -> Result<(Box<dyn Reading + 's>, Option<Head>), StoreError> {
        let known = self.expected(project).known.map(|known| known.head);
        let mut view = self.store.read(project)?;
        // A record that contradicts itself is for the caller to find.
        let open = Losses::read(&mut *view).unwrap_or_default().open.map(|loss| loss.marked);
        let known = known.into_iter().chain(open).max_by_key(|head| head.seq);
        Ok((view, known))
    }

    fn begin_ahead<'s>(
        &'s mut self,
        project: &'s str,
        ahead: &[Lookup<'_>],
    ) -> Result<Transaction<'s>, StoreError> {
        let expected = self.expected(project);
        let place = self.store.place().to_owned();
        let mut transaction = self.store.begin_ahead(project, &expected.ahead(ahead))?;
        let compared = expected.compare(&mut *transaction)?;
        let Some(heads) = &self.heads else { return Ok(transaction) };
        let renewed = &mut self.renewed;
        let mark = Some(Mark { heads, place, project, expected, compared, renewed });
        Ok(Transaction { mark, ..transaction })
    }

    /// A claim rests on no record; the work that is done under the claim does, and is checked
    /// there.
    fn lease<'s>(&'s mut self, project: &'s str) -> Result<Box<dyn Leasing + 's>, StoreError> {
        self.store.lease(project)
    }

    fn await_work(&mut self, project: &str, at_most: Duration) -> Result<bool, StoreError> {
        self.store.await_work(project, at_most)
    }

    /// The mark of the old ledger stays until the new one has a record: if gate is killed
    /// before, the old one is still known to be lost.
    fn renew(&mut self, project: &str) -> Result<(), StoreError> {
        self.store.renew(project)?;
        self.renewed = Some(project.to_owned());
        Ok(())
    }

    fn note(&mut self, project: &str, draft: Draft) -> Result<(), StoreError> {
        self.store.note(project, draft)
    }

    fn connect_within(&mut self, limit: Duration) {
        self.store.connect_within(limit);
    }

    fn accept(&mut self, project: &str) {
        self.renewed = Some(project.to_owned());
    }

    fn back_up(&mut self, to: &Path) -> Result<(), StoreError> {
        self.store.back_up(to)
    }

    fn place(&self) -> &str {
        self.store.place()
    }
}

/// True if a record shows that an older gate of another machine moved the marked one out since,
/// and if the next record, if it is still there, follows the marked one.
fn is_moved_out(reading: &mut dyn Reading, marked: Head) -> Result<bool, StoreError> {
    let is_named = moved_out(reading)?.iter().any(|moved| moved.holds(marked.seq));
    let next = reading.entry(marked.seq + 1)?;
    Ok(is_named && next.is_none_or(|next| next.record.prev == marked.hash))
}
