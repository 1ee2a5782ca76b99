//! Cline: `cline --json`.
//!
//! Sources: cline/cline, `apps/cli/src/runtime/run-agent.ts`, `apps/cli/src/utils/events.ts` and
//! `sdk/packages/shared/src/agents/types.ts` (3.0). A text comes in pieces (`content_start`) and then
//! whole (`content_end`): the whole counts. `done` and `run_result` repeat the last text, or hold what
//! the agent passed to the tool that ends a run.

mod ui;

pub(super) use ui::CLINE_SESSION;

use crate::json::{Json, Records, records};
use crate::loose::{Cause, Flag, Leaves, Num, Object, Str, sum};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role, Usage};
use memchr::memmem;

pub(super) const CLINE_STREAM: Spec = Spec {
    name: "cline-stream",
    family: &["cline"],
    known_by: KnownBy::Record(|shape| {
        let has_keys = match shape.text("type") {
            "run_start" => shape.has("providerId") && shape.has("modelId"),
            "agent_event" | "team_event" => shape.inner("event").has("type"),
            "hook_event" => shape.has("hookEventName"),
            "run_result" => shape.has("finishReason"),
            "run_aborted" => shape.has("reason"),
            _ => false,
        };
        has_keys && shape.has("ts")
    }),
    open: |_| Box::new(Json::new(Cline::default())),
};

/// In a tool's output, the mark of a command or file that failed. In a text, its quotes
/// would be escaped.
const FAILED: &[u8] = br#""success":false"#;

/// Follows the events.
#[derive(Debug, Default)]
struct Cline {
    talk: Talk,
    /// The record marks a command or a file that failed.
    has_failure: bool,
    /// A record came: a later start begins another run.
    has_record: bool,
    usage: Usage,
}

records! {
    struct Record<'a> {
        "type" => kind: Str<'a>,
        "sessionId" => session: Str<'a>,
        "modelId" => model: Str<'a>,
        event: Object<Event<'a>>,
        "finishReason" => reason: Str<'a>,
        text: Str<'a>,
        message: Str<'a>,
        usage: Object<Tokens>,
        "durationMs" => duration: Num,
    }

    struct Event<'a> {
        "type" => kind: Str<'a>,
        "contentType" => content: Str<'a>,
        /// Empty for the main agent.
        "parentAgentId" => parent: Str<'a>,
        text: Str<'a>,
        reasoning: Str<'a>,
        message: Str<'a>,
        "toolName" => tool: Str<'a>,
        "toolCallId" => call: Str<'a>,
        input: Leaves<'a>,
        output: Leaves<'a>,
        /// The cause for which a tool or a request failed.
        error: Cause<'a>,
        recoverable: Flag,
        reason: Str<'a>,
    }

    struct Tokens {
        "inputTokens" => input: Num,
        "outputTokens" => output: Num,
        "cacheWriteTokens" => cache_write: Num,
        "totalCost" => cost: Num,
    }
}

impl Records for Cline {
    type Record<'a> = Record<'a>;

    fn inspect(&mut self, json: &str) {
        self.has_failure = memmem::find(json.as_bytes(), FAILED).is_some();
    }

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        let had_record = std::mem::replace(&mut self.has_record, true);
        match &*record.kind {
            "run_start" => {
                out.session(&record.session);
                out.model(&record.model);
                if had_record {
                    self.talk.turn(Boundary::Prompt, out);
                }
            }
            "agent_event" => {
                if let Some(event) = &record.event.0 {
                    self.event(event, out);
                }
            }
            "team_event" => {
                if let Some(event) = &record.event.0 {
                    out.say(Role::Tool, &event.text);
                    out.say(Role::Tool, &event.message);
                }
            }
            "run_result" => self.result(&record, out),
            "run_aborted" | "error" => out.fail(&record.message, None),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl Cline {
    fn event(&mut self, event: &Event<'_>, out: &mut Out<'_>) {
        let is_sub_agent = !event.parent.is_empty();
        match (&*event.kind, &*event.content) {
            ("content_end", "text") if is_sub_agent => out.say(Role::Tool, &event.text),
            ("content_end", "text") => {
                self.talk.close();
                self.talk.block("", &event.text, out);
            }
            ("content_end", "reasoning") if is_sub_agent => {
                out.say(Role::Tool, &event.reasoning);
            }
            ("content_end", "reasoning") => out.say(Role::Thinking, &event.reasoning),
            ("content_start", "tool") => {
                self.talk.call(&event.call, &event.tool, &event.input, out);
            }
            ("content_end", "tool") => self.answer(event, out),
            ("done", _) if !is_sub_agent => self.end(&event.reason, &event.text, out),
            ("error", _) => {
                out.say(Role::System, &event.error);
                if !event.recoverable.0 {
                    out.failure(&event.error, None);
                }
            }
            ("notice", _) => out.say(Role::System, &event.message),
            _ => {}
        }
    }

    /// A tool's answer. It has no exit code of a command.
    fn answer(&mut self, event: &Event<'_>, out: &mut Out<'_>) {
        let output = event.output.texts.iter().map(|text| &**text);
        let texts = output.chain([&*event.error]).filter(|text| !text.is_empty());
        let text = texts.collect::<Vec<_>>().join("\n");
        let ending = Ending::failed_if(self.has_failure || !event.error.is_empty());
        self.talk.answer(&event.call, &text, ending, None, out);
    }

    fn result(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        self.end(&record.reason, &record.text, out);
        let usage = record.usage.0.as_ref();
        self.usage.add(Usage {
            tokens: usage.and_then(|usage| sum([usage.input, usage.output, usage.cache_write])),
            cost_micro_usd: usage.and_then(|usage| usage.cost.micro()),
            duration_ms: record.duration.whole(),
            ..Usage::default()
        });
    }

    /// The run's end. If the run failed, the text is the cause.
    fn end(&mut self, reason: &str, text: &str, out: &mut Out<'_>) {
        self.talk.close();
        if matches!(reason, "error" | "mistake_limit") {
            out.fail(text, None);
        } else if !self.talk.is_repeated_by(text) {
            self.talk.block("", text, out);
            self.talk.close();
        }
    }
}
