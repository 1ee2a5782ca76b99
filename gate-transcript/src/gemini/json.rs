//! `gemini --output-format json`: one object.

use serde::Deserialize;

use super::{FAMILY, Failure};
use crate::json::{Borrowed, Json, Records, read};
use crate::loose::{Entries, List, Num, Object, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::{Boundary, Role, Usage};

pub(crate) const GEMINI_JSON: Spec = Spec {
    name: "gemini-json",
    family: FAMILY,
    known_by: KnownBy::Record(|shape| {
        let answer = shape.has("response") && (shape.has("stats") || shape.has("session_id"));
        let failure = shape.has("session_id") && shape.inner("error").has("message");
        !shape.has("type") && (answer || failure)
    }),
    open: |_| Box::new(Json::new(Answer::default())),
};

/// Reads the object.
#[derive(Debug, Default)]
struct Answer {
    /// True once an object came: each is a run of its own.
    begun: bool,
    tokens: Option<u64>,
}

struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record<'a> {
    #[serde(borrow)]
    session_id: Str<'a>,
    #[serde(borrow)]
    response: Str<'a>,
    #[serde(borrow)]
    error: Object<Failure<'a>>,
    #[serde(borrow)]
    warnings: List<Str<'a>>,
    #[serde(borrow)]
    stats: Object<Stats<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Stats<'a> {
    #[serde(borrow)]
    models: Entries<'a, Model>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Model {
    tokens: Object<Tokens>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tokens {
    total: Num,
    cached: Num,
}

impl Records for Answer {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(Usage { tokens: self.tokens, ..Usage::default() });
    }
}

impl Answer {
    /// The response is the last message; warnings are about what came before.
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        let own = record.stats.0.is_some() || record.error.0.is_some();
        let own = own || !record.session_id.is_empty() || !record.response.is_empty();
        if own && std::mem::replace(&mut self.begun, true) {
            out.boundary(Boundary::Prompt, line);
        }
        out.session(&record.session_id);
        let models = record.stats.0.as_ref().map_or(&[][..], |stats| &stats.models.0);
        if let Some((name, _)) = models.iter().max_by_key(|(_, model)| model.total()) {
            out.model(name);
        }
        for (_, model) in models {
            self.tokens = Some(self.tokens.unwrap_or(0).saturating_add(model.total()));
        }
        for text in &record.warnings.0 {
            super::warning(text, line, out);
        }
        if let Some(failure) = &record.error.0 {
            failure.send(line, out);
        }
        if !record.response.trim().is_empty() {
            out.say(Role::Assistant, &record.response, line);
        }
    }
}

impl Model {
    /// Input and output together, without what was read from a cache.
    fn total(&self) -> u64 {
        let Some(Tokens { total, cached, .. }) = &self.tokens.0 else {
            return 0;
        };
        total.whole().unwrap_or(0).saturating_sub(cached.whole().unwrap_or(0))
    }
}
