//! The signature of an archive. Everybody who has the ledger can verify it: the public key is in
//! the ledger's record, and the secret key never leaves the machine.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use gate_core::ledger::{Body, BodyError};
use serde::Serialize;

use super::Archive;

/// The signed text names its kind, so that the signature is valid for nothing else.
const CONTEXT: &str = "gate ledger archive";

/// The signed text, as canonical JSON (RFC 8785).
#[derive(Serialize)]
struct Signed<'a> {
    context: &'a str,
    digest: String,
    first: u64,
    head: String,
    last: u64,
    project: &'a str,
}

impl Archive {
    /// The archive with its signature by the key with this secret.
    ///
    /// # Errors
    ///
    /// A number that no record can hold.
    pub(super) fn signed(self, secret: &[u8; 32]) -> Result<Self, BodyError> {
        let key = SigningKey::from_bytes(secret);
        let signature = key.sign(self.signed_text()?.as_bytes());
        let proves = key.verifying_key();
        Ok(Self { key: hex(proves.as_bytes()), signature: hex(&signature.to_bytes()), ..self })
    }

    /// True if the signature is one of the key over this archive.
    pub(super) fn is_signed(&self) -> bool {
        let (Some(key), Some(signature)) = (bytes(&self.key), bytes(&self.signature)) else {
            return false;
        };
        let Ok(key) = VerifyingKey::from_bytes(&key) else { return false };
        let signature = Signature::from_bytes(&signature);
        let Ok(text) = self.signed_text() else { return false };
        key.verify_strict(text.as_bytes(), &signature).is_ok()
    }

    fn signed_text(&self) -> Result<String, BodyError> {
        let signed = Body::new(&Signed {
            context: CONTEXT,
            digest: self.digest.to_string(),
            first: self.first,
            head: self.head.to_string(),
            last: self.last,
            project: &self.project,
        })?;
        Ok(signed.canonical())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that these hexadecimal digits stand for; none if there are others or another number.
fn bytes<const N: usize>(digits: &str) -> Option<[u8; N]> {
    if digits.len() != 2 * N || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use gate_core::ledger::Hash;

    use super::*;

    fn archive() -> Archive {
        Archive {
            file: "a.jsonl.gz".to_owned(),
            folder: "/state/archive".to_owned(),
            host: "here".to_owned(),
            project: "shop".to_owned(),
            first: 3,
            last: 90,
            records: 80,
            until: "2026-01-02T03:04:05Z".to_owned(),
            head: Hash::digest(b"last"),
            bytes: 1000,
            digest: Hash::digest(b"file"),
            key: String::new(),
            signature: String::new(),
        }
    }

    #[test]
    fn a_signature_is_for_this_archive_alone() {
        let signed = archive().signed(&[7; 32]).unwrap();
        assert!(signed.is_signed());
        assert!(!archive().is_signed(), "none");
        let others = [
            Archive { digest: Hash::digest(b"other"), ..signed.clone() },
            Archive { head: Hash::digest(b"other"), ..signed.clone() },
            Archive { first: 2, ..signed.clone() },
            Archive { last: 91, ..signed.clone() },
            Archive { project: "mill".to_owned(), ..signed.clone() },
            Archive { key: archive().signed(&[8; 32]).unwrap().key, ..signed.clone() },
            Archive { signature: "é".repeat(64), ..signed.clone() },
        ];
        assert!(others.iter().all(|other| !other.is_signed()));
        assert_eq!(archive().signed(&[7; 32]), Ok(signed), "the same each time");
    }
}
