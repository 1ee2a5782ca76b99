//! The rules of the pack, read without a TOML parser: each start of gate that sees a
//! signal needs some of them, and parsing the whole pack takes longer than the decision.

use std::borrow::Cow;
use std::sync::OnceLock;

use memchr::memmem;

use super::{Kind, LanguageChange};
use crate::decide::expression::Expression;
use crate::decide::pattern::Matcher;

const RULE_HEAD: &str = "\n[[rule]]\n";

/// A rule of the vocabulary.
#[derive(Debug)]
pub(crate) struct Rule {
    id: Cow<'static, str>,
    /// The bits of its kinds.
    kinds: u64,
    reason: Cow<'static, str>,
    source: Cow<'static, str>,
    /// The pack's line of keywords; none for a rule of settings.
    keywords: Option<&'static str>,
    expression: OnceLock<Expression>,
}

/// The rules in a pack's text.
pub(super) fn read(pack: &'static str) -> Vec<Rule> {
    let heads: Vec<_> = memmem::find_iter(pack.as_bytes(), RULE_HEAD).collect();
    heads.iter().map(|head| Rule::read(&pack[head + RULE_HEAD.len()..])).collect()
}

/// The texts in quotes on a line of the pack.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

impl Rule {
    /// Reads the rule whose keys begin a text.
    fn read(text: &'static str) -> Self {
        let mut rule = Self::new(Cow::default(), 0, Cow::default(), Cow::default());
        for line in text.lines().take_while(|line| !line.is_empty()) {
            let Some((key, value)) = line.split_once(" = ") else { continue };
            let text = || quoted(value).next().unwrap_or_default().into();
            match key {
                "id" => rule.id = text(),
                "kinds" => {
                    rule.kinds = quoted(value).filter_map(Kind::named).map(Kind::bit).sum();
                }
                "reason" => rule.reason = text(),
                "regex" => rule.source = value.trim_matches('\'').into(),
                "keywords" => rule.keywords = Some(value),
                "matches" => break,
                _ => {}
            }
        }
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
        Self { id, kinds, reason, source, keywords: None, expression: OnceLock::new() }
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

    /// The same, with the text that the rule refused.
    pub(crate) fn objection_to(&self, text: &str) -> String {
        format!("{} (\"{text}\", rule `{}`)", self.reason, self.id)
    }

    pub(super) fn keywords(&self) -> impl Iterator<Item = &'static str> {
        quoted(self.keywords.unwrap_or_default())
    }

    pub(super) fn expression(&self) -> &Expression {
        self.expression.get_or_init(|| match self.keywords {
            Some(_) => {
                let keywords = self.keywords().map(str::to_owned).collect();
                Expression::from_pack(self.source.clone(), keywords)
            }
            None => Expression::from_settings(&Matcher::Regex(self.source.to_string())),
        })
    }
}
