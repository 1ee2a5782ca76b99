//! Old decisions that an earlier version of gate moved out of a ledger's store to an archive.

use serde::Deserialize;

use super::head::Head;
use super::record::Record;
use crate::history::kind;

/// Decisions that were moved out of a ledger to one archive. Records between them may have stayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedOut {
    /// The number of the first one.
    pub first: u64,
    /// The last one.
    pub last: Head,
    /// Their number.
    pub records: u64,
}

impl MovedOut {
    /// The decisions that a record says were moved out before it; none if it is another record.
    pub fn named_by(record: &Record) -> Option<Self> {
        if record.kind != kind::ARCHIVED {
            return None;
        }
        let archive = record.body.get("archive")?;
        let number = |name: &str| archive.get(name)?.as_u64();
        let hash = Deserialize::deserialize(archive.get("head")?).ok()?;
        let last = Head { seq: number("last")?, hash };
        let is_before = last.seq < record.seq;
        is_before.then_some(Self { first: number("first")?, last, records: number("records")? })
    }

    /// True if the record with this number may be one of them.
    pub fn holds(&self, seq: u64) -> bool {
        (self.first..=self.last.seq).contains(&seq)
    }
}
