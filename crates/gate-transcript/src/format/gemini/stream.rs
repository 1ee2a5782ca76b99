//! `gemini --output-format stream-json`.
//!
//! The agent's text comes in deltas; a tool, an error or a prompt ends a
//! message. A command that failed looks like one that did not.

use super::{FAMILY, Failure, warning};
use crate::json::{Json, Records, records};
use crate::loose::{Leaves, Num, Object, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
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
    talk: Talk,
    /// A record came: a later `init` begins another run.
    has_record: bool,
    usage: Usage,
}

records! {
    struct Record<'a> {
        "type" => kind: Str<'a>,
        session_id: Str<'a>,
        model: Str<'a>,
        role: Str<'a>,
        content: Str<'a>,
        tool_name: Str<'a>,
        tool_id: Str<'a>,
        parameters: Leaves<'a>,
        status: Str<'a>,
        output: Str<'a>,
        error: Object<Failure<'a>>,
        severity: Str<'a>,
        message: Str<'a>,
        stats: Object<Stats>,
    }

    struct Stats {
        total_tokens: Num,
        cached: Num,
        duration_ms: Num,
    }
}

impl Records for Stream {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        let had_record = std::mem::replace(&mut self.has_record, true);
        match (&*record.kind, &*record.role) {
            ("message", "assistant") => self.talk.delta("", &record.content, out),
            (kind, role) => {
                self.talk.close();
                match kind {
                    "init" => self.init(&record, had_record, out),
                    "message" if role == "user" => self.talk.prompt(&record.content, out),
                    "tool_use" => {
                        let Record { tool_id, tool_name, parameters, .. } = &record;
                        self.talk.call(tool_id, tool_name, parameters, out);
                    }
                    "tool_result" => self.tool_result(&record, out),
                    "error" => self.error(&record, out),
                    "result" => self.result(&record, out),
                    _ => {}
                }
            }
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl Stream {
    fn init(&mut self, record: &Record<'_>, had_record: bool, out: &mut Out<'_>) {
        out.session(&record.session_id);
        out.model(&record.model);
        if had_record {
            self.talk.turn(Boundary::Prompt, out);
        }
    }

    fn tool_result(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        let ending = Ending::failed_if(&*record.status == "error");
        out.answered(&record.tool_id, ending);
        out.say(Role::Tool, &record.output);
        let error = record.error.0.as_ref().map_or("", |error| &*error.message);
        if error != &*record.output {
            out.say(Role::Tool, error);
        }
        if &*record.status == "error" {
            let cause = if error.is_empty() { &record.output } else { error };
            let tool = self.talk.calls.tool(&record.tool_id).unwrap_or_default();
            out.denied_or_failed(tool, &record.tool_id, cause);
        }
        self.talk.calls.ended(&record.tool_id, None, out);
    }

    fn error(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        if warning(&record.message, out) {
            self.talk.forget();
        } else if &*record.severity == "error" {
            out.failure(&record.message, super::status(&record.message));
        }
    }

    fn result(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        if &*record.status == "error"
            && let Some(failure) = &record.error.0
        {
            failure.send(out);
        }
        let Some(stats) = &record.stats.0 else {
            return;
        };
        let cached = stats.cached.whole().unwrap_or(0);
        let tokens = stats.total_tokens.whole().map(|total| total.saturating_sub(cached));
        let duration_ms = stats.duration_ms.whole();
        self.usage.add(Usage { tokens, cost_micro_usd: None, duration_ms, ..Usage::default() });
    }
}
