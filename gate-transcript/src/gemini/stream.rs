//! `gemini --output-format stream-json`.
//!
//! The agent's text comes in deltas; a tool, an error or a prompt ends a
//! message. A command that failed looks like one that did not.

use serde::Deserialize;

use super::{FAMILY, Failure, warning};
use crate::calls::Calls;
use crate::json::{Borrowed, Json, Records, read};
use crate::loose::{Leaves, Num, Object, Str};
use crate::out::Out;
use crate::parts::failed;
use crate::spec::{KnownBy, Spec};
use crate::utterance::Utterance;
use crate::{Boundary, Ending, Role, Usage};

pub(crate) const GEMINI_STREAM: Spec = Spec {
    name: "gemini-stream",
    family: FAMILY,
    known_by: KnownBy::Record(|shape| match shape.text("type") {
        "init" => shape.has("session_id") && shape.has("model"),
        "message" => shape.has("role") && shape.has("content") && shape.has("timestamp"),
        "tool_use" => shape.has("tool_name") && shape.has("tool_id"),
        "tool_result" => shape.has("tool_id") && shape.has("status"),
        "result" => shape.has("status") && shape.has("stats"),
        _ => false,
    }),
    open: |_| Box::new(Json::new(Stream::default())),
};

/// Follows the events.
#[derive(Debug, Default)]
struct Stream {
    speech: Utterance,
    calls: Calls,
    /// True once a record came: a later `init` begins another run.
    begun: bool,
    spent: Usage,
}

struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    session_id: Str<'a>,
    #[serde(borrow)]
    model: Str<'a>,
    #[serde(borrow)]
    role: Str<'a>,
    #[serde(borrow)]
    content: Str<'a>,
    #[serde(borrow)]
    tool_name: Str<'a>,
    #[serde(borrow)]
    tool_id: Str<'a>,
    #[serde(borrow)]
    parameters: Leaves<'a>,
    #[serde(borrow)]
    status: Str<'a>,
    #[serde(borrow)]
    output: Str<'a>,
    #[serde(borrow)]
    error: Object<Failure<'a>>,
    #[serde(borrow)]
    severity: Str<'a>,
    #[serde(borrow)]
    message: Str<'a>,
    stats: Object<Stats>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Stats {
    total_tokens: Num,
    cached: Num,
    duration_ms: Num,
}

impl Records for Stream {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.spent);
    }
}

impl Stream {
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        let begun = std::mem::replace(&mut self.begun, true);
        match (&*record.kind, &*record.role) {
            ("message", "assistant") => self.speech.delta("", &record.content, line, out),
            (kind, role) => {
                self.speech.close();
                match kind {
                    "init" => self.init(record, begun, line, out),
                    "message" if role == "user" => self.prompt(&record.content, line, out),
                    "tool_use" => self.tool_use(record, line, out),
                    "tool_result" => self.tool_result(record, line, out),
                    "error" => self.error(record, line, out),
                    "result" => self.result(record, line, out),
                    _ => {}
                }
            }
        }
    }

    fn init(&mut self, record: &Record<'_>, begun: bool, line: u64, out: &mut Out<'_>) {
        out.session(&record.session_id);
        out.model(&record.model);
        if begun {
            self.speech.forget();
            out.boundary(Boundary::Prompt, line);
        }
    }

    fn prompt(&mut self, text: &str, line: u64, out: &mut Out<'_>) {
        self.speech.forget();
        out.boundary(Boundary::Prompt, line);
        out.say(Role::User, text, line);
    }

    fn tool_use(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        self.calls.started(&record.tool_id, &record.tool_name, None);
        out.called(&record.tool_id, &record.tool_name, &record.parameters, line);
        for text in &record.parameters.texts {
            out.say(Role::Tool, text, line);
        }
    }

    fn tool_result(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        let ending = Ending::failed_if(&*record.status == "error");
        out.answered(&record.tool_id, ending, line);
        out.say(Role::Tool, &record.output, line);
        let error = record.error.0.as_ref().map_or("", |error| &*error.message);
        if error != &*record.output {
            out.say(Role::Tool, error, line);
        }
        if &*record.status == "error" {
            let cause = if error.is_empty() { &record.output } else { error };
            let tool = self.calls.tool(&record.tool_id).unwrap_or_default();
            failed(tool, &record.tool_id, cause, line, out);
        }
        self.calls.ended(&record.tool_id, None, line, out);
    }

    fn error(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        if warning(&record.message, line, out) {
            self.speech.forget();
        } else if &*record.severity == "error" {
            out.failure(&record.message, super::status(&record.message), line);
        }
    }

    fn result(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        if &*record.status == "error"
            && let Some(failure) = &record.error.0
        {
            failure.send(line, out);
        }
        let Some(stats) = &record.stats.0 else {
            return;
        };
        let cached = stats.cached.whole().unwrap_or(0);
        let tokens = stats.total_tokens.whole().map(|total| total.saturating_sub(cached));
        let duration_ms = stats.duration_ms.whole();
        self.spent.add(Usage { tokens, cost_micro_usd: None, duration_ms, ..Usage::default() });
    }
}
