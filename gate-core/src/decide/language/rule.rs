//! The rules of the pack.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::{Kind, LanguageChange};
use crate::decide::expression::Expression;
use crate::decide::literal::{Pairs, is_latin};
use crate::decide::pack_text;
use crate::decide::pattern::Matcher;

/// A rule of the vocabulary.
#[derive(Debug)]
pub(crate) struct Rule {
    id: Cow<'static, str>,
    /// The bits of its kinds.
    kinds: u64,
    reason: Cow<'static, str>,
    source: Cow<'static, str>,
    /// Texts in lower case, one of which stands in every match; empty if no texts are known.
    keywords: Vec<&'static str>,
    /// Each keyword is of another script than Latin.
    is_other_script: bool,
    is_shipped: bool,
    expression: OnceLock<Expression>,
}

/// The rules in a pack's text.
pub(super) fn read(pack: &'static str) -> Vec<Rule> {
    pack_text::tables(pack, "[[rule]]").into_iter().map(Rule::read).collect()
}

impl Rule {
    /// Reads the rule whose keys begin a text.
    fn read(text: &'static str) -> Self {
        let mut rule = Self::new(Cow::default(), 0, Cow::default(), Cow::default());
        rule.is_shipped = true;
        for (key, value) in pack_text::keys(text) {
            match key {
                "id" => rule.id = pack_text::text(value).into(),
                "kinds" => {
                    let kinds = pack_text::texts(value).filter_map(pack_text::named::<Kind>);
                    rule.kinds = kinds.map(Kind::bit).sum();
                }
                "reason" => rule.reason = pack_text::text(value).into(),
                "regex" => rule.source = pack_text::text(value).into(),
                "keywords" => rule.keywords = pack_text::texts(value).collect(),
                // The samples come last, and are for tests.
                "matches" => break,
                _ => {}
            }
        }
        rule.is_other_script =
            !rule.keywords.is_empty() && !rule.keywords.iter().any(|word| is_latin(word));
        rule
    }

    /// The rule that settings add or put in the place of another.
    pub(super) fn from_settings(change: &LanguageChange) -> Option<Self> {
        let rule = change.rule.as_ref()?;
        let (id, reason) = (change.id.clone().into(), rule.reason.clone().into());
        Some(Self::new(id, rule.kind.bit(), reason, rule.regex.clone().into()))
    }

    fn new(
        id: Cow<'static, str>,
        kinds: u64,
        reason: Cow<'static, str>,
        source: Cow<'static, str>,
    ) -> Self {
        let (keywords, expression) = (Vec::new(), OnceLock::new());
        let (is_other_script, is_shipped) = (false, false);
        Self { id, kinds, reason, source, keywords, is_other_script, is_shipped, expression }
    }

    pub(crate) fn is_of(&self, kind: Kind) -> bool {
        self.kinds & kind.bit() != 0
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Why a text is refused by this rule, with its name.
    pub(crate) fn objection(&self) -> String {
        format!("{} (rule `{}`)", self.reason, self.id)
    }

    /// The objection with the text that the rule refused.
    pub(crate) fn objection_to(&self, text: &str) -> String {
        format!("{} (\"{text}\", rule `{}`)", self.reason, self.id)
    }

    #[cfg(test)]
    pub(super) fn keywords(&self) -> &[&'static str] {
        &self.keywords
    }

    /// A cheap test that only excludes rules: the text with these pairs may still hold no match.
    pub(super) fn may_match(&self, pairs: &Pairs, is_latin: bool) -> bool {
        !(is_latin && self.is_other_script)
            && (self.keywords.is_empty() || self.keywords.iter().any(|word| pairs.may_hold(word)))
    }

    /// The text that the rule is tried on. A rule of settings ignores case by itself, unless
    /// it asks for one.
    pub(super) fn searched<'t>(&self, text: &'t str, lower: &'t str) -> &'t str {
        if self.is_shipped { lower } else { text }
    }

    pub(super) fn expression(&self) -> &Expression {
        self.expression.get_or_init(|| match self.is_shipped {
            true => {
                let keywords = self.keywords.iter().map(|word| (*word).to_owned()).collect();
                Expression::from_pack(self.source.clone(), keywords)
            }
            false => Expression::from_settings(&Matcher::Regex(self.source.to_string())),
        })
    }
}
