//! The breaker's packs, ready to be searched for.

use std::sync::LazyLock;

use crate::config::Pack;
use crate::decide::expression::{self, Expression};
use crate::decide::pattern::Pattern;

/// The pack `errors`: its patterns and its rules are used apart.
pub(super) static ERRORS: LazyLock<Pack> = LazyLock::new(|| read("errors"));

/// A pack of this program.
#[expect(clippy::expect_used, reason = "the packs are constants, and the tests read each")]
pub(super) fn read(name: &str) -> Pack {
    Pack::of_breaker(name).ok().flatten().expect("a pack of the breaker")
}

/// Patterns of one kind. Each is prepared when gate is built, so that to try
/// them one by one costs little.
pub(super) struct Patterns(Vec<Expression>);

impl Patterns {
    /// The pack's patterns of one kind, which is the first word of their ids.
    pub(super) fn of(pack: &Pack, kind: &str) -> Self {
        let patterns = pack.patterns.iter().map(|one| &one.pattern);
        let of_kind = patterns.filter(|one| one.id.split('-').next() == Some(kind));
        let source = |one: &Pattern| expression::source(&one.matcher);
        Self(of_kind.map(|one| Expression::of_gate(source(one))).collect())
    }

    /// Whether one of them stands in one of the text's lines.
    pub(super) fn stand_in(&self, text: &str) -> bool {
        text.lines().any(|line| self.0.iter().any(|one| one.is_match(line)))
    }
}
