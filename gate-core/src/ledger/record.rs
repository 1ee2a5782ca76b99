//! A record, tied to the one before it by that one's hash.

use serde::{Deserialize, Serialize};

use super::body::Body;
use super::hash::Hash;
use super::head::Head;
use crate::digest;

/// The version of the record's form.
pub const VERSION: u32 = 1;

/// A record before it is appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// When it happened (RFC 3339, UTC).
    pub time: String,
    /// Type of the event, such as `exit_gate_passed`.
    pub kind: String,
    /// The run that it belongs to.
    pub run: Option<String>,
    /// The actor.
    pub actor: String,
    /// Details of the event.
    pub body: Body,
}

/// One record of the ledger. Its hash covers every field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The version of this form.
    pub v: u32,
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// When it happened (RFC 3339, UTC).
    pub time: String,
    /// Type of the event, such as `exit_gate_passed`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The run that it belongs to; the member is there also where it is null.
    #[serde(deserialize_with = "Option::deserialize")]
    pub run: Option<String>,
    /// The actor.
    pub actor: String,
    /// Details of the event.
    pub body: Body,
    /// The hash of the record before it.
    pub prev: Hash,
}

/// A record with its hash, as it is kept and exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The record.
    pub record: Record,
    /// The hash that was kept with it. It should be that of [`Record::hash`].
    pub hash: Hash,
}

impl Head {
    /// The record that follows it.
    #[must_use]
    pub fn follow(&self, draft: Draft) -> Sealed {
        let Draft { time, kind, run, actor, body } = draft;
        Record { v: VERSION, seq: self.seq + 1, time, kind, run, actor, body, prev: self.hash }
            .seal()
    }
}

impl Sealed {
    /// The head of a ledger that ends with it.
    pub fn head(&self) -> Head {
        Head { seq: self.record.seq, hash: self.hash }
    }
}

impl Record {
    /// Its one spelling: canonical JSON (RFC 8785).
    pub fn canonical(&self) -> String {
        digest::canonical(self)
    }

    /// BLAKE3 over its canonical JSON.
    pub fn hash(&self) -> Hash {
        Hash::digest(self.canonical().as_bytes())
    }

    /// The record with its hash.
    #[must_use]
    pub fn seal(self) -> Sealed {
        Sealed { hash: self.hash(), record: self }
    }
}
