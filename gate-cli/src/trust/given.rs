//! `GATE_TRUST`: what a machine without a person at it approves.

use super::digest;
use crate::failure::Failure;
use crate::settings::Places;

/// The variable.
pub(super) const VARIABLE: &str = "GATE_TRUST";

/// The digests that the environment approves; none where it names none.
///
/// # Errors
///
/// A value that is none (code 2): what was meant to approve must not be passed over.
pub(super) fn digests(places: &Places) -> Result<Vec<String>, Failure> {
    let Some(value) = places.variable(VARIABLE) else { return Ok(Vec::new()) };
    let all: Vec<_> = value.split(',').map(|text| text.trim().to_owned()).collect();
    match all.iter().find(|text| !digest::is_one(text)) {
        None => Ok(all),
        Some(bad) => {
            let message = format!(
                "{VARIABLE}: {bad:?} is no digest: `blake3:` and 64 hexadecimal digits are \
                 expected, several separated by commas"
            );
            Err(Failure::usage("trust-value", message).hint("`gate trust --show` prints it"))
        }
    }
}
