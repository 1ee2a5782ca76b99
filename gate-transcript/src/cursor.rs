//! `cursor-agent --print`, with `--output-format json` or `stream-json`.
//!
//! Sources: cursor.com/docs/cli/reference/output-format (2026), public logs of
//! 2025 and 2026. Text comes whole or in pieces, by version and flags; where
//! it comes in pieces, the whole may follow. So texts without anything between
//! are one message, and a text that repeats it is dropped. `result` joins all
//! messages of the run. A failure may print no record at all.

mod session;

use serde::Deserialize;

use super::claude_like::{is_cursor_init, is_cursor_result, is_event};
use super::json::{Borrowed, Json, Records, read};
use super::loose::{Content, Entries, Flag, Leaves, Num, Object, Str, sum};
use super::out::Out;
use super::parts::failed;
use super::spec::{KnownBy, Spec};
use super::utterance::Utterance;
use super::{Boundary, Ending, Fact, Role, Usage};

pub(super) use session::CURSOR_SESSION;

const FAMILY: &[&str] = &["cursor", "cursor-agent"];

pub(super) const CURSOR_JSON: Spec = Spec {
    name: "cursor-json",
    family: FAMILY,
    known_by: KnownBy::Record(|shape| shape.text("type") == "result" && is_cursor_result(shape)),
    open: |_| Box::new(Json::new(Cursor::default())),
};

pub(super) const CURSOR_STREAM: Spec = Spec {
    name: "cursor-stream",
    known_by: KnownBy::Record(|shape| match shape.text("type") {
        "tool_call" => shape.has("tool_call") && shape.has("call_id"),
        "thinking" => matches!(shape.text("subtype"), "delta" | "completed"),
        "result" => false,
        _ => is_event(shape) || is_cursor_init(shape),
    }),
    ..CURSOR_JSON
};

/// Follows the events, or reads the one of `json`.
#[derive(Debug, Default)]
struct Cursor {
    speech: Utterance,
    /// True if the last text was a thought that goes on.
    thinking: bool,
    ended: bool,
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
    text: Str<'a>,
    #[serde(borrow)]
    message: Object<Message<'a>>,
    #[serde(borrow)]
    call_id: Str<'a>,
    #[serde(borrow)]
    tool_call: Entries<'a, Tool<'a>>,
    #[serde(borrow)]
    result: Str<'a>,
    is_error: Flag,
    duration_ms: Num,
    usage: Object<Tokens>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Content<'a, Block<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow)]
    text: Str<'a>,
}

/// One of the tools that `tool_call` is named after: `shellToolCall`, ….
#[derive(Deserialize, Default)]
#[serde(default)]
struct Tool<'a> {
    #[serde(borrow)]
    args: Leaves<'a>,
    #[serde(borrow)]
    arguments: Leaves<'a>,
    /// The outcome by its name: `success`, `failure`, ….
    #[serde(borrow)]
    result: Entries<'a, Outcome<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Outcome<'a> {
    #[serde(rename = "exitCode")]
    exit_code: Num,
    #[serde(borrow)]
    stdout: Str<'a>,
    #[serde(borrow)]
    stderr: Str<'a>,
    #[serde(borrow)]
    content: Str<'a>,
    #[serde(borrow)]
    error: Str<'a>,
    #[serde(borrow, rename = "errorMessage")]
    error_message: Str<'a>,
    #[serde(borrow)]
    reason: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tokens {
    #[serde(rename = "inputTokens")]
    input: Num,
    #[serde(rename = "outputTokens")]
    output: Num,
    #[serde(rename = "cacheWriteTokens")]
    cache_write: Num,
}

impl Records for Cursor {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.spent);
    }
}

impl Cursor {
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        out.session(&record.session_id);
        let thinking = std::mem::take(&mut self.thinking);
        if &*record.kind != "user" && std::mem::take(&mut self.ended) {
            self.turn(line, out);
        }
        match &*record.kind {
            "assistant" => self.assistant(record, line, out),
            "thinking" => self.thought(&record.text, thinking, line, out),
            "user" => self.user(record, line, out),
            "tool_call" => self.tool_call(record, line, out),
            "result" => self.result(record, line, out),
            "system" => out.model(&record.model),
            _ => {}
        }
    }

    fn turn(&mut self, line: u64, out: &mut Out<'_>) {
        self.ended = false;
        self.speech.forget();
        out.boundary(Boundary::Prompt, line);
    }

    fn user(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        self.turn(line, out);
        for text in record.texts() {
            out.say(Role::User, text, line);
        }
    }

    fn assistant(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        for text in record.texts() {
            if self.speech.equals(text) {
                self.speech.close();
            } else {
                self.speech.delta("", text, line, out);
            }
        }
    }

    fn thought(&mut self, text: &str, goes_on: bool, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        self.thinking = !text.is_empty();
        if goes_on {
            out.go_on(Role::Thinking, text, line);
        } else {
            out.say(Role::Thinking, text, line);
        }
    }

    fn tool_call(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        let completed = &*record.subtype == "completed";
        for (name, tool) in &record.tool_call.0 {
            if !completed {
                out.called(&record.call_id, name, &tool.args, line);
            }
            if !completed {
                for text in tool.args.texts.iter().chain(&tool.arguments.texts) {
                    out.say(Role::Tool, text, line);
                }
            }
            for (outcome, what) in &tool.result.0 {
                let call = (&**name, &*record.call_id);
                what.send(call, tool.args.command.as_deref(), outcome, line, out);
            }
        }
    }

    fn result(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        self.spend(record);
        if record.is_error.0 || record.subtype.starts_with("error") {
            let message = if record.result.is_empty() { &record.subtype } else { &record.result };
            out.say(Role::System, message, line);
            out.failure(message, None, line);
        } else if !self.speech.repeated_by(&record.result) {
            self.speech.close();
            self.speech.block("", &record.result, line, out);
        }
        self.speech.close();
        self.ended = true;
    }

    fn spend(&mut self, record: &Record<'_>) {
        let tokens = record.usage.0.as_ref();
        let tokens =
            tokens.and_then(|tokens| sum([tokens.input, tokens.output, tokens.cache_write]));
        let duration_ms = record.duration_ms.whole();
        self.spent.add(Usage { tokens, cost_micro_usd: None, duration_ms, ..Usage::default() });
    }
}

impl Record<'_> {
    fn texts(&self) -> Vec<&str> {
        match self.message.0.as_ref().map(|message| &message.content) {
            None => Vec::new(),
            Some(Content::Text(text)) => vec![text],
            Some(Content::Blocks(blocks)) => blocks.iter().map(|block| &*block.text).collect(),
        }
    }
}

impl Outcome<'_> {
    fn send(
        &self,
        (tool, id): (&str, &str),
        command: Option<&str>,
        outcome: &str,
        line: u64,
        out: &mut Out<'_>,
    ) {
        let texts = [
            &self.stdout,
            &self.stderr,
            &self.content,
            &self.error,
            &self.error_message,
            &self.reason,
        ];
        let present: Vec<&str> =
            texts.into_iter().map(|text| &**text).filter(|text| !text.is_empty()).collect();
        out.answered(id, Ending::failed_if(outcome != "success"), line);
        for text in &present {
            out.say(Role::Tool, text, line);
        }
        let code: Option<i32> = self.exit_code.signed().and_then(|code| code.try_into().ok());
        if let (Some(command), Some(exit_code)) = (command, code) {
            out.fact(Fact::Command { command: command.to_owned(), exit_code, line });
        }
        if matches!(outcome, "rejected" | "permissionDenied") {
            out.denied(tool, id, line);
        } else if outcome != "success" || code.is_some_and(|code| code != 0) {
            failed(tool, id, &present.join("\n"), line, out);
        }
    }
}
