//! `gemini --output-format json`: one object.

use super::{FAMILY, Failure, Tokens};
use crate::json::{Json, Records, records};
use crate::loose::{Entries, List, Object, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::{Boundary, Role, Usage};

pub(crate) const GEMINI_JSON: Spec = Spec {
    name: "gemini-json",
    family: FAMILY,
    known_by: KnownBy::Record(|shape| {
        let has_session = shape.has("session_id");
        let is_answer = shape.has("response") && (shape.has("stats") || has_session);
        let is_failure = has_session && shape.inner("error").has("message");
        !shape.has("type") && (is_answer || is_failure)
    }),
    open: |_| Box::new(Json::new(Answer::default())),
};

/// Reads the object.
#[derive(Debug, Default)]
struct Answer {
    /// An object came: each is a run of its own.
    has_run: bool,
    tokens: Option<u64>,
}

records! {
    struct Record<'a> {
        session_id: Str<'a>,
        response: Str<'a>,
        error: Object<Failure<'a>>,
        warnings: List<Str<'a>>,
        stats: Object<Stats<'a>>,
    }

    struct Stats<'a> {
        models: Entries<'a, Model>,
    }

    struct Model {
        tokens: Object<Tokens>,
    }
}

impl Model {
    fn total(&self) -> u64 {
        self.tokens.0.as_ref().map_or(0, Tokens::total)
    }
}

impl Records for Answer {
    type Record<'a> = Record<'a>;

    /// The response is the last message; warnings are about the work before it.
    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        let is_run = record.stats.0.is_some()
            || record.error.0.is_some()
            || !record.session_id.is_empty()
            || !record.response.is_empty();
        if is_run && std::mem::replace(&mut self.has_run, true) {
            out.boundary(Boundary::Prompt);
        }
        out.session(&record.session_id);
        let models = record.stats.0.as_ref().map_or(&[][..], |stats| &stats.models.0);
        // A run may use several models: it is named after the one with the most tokens.
        if let Some((name, _)) = models.iter().max_by_key(|(_, model)| model.total()) {
            out.model(name);
        }
        for (_, model) in models {
            self.tokens = Some(self.tokens.unwrap_or(0).saturating_add(model.total()));
        }
        for text in &record.warnings.0 {
            super::warning(text, out);
        }
        if let Some(failure) = &record.error.0 {
            failure.send(out);
        }
        if !record.response.trim().is_empty() {
            out.say(Role::Assistant, &record.response);
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(Usage { tokens: self.tokens, ..Usage::default() });
    }
}
