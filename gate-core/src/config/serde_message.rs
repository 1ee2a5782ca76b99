//! Rewords serde's messages about values for people.
//!
//! serde reports by text alone; its phrasing is part of its stable behaviour, and the tests
//! of the errors pin it.

use super::error::{Fault, Problem};
use super::key::KeyPath;
use super::nearest;
use crate::text::brief;

/// The most of an unknown name that a message shows.
const MAX_NAME_CHARS: usize = 100;

/// The fault at this key that a message of serde means.
pub(super) fn fault(path: KeyPath, message: &str) -> Fault {
    let (problem, hint) = problem(message);
    Fault { path, problem, hint }
}

fn problem(message: &str) -> (Problem, Option<String>) {
    if let Some((name, names)) = unknown_name(message, "unknown field `") {
        return (Problem::UnknownKey(printable(name)), nearest::hint(name, &names));
    }
    if let Some((name, names)) = unknown_name(message, "unknown variant `") {
        let problem = Problem::UnknownName { kind: "value", name: printable(name) };
        return (problem, nearest::hint(name, &names));
    }
    mismatch(message).unwrap_or_else(|| (Problem::Syntax(message.trim().to_owned()), None))
}

fn printable(name: &str) -> String {
    brief(&name.escape_debug().to_string(), MAX_NAME_CHARS)
}

/// The unknown name, and the known ones that the message lists.
fn unknown_name<'a>(message: &'a str, start: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let (name, listed) = message.strip_prefix(start)?.split_once('`')?;
    Some((name, listed.split('`').skip(1).step_by(2).collect()))
}

fn mismatch(message: &str) -> Option<(Problem, Option<String>)> {
    // serde takes an array for a struct if it is as long.
    if message.starts_with("invalid length ") {
        let (expected, found) = ("a table".to_owned(), "an array".to_owned());
        return Some((Problem::WrongType { expected, found }, None));
    }
    let words = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))?;
    let (found, expected) = words.split_once(", expected ")?;
    let (found, expected) = (found_words(found), expected_words(expected));
    let lacks_brackets = expected == "an array" && !found.starts_with("a table");
    let hint = lacks_brackets.then(|| "an array stands in brackets: [\"one\", \"two\"]".to_owned());
    Some((Problem::WrongType { expected, found }, hint))
}

fn found_words(found: &str) -> String {
    match found {
        "map" => "a table".to_owned(),
        "sequence" => "an array".to_owned(),
        name => name.to_owned(),
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
        "any valid TOML value" => "a value",
        name if name.starts_with("struct ") => "a table",
        name => name,
    }
    .to_owned()
}
