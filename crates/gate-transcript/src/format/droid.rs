//! Factory's Droid: `droid exec` with `--output-format json` or `stream-json`.
//!
//! Sources: public logs of 0.5x (2026), docs.factory.ai/cli/droid-exec. The
//! object of `json` is Claude Code's, and the two cannot be told apart; the
//! stream begins as Claude Code's does, and goes on in its own way.
//! `completion` repeats the last message.

mod session;

use super::claude::{self, Shell};
use crate::claude_like::{Tokens, is_result};
use crate::json::{Json, Records, records};
use crate::loose::{Flag, Leaves, Num, Object, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role, Usage};

pub(super) use session::DROID_SESSION;

const FAMILY: &[&str] = &["droid"];

pub(super) const DROID_JSON: Spec = Spec {
    name: "droid-json",
    family: FAMILY,
    known_by: KnownBy::Record(is_result),
    open: |_| {
        let exit_code = |_: &str, _: bool| None;
        claude::open(Shell { tool: "", exit_code, marks_failures: false, wakes_agent: false })
    },
};

pub(super) const DROID_STREAM: Spec = Spec {
    name: "droid-stream",
    family: FAMILY,
    known_by: KnownBy::Record(|shape| {
        let has_keys = match shape.text("type") {
            "system" => shape.text("subtype") == "init",
            "message" => shape.has("role") && shape.has("text"),
            "reasoning" => shape.has("text"),
            "tool_call" => shape.has("toolName") && shape.has("parameters"),
            "tool_result" => shape.has("isError") && shape.has("value"),
            "completion" => shape.has("finalText"),
            _ => false,
        };
        has_keys && shape.has("session_id") && !shape.in_array
    }),
    open: |_| Box::new(Json::new(Droid::default())),
};

/// Follows the stream.
#[derive(Debug, Default)]
struct Droid {
    talk: Talk,
    /// The id of the last message, which may come twice.
    message_id: String,
    /// The id of the last thought, which may come twice.
    thought_id: String,
    /// A record came: a later `init` begins another run.
    has_record: bool,
    usage: Usage,
}

records! {
    struct Record<'a> {
        "type" => kind: Str<'a>,
        subtype: Str<'a>,
        session_id: Str<'a>,
        model: Str<'a>,
        role: Str<'a>,
        id: Str<'a>,
        text: Str<'a>,
        "toolName" => tool: Str<'a>,
        parameters: Leaves<'a>,
        "isError" => is_error: Flag,
        value: Leaves<'a>,
        "finalText" => final_text: Str<'a>,
        "durationMs" => duration: Num,
        usage: Object<Tokens>,
        message: Str<'a>,
    }
}

impl Records for Droid {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        out.session(&record.session_id);
        let had_record = std::mem::replace(&mut self.has_record, true);
        match (&*record.kind, &*record.role) {
            ("system", _) => {
                out.model(&record.model);
                if had_record && &*record.subtype == "init" {
                    self.talk.turn(Boundary::Prompt, out);
                }
            }
            ("message", "assistant") => self.message(&record, out),
            ("message", "user") => self.talk.prompt(&record.text, out),
            ("message", _) => out.say(Role::System, &record.text),
            ("reasoning", _) => self.reasoning(&record, out),
            ("tool_call", _) => {
                self.talk.call(&record.id, &record.tool, &record.parameters, out);
            }
            // It has no exit code of a command.
            ("tool_result", _) => {
                let text = record.value.texts.join("\n");
                let ending = Ending::failed_if(record.is_error.0);
                self.talk.answer(&record.id, &text, ending, None, out);
            }
            ("completion", _) => self.completion(&record, out),
            ("error", _) => out.fail(&record.message, None),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl Droid {
    fn message(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        let is_same_message = !record.id.is_empty() && *record.id == *self.message_id;
        if is_same_message && self.talk.is_last_message(&record.text) {
            return;
        }
        record.id.clone_into(&mut self.message_id);
        self.talk.close();
        self.talk.block(&record.id, &record.text, out);
    }

    fn reasoning(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        if record.id.is_empty() || *record.id != *self.thought_id {
            record.id.clone_into(&mut self.thought_id);
            out.say(Role::Thinking, &record.text);
        }
    }

    fn completion(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        if record.is_error.0 {
            out.fail(&record.final_text, None);
        } else if !self.talk.is_repeated_by(&record.final_text) {
            self.talk.close();
            self.talk.block("", &record.final_text, out);
        }
        self.talk.close();
        self.usage.add(Usage {
            tokens: record.usage.0.and_then(Tokens::total),
            duration_ms: record.duration.whole(),
            ..Usage::default()
        });
    }
}
