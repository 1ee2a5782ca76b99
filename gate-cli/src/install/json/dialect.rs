//! JSON dialects of clients. A client ignores a file beyond its dialect, mostly without a
//! message.

use jsonc_parser::{CollectOptions, parse_to_ast};

use super::{Flaw, flaw, options};

/// Extensions to plain JSON that a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Dialect {
    pub(super) comments: bool,
    /// Trailing ones.
    pub(super) commas: bool,
    /// A byte order mark.
    pub(super) mark: bool,
}

impl Dialect {
    /// All extensions; also for a client whose dialect is not known.
    pub(in super::super) const ANY: Self = Self { comments: true, commas: true, mark: true };
    /// Plain JSON.
    pub(in super::super) const PLAIN: Self = Self { comments: false, commas: false, mark: false };
    /// Plain JSON, also after a byte order mark.
    pub(in super::super) const MARKED: Self = Self { mark: true, ..Self::PLAIN };
    /// With comments.
    pub(in super::super) const COMMENTED: Self = Self { comments: true, ..Self::PLAIN };

    /// The first thing in a text that is not read.
    pub(in super::super) fn unread(self, text: &str) -> Option<Flaw> {
        let body = text.strip_prefix('\u{feff}');
        if body.is_some() && !self.mark {
            let message = "a byte order mark is not allowed".to_owned();
            return Some(Flaw { line: 1, key: None, message });
        }
        let body = body.unwrap_or(text);
        let parsed = parse_to_ast(body, &CollectOptions::default(), &options(self));
        parsed.err().map(|error| flaw(&error))
    }
}
