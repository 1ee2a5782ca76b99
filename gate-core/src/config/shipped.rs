//! What the program brings with it: the default settings, and of the packs that
//! settings name what decides. The build script writes both out, so that nothing is
//! read when gate starts; tests hold that they are what the texts say.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};

use super::raw::RawConfig;
use crate::decide::pattern::{Guard, Matcher, Pattern, Scope};

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// A pattern of a shipped pack.
pub(super) struct Shipped {
    id: &'static str,
    regex: Option<&'static str>,
    literal: Option<&'static str>,
    weight: u32,
    scope: Scope,
    unless: &'static [Guard],
}

/// The patterns of the shipped pack of this name, if there is one.
pub(super) fn patterns(pack: &str) -> Option<Vec<Pattern>> {
    let (_, shipped) = SHIPPED.iter().find(|(known, _)| *known == pack)?;
    shipped.iter().map(|it| it.pattern(pack)).collect()
}

impl Shipped {
    fn pattern(&self, pack: &str) -> Option<Pattern> {
        let regex = self.regex.map(|it| Matcher::Regex(it.to_owned()));
        let literal = || self.literal.map(|it| Matcher::Literal(it.to_owned()));
        Some(Pattern {
            id: self.id.to_owned(),
            pack: pack.to_owned(),
            matcher: regex.or_else(literal)?,
            weight: self.weight,
            scope: self.scope,
            unless: self.unless.to_vec(),
        })
    }
}

/// A default that is a number.
fn number<T: TryFrom<u32>>(number: u32) -> Option<T> {
    number.try_into().ok()
}

/// A default that is written as a text: a word of a list, a length of time.
fn text<T: DeserializeOwned>(text: &str) -> Option<T> {
    let text: StrDeserializer<'_, serde::de::value::Error> = text.into_deserializer();
    T::deserialize(text).ok()
}

/// A default that is a list of such texts.
fn texts<T: DeserializeOwned>(texts: &[&str]) -> Option<Vec<T>> {
    texts.iter().map(|it| text(it)).collect()
}
