//! The digest that an approval names.

use gate_core::digest;
use gate_core::ledger::Body;
use serde::Serialize;

// The content alone: a clone has another folder, and often another address of its origin. For
// which folder and project an approval counts is in the approval.
#[derive(Serialize)]
struct ApprovedSettings<'a> {
    v: u32,
    settings: &'a str,
}

/// The digest of the canonical text of settings, as `blake3:` and 64 hexadecimal digits.
///
/// # Panics
///
/// Never: a text is plain data, which a record can hold.
#[expect(clippy::expect_used, reason = "a text is data that a record can hold")]
pub(super) fn digest_of_settings(settings: &str) -> String {
    let body = Body::new(&ApprovedSettings { v: 2, settings });
    digest(body.expect("a text is plain data").canonical().as_bytes())
}

/// True if a text has the form of such a digest.
pub(super) fn is_digest(text: &str) -> bool {
    text.strip_prefix("blake3:").is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_it_counts() {
        let digest = digest_of_settings("{}");
        assert!(is_digest(&digest), "{digest}");
        assert_eq!(digest_of_settings("{}"), digest);
        for settings in ["", "{ }", "null"] {
            assert_ne!(digest_of_settings(settings), digest, "{settings}");
        }
    }

    #[test]
    fn other_texts_are_no_digests() {
        let hex = "0".repeat(64);
        for text in ["", "blake3:", &hex, &format!("blake3:{}g", &hex[1..]), "sha256:00"] {
            assert!(!is_digest(text), "{text}");
        }
    }
}
