//! The breaker's packs, ready to be searched for: their patterns by kind, which
//! is the first word of their ids, and the rules of normalisation. The build
//! script writes them out, so that nothing is read when gate runs.

use crate::decide::expression::Expression;

include!(concat!(env!("OUT_DIR"), "/breaker.rs"));

/// True if one of the patterns matches one of the text's lines. Each pattern is prepared
/// when gate is built, so that trying them one by one costs little.
pub(super) fn stand_in(patterns: &[Expression], text: &str) -> bool {
    text.lines().any(|line| patterns.iter().any(|one| one.is_match(line)))
}
