//! JSON dialects of clients. A client ignores a file beyond its dialect, mostly without a
//! message.

use jsonc_parser::{CollectOptions, parse_to_ast};

use super::{Flaw, flaw, options};

/// Extensions to plain JSON that a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Dialect {
    pub(super) comments: bool,
    pub(super) trailing_commas: bool,
    pub(super) byte_order_mark: bool,
}

impl Dialect {
    /// All extensions; also for a client whose dialect is not known.
    pub(in super::super) const ANY: Self =
        Self { comments: true, trailing_commas: true, byte_order_mark: true };
    /// Plain JSON.
    pub(in super::super) const PLAIN: Self =
        Self { comments: false, trailing_commas: false, byte_order_mark: false };
    /// Plain JSON, also after a byte order mark.
    pub(in super::super) const MARKED: Self = Self { byte_order_mark: true, ..Self::PLAIN };
    /// With comments.
    pub(in super::super) const COMMENTED: Self = Self { comments: true, ..Self::PLAIN };

    /// The first place in a text that is not read.
    pub(in super::super) fn unread(self, text: &str) -> Option<Flaw> {
        let body_after_mark = text.strip_prefix('\u{feff}');
        if body_after_mark.is_some() && !self.byte_order_mark {
            let message = "a byte order mark is not allowed".to_owned();
            return Some(Flaw { line: 1, key: None, message });
        }
        let body = body_after_mark.unwrap_or(text);
        let document = parse_to_ast(body, &CollectOptions::default(), &options(self));
        document.err().map(|error| flaw(&error))
    }
}
