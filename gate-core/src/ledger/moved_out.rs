//! Old decisions that an earlier version of gate moved out of a ledger's store to an archive.

use serde::Deserialize;

use super::head::Head;
use super::record::Record;
use crate::history::kind;

/// Decisions that were moved out of a ledger to one archive. Records between them may have stayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedOut {
    /// The number of the first decision.
    pub first: u64,
    /// The last decision.
    pub last: Head,
    /// Their number.
    pub records: u64,
}

impl MovedOut {
    /// The decisions that were moved out before this record, as it names them; `None` if it is
    /// another record.
    pub fn named_by(record: &Record) -> Option<Self> {
        if record.kind != kind::ARCHIVED {
            return None;
        }
        let archive = record.body.get("archive")?;
        let number = |name: &str| archive.get(name)?.as_u64();
        let hash = Deserialize::deserialize(archive.get("head")?).ok()?;
        let last = Head { seq: number("last")?, hash };
        let is_earlier = last.seq < record.seq;
        is_earlier.then_some(Self { first: number("first")?, last, records: number("records")? })
    }

    /// A number that one of the decisions may have.
    pub fn may_hold(&self, seq: u64) -> bool {
        (self.first..=self.last.seq).contains(&seq)
    }
}
