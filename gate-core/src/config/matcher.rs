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

/// Checks that the matcher of the table at `path` can be used, within the room that those
/// before it have left; `id` is what an error calls it.
pub(super) fn check(path: &KeyPath, id: &str, matcher: &Matcher, room: &mut Room) -> Validation {
    let (key, usable) = match matcher {
        Matcher::Regex(regex) => ("regex", usable(regex, room)),
        Matcher::Literal(text) if text.is_empty() => ("literal", Err(EMPTY.to_owned())),
        Matcher::Literal(text) if text.trim().is_empty() => ("literal", Err(BLANK.to_owned())),
        Matcher::Literal(_) => return Ok(()),
    };
    usable.map_err(|reason| Fault::new(path.key(key), Problem::Regex { id: id.to_owned(), reason }))
}

const EMPTY: &str = "matches the empty text, so it would hit everywhere";
const BLANK: &str = "matches white space alone, so it would hit everywhere";

/// Most states of all expressions of one list together: they compile within a second.
const LARGEST: u64 = 4_000_000;

/// An expression of so many parts is never too large when it is compiled.
const SMALL: u64 = 10_000;

/// States that further expressions may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room(u64);

impl Default for Room {
    fn default() -> Self {
        Self(LARGEST)
    }
}

/// Checks that a regular expression can be used; the error says why not.
pub(super) fn usable(regex: &str, room: &mut Room) -> Result<(), String> {
    let parsed = regex_syntax::parse(regex).ok();
    let size = parsed.as_ref().map_or(0, size);
    // One that is too large by itself gets the compiler's more exact error.
    let left = room.0.checked_sub(size);
    if left.is_none() && size <= LARGEST {
        return Err(no_room());
    }
    // Asking the compiled expression would miss `\b`, which needs a word around it.
    let shortest = parsed.and_then(|hir| hir.properties().minimum_len());
    // A text of two bytes is no blank, and to compile takes long.
    if size > SMALL || shortest.is_none_or(|shortest| shortest < 2) {
        let compiled = compile(regex)?;
        if shortest == Some(0) {
            return Err(EMPTY.to_owned());
        }
        if compiled.is_match(" ") {
            return Err(BLANK.to_owned());
        }
    }
    room.0 = left.ok_or_else(no_room)?;
    Ok(())
}

fn no_room() -> String {
    format!("too large together with those before it, more than {LARGEST} parts")
}

/// About how many parts the automaton of an expression has.
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
