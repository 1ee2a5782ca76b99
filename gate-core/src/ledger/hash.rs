//! A record's hash.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// BLAKE3 over a record; 64 lower-case hexadecimal digits in text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Hash([u8; 32]);

/// A text that is no hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no hash: 64 lower-case hexadecimal digits are expected")]
pub struct BadHash(String);

impl Hash {
    /// The hash before the first record: 32 zero bytes.
    pub const GENESIS: Self = Self([0; 32]);

    /// The hash of these bytes.
    pub fn digest(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

impl FromStr for Hash {
    type Err = BadHash;

    fn from_str(text: &str) -> Result<Self, BadHash> {
        let is_lower_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        match blake3::Hash::from_hex(text) {
            Ok(hash) if is_lower_hex => Ok(Self(*hash.as_bytes())),
            _ => Err(BadHash(text.chars().take(80).collect())),
        }
    }
}

impl TryFrom<String> for Hash {
    type Error = BadHash;

    fn try_from(text: String) -> Result<Self, BadHash> {
        text.parse()
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.to_string()
    }
}
