//! The packs `errors` and `limits`, read when they are first searched for.

use std::sync::LazyLock;

use crate::config::breaker_rules;
use crate::decide::expression::{Expression, source};

static ERRORS: LazyLock<BreakerPack> = LazyLock::new(|| BreakerPack::load("errors"));
static LIMITS: LazyLock<BreakerPack> = LazyLock::new(|| BreakerPack::load("limits"));

/// A pack that feeds the circuit breaker.
struct BreakerPack {
    patterns: Vec<BreakerPattern>,
    rules: Vec<Rule>,
}

/// A pattern with its kind.
struct BreakerPattern {
    kind: Kind,
    expression: Expression,
}

/// The kind of a pattern: the first word of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Error,
    Harmless,
    Guard,
    Notice,
    Mention,
    Denial,
    Outage,
}

/// A rule of normalisation.
pub(super) struct Rule {
    pub(super) expression: Expression,
    /// The replacement; without one the match stays.
    pub(super) replacement: Option<String>,
}

impl BreakerPack {
    fn load(name: &str) -> Self {
        let (patterns, rules) = breaker_rules(name).unwrap_or_default();
        let patterns = patterns.into_iter().filter_map(|pattern| {
            let kind = Kind::from_id(&pattern.id)?;
            let expression = Expression::from_pack(source(&pattern.matcher), pattern.keywords);
            Some(BreakerPattern { kind, expression })
        });
        let rules = rules.into_iter().map(|rule| Rule {
            expression: Expression::from_pack(rule.regex, rule.keywords),
            replacement: rule.with,
        });
        Self { patterns: patterns.collect(), rules: rules.collect() }
    }
}

impl Kind {
    fn from_id(id: &str) -> Option<Self> {
        match id.split('-').next()? {
            "error" => Some(Self::Error),
            "harmless" => Some(Self::Harmless),
            "guard" => Some(Self::Guard),
            "notice" => Some(Self::Notice),
            "mention" => Some(Self::Mention),
            "denial" => Some(Self::Denial),
            "outage" => Some(Self::Outage),
            _ => None,
        }
    }

    /// The patterns of this kind.
    pub(super) fn patterns(self) -> impl Iterator<Item = &'static Expression> {
        let pack = match self {
            Self::Error | Self::Harmless | Self::Guard => &ERRORS,
            Self::Notice | Self::Mention | Self::Denial | Self::Outage => &LIMITS,
        };
        let patterns = pack.patterns.iter();
        patterns.filter(move |pattern| pattern.kind == self).map(|pattern| &pattern.expression)
    }

    /// A pattern of this kind matches a line of the text.
    pub(super) fn is_in(self, text: &str) -> bool {
        text.lines().any(|line| self.patterns().any(|pattern| pattern.is_match(line)))
    }
}

/// The rules that make two errors the same.
pub(super) fn rules() -> &'static [Rule] {
    &ERRORS.rules
}
