//! Filters behind a check, and what their output shows about it.

use super::kinds::CheckKind;
use super::names::{base, meant};

/// Words by which a filter names successes. Lower case.
const SUCCESSES: [&str; 5] = ["pass", "success", "succeed", "ok", "done"];

/// The lines that a filter lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filtered {
    /// Errors, or those about some files.
    Failures,
    Successes,
}

/// The lines that a command lets through; none if it is no filter, or only counts.
pub(super) fn filtered(words: &[String]) -> Option<Filtered> {
    let (program, rest) = meant(words).split_first()?;
    if !matches!(base(program), "grep" | "egrep" | "rg") || has_option(rest, 'c') {
        return None;
    }
    let text = rest.join(" ").to_ascii_lowercase();
    let names_success = SUCCESSES.iter().any(|word| text.contains(word));
    let takes_away = has_option(rest, 'v');
    Some(if names_success == takes_away { Filtered::Failures } else { Filtered::Successes })
}

/// True for a filter through which no failure goes unseen: it takes successes away, or lets the
/// errors of a check through that is no test.
pub(super) fn shows_failures(words: &[String], kind: CheckKind) -> bool {
    let names_errors = || words.iter().any(|word| word.to_ascii_lowercase().contains("error"));
    filtered(words) == Some(Filtered::Failures)
        && (has_option(words, 'v') || (kind != CheckKind::Test && names_errors()))
}

/// True if one of the words holds this option, as `-iv` does `v`.
fn has_option(words: &[String], letter: char) -> bool {
    let mut options = words.iter().filter(|word| word.starts_with('-') && !word.starts_with("--"));
    options.any(|word| word.contains(letter))
}
