//! OpenHands: lists of events, in an array or on lines.
//!
//! Sources: All-Hands-AI/OpenHands, `openhands/events/serialization/event.py` (0.x), where an event has
//! an `action` or an `observation`; OpenHands/software-agent-sdk of August 2026,
//! `openhands-sdk/openhands/sdk/event/`, where `kind` names it. The message of `finish` is the agent's
//! last word. Events between a delegation and the observation that answers it are a sub-agent's.

use std::borrow::Cow;

use crate::json::{Json, Records, records};
use crate::loose::{Content, Flag, Leaves, Members, Named, Num, Object, Piece, Str, sum};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role, Usage};

pub(super) const OPENHANDS_SESSION: Spec = Spec {
    name: "openhands-session",
    family: &["openhands"],
    known_by: KnownBy::Record(|shape| {
        let is_event = shape.has("source") && shape.has("timestamp");
        let is_kind = match shape.text("kind") {
            "MessageEvent" => shape.has("llm_message"),
            "ActionEvent" | "ObservationEvent" => shape.has("tool_name"),
            "SystemPromptEvent" => shape.has("system_prompt"),
            "" => {
                let is_action = !shape.text("action").is_empty() && shape.has("args");
                is_action || (!shape.text("observation").is_empty() && shape.has("extras"))
            }
            _ => false,
        };
        is_event && is_kind
    }),
    open: |_| Box::new(Json::new(Events::default())),
};

/// The tool with which the agent ends its work.
const FINISH: &str = "finish";

/// Follows the events.
#[derive(Debug, Default)]
struct Events {
    talk: Talk,
    /// The id of the delegation that goes on, if it has one.
    delegation: Option<u64>,
    /// The totals as the last event has them.
    usage: Usage,
}

records! {
    struct Record<'a> {
        kind: Str<'a>,
        id: Num,
        source: Str<'a>,
        message: Str<'a>,
        /// A name in older events, an object in newer ones.
        action: Members<'a>,
        args: Object<Args<'a>>,
        content: Str<'a>,
        cause: Num,
        extras: Object<Ended<'a>>,
        llm_metrics: Object<Metrics>,
        llm_message: Object<Message<'a>>,
        thought: Content<'a, Part<'a>>,
        reasoning_content: Str<'a>,
        tool_name: Str<'a>,
        tool_call_id: Str<'a>,
        /// A name in older events, an object in newer ones.
        observation: Named<'a, Ended<'a>>,
        error: Str<'a>,
        rejection_reason: Str<'a>,
        /// `user` or `hook`; older ones are all the user's.
        rejection_source: Str<'a>,
        detail: Str<'a>,
    }

    struct Args<'a> {
        content: Str<'a>,
        thought: Str<'a>,
        command: Str<'a>,
        code: Str<'a>,
        path: Str<'a>,
        final_thought: Str<'a>,
    }

    /// The end of a call.
    struct Ended<'a> {
        content: Content<'a, Part<'a>>,
        is_error: Flag,
        exit_code: Num,
        metadata: Object<Metadata>,
        agent_state: Str<'a>,
        reason: Str<'a>,
    }

    struct Metadata {
        exit_code: Num,
    }

    struct Message<'a> {
        content: Content<'a, Part<'a>>,
        reasoning_content: Str<'a>,
    }

    struct Part<'a> {
        text: Str<'a>,
    }

    struct Metrics {
        accumulated_cost: Num,
        accumulated_token_usage: Object<Tokens>,
    }

    struct Tokens {
        prompt_tokens: Num,
        completion_tokens: Num,
        cache_read_tokens: Num,
    }
}

impl Piece for Part<'_> {
    fn text(&self) -> &str {
        &self.text
    }
}

impl Records for Events {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        self.talk.close();
        match &*record.kind {
            "" => self.older(&record, out),
            "MessageEvent" => self.message(&record, out),
            "ActionEvent" => self.action(&record, out),
            "ObservationEvent" => {
                let Named::Object(ended) = &record.observation else { return };
                let ending = Ending::failed_if(ended.is_error.0);
                self.answer(&record, &ended.content.text(), ending, ended.exit_code(), out);
            }
            "AgentErrorEvent" => self.answer(&record, &record.error, Ending::Failed, None, out),
            "UserRejectObservation" => self.rejection(&record, out),
            "ConversationErrorEvent" => out.fail(&record.detail, None),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl Events {
    fn message(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        let Some(message) = &record.llm_message.0 else { return };
        let text = message.content.text();
        match &*record.source {
            "agent" => {
                self.talk.thought(&message.reasoning_content, out);
                self.talk.block("", &text, out);
            }
            "user" => self.talk.prompt(&text, out),
            // A hook, or the program around the agent, sends it back to work.
            _ => {
                self.talk.turn(Boundary::HookFeedback, out);
                out.say(Role::User, &text);
            }
        }
    }

    fn action(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        self.talk.thought(&record.reasoning_content, out);
        self.talk.block("", &record.thought.text(), out);
        let (id, action) = (&record.tool_call_id, &record.action);
        match &*record.tool_name {
            // The call could not be read: the agent is told so, and goes on.
            _ if action.leaves.texts.is_empty() => self.talk.turn(Boundary::Unanswered, out),
            FINISH => {
                self.talk.calls.started(id, FINISH, None);
                self.talk.block("", action.text("message"), out);
            }
            "think" => self.talk.thought(action.text("thought"), out),
            tool => self.talk.call(id, tool, &action.leaves, out),
        }
    }

    fn is_of_finish(&self, record: &Record<'_>) -> bool {
        let tool = self.talk.calls.tool(&record.tool_call_id);
        &*record.tool_name == FINISH || tool == Some(FINISH)
    }

    fn answer(
        &mut self,
        record: &Record<'_>,
        text: &str,
        ending: Ending,
        exit_code: Option<i32>,
        out: &mut Out<'_>,
    ) {
        if ending == Ending::Failed && self.is_of_finish(record) {
            self.talk.turn(Boundary::Unanswered, out);
        }
        self.talk.answer(&record.tool_call_id, text, ending, exit_code, out);
    }

    /// A person rejects a call and says so to the agent, or a hook does.
    fn rejection(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        let (id, reason) = (&record.tool_call_id, &record.rejection_reason);
        out.denied(&record.tool_name, id);
        if &*record.rejection_source != "hook" {
            self.talk.prompt(reason, out);
        } else {
            if self.is_of_finish(record) {
                self.talk.turn(Boundary::HookFeedback, out);
            }
            out.say(Role::Tool, reason);
        }
        self.talk.calls.ended(id, None, out);
    }

    /// An event of a version before 1.
    fn older(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        if let Some(metrics) = &record.llm_metrics.0 {
            self.usage = metrics.usage();
        }
        match (record.action.leaves.texts.first(), &record.args.0) {
            (Some(action), Some(args)) => self.older_action(action, args, record, out),
            _ => self.older_observation(record, out),
        }
    }

    fn older_action(
        &mut self,
        action: &str,
        args: &Args<'_>,
        record: &Record<'_>,
        out: &mut Out<'_>,
    ) {
        match (action, &*record.source) {
            ("message", "user") => self.talk.prompt(&args.content, out),
            ("message", "agent") => self.talk.block("", &args.content, out),
            ("finish", "agent") => {
                let is_silent = args.final_thought.is_empty();
                let word = if is_silent { &record.message } else { &args.final_thought };
                self.talk.block("", word, out);
            }
            ("think", _) => self.talk.thought(&args.thought, out),
            (_, "agent") => {
                self.talk.block("", &args.thought, out);
                let texts = [&args.command, &args.code, &args.path].map(|text| &**text);
                let texts = texts.into_iter().filter(|text| !text.is_empty());
                let command = (action == "run").then(|| args.command.to_string());
                let input = Leaves { texts: texts.map(Cow::Borrowed).collect(), command };
                self.talk.call(&id(record.id), action, &input, out);
                if action == "delegate" && !self.talk.sub_agent {
                    self.delegation = record.id.whole();
                    self.talk.sub_agent = true;
                }
            }
            _ => out.say(Role::System, &args.content),
        }
    }

    fn older_observation(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        let name = if let Named::Name(name) = &record.observation { name } else { "" };
        let ends_delegation = match (self.delegation, record.cause.whole()) {
            (Some(id), Some(cause)) => id == cause,
            _ => name == "delegate",
        };
        if ends_delegation {
            self.delegation = None;
            self.talk.sub_agent = false;
        }
        if name == "user_rejected" {
            let id = id(record.cause);
            out.denied(self.talk.calls.tool(&id).unwrap_or_default(), &id);
            self.talk.calls.ended(&id, None, out);
            return self.talk.prompt(&record.content, out);
        }
        let ended = record.extras.0.as_ref();
        let exit_code = ended.and_then(Ended::exit_code);
        self.talk.answer(&id(record.cause), &record.content, Ending::Unmarked, exit_code, out);
        if let Some(ended) = ended.filter(|ended| &*ended.agent_state == "error") {
            out.fail(&ended.reason, None);
        }
    }
}

impl Ended<'_> {
    fn exit_code(&self) -> Option<i32> {
        let metadata = self.metadata.0.as_ref().and_then(|data| data.exit_code.exit_code());
        // -1 stands for a command that still runs.
        metadata.or(self.exit_code.exit_code()).filter(|code| *code >= 0)
    }
}

impl Metrics {
    fn usage(&self) -> Usage {
        let tokens = self.accumulated_token_usage.0.as_ref();
        let total = tokens.and_then(|tokens| sum([tokens.prompt_tokens, tokens.completion_tokens]));
        let cached = tokens.and_then(|tokens| tokens.cache_read_tokens.whole()).unwrap_or_default();
        Usage {
            tokens: total.map(|total| total.saturating_sub(cached)),
            cost_micro_usd: self.accumulated_cost.micro(),
            ..Usage::default()
        }
    }
}

/// The id of an older event, which is a number.
fn id(number: Num) -> String {
    number.whole().map(|number| number.to_string()).unwrap_or_default()
}
