//! `GATE_TRUST`: digests that the environment approves, for machines without a person.

use super::digest::is_digest;
use crate::failure::Failure;
use crate::settings::Places;

const VARIABLE: &str = "GATE_TRUST";

/// Fails (code 2) on a value with anything but digests: gate must not ignore what was
/// meant to be an approval.
pub(super) fn digests(places: &Places) -> Result<Vec<String>, Failure> {
    let Some(value) = places.variable(VARIABLE) else { return Ok(Vec::new()) };
    let all: Vec<_> = value.split(',').map(|text| text.trim().to_owned()).collect();
    match all.iter().find(|text| !is_digest(text)) {
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
