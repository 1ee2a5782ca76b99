//! `regex` or `literal`: exactly one, and one that can be used.

use regex_automata::util::syntax;

use super::error::Problem;
use super::fault::{Checked, Fault};
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

/// Checks that the table at `path` has one matcher and that it can be used;
/// `id` is what an error calls it.
pub(super) fn check(
    path: &KeyPath,
    id: &str,
    regex: Option<&str>,
    literal: Option<&str>,
) -> Checked {
    let (key, usable) = match matcher(path, regex, literal)? {
        Matcher::Regex(regex) => ("regex", usable(&regex)),
        Matcher::Literal(text) if text.is_empty() => ("literal", Err(EMPTY.to_owned())),
        Matcher::Literal(text) if text.trim().is_empty() => ("literal", Err(BLANK.to_owned())),
        Matcher::Literal(_) => return Ok(()),
    };
    usable.map_err(|reason| Fault::new(path.key(key), Problem::Regex { id: id.to_owned(), reason }))
}

const EMPTY: &str = "matches the empty text, so it would hit everywhere";
const BLANK: &str = "matches white space alone, so it would hit everywhere";

/// Whether a regular expression can be used; otherwise why not.
pub(super) fn usable(regex: &str) -> Result<(), String> {
    let compiled = compile(regex)?;
    // Asking the compiled expression would miss `\b`, which needs a word around it.
    let shortest = syntax::parse(regex).ok().and_then(|hir| hir.properties().minimum_len());
    if shortest == Some(0) {
        Err(EMPTY.to_owned())
    } else if compiled.is_match(" ") {
        Err(BLANK.to_owned())
    } else {
        Ok(())
    }
}
