//! `regex` or `literal`: exactly one, and one that can be used.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::error::{Fault, Problem, Validation};
use super::key::KeyPath;
use crate::decide::expression::compile;
use crate::decide::pattern::Matcher;

/// The matcher that the two keys of the table at `path` give, not yet compiled.
///
/// # Errors
///
/// Both are given, or neither.
pub(super) fn matcher(
    path: &KeyPath,
    regex: Option<&str>,
    literal: Option<&str>,
) -> Result<Matcher, Fault> {
    match (regex, literal) {
        (Some(regex), None) => Ok(Matcher::Regex(regex.to_owned())),
        (None, Some(text)) => Ok(Matcher::Literal(text.to_owned())),
        (Some(_), Some(_)) => {
            let problem = Problem::Conflict("both `regex` and `literal` are given".to_owned());
            Err(Fault::new(path.key("literal"), problem).hint("keep one of them"))
        }
        (None, None) => {
            Err(Fault::new(path.clone(), Problem::Missing("regex"))
                .hint("write `regex` or `literal`"))
        }
    }
}

/// Checks that the matcher of the table at `path` can be used, within the room that earlier
/// matchers have left; an error calls it `id`.
pub(super) fn check(path: &KeyPath, id: &str, matcher: &Matcher, room: &mut Room) -> Validation {
    let (key, result) = match matcher {
        Matcher::Regex(regex) => ("regex", check_regex(regex, room)),
        Matcher::Literal(text) if text.is_empty() => ("literal", Err(EMPTY.to_owned())),
        Matcher::Literal(text) if text.trim().is_empty() => ("literal", Err(BLANK.to_owned())),
        Matcher::Literal(_) => return Ok(()),
    };
    result.map_err(|reason| Fault::new(path.key(key), Problem::Regex { id: id.to_owned(), reason }))
}

const EMPTY: &str = "matches the empty text, so it would hit everywhere";
const BLANK: &str = "matches white space alone, so it would hit everywhere";

/// The most states of all expressions of one list together: they compile within a second.
const MAX_STATES: u64 = 4_000_000;

/// The most states of an expression that is known to compile without a trial.
const MAX_UNTRIED_STATES: u64 = 10_000;

/// States that further expressions may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room(u64);

impl Default for Room {
    fn default() -> Self {
        Self(MAX_STATES)
    }
}

/// Checks that a regular expression can be used; the error is the cause, in words.
pub(super) fn check_regex(regex: &str, room: &mut Room) -> Result<(), String> {
    let parsed = regex_syntax::parse(regex).ok();
    let size = parsed.as_ref().map_or(0, size);
    let room_left = room.0.checked_sub(size);
    // An expression that is too large by itself gets the compiler's more exact error.
    if room_left.is_none() && size <= MAX_STATES {
        return Err(no_room());
    }
    // Asking the compiled expression would miss `\b`, which needs a word around it.
    let min_length = parsed.and_then(|hir| hir.properties().minimum_len());
    // A match of two bytes is no blank, and to compile takes long.
    if size > MAX_UNTRIED_STATES || min_length.is_none_or(|length| length < 2) {
        let compiled = compile(regex)?;
        if min_length == Some(0) {
            return Err(EMPTY.to_owned());
        }
        if compiled.is_match(" ") {
            return Err(BLANK.to_owned());
        }
    }
    room.0 = room_left.ok_or_else(no_room)?;
    Ok(())
}

fn no_room() -> String {
    format!("too large together with those before it, more than {MAX_STATES} parts")
}

/// The number of states of an expression's automaton, roughly.
fn size(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => class.ranges().len() as u64,
        HirKind::Class(Class::Bytes(class)) => class.ranges().len() as u64,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            size(&repetition.sub).saturating_mul(times.into())
        }
        HirKind::Capture(capture) => size(&capture.sub).saturating_add(1),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(size).fold(1, u64::saturating_add)
        }
    }
}
