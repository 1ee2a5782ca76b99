//! Antigravity's transcripts, `~/.gemini/antigravity…/brain/ID/.system_generated/logs/transcript.jsonl`.
//!
//! Sources: public transcripts and readers of such files (2026). A line is a step, with its source. The
//! agent's steps are `PLANNER_RESPONSE`; the other steps of the model are what its tools did.

use serde::Deserialize;

use super::json::{Borrowed, Json, Records, read};
use super::loose::{Leaves, List, Num, Object, Str};
use super::out::Out;
use super::spec::{Spec, no_lines};
use super::utterance::Utterance;
use super::{Boundary, Role};

pub(super) const ANTIGRAVITY_SESSION: Spec = Spec {
    name: "antigravity-session",
    family: &["antigravity", "agy"],
    record: |shape| shape.has("step_index") && shape.has("source") && shape.has("type"),
    lines: no_lines,
    open: |_| Box::new(Json::new(Session::default())),
};

/// Follows the steps.
#[derive(Debug, Default)]
struct Session {
    speech: Utterance,
    /// The last step of the agent: it may be written again when it has ended.
    step: Option<u64>,
    /// The context was compacted. That matters only if the agent goes on: a checkpoint may also
    /// follow its last word.
    compacted: bool,
}

struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record<'a> {
    step_index: Num,
    #[serde(borrow)]
    source: Str<'a>,
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    model: Str<'a>,
    /// A string, or an object with a text.
    #[serde(borrow)]
    content: Leaves<'a>,
    #[serde(borrow)]
    thinking: Str<'a>,
    #[serde(borrow)]
    tool_calls: List<Object<Call<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    args: Leaves<'a>,
}

impl Records for Session {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, _: &mut Out<'_>) {}
}

impl Session {
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        let content = record.content.texts.join("\n");
        match (&*record.kind, &*record.source) {
            ("PLANNER_RESPONSE", _) => self.response(record, &content, line, out),
            // Another agent, or a program, writes to the agent in a system message.
            ("USER_INPUT" | "SYSTEM_MESSAGE", _) | (_, "USER_EXPLICIT") => {
                self.turn(Boundary::Prompt, line, out);
                out.say(Role::User, &content, line);
            }
            ("ERROR_MESSAGE", _) => {
                self.speech.close();
                out.say(Role::System, &content, line);
                out.failure(&content, None, line);
            }
            ("CHECKPOINT", _) => {
                self.compacted = true;
                out.say(Role::System, &content, line);
            }
            (_, "SYSTEM") => out.say(Role::System, &content, line),
            _ => {
                self.speech.close();
                out.say(Role::Tool, &content, line);
            }
        }
    }

    fn turn(&mut self, boundary: Boundary, line: u64, out: &mut Out<'_>) {
        self.compacted = false;
        self.speech.forget();
        out.boundary(boundary, line);
    }

    fn response(&mut self, record: &Record<'_>, content: &str, line: u64, out: &mut Out<'_>) {
        out.model(&record.model);
        let step = record.step_index.whole();
        let again = step.is_some() && step == self.step;
        self.step = step;
        if again && self.speech.says_again(content) {
            return;
        }
        if self.compacted {
            self.turn(Boundary::Compaction, line, out);
        }
        self.speech.close();
        out.say(Role::Thinking, &record.thinking, line);
        self.speech.block("", content, line, out);
        for call in record.tool_calls.0.iter().filter_map(|call| call.0.as_ref()) {
            self.speech.close();
            out.called("", &call.name, &call.args, line);
            for text in &call.args.texts {
                out.say(Role::Tool, text, line);
            }
        }
    }
}
