//! The digest that an approval names.

use gate_core::digest;
use gate_core::ledger::Body;
use serde::Serialize;

use crate::failure::Failure;
use crate::settings::Places;

/// The variable with approved digests.
const VARIABLE: &str = "GATE_TRUST";

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

/// A text has the form of such a digest.
pub(super) fn is_digest(text: &str) -> bool {
    text.strip_prefix("blake3:").is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// The digests that the environment approves, for machines without a person.
///
/// Fails (code 2) on a value with anything but digests: gate must not ignore what was
/// meant to be an approval.
pub(super) fn digests_from_environment(places: &Places) -> Result<Vec<String>, Failure> {
    let Some(value) = places.variable(VARIABLE) else { return Ok(Vec::new()) };
    let digests: Vec<_> = value.split(',').map(|text| text.trim().to_owned()).collect();
    match digests.iter().find(|text| !is_digest(text)) {
        None => Ok(digests),
        Some(bad_digest) => {
            let message = format!(
                "{VARIABLE}: {bad_digest:?} is no digest: `blake3:` and 64 hexadecimal digits are \
                 expected, several separated by commas"
            );
            Err(Failure::usage("trust-value", message).hint("`gate trust --show` prints it"))
        }
    }
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
