//! The vocabulary of denials, conditions, examples and "none": the pack
//! `patterns/language.toml`, and the rules that settings add to it or take from it.

mod kind;
mod rule;

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use crate::decide::literal::{Pairs, in_lower_case, is_latin};

pub use kind::Kind;
pub(crate) use rule::Rule;

/// The text of the pack.
pub const LANGUAGE_PACK: &str = gate_patterns::LANGUAGE;

static SHIPPED: LazyLock<Vec<Rule>> = LazyLock::new(|| rule::read(LANGUAGE_PACK));

/// The rules that are in force. A copy shares them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<LanguageChange>", into = "Vec<LanguageChange>")]
pub struct Language(Arc<Changes>);

/// A rule that settings add, replace or switch off.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LanguageChange {
    /// Its name; that of a rule of the pack replaces that rule.
    pub id: String,
    /// The new rule; `None` switches the pack's rule off.
    pub rule: Option<LanguageRule>,
}

/// A rule of settings.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LanguageRule {
    /// The place that asks for it.
    pub kind: Kind,
    /// The expression, without regard to case.
    pub regex: String,
    /// The language, as its code.
    pub language: String,
    /// The words that a near miss shows.
    pub reason: String,
}

#[derive(Debug, Default)]
struct Changes {
    settings: Vec<LanguageChange>,
    /// The rules that the settings add, or put in the place of others.
    rules: Vec<Rule>,
}

impl From<Vec<LanguageChange>> for Language {
    fn from(settings: Vec<LanguageChange>) -> Self {
        let rules = settings.iter().filter_map(Rule::from_settings).collect();
        Self(Arc::new(Changes { settings, rules }))
    }
}

impl From<Language> for Vec<LanguageChange> {
    fn from(language: Language) -> Self {
        language.0.settings.clone()
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.0.settings == other.0.settings
    }
}

impl Eq for Language {}

impl Language {
    /// Settings change nothing.
    pub fn is_shipped(&self) -> bool {
        self.0.settings.is_empty()
    }

    /// The ids of the pack's rules.
    pub fn shipped_ids() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(Rule::id)
    }

    /// The first rule of a kind that matches a text. No rule matches a blank one.
    pub(crate) fn rule_in(&self, kind: Kind, text: &str) -> Option<&Rule> {
        self.first_in(&[kind], text)
    }

    /// The first rule of the first of these kinds that matches a text.
    pub(crate) fn first_in(&self, kinds: &[Kind], text: &str) -> Option<&Rule> {
        if text.trim().is_empty() {
            return None;
        }
        let lower = in_lower_case(text);
        // To compile an expression takes longer than to search with it. So cheap facts about the
        // text come first, which rule most rules out.
        let (pairs, is_latin) = (Pairs::new(&lower), is_latin(&lower));
        kinds.iter().flat_map(|kind| self.rules(*kind)).find(|rule| {
            rule.may_match(&pairs, is_latin)
                && rule.expression().is_match(rule.searched(text, &lower))
        })
    }

    /// A rule of the kind matches the text.
    pub(crate) fn matches(&self, kind: Kind, text: &str) -> bool {
        self.rule_in(kind, text).is_some()
    }

    /// The text without what the rules of a kind find in it.
    pub(crate) fn without(&self, kind: Kind, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        self.rules(kind).fold(text.to_owned(), |text, rule| {
            let lower = in_lower_case(&text);
            rule.expression().without_matches_in(&text, rule.searched(&text, &lower))
        })
    }

    /// The bytes at the start of a text that a rule of the kind takes up; the longest
    /// match counts.
    pub(crate) fn head_length(&self, kind: Kind, text: &str) -> usize {
        let lower = in_lower_case(text);
        let matches =
            self.rules(kind).filter_map(|rule| rule.expression().find(rule.searched(text, &lower)));
        let heads = matches.filter(|found| found.start == 0);
        heads.map(|head| head.end).max().unwrap_or(0)
    }

    fn rules(&self, kind: Kind) -> impl Iterator<Item = &Rule> {
        let Changes { settings, rules } = &*self.0;
        let shipped = SHIPPED.iter().filter(move |rule| {
            rule.is_of(kind) && !settings.iter().any(|change| change.id == rule.id())
        });
        shipped.chain(rules.iter().filter(move |rule| rule.is_of(kind)))
    }
}

#[cfg(test)]
mod tests;
