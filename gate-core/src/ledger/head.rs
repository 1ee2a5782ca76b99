//! The end of a ledger. A copy that is kept elsewhere shows if the ledger was cut.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hash::Hash;

/// The last record of a ledger: whoever keeps it elsewhere sees a cut tail. In
/// text it is `SEQ:HASH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Head {
    /// Its number; 0 of an empty ledger.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
}

/// A text that is no head.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no head: SEQ:HASH is expected, the number and the hash of a record")]
pub struct BadHead(String);

impl Head {
    /// The head of a ledger without records.
    pub const EMPTY: Self = Self { seq: 0, hash: Hash::GENESIS };
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for Head {
    type Err = BadHead;

    /// Number 0 goes with the hash of an empty ledger alone.
    fn from_str(text: &str) -> Result<Self, BadHead> {
        parse(text)
            .filter(|head| head.seq > 0 || *head == Self::EMPTY)
            .ok_or_else(|| BadHead(text.chars().take(100).collect()))
    }
}

fn parse(text: &str) -> Option<Head> {
    let (seq, hash) = text.split_once(':')?;
    if !seq.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(Head { seq: seq.parse().ok()?, hash: hash.parse().ok()? })
}
