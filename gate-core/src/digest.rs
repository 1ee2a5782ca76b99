//! Digests of what decides.

use crate::decide::policy::Policy;

impl Policy {
    /// The policy's one spelling: canonical JSON (RFC 8785).
    ///
    /// # Panics
    ///
    /// Never: a policy is plain data, which JSON can hold.
    #[expect(
        clippy::expect_used,
        reason = "a policy has no map keys or numbers that JSON cannot hold"
    )]
    pub fn canonical(&self) -> String {
        serde_json_canonicalizer::to_string(self).expect("a policy is plain data")
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
