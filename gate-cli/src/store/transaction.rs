//! A change of a ledger, from its beginning to its commit.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::Writing;
use super::error::StoreError;
use super::mark::Mark;

/// A change of a ledger that nobody else changes meanwhile. Dropped, it is undone.
pub struct Transaction<'s> {
    ledger: Box<dyn Writing + 's>,
    mark: Option<Mark<'s>>,
}

impl<'s> Transaction<'s> {
    pub(super) fn new(ledger: impl Writing + 's) -> Self {
        Self { ledger: Box::new(ledger), mark: None }
    }

    pub(super) fn marking(self, mark: Mark<'s>) -> Self {
        Self { mark: Some(mark), ..self }
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
