//! The breaker's packs, ready to be searched for.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

use crate::config::Pack;
use crate::decide::expression;

/// The pack `errors`: its patterns and its rules are used apart.
pub(super) static ERRORS: LazyLock<Pack> = LazyLock::new(|| read("errors"));

/// A pack of this program.
#[expect(clippy::expect_used, reason = "the packs are constants, and the tests read each")]
pub(super) fn read(name: &str) -> Pack {
    Pack::of_breaker(name).ok().flatten().expect("a pack of the breaker")
}

/// Patterns of one kind, as one expression. Nothing asks which of them hits,
/// and they are tried on few lines: one expression is compiled faster than all
/// of them, and than what would tell which of them to try.
pub(super) struct Patterns(Regex);

impl Patterns {
    /// The pack's patterns of one kind, which is the first word of their ids.
    pub(super) fn of(pack: &Pack, kind: &str) -> Self {
        let patterns = pack.patterns.iter().map(|one| &one.pattern);
        let of_kind = patterns.filter(|one| one.id.split('-').next() == Some(kind));
        let sources: Vec<_> =
            of_kind.map(|one| format!("(?:{})", expression::source(&one.matcher))).collect();
        Self(expression::constant(&sources.join("|")))
    }

    /// Whether one of them stands in one of the text's lines.
    pub(super) fn stand_in(&self, text: &str) -> bool {
        text.lines().any(|line| self.0.is_match(line))
    }
}
