//! `opencode export`: one object with the session and its messages, which is
//! also how the server hands them out.
//!
//! Sources: the database of 1.18.33, whose rows it joins; sst/opencode,
//! `packages/opencode/src/session/message-v2.ts`. A sub-agent has a session of
//! its own, with a parent: in it nobody is the main agent.

use serde::Deserialize;

use super::{Failure, OPENCODE_JSON, Part, Tokens, fail, tool};
use crate::json::{Borrowed, Json, Records, read};
use crate::loose::{Flag, List, Num, Object, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::utterance::Utterance;
use crate::{Boundary, Role, Usage};

pub(crate) const OPENCODE_EXPORT: Spec = Spec {
    name: "opencode-export",
    known_by: KnownBy::Record(|shape| {
        let session = shape.inner("info").has("id") && shape.has("messages");
        let message = shape.inner("info").has("role") && shape.has("parts");
        session || message
    }),
    open: |_| Box::new(Json::new(Export::default())),
    ..OPENCODE_JSON
};

/// Follows the messages.
#[derive(Debug, Default)]
struct Export {
    speech: Utterance,
    sub_agent: bool,
    /// True once a session came.
    begun: bool,
    spent: Usage,
}

struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

/// A session with its messages, or one message with its parts.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Record<'a> {
    #[serde(borrow)]
    info: Object<Info<'a>>,
    #[serde(borrow)]
    messages: List<Object<Record<'a>>>,
    #[serde(borrow)]
    parts: List<Object<Piece<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Info<'a> {
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow, rename = "parentID")]
    parent: Str<'a>,
    #[serde(borrow)]
    revert: Object<Revert<'a>>,
    #[serde(borrow, rename = "sessionID")]
    session: Str<'a>,
    #[serde(borrow)]
    role: Str<'a>,
    #[serde(borrow, rename = "modelID")]
    model: Str<'a>,
    summary: Flag,
    tokens: Object<Tokens>,
    cost: Num,
    #[serde(borrow)]
    error: Object<Failure<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Revert<'a> {
    #[serde(borrow, rename = "messageID")]
    message: Str<'a>,
}

/// A part, as far as events do not have it.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Piece<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    text: Str<'a>,
    synthetic: Flag,
    /// True if the agent does not see the part.
    ignored: Flag,
    #[serde(borrow)]
    tool: Str<'a>,
    #[serde(borrow, rename = "callID")]
    call: Str<'a>,
    #[serde(borrow)]
    state: super::Maybe<super::ToolState<'a>>,
}

impl Records for Export {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(record, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.spent);
    }
}

impl Export {
    fn take(&mut self, record: Record<'_>, line: u64, out: &mut Out<'_>) {
        if let Some(info) = record.info.0.as_ref().filter(|info| info.role.is_empty()) {
            out.session(&info.id);
            self.sub_agent = !info.parent.is_empty();
            if std::mem::replace(&mut self.begun, true) {
                self.turn(Boundary::Prompt, line, out);
            }
        }
        let revert = record.info.0.as_ref().and_then(|info| info.revert.0.as_ref());
        let revert = revert.map(|revert| revert.message.to_string()).unwrap_or_default();
        let inner = record.messages.0.into_iter().filter_map(|message| message.0);
        let own = Record { info: record.info, parts: record.parts, ..Record::default() };
        // In one object with all messages, their number says more than the line of the object.
        for (number, message) in (0..).zip(std::iter::once(own).chain(inner)) {
            let line = if number > 0 { number } else { line };
            if let Some(info) = &message.info.0 {
                if !revert.is_empty() && *info.id == *revert {
                    // The person has taken back this message and those after it.
                    break;
                }
                self.message(info, message.parts, line, out);
            }
        }
    }

    fn message(
        &mut self,
        info: &Info<'_>,
        parts: List<Object<Piece<'_>>>,
        line: u64,
        out: &mut Out<'_>,
    ) {
        out.session(&info.session);
        let parts: Vec<Piece<'_>> = parts.0.into_iter().filter_map(|part| part.0).collect();
        match &*info.role {
            "user" => self.user(&parts, line, out),
            "assistant" => self.assistant(info, parts, line, out),
            _ => {}
        }
    }

    fn turn(&mut self, boundary: Boundary, line: u64, out: &mut Out<'_>) {
        if !self.sub_agent {
            self.speech.forget();
            out.boundary(boundary, line);
        }
    }

    fn user(&mut self, parts: &[Piece<'_>], line: u64, out: &mut Out<'_>) {
        let compaction = parts.iter().any(|part| &*part.kind == "compaction");
        let boundary = if compaction { Boundary::Compaction } else { Boundary::Prompt };
        self.turn(boundary, line, out);
        for part in parts.iter().filter(|part| &*part.kind == "text") {
            let role = match (self.sub_agent, part.synthetic.0 || part.ignored.0) {
                (true, _) => Role::Tool,
                (_, true) => Role::System,
                _ => Role::User,
            };
            out.say(role, &part.text, line);
        }
    }

    fn assistant(&mut self, info: &Info<'_>, parts: Vec<Piece<'_>>, line: u64, out: &mut Out<'_>) {
        out.model(&info.model);
        self.spend(info);
        if info.summary.0 {
            self.turn(Boundary::Compaction, line, out);
        }
        for part in parts {
            self.part(info, part, line, out);
        }
        if let Some(failure) = &info.error.0 {
            fail(failure, line, out);
        }
    }

    fn part(&mut self, info: &Info<'_>, part: Piece<'_>, line: u64, out: &mut Out<'_>) {
        match &*part.kind {
            "text" if self.sub_agent => out.say(Role::Tool, &part.text, line),
            "text" if info.summary.0 || part.synthetic.0 || part.ignored.0 => {
                out.say(Role::System, &part.text, line);
            }
            "text" => self.speech.block(&info.id, &part.text, line, out),
            "reasoning" => {
                let role = if self.sub_agent { Role::Tool } else { Role::Thinking };
                out.say(role, &part.text, line);
            }
            "tool" => {
                self.speech.close();
                let call = Part { tool: part.tool, call: part.call, ..Part::default() };
                if let Some(state) = &part.state.0 {
                    tool(&call, state, line, out);
                }
            }
            _ => {}
        }
    }

    fn spend(&mut self, info: &Info<'_>) {
        let tokens = info.tokens.0.as_ref().map(Tokens::total);
        self.spent.add(Usage { tokens, cost_micro_usd: info.cost.micro(), ..Usage::default() });
    }
}
