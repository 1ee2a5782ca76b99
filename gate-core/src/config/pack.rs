//! Pattern packs: named lists of patterns that carry their own samples.

use serde::Deserialize;

use super::error::{ConfigError, Fault, Problem, Validation};
use super::key::KeyPath;
use super::raw::RawCustomPattern;
use super::{layer, matcher, validate};
use crate::decide::pack_text;
use crate::decide::pattern::{Guard, Matcher, Pattern, Scope};

/// The packs that are part of the program: name and text. A new pack is one
/// file in `patterns/` and one line here.
pub const PACKS: [(&str, &str); 2] =
    [("completion", gate_patterns::COMPLETION), ("seed", gate_patterns::SEED)];

/// The packs that feed the circuit breaker, name and text: what an error and
/// a limit look like. They hold no indicators, so settings cannot name them.
pub const BREAKER_PACKS: [(&str, &str); 2] =
    [("errors", gate_patterns::ERRORS), ("limits", gate_patterns::LIMITS)];

/// The pack by which an audit finds claims in prose, name and text. Its patterns are no indicators,
/// so settings cannot name it.
pub const REPORTS: (&str, &str) = ("reports", gate_patterns::REPORTS);

/// A pack of patterns.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pack {
    /// Its name.
    pub name: String,
    /// The purpose of the pack.
    pub doc: String,
    /// Its patterns, in the order of the file.
    pub patterns: Vec<PackPattern>,
    /// Rules that make two errors the same, in the order of the file.
    pub rules: Vec<Rule>,
}

/// A pattern of a pack.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackPattern {
    /// The pattern.
    pub pattern: Pattern,
    /// The meaning of the rule.
    pub doc: String,
    /// Lines that it must hit, at least two.
    pub matches: Vec<String>,
    /// Lines that it must not hit, at least two.
    pub rejects: Vec<String>,
}

/// A rule of normalisation, for text that does not identify an error.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name.
    pub id: String,
    /// The expression.
    pub regex: String,
    /// Texts in lower case, one of which stands in every match; empty if there are no such.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// The replacement; if it is missing, the found text stays, and
    /// no later rule takes it.
    pub with: Option<String>,
    /// The purpose of the rule.
    pub doc: String,
    /// Texts before and after all rules.
    #[serde(default)]
    pub samples: Vec<Sample>,
}

/// A text before and after normalisation.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Before.
    pub from: String,
    /// After.
    pub to: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPack {
    doc: Option<String>,
    #[serde(default)]
    pattern: Vec<RawPackPattern>,
    #[serde(default)]
    normalise: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPackPattern {
    id: Option<String>,
    regex: Option<String>,
    literal: Option<String>,
    #[serde(default)]
    keywords: Vec<String>,
    weight: Option<u32>,
    scope: Option<Scope>,
    unless: Option<Vec<Guard>>,
    doc: Option<String>,
    #[serde(default)]
    matches: Vec<String>,
    #[serde(default)]
    rejects: Vec<String>,
}

impl Pack {
    /// The pack of this name that is part of the program, if there is one.
    ///
    /// # Errors
    ///
    /// Its text is wrong; a test ensures that it is right.
    pub fn named(name: &str) -> Result<Option<Self>, ConfigError> {
        source(&PACKS, name).map(|text| Self::shipped(name, text)).transpose()
    }

    /// The breaker's pack of this name, if there is one.
    ///
    /// # Errors
    ///
    /// Its text is wrong; a test ensures that it is not.
    pub fn breaker_pack(name: &str) -> Result<Option<Self>, ConfigError> {
        source(&BREAKER_PACKS, name).map(|text| Self::shipped(name, text)).transpose()
    }

    fn shipped(name: &str, text: &str) -> Result<Self, ConfigError> {
        Self::parse(name, &format!("patterns/{name}.toml"), text)
    }

    /// The patterns of [`REPORTS`].
    pub fn reports() -> Vec<Pattern> {
        let (name, text) = REPORTS;
        shipped_patterns(name, text)
    }

    /// Reads a pack's text.
    ///
    /// # Errors
    ///
    /// The first fault of the text, with its place in `file`.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Self, ConfigError> {
        let raw = layer::read::<RawPack>(file, text)?;
        raw.pack(name).map_err(|fault| layer::error(file, Some(text), fault))
    }
}

impl RawPack {
    fn pack(self, name: &str) -> Result<Pack, Fault> {
        let doc = doc(&KeyPath::default(), self.doc)?;
        let settings: Vec<_> = self.pattern.iter().map(RawPackPattern::settings).collect();
        let list_path = KeyPath::dotted("pattern");
        validate::custom_patterns(&list_path, &settings)?;
        let mut patterns = Vec::new();
        for (index, (raw, settings)) in self.pattern.into_iter().zip(&settings).enumerate() {
            patterns.push(raw.pattern(&list_path.index(index), name, settings)?);
        }
        Ok(Pack { name: name.to_owned(), doc, patterns, rules: self.normalise })
    }
}

impl RawPackPattern {
    /// The keys that patterns of settings have too.
    fn settings(&self) -> RawCustomPattern {
        RawCustomPattern {
            id: self.id.clone(),
            regex: self.regex.clone(),
            literal: self.literal.clone(),
            weight: self.weight,
            scope: self.scope,
            unless: self.unless.clone(),
        }
    }

    fn pattern(
        self,
        path: &KeyPath,
        pack: &str,
        settings: &RawCustomPattern,
    ) -> Result<PackPattern, Fault> {
        let doc = doc(path, self.doc)?;
        for (key, samples) in [("matches", &self.matches), ("rejects", &self.rejects)] {
            if samples.len() < 2 {
                return Err(Fault::invalid(path.key(key), "at least two sample lines are needed"));
            }
        }
        let pattern = Pattern { keywords: self.keywords, ..pattern(path, pack, settings)? };
        Ok(PackPattern { pattern, doc, matches: self.matches, rejects: self.rejects })
    }
}

fn doc(path: &KeyPath, doc: Option<String>) -> Result<String, Fault> {
    doc.ok_or_else(|| Fault::new(path.clone(), Problem::Missing("doc")).hint("say what it means"))
}

/// The text of the pack of this name.
fn source(packs: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    packs.iter().find(|(pack, _)| *pack == name).map(|(_, text)| *text)
}

/// The patterns of the pack of this name, if it exists.
pub(super) fn patterns(name: &str) -> Option<Vec<Pattern>> {
    Some(shipped_patterns(name, source(&PACKS, name)?))
}

/// The patterns and the rules of the breaker's pack of this name, if there is one, without
/// docs and samples.
pub(crate) fn breaker_rules(name: &str) -> Option<(Vec<Pattern>, Vec<Rule>)> {
    let text = source(&BREAKER_PACKS, name)?;
    let rules = pack_text::tables(text, "[[normalise]]").into_iter().map(shipped_rule);
    Some((shipped_patterns(name, text), rules.collect()))
}

fn shipped_patterns(pack: &str, text: &str) -> Vec<Pattern> {
    let tables = pack_text::tables(text, "[[pattern]]").into_iter();
    tables.map(|table| shipped_pattern(pack, table)).collect()
}

fn shipped_pattern(pack: &str, table: &str) -> Pattern {
    let mut pattern = Pattern {
        id: String::new(),
        pack: pack.to_owned(),
        matcher: Matcher::Literal(String::new()),
        weight: 1,
        scope: Scope::default(),
        unless: Vec::new(),
        keywords: Vec::new(),
    };
    for (key, value) in pack_text::keys(table) {
        match key {
            "id" => pattern.id = pack_text::text(value).to_owned(),
            "regex" => pattern.matcher = Matcher::Regex(pack_text::text(value).to_owned()),
            "literal" => pattern.matcher = Matcher::Literal(pack_text::text(value).to_owned()),
            "weight" => pattern.weight = value.parse().unwrap_or(1),
            "scope" => pattern.scope = pack_text::named(pack_text::text(value)).unwrap_or_default(),
            "unless" => {
                pattern.unless = pack_text::texts(value).filter_map(pack_text::named).collect();
            }
            "keywords" => {
                pattern.keywords = pack_text::texts(value).map(str::to_owned).collect();
            }
            "matches" => break,
            _ => {}
        }
    }
    pattern
}

fn shipped_rule(table: &str) -> Rule {
    let mut rule = Rule {
        id: String::new(),
        regex: String::new(),
        keywords: Vec::new(),
        with: None,
        doc: String::new(),
        samples: Vec::new(),
    };
    for (key, value) in pack_text::keys(table) {
        match key {
            "id" => rule.id = pack_text::text(value).to_owned(),
            "regex" => rule.regex = pack_text::text(value).to_owned(),
            "keywords" => rule.keywords = pack_text::texts(value).map(str::to_owned).collect(),
            "with" => rule.with = Some(pack_text::text(value).to_owned()),
            "samples" => break,
            _ => {}
        }
    }
    rule
}

/// Checks that settings can name this pack.
pub(super) fn expect_known(path: KeyPath, name: &str) -> Validation {
    match source(&PACKS, name) {
        Some(_) => Ok(()),
        None => Err(Fault::unknown(path, "pack", name, &PACKS.map(|(name, _)| name))),
    }
}

/// A pattern of a pack or of the settings, out of the table at this path.
pub(super) fn pattern(
    path: &KeyPath,
    pack: &str,
    raw: &RawCustomPattern,
) -> Result<Pattern, Fault> {
    Ok(Pattern {
        matcher: matcher::matcher(path, raw.regex.as_deref(), raw.literal.as_deref())?,
        id: raw.id.clone().unwrap_or_default(),
        pack: pack.to_owned(),
        weight: raw.weight.unwrap_or(1),
        scope: raw.scope.unwrap_or_default(),
        unless: raw.unless.clone().unwrap_or_default(),
        keywords: Vec::new(),
    })
}
