//! What an approval is of.

use gate_core::digest;
use gate_core::protocol::ledger::Body;
use serde::Serialize;

/// What is approved: what the settings of one project say. So an approval of one
/// project's text is none for another, whose programs of the same names are others.
#[derive(Serialize)]
struct Said<'a> {
    v: u32,
    /// What the project is known by.
    project: &'a str,
    /// Where the settings stand in it; empty where there are none.
    place: &'a str,
    /// All that they say, in one spelling.
    settings: &'a str,
}

/// The digest of what settings say, as `blake3:` and 64 hexadecimal digits.
///
/// # Panics
///
/// Never: texts are plain data, which a record can hold.
#[expect(clippy::expect_used, reason = "texts are data that a record can hold")]
pub(super) fn of(project: &str, place: &str, settings: &str) -> String {
    let said = Body::new(&Said { v: 1, project, place, settings }).expect("texts are plain data");
    digest(said.canonical().as_bytes())
}

/// Whether a text looks like such a digest.
pub(super) fn is_one(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.strip_prefix("blake3:").is_some_and(|it| it.len() == 64 && it.bytes().all(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_it_counts() {
        let digest = of("p", "gate.toml", "{}");
        assert!(is_one(&digest), "{digest}");
        let others = [of("q", "gate.toml", "{}"), of("p", "a/gate.toml", "{}"), of("p", "", "{}")];
        assert!(others.into_iter().chain([of("p", "gate.toml", "{ }")]).all(|it| it != digest));
        assert_eq!(of("p", "gate.toml", "{}"), digest);
    }

    #[test]
    fn what_is_no_digest_is_told() {
        let hex = "0".repeat(64);
        for text in ["", "blake3:", &hex, &format!("blake3:{}g", &hex[1..]), "sha256:00"] {
            assert!(!is_one(text), "{text}");
        }
    }
}
