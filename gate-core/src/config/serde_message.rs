//! Rewords serde's messages about values for people.
//!
//! serde reports by text alone; its phrasing is part of its stable behaviour, and the tests
//! of the errors pin it.

use super::error::Problem;
use super::nearest;
use crate::text::brief;

/// Most of an unknown name that a message shows.
const MAX_NAME_CHARS: usize = 100;

/// The problem that a message of serde means, and a hint.
pub(super) fn problem(message: &str) -> (Problem, Option<String>) {
    if let Some((name, known)) = unknown(message, "unknown field `") {
        let hint = nearest::hint(name, &known);
        return (
            Problem::UnknownKey(brief(&name.escape_debug().to_string(), MAX_NAME_CHARS)),
            hint,
        );
    }
    if let Some((name, known)) = unknown(message, "unknown variant `") {
        let hint = nearest::hint(name, &known);
        let name = brief(&name.escape_debug().to_string(), MAX_NAME_CHARS);
        return (Problem::UnknownName { what: "value", name }, hint);
    }
    mismatch(message).unwrap_or_else(|| (Problem::Syntax(message.trim().to_owned()), None))
}

/// The unknown name, and the known ones that the message lists.
fn unknown<'a>(message: &'a str, start: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let (name, rest) = message.strip_prefix(start)?.split_once('`')?;
    Some((name, rest.split('`').skip(1).step_by(2).collect()))
}

fn mismatch(message: &str) -> Option<(Problem, Option<String>)> {
    let rest = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))?;
    let (found, expected) = rest.split_once(", expected ")?;
    let (found, expected) = (found_words(found), expected_words(expected));
    let bare = expected == "an array" && !found.starts_with("a table");
    let hint = bare.then(|| "an array stands in brackets: [\"one\", \"two\"]".to_owned());
    Some((Problem::WrongType { expected, found }, hint))
}

fn found_words(found: &str) -> String {
    match found {
        "map" => "a table".to_owned(),
        "sequence" => "an array".to_owned(),
        other => other.to_owned(),
    }
}

fn expected_words(expected: &str) -> String {
    match expected {
        "u32" => "a whole number from 0 to 4294967295",
        "a nonzero u32" => "a whole number from 1 to 4294967295",
        "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "an array",
        "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other => other,
    }
    .to_owned()
}
