//! The digest that an approval names.

use gate_core::digest;
use gate_core::ledger::Body;
use serde::Serialize;

// The digest covers the project too: an approval must not count in another project, where
// programs of the same names do other things.
#[derive(Serialize)]
struct ApprovedSettings<'a> {
    v: u32,
    project: &'a str,
    place: &'a str,
    settings: &'a str,
}

/// The digest of settings, as `blake3:` and 64 hexadecimal digits.
///
/// `place` is the settings' path within the project, or empty. `settings` is their
/// canonical text.
///
/// # Panics
///
/// Never: texts are plain data, which a record can hold.
#[expect(clippy::expect_used, reason = "texts are data that a record can hold")]
pub(super) fn digest_of_settings(project: &str, place: &str, settings: &str) -> String {
    let body = Body::new(&ApprovedSettings { v: 1, project, place, settings });
    digest(body.expect("texts are plain data").canonical().as_bytes())
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
    fn every_part_of_it_counts() {
        let digest = digest_of_settings("p", "gate.toml", "{}");
        assert!(is_digest(&digest), "{digest}");
        for (project, place, settings) in [
            ("q", "gate.toml", "{}"),
            ("p", "a/gate.toml", "{}"),
            ("p", "", "{}"),
            ("p", "gate.toml", "{ }"),
        ] {
            assert_ne!(digest_of_settings(project, place, settings), digest);
        }
        assert_eq!(digest_of_settings("p", "gate.toml", "{}"), digest);
    }

    #[test]
    fn other_texts_are_no_digests() {
        let hex = "0".repeat(64);
        for text in ["", "blake3:", &hex, &format!("blake3:{}g", &hex[1..]), "sha256:00"] {
            assert!(!is_digest(text), "{text}");
        }
    }
}
