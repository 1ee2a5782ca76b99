//! A lost end of a ledger, as its records tell: a machine that knows of later records says so, and
//! an operator accepts the loss.

use gate_core::history::kind;
use gate_core::ledger::{Hash, Head, Sealed};
use serde::Deserialize;

use super::Reading;
use super::error::StoreError;

/// A lost end of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Loss {
    /// The last record that is known.
    pub marked: Head,
    /// The last record that was there when the loss was noticed.
    pub found: Head,
}

/// The records of a ledger about losses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    /// The loss that a machine has noticed and nobody has accepted.
    pub(super) open: Option<Loss>,
    /// The loss that was accepted last, with the hash of that record.
    accepted: Option<(Loss, Hash)>,
}

impl Losses {
    /// # Errors
    ///
    /// A store that cannot be read, a record that tells of no loss.
    pub(super) fn read(reading: &mut dyn Reading) -> Result<Self, StoreError> {
        let noticed = reading.latest_of_type(kind::LOSS_NOTICED)?;
        let accepted = reading.latest_of_type(kind::LOSS_ACCEPTED)?;
        let seq = |sealed: &Option<Sealed>| sealed.as_ref().map(|sealed| sealed.record.seq);
        let is_open = seq(&noticed) > seq(&accepted);
        let open = if is_open { noticed.as_ref().map(loss_in).transpose()? } else { None };
        let accepted = match accepted {
            Some(sealed) => Some((loss_in(&sealed)?, sealed.hash)),
            None => None,
        };
        Ok(Self { open, accepted })
    }

    /// The record that accepted the last loss.
    pub(super) fn accepted(&self) -> Option<Hash> {
        self.accepted.map(|(_, record)| record)
    }

    /// True if the record that is marked went with the accepted loss. `seen` is the acceptance
    /// that this machine knows already: what it has marked since is of the ledger that went on.
    pub(super) fn explain(&self, marked: Head, seen: Option<Hash>) -> bool {
        let unknown = self.accepted.filter(|(_, record)| Some(*record) != seen);
        let Some((loss, _)) = unknown else { return false };
        // Where other records stand in the place of lost ones, nobody knows from which on.
        let is_other = loss.found.seq >= loss.marked.seq;
        marked.seq <= loss.marked.seq && (is_other || marked.seq > loss.found.seq)
    }
}

fn loss_in(sealed: &Sealed) -> Result<Loss, StoreError> {
    let body = &sealed.record.body;
    let head = |key: &str| {
        let head = body.get(key).cloned().unwrap_or_default();
        Head::deserialize(head).map_err(|error| StoreError::Corrupt {
            seq: Some(sealed.record.seq),
            column: Some("body".to_owned()),
            what: format!("`{key}` is no head: {error}"),
        })
    };
    Ok(Loss { marked: head("marked")?, found: head("found")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(seq: u64) -> Head {
        Head { seq, hash: Hash::digest(&seq.to_le_bytes()) }
    }

    #[test]
    fn an_accepted_loss_explains_what_was_marked_before_and_no_later_mark() {
        let record = Hash::digest(b"accepted");
        let lost = |found, marked| Losses {
            accepted: Some((Loss { marked: head(marked), found: head(found) }, record)),
            ..Losses::default()
        };
        let tail = lost(5, 9);
        let explained = |losses: &Losses, seq| losses.explain(head(seq), None);
        assert_eq!(
            [4, 5, 6, 9, 10].map(|seq| explained(&tail, seq)),
            [false, false, true, true, false]
        );
        assert!(!tail.explain(head(8), Some(record)), "it was marked after the acceptance");
        let other = lost(12, 9);
        assert_eq!([3, 9, 10].map(|seq| explained(&other, seq)), [true, true, false]);
        assert!(!Losses::default().explain(head(1), None));
    }
}
