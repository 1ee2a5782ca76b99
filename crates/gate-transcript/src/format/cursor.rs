//! `cursor-agent --print`, with `--output-format json` or `stream-json`.
//!
//! Sources: cursor.com/docs/cli/reference/output-format (2026), public logs of
//! 2025 and 2026. Text comes whole or in pieces, by version and flags; where
//! it comes in pieces, the whole may follow. So texts without anything between
//! are one message, and a text that repeats it is dropped. `result` joins all
//! messages of the run. A failure may print no record at all.

mod session;

use crate::claude_like::{Message, is_cursor_init, is_cursor_result, is_event};
use crate::json::{Json, Records, records};
use crate::loose::{Entries, Flag, Leaves, Num, Object, Str, sum};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role, Usage};

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
    talk: Talk,
    /// True if the last text was a thought that goes on.
    thinking: bool,
    ended: bool,
    spent: Usage,
}

records! {
    struct Record<'a> {
        "type" => kind: Str<'a>,
        subtype: Str<'a>,
        session_id: Str<'a>,
        model: Str<'a>,
        text: Str<'a>,
        message: Object<Message<'a>>,
        call_id: Str<'a>,
        tool_call: Entries<'a, Tool<'a>>,
        result: Str<'a>,
        is_error: Flag,
        duration_ms: Num,
        usage: Object<Tokens>,
    }

    /// One of the tools that `tool_call` is named after: `shellToolCall`, ….
    struct Tool<'a> {
        args: Leaves<'a>,
        arguments: Leaves<'a>,
        /// The outcome by its name: `success`, `failure`, ….
        result: Entries<'a, Outcome<'a>>,
    }

    struct Outcome<'a> {
        "exitCode" => exit_code: Num,
        stdout: Str<'a>,
        stderr: Str<'a>,
        content: Str<'a>,
        error: Str<'a>,
        "errorMessage" => error_message: Str<'a>,
        reason: Str<'a>,
    }

    struct Tokens {
        "inputTokens" => input: Num,
        "outputTokens" => output: Num,
        "cacheWriteTokens" => cache_write: Num,
    }
}

impl Records for Cursor {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        out.session(&record.session_id);
        let thinking = std::mem::take(&mut self.thinking);
        if &*record.kind != "user" && std::mem::take(&mut self.ended) {
            self.turn(out);
        }
        match &*record.kind {
            "assistant" => self.assistant(&record, out),
            "thinking" => self.thought(&record.text, thinking, out),
            "user" => self.user(&record, out),
            "tool_call" => self.tool_call(&record, out),
            "result" => self.result(&record, out),
            "system" => out.model(&record.model),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.spent);
    }
}

impl Cursor {
    fn turn(&mut self, out: &mut Out<'_>) {
        self.ended = false;
        self.talk.turn(Boundary::Prompt, out);
    }

    fn user(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        self.turn(out);
        for text in record.message.0.iter().flat_map(|message| message.content.texts()) {
            out.say(Role::User, text);
        }
    }

    fn assistant(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        for text in record.message.0.iter().flat_map(|message| message.content.texts()) {
            if self.talk.equals(text) {
                self.talk.close();
            } else {
                self.talk.delta("", text, out);
            }
        }
    }

    fn thought(&mut self, text: &str, goes_on: bool, out: &mut Out<'_>) {
        self.talk.close();
        self.thinking = !text.is_empty();
        if goes_on {
            out.go_on(Role::Thinking, text);
        } else {
            out.say(Role::Thinking, text);
        }
    }

    fn tool_call(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        self.talk.close();
        let completed = &*record.subtype == "completed";
        for (name, tool) in &record.tool_call.0 {
            if !completed {
                out.called(&record.call_id, name, &tool.args);
                for text in tool.args.texts.iter().chain(&tool.arguments.texts) {
                    out.say(Role::Tool, text);
                }
            }
            for (outcome, output) in &tool.result.0 {
                let command = tool.args.command.as_deref();
                output.send(outcome, name, &record.call_id, command, out);
            }
        }
    }

    fn result(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        self.spent.add(Usage {
            tokens: record
                .usage
                .0
                .as_ref()
                .and_then(|tokens| sum([tokens.input, tokens.output, tokens.cache_write])),
            duration_ms: record.duration_ms.whole(),
            ..Usage::default()
        });
        if record.is_error.0 || record.subtype.starts_with("error") {
            let message = if record.result.is_empty() { &record.subtype } else { &record.result };
            out.fail(message, None);
        } else if !self.talk.repeated_by(&record.result) {
            self.talk.close();
            self.talk.block("", &record.result, out);
        }
        self.talk.close();
        self.ended = true;
    }
}

impl Outcome<'_> {
    fn send(&self, outcome: &str, tool: &str, id: &str, command: Option<&str>, out: &mut Out<'_>) {
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
        out.answered(id, Ending::failed_if(outcome != "success"));
        for text in &present {
            out.say(Role::Tool, text);
        }
        let code = self.exit_code.exit_code();
        if let (Some(command), Some(exit_code)) = (command, code) {
            out.ran(command.to_owned(), exit_code);
        }
        if matches!(outcome, "rejected" | "permissionDenied") {
            out.denied(tool, id);
        } else if outcome != "success" || code.is_some_and(|code| code != 0) {
            out.unsuccessful(tool, id, &present.join("\n"));
        }
    }
}
