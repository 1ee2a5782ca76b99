//! Factory's Droid: `droid exec` with `--output-format json` or `stream-json`.
//!
//! Sources: public logs of 0.5x (2026), docs.factory.ai/cli/droid-exec. The
//! object of `json` is Claude Code's, and the two cannot be told apart; the
//! stream begins as Claude Code's does, and goes on in its own way.
//! `completion` repeats the last message.

mod session;

use serde::Deserialize;

use super::calls::Calls;
use super::claude::{self, Shell};
use super::claude_like::is_result;
use super::json::{Borrowed, Json, Records, read};
use super::loose::{Flag, Leaves, Num, Object, Str, sum};
use super::out::Out;
use super::parts::failed;
use super::spec::{KnownBy, Spec};
use super::utterance::Utterance;
use super::{Boundary, Ending, Role, Usage};

pub(super) use session::DROID_SESSION;

const FAMILY: &[&str] = &["droid"];

pub(super) const DROID_JSON: Spec = Spec {
    name: "droid-json",
    family: FAMILY,
    known_by: KnownBy::Record(is_result),
    open: |_| {
        let exit_code = |_: &str, _: bool| None;
        claude::open(Shell { tool: "", exit_code, marks_failures: false, wakes: false })
    },
};

pub(super) const DROID_STREAM: Spec = Spec {
    name: "droid-stream",
    family: FAMILY,
    known_by: KnownBy::Record(|shape| {
        let own = match shape.text("type") {
            "system" => shape.text("subtype") == "init",
            "message" => shape.has("role") && shape.has("text"),
            "reasoning" => shape.has("text"),
            "tool_call" => shape.has("toolName") && shape.has("parameters"),
            "tool_result" => shape.has("isError") && shape.has("value"),
            "completion" => shape.has("finalText"),
            _ => false,
        };
        own && shape.has("session_id") && !shape.in_array
    }),
    open: |_| Box::new(Json::new(Droid::default())),
};

/// Follows the stream.
#[derive(Debug, Default)]
struct Droid {
    speech: Utterance,
    calls: Calls,
    /// The last message's id and thought: each may come twice.
    message: String,
    thought: String,
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
    subtype: Str<'a>,
    #[serde(borrow)]
    session_id: Str<'a>,
    #[serde(borrow)]
    model: Str<'a>,
    #[serde(borrow)]
    role: Str<'a>,
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    text: Str<'a>,
    #[serde(borrow, rename = "toolName")]
    tool: Str<'a>,
    #[serde(borrow)]
    parameters: Leaves<'a>,
    #[serde(rename = "isError")]
    is_error: Flag,
    #[serde(borrow)]
    value: Leaves<'a>,
    #[serde(borrow, rename = "finalText")]
    final_text: Str<'a>,
    #[serde(rename = "durationMs")]
    duration: Num,
    usage: Object<Tokens>,
    #[serde(borrow)]
    message: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tokens {
    input_tokens: Num,
    output_tokens: Num,
    cache_creation_input_tokens: Num,
}

impl Records for Droid {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.spent);
    }
}

impl Droid {
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        out.session(&record.session_id);
        let begun = std::mem::replace(&mut self.begun, true);
        match (&*record.kind, &*record.role) {
            ("system", _) => {
                out.model(&record.model);
                if begun && &*record.subtype == "init" {
                    self.turn(line, out);
                }
            }
            ("message", "assistant") => self.message(record, line, out),
            ("message", "user") => {
                self.turn(line, out);
                out.say(Role::User, &record.text, line);
            }
            ("message", _) => out.say(Role::System, &record.text, line),
            ("reasoning", _) => self.reasoning(record, line, out),
            ("tool_call", _) => self.tool_call(record, line, out),
            ("tool_result", _) => self.tool_result(record, line, out),
            ("completion", _) => self.completion(record, line, out),
            ("error", _) => fail(&record.message, line, out),
            _ => {}
        }
    }

    fn turn(&mut self, line: u64, out: &mut Out<'_>) {
        self.speech.forget();
        out.boundary(Boundary::Prompt, line);
    }

    fn message(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        let again = !record.id.is_empty() && *record.id == *self.message;
        if again && self.speech.equals(&record.text) {
            return;
        }
        record.id.clone_into(&mut self.message);
        self.speech.close();
        self.speech.block(&record.id, &record.text, line, out);
    }

    fn reasoning(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        if record.id.is_empty() || *record.id != *self.thought {
            record.id.clone_into(&mut self.thought);
            out.say(Role::Thinking, &record.text, line);
        }
    }

    fn tool_call(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        self.calls.started(&record.id, &record.tool, None);
        out.called(&record.id, &record.tool, &record.parameters, line);
        for text in &record.parameters.texts {
            out.say(Role::Tool, text, line);
        }
    }

    /// A tool's answer. It has no exit code of a command.
    fn tool_result(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        out.answered(&record.id, Ending::failed_if(record.is_error.0), line);
        for text in &record.value.texts {
            out.say(Role::Tool, text, line);
        }
        if record.is_error.0 {
            let tool = self.calls.tool(&record.id).unwrap_or_default();
            failed(tool, &record.id, &record.value.texts.join("\n"), line, out);
        }
        self.calls.ended(&record.id, None, line, out);
    }

    fn completion(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        if record.is_error.0 {
            fail(&record.final_text, line, out);
        } else if !self.speech.repeated_by(&record.final_text) {
            self.speech.close();
            self.speech.block("", &record.final_text, line, out);
        }
        self.speech.close();
        self.spend(record);
    }

    fn spend(&mut self, record: &Record<'_>) {
        let tokens = record.usage.0.as_ref().and_then(|tokens| {
            sum([tokens.input_tokens, tokens.output_tokens, tokens.cache_creation_input_tokens])
        });
        let duration_ms = record.duration.whole();
        self.spent.add(Usage { tokens, cost_micro_usd: None, duration_ms, ..Usage::default() });
    }
}

fn fail(message: &str, line: u64, out: &mut Out<'_>) {
    out.say(Role::System, message, line);
    out.failure(message, None, line);
}
