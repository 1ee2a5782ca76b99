//! Records that a ledger lacks, from those that it has: a machine that knows later records reports
//! the loss, and an operator accepts it; an older gate moved decisions out.

use gate_core::history::kind;
use gate_core::ledger::{Hash, Head, MovedOut, Sealed};
use jiff::Timestamp;
use serde::Deserialize;

use super::error::StoreError;
use super::view::View;

/// A lost end of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The last record that a machine knows.
    pub marked_head: Head,
    /// The last record of the ledger when the loss was noticed.
    pub ledger_head: Head,
}

impl From<Loss> for StoreError {
    fn from(Loss { marked_head, ledger_head }: Loss) -> Self {
        Self::Lost { marked_head, ledger_head }
    }
}

/// The acceptance of a loss: its time and the hash of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acceptance {
    /// Nanoseconds since 1970.
    pub(super) time: u64,
    pub(super) record: Hash,
}

/// The records of a ledger about losses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    /// The loss that a machine has noticed and nobody has accepted.
    pub(super) open: Option<Loss>,
    /// The last acceptance.
    pub(super) accepted: Option<Acceptance>,
}

impl Losses {
    /// # Errors
    ///
    /// A store that cannot be read, a record of a loss that does not name its heads.
    pub(super) fn read(view: &mut View<'_>) -> Result<Self, StoreError> {
        let noticed = view.latest_of_type(kind::LOSS_NOTICED)?;
        let accepted = view.latest_of_type(kind::LOSS_ACCEPTED)?;
        let seq = |sealed: &Option<Sealed>| sealed.as_ref().map(|sealed| sealed.record.seq);
        let is_open = seq(&noticed) > seq(&accepted);
        let open = if is_open { noticed.as_ref().map(loss_in).transpose()? } else { None };
        Ok(Self { open, accepted: accepted.as_ref().map(acceptance).transpose()? })
    }
}

/// The decisions that older gates moved out of a ledger's store to archives.
///
/// # Errors
///
/// A store that cannot be read, a row that was changed.
pub fn moved_out(view: &mut View<'_>) -> Result<Vec<MovedOut>, StoreError> {
    let records = view.entries_of_type(kind::ARCHIVED, usize::MAX)?;
    Ok(records.iter().filter_map(|sealed| MovedOut::named_by(&sealed.record)).collect())
}

fn acceptance(sealed: &Sealed) -> Result<Acceptance, StoreError> {
    let timestamp: Option<Timestamp> = sealed.record.time.parse().ok();
    let nanoseconds = timestamp.and_then(|time| u64::try_from(time.as_nanosecond()).ok());
    let time = nanoseconds.ok_or_else(|| StoreError::Corrupt {
        seq: Some(sealed.record.seq),
        column: Some("time".to_owned()),
        reason: "it is no time".to_owned(),
    })?;
    Ok(Acceptance { time, record: sealed.hash })
}

fn loss_in(sealed: &Sealed) -> Result<Loss, StoreError> {
    let body = &sealed.record.body;
    let head = |key: &str| {
        let value = body.get(key).cloned().unwrap_or_default();
        Head::deserialize(value).map_err(|error| StoreError::Corrupt {
            seq: Some(sealed.record.seq),
            column: Some("body".to_owned()),
            reason: format!("`{key}` is no head: {error}"),
        })
    };
    Ok(Loss { marked_head: head("marked")?, ledger_head: head("found")? })
}
