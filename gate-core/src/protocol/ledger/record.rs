//! A record, and how it is tied to the one before it.

use serde::{Deserialize, Serialize};

use super::body::Body;
use super::hash::Hash;

/// The version of the record's form.
pub const VERSION: u32 = 1;

/// What is to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// When it happened (RFC 3339, UTC).
    pub time: String,
    /// What happened, such as `exit_gate_passed`.
    pub kind: String,
    /// The run that it belongs to.
    pub run: Option<String>,
    /// Who did it.
    pub actor: String,
    /// What there is to say of it.
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
    /// What happened, such as `exit_gate_passed`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The run that it belongs to.
    pub run: Option<String>,
    /// Who did it.
    pub actor: String,
    /// What there is to say of it.
    pub body: Body,
    /// The hash of the record before it.
    pub prev: Hash,
}

/// The last record of a ledger: whoever keeps it elsewhere sees a cut tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Head {
    /// Its number; 0 of an empty ledger.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
}

impl Head {
    /// The head of a ledger without records.
    pub const EMPTY: Self = Self { seq: 0, hash: Hash::GENESIS };

    /// The record that follows it.
    #[must_use]
    pub fn follow(&self, draft: Draft) -> Sealed {
        let Draft { time, kind, run, actor, body } = draft;
        Record { v: VERSION, seq: self.seq + 1, time, kind, run, actor, body, prev: self.hash }
            .seal()
    }
}

/// A record with its hash, as it is kept and exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The record.
    pub record: Record,
    /// The hash that was kept with it: what it should be, [`Record::hash`] says.
    pub hash: Hash,
}

impl Sealed {
    /// The head of a ledger that ends with it.
    pub fn head(&self) -> Head {
        Head { seq: self.record.seq, hash: self.hash }
    }
}

impl Record {
    /// Its one spelling: canonical JSON (RFC 8785).
    ///
    /// # Panics
    ///
    /// Never: a record is plain data, and its body has exact integers only.
    #[expect(clippy::expect_used, reason = "a body holds nothing that JSON cannot hold")]
    pub fn canonical(&self) -> String {
        serde_json_canonicalizer::to_string(self).expect("a record is plain data")
    }

    /// BLAKE3 over its canonical JSON.
    pub fn hash(&self) -> Hash {
        Hash::of(self.canonical().as_bytes())
    }

    /// The record with its hash.
    #[must_use]
    pub fn seal(self) -> Sealed {
        Sealed { hash: self.hash(), record: self }
    }
}
