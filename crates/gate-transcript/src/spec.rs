//! The description of a format. `chat.rs` has a small one for JSON, `aider.rs` one for text.

use super::json::Decode;
use super::shape::Shape;

/// The description of a format: one constant in the format's file.
pub(super) struct Spec {
    /// The format's name in `--format` and in JSON: the agent's name, a hyphen, the kind.
    pub(super) name: &'static str,
    /// The names of the agent that writes it. `--format` accepts each for all formats of
    /// the agent; the first one is shown.
    pub(super) family: &'static [&'static str],
    /// By which content the format is known.
    pub(super) known_by: KnownBy,
    /// Makes a reader of this format.
    pub(super) open: fn(&Start) -> Box<dyn Decode>,
}

/// The content that a format of JSON records, or a text format, is known by.
#[derive(Clone, Copy)]
pub(super) enum KnownBy {
    /// Recognises the shape of the format's records.
    Record(fn(&Shape<'_>) -> bool),
    /// Recognises a text of the format by its first lines.
    Lines(fn(&[&str]) -> bool),
}

/// The beginning of an input, as far as a reader has to know it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    /// Lines at the beginning that are a runner's header.
    pub(super) header: u64,
    /// The input is JSON of no known format.
    pub(super) unknown_json: bool,
}
