//! The description of a format, of which each format has one.

use super::json::Decode;
use super::shape::Shape;

/// The description of a format: each has one such constant, in its file.
pub(super) struct Spec {
    /// The format's name.
    pub(super) name: &'static str,
    /// The agents that write it: names that `--format` accepts for all of an
    /// agent's formats, the first being the agent's own.
    pub(super) family: &'static [&'static str],
    /// True if an object of this shape is a record of this format.
    pub(super) record: fn(&Shape<'_>) -> bool,
    /// True if a text that begins with these lines is of this format.
    pub(super) lines: fn(&[&str]) -> bool,
    /// Makes a reader of this format.
    pub(super) open: fn(&Start) -> Box<dyn Decode>,
}

/// For the formats that are no text.
pub(super) fn no_lines(_: &[&str]) -> bool {
    false
}

/// For the formats that are no JSON.
pub(super) fn no_record(_: &Shape<'_>) -> bool {
    false
}

/// The beginning of an input, as far as a reader has to know it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    /// Lines at the beginning that are a runner's header.
    pub(super) header: u64,
    /// True for JSON of no known format.
    pub(super) unknown_json: bool,
}
