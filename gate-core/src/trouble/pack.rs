//! The breaker's packs, ready to be searched for: their patterns by kind, which
//! is the first word of their ids, and the rules of normalisation. The build
//! script writes them out, so that nothing is read when gate runs.

use crate::decide::expression::Expression;

include!(concat!(env!("OUT_DIR"), "/breaker.rs"));

/// Whether one of the patterns stands in one of the text's lines. Each is
/// prepared when gate is built, so that to try them one by one costs little.
pub(super) fn stand_in(patterns: &[Expression], text: &str) -> bool {
    text.lines().any(|line| patterns.iter().any(|one| one.is_match(line)))
}
