//! Cline: `cline --json`.
//!
//! Sources: cline/cline, `apps/cli/src/runtime/run-agent.ts`, `apps/cli/src/utils/events.ts` and
//! `sdk/packages/shared/src/agents/types.ts` (3.0). A text comes in pieces (`content_start`) and then
//! whole (`content_end`): the whole counts. `done` and `run_result` repeat the last text, or hold what
//! the agent passed to the tool that ends a run.

use memchr::memmem;
use serde::Deserialize;

use super::calls::Calls;
use super::json::{Borrowed, Json, Records, read};
use super::loose::{Cause, Flag, Leaves, Num, Object, Str, sum};
use super::out::Out;
use super::parts::failed;
use super::spec::{KnownBy, Spec};
use super::utterance::Utterance;
use super::{Boundary, Ending, Role, Usage};

pub(super) const CLINE_STREAM: Spec = Spec {
    name: "cline-stream",
    family: &["cline"],
    known_by: KnownBy::Record(|shape| {
        let own = match shape.text("type") {
            "run_start" => shape.has("providerId") && shape.has("modelId"),
            "agent_event" | "team_event" => shape.inner("event").has("type"),
            "hook_event" => shape.has("hookEventName"),
            "run_result" => shape.has("finishReason"),
            "run_aborted" => shape.has("reason"),
            _ => false,
        };
        own && shape.has("ts")
    }),
    open: |_| Box::new(Json::new(Cline::default())),
};

/// In a tool's output, the mark of a command or file that failed. In a text, its quotes
/// would be escaped.
const FAILED: &[u8] = br#""success":false"#;

/// Follows the events.
#[derive(Debug, Default)]
struct Cline {
    speech: Utterance,
    calls: Calls,
    /// True once a record came: a later start begins another run.
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
    #[serde(rename = "sessionId", borrow)]
    session: Str<'a>,
    #[serde(rename = "modelId", borrow)]
    model: Str<'a>,
    #[serde(borrow)]
    event: Object<Event<'a>>,
    #[serde(rename = "finishReason", borrow)]
    reason: Str<'a>,
    #[serde(borrow)]
    text: Str<'a>,
    #[serde(borrow)]
    message: Str<'a>,
    usage: Object<Tokens>,
    #[serde(rename = "durationMs")]
    duration: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(rename = "contentType", borrow)]
    content: Str<'a>,
    /// Empty for the main agent.
    #[serde(rename = "parentAgentId", borrow)]
    parent: Str<'a>,
    #[serde(borrow)]
    text: Str<'a>,
    #[serde(borrow)]
    reasoning: Str<'a>,
    #[serde(borrow)]
    message: Str<'a>,
    #[serde(rename = "toolName", borrow)]
    tool: Str<'a>,
    #[serde(rename = "toolCallId", borrow)]
    call: Str<'a>,
    #[serde(borrow)]
    input: Leaves<'a>,
    #[serde(borrow)]
    output: Leaves<'a>,
    /// Why a tool or a request failed.
    #[serde(borrow)]
    error: Cause<'a>,
    recoverable: Flag,
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
    #[serde(rename = "totalCost")]
    cost: Num,
}

impl Records for Cline {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        let has_failure = memmem::find(json.as_bytes(), FAILED).is_some();
        read::<Any>(json, |record| self.take(&record, has_failure, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.spent);
    }
}

impl Cline {
    fn take(&mut self, record: &Record<'_>, has_failure: bool, line: u64, out: &mut Out<'_>) {
        let begun = std::mem::replace(&mut self.begun, true);
        match &*record.kind {
            "run_start" => {
                out.session(&record.session);
                out.model(&record.model);
                if begun {
                    self.speech.forget();
                    out.boundary(Boundary::Prompt, line);
                }
            }
            "agent_event" => {
                if let Some(event) = &record.event.0 {
                    self.event(event, has_failure, line, out);
                }
            }
            "team_event" => {
                if let Some(event) = &record.event.0 {
                    out.say(Role::Tool, &event.text, line);
                    out.say(Role::Tool, &event.message, line);
                }
            }
            "run_result" => self.result(record, line, out),
            "run_aborted" | "error" => fail(&record.message, line, out),
            _ => {}
        }
    }

    fn event(&mut self, event: &Event<'_>, has_failure: bool, line: u64, out: &mut Out<'_>) {
        let sub_agent = !event.parent.is_empty();
        match (&*event.kind, &*event.content) {
            ("content_end", "text") if sub_agent => out.say(Role::Tool, &event.text, line),
            ("content_end", "text") => {
                self.speech.close();
                self.speech.block("", &event.text, line, out);
            }
            ("content_end", "reasoning") if sub_agent => {
                out.say(Role::Tool, &event.reasoning, line);
            }
            ("content_end", "reasoning") => out.say(Role::Thinking, &event.reasoning, line),
            ("content_start", "tool") => self.call(event, line, out),
            ("content_end", "tool") => self.answer(event, has_failure, line, out),
            ("done", _) if !sub_agent => self.end(&event.reason, &event.text, line, out),
            ("error", _) => {
                out.say(Role::System, &event.error, line);
                if !event.recoverable.0 {
                    out.failure(&event.error, None, line);
                }
            }
            ("notice", _) => out.say(Role::System, &event.message, line),
            _ => {}
        }
    }

    fn call(&mut self, event: &Event<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        self.calls.started(&event.call, &event.tool, event.input.command.as_deref());
        out.called(&event.call, &event.tool, &event.input, line);
        for text in &event.input.texts {
            out.say(Role::Tool, text, line);
        }
    }

    /// A tool's answer. It has no exit code of a command.
    fn answer(&mut self, event: &Event<'_>, has_failure: bool, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        let failed_call = has_failure || !event.error.is_empty();
        out.answered(&event.call, Ending::failed_if(failed_call), line);
        let output = event.output.texts.iter().map(|text| &**text);
        let texts: Vec<_> = output.chain([&*event.error]).filter(|text| !text.is_empty()).collect();
        for text in &texts {
            out.say(Role::Tool, text, line);
        }
        if failed_call {
            failed(&event.tool, &event.call, &texts.join("\n"), line, out);
        }
        self.calls.ended(&event.call, None, line, out);
    }

    fn result(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        self.end(&record.reason, &record.text, line, out);
        let usage = record.usage.0.as_ref();
        self.spent.add(Usage {
            tokens: usage.and_then(|usage| sum([usage.input, usage.output, usage.cache_write])),
            cost_micro_usd: usage.and_then(|usage| usage.cost.micro()),
            duration_ms: record.duration.whole(),
            ..Usage::default()
        });
    }

    /// The run's end. If it failed, the text says why.
    fn end(&mut self, reason: &str, text: &str, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        if matches!(reason, "error" | "mistake_limit") {
            fail(text, line, out);
        } else if !self.speech.repeated_by(text) {
            self.speech.block("", text, line, out);
            self.speech.close();
        }
    }
}

fn fail(message: &str, line: u64, out: &mut Out<'_>) {
    out.say(Role::System, message, line);
    out.failure(message, None, line);
}
