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
    /// The last text was a thought that may go on.
    in_thought: bool,
    /// The run has ended: the next record is another run's.
    run_ended: bool,
    usage: Usage,
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
        let continues_thought = std::mem::take(&mut self.in_thought);
        if &*record.kind != "user" && std::mem::take(&mut self.run_ended) {
            self.turn(out);
        }
        match &*record.kind {
            "assistant" => self.assistant(&record, out),
            "thinking" => self.thought(&record.text, continues_thought, out),
            "user" => self.user(&record, out),
            "tool_call" => self.tool_call(&record, out),
            "result" => self.result(&record, out),
            "system" => out.model(&record.model),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl Cursor {
    fn turn(&mut self, out: &mut Out<'_>) {
        self.run_ended = false;
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
            if self.talk.is_last_message(text) {
                self.talk.close();
            } else {
                self.talk.delta("", text, out);
            }
        }
    }

    fn thought(&mut self, text: &str, continues: bool, out: &mut Out<'_>) {
        self.talk.close();
        self.in_thought = !text.is_empty();
        if continues {
            out.continue_text(Role::Thinking, text);
        } else {
            out.say(Role::Thinking, text);
        }
    }

    fn tool_call(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        self.talk.close();
        let is_completed = &*record.subtype == "completed";
        for (name, tool) in &record.tool_call.0 {
            if !is_completed {
                out.called(&record.call_id, name, &tool.args);
                for text in tool.args.texts.iter().chain(&tool.arguments.texts) {
                    out.say(Role::Tool, text);
                }
            }
            for (outcome_name, outcome) in &tool.result.0 {
                outcome.send(outcome_name, &ToolCall { name, tool, id: &record.call_id }, out);
            }
        }
    }

    fn result(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        let tokens = record.usage.0.as_ref();
        self.usage.add(Usage {
            tokens: tokens
                .and_then(|tokens| sum([tokens.input, tokens.output, tokens.cache_write])),
            duration_ms: record.duration_ms.whole(),
            ..Usage::default()
        });
        if record.is_error.0 || record.subtype.starts_with("error") {
            let message = if record.result.is_empty() { &record.subtype } else { &record.result };
            out.fail(message, None);
        } else if !self.talk.is_repeated_by(&record.result) {
            self.talk.close();
            self.talk.block("", &record.result, out);
        }
        self.talk.close();
        self.run_ended = true;
    }
}

/// The call of a tool, to which an outcome belongs.
struct ToolCall<'r> {
    id: &'r str,
    /// The tool's name.
    name: &'r str,
    tool: &'r Tool<'r>,
}

impl Outcome<'_> {
    fn send(&self, outcome: &str, call: &ToolCall<'_>, out: &mut Out<'_>) {
        let texts = [
            &self.stdout,
            &self.stderr,
            &self.content,
            &self.error,
            &self.error_message,
            &self.reason,
        ];
        let texts: Vec<&str> =
            texts.into_iter().map(|text| &**text).filter(|text| !text.is_empty()).collect();
        out.answered(call.id, Ending::failed_if(outcome != "success"));
        for text in &texts {
            out.say(Role::Tool, text);
        }
        let code = self.exit_code.exit_code();
        if let (Some(command), Some(exit_code)) = (&call.tool.args.command, code) {
            out.ran(command.clone(), exit_code);
        }
        if matches!(outcome, "rejected" | "permissionDenied") {
            out.denied(call.name, call.id);
        } else if outcome != "success" || code.is_some_and(|code| code != 0) {
            out.denied_or_failed(call.name, call.id, &texts.join("\n"));
        }
    }
}
