//! Digests of what decides.

use crate::decide::policy::Policy;

impl Policy {
    /// The policy's name in records: BLAKE3 over its canonical JSON (RFC
    /// 8785), as `blake3:` and 64 hexadecimal digits.
    ///
    /// # Panics
    ///
    /// Never: a policy is plain data, which JSON can hold.
    #[expect(
        clippy::expect_used,
        reason = "a policy has no map keys or numbers that JSON cannot hold"
    )]
    pub fn digest(&self) -> String {
        let canonical = serde_json_canonicalizer::to_vec(self).expect("a policy is plain data");
        format!("blake3:{}", blake3::hash(&canonical).to_hex())
    }
}
