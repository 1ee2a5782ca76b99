//! Digests of policies, and the canonical JSON that digests are taken of.

use serde::Serialize;

use crate::decide::policy::Policy;

impl Policy {
    /// The policy as canonical JSON (RFC 8785).
    pub fn canonical(&self) -> String {
        canonical(self)
    }

    /// The policy's name in records: BLAKE3 over its canonical JSON, as
    /// `blake3:` and 64 hexadecimal digits.
    pub fn digest(&self) -> String {
        digest(self.canonical().as_bytes())
    }
}

/// The name of bytes in records: BLAKE3, as `blake3:` and 64 hexadecimal
/// digits.
pub fn digest(bytes: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(bytes).to_hex())
}

/// Canonical JSON (RFC 8785) of plain data.
///
/// # Panics
///
/// Never for a policy, a record or its body: their keys are texts, and they hold no
/// number that JSON cannot hold.
#[expect(clippy::expect_used, reason = "plain data always has a form in JSON")]
pub(crate) fn canonical(value: &impl Serialize) -> String {
    serde_json_canonicalizer::to_string(value).expect("plain data has a form in JSON")
}
