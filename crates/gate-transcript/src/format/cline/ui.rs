//! Cline's `ui_messages.json`, which Roo Code and Kilo Code have too: an array of what the person saw.
//!
//! Source: cline/cline, `src/shared/ExtensionMessage.ts` (3.x). The first message is the person's
//! task, which may be a text. A message that is partial was still being written when the run broke
//! off. The file has no exit codes.

use super::CLINE_STREAM;
use crate::json::{Json, Records, records};
use crate::loose::{Flag, Num, Str, sum};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Role, Usage};

pub(crate) const CLINE_SESSION: Spec = Spec {
    name: "cline-session",
    known_by: KnownBy::Record(|shape| {
        let kind = shape.text("type");
        shape.in_array && shape.has("ts") && ["say", "ask"].contains(&kind) && shape.has(kind)
    }),
    open: |_| Box::new(Json::new(Ui::default())),
    ..CLINE_STREAM
};

/// The mark behind a result if files have changed.
const HAS_CHANGES: &str = "HAS_CHANGES";

/// Follows the messages.
#[derive(Debug, Default)]
struct Ui {
    talk: Talk,
    /// A message came: a later text is the agent's.
    has_message: bool,
    usage: Usage,
}

records! {
    struct Shown<'a> {
        say: Str<'a>,
        ask: Str<'a>,
        text: Str<'a>,
        reasoning: Str<'a>,
        partial: Flag,
    }

    /// The text of `api_req_started`, which is JSON.
    struct Request {
        "tokensIn" => tokens_in: Num,
        "tokensOut" => tokens_out: Num,
        "cacheWrites" => cache_writes: Num,
        cost: Num,
    }
}

impl Records for Ui {
    type Record<'a> = Shown<'a>;

    fn take(&mut self, shown: Shown<'_>, out: &mut Out<'_>) {
        let text = &*shown.text;
        let kind = if shown.say.is_empty() { &*shown.ask } else { &*shown.say };
        self.talk.close();
        out.say(Role::Thinking, &shown.reasoning);
        match kind {
            "task" | "user_feedback" | "user_feedback_diff" => self.talk.prompt(text, out),
            "text" if !self.has_message => self.talk.prompt(text, out),
            "text" | "followup" | "plan_mode_respond" | "act_mode_respond"
            | "completion_result" => self.agent(text, shown.partial.0, out),
            "reasoning" => out.say(Role::Thinking, text),
            "api_req_started" => self.request(text, out),
            "api_req_failed" => out.fail(text, None),
            "command"
            | "command_output"
            | "tool"
            | "browser_action"
            | "browser_action_result"
            | "mcp_server_response"
            | "use_mcp_server"
            | "use_subagents"
            | "subagent" => {
                out.say(Role::Tool, text);
            }
            _ => out.say(Role::System, text),
        }
        self.has_message = true;
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl Ui {
    fn agent(&mut self, text: &str, is_partial: bool, out: &mut Out<'_>) {
        let text = text.trim_end();
        let text = text.strip_suffix(HAS_CHANGES).unwrap_or(text);
        if is_partial {
            self.talk.turn(Boundary::Unanswered, out);
            out.say(Role::System, text);
        } else if !self.talk.is_last_message(text) {
            self.talk.block("", text, out);
        }
    }

    fn request(&mut self, text: &str, out: &mut Out<'_>) {
        out.say(Role::System, text);
        let Ok(request) = serde_json::from_str::<Request>(text) else { return };
        self.usage.add(Usage {
            tokens: sum([request.tokens_in, request.tokens_out, request.cache_writes]),
            cost_micro_usd: request.cost.micro(),
            ..Usage::default()
        });
    }
}
