//! Digests of what decides.

use crate::decide::policy::Policy;
use crate::protocol::ledger::Body;

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
        match Body::of(self) {
            Ok(body) => body.canonical(),
            // A number beyond what a ledger holds: a budget may be any. The
            // general spelling takes six times as long, and is the same.
            Err(_) => serde_json_canonicalizer::to_string(self).expect("a policy is plain data"),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::policy::Budget;

    #[test]
    fn a_policy_has_one_spelling_whatever_its_numbers() {
        let plain = Policy::default();
        let budget = Budget { tokens: u64::MAX, ..plain.budget };
        let large = Policy { budget, ..plain.clone() };
        assert!(Body::of(&plain).is_ok() && Body::of(&large).is_err());
        for policy in [plain, large] {
            assert_eq!(policy.canonical(), serde_json_canonicalizer::to_string(&policy).unwrap());
        }
    }
}
