//! `opencode export`: one object with the session and its messages, which is
//! also how the server hands them out.
//!
//! Sources: the database of 1.18.33, whose rows it joins; sst/opencode,
//! `packages/opencode/src/session/message-v2.ts`. A sub-agent has a session of
//! its own, with a parent: in it nobody is the main agent.

use super::{Failure, OPENCODE_JSON, Part, Tokens, fail, tool};
use crate::json::{Json, Records, records};
use crate::loose::{Flag, List, Num, Object, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
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
    talk: Talk,
    /// True once a session came.
    begun: bool,
    spent: Usage,
}

records! {
    /// A session with its messages, or one message with its parts.
    struct Record<'a> {
        info: Object<Info<'a>>,
        messages: List<Object<Record<'a>>>,
        parts: List<Object<Piece<'a>>>,
    }

    struct Info<'a> {
        id: Str<'a>,
        "parentID" => parent: Str<'a>,
        revert: Object<Revert<'a>>,
        "sessionID" => session: Str<'a>,
        role: Str<'a>,
        "modelID" => model: Str<'a>,
        summary: Flag,
        tokens: Object<Tokens>,
        cost: Num,
        error: Object<Failure<'a>>,
    }

    struct Revert<'a> {
        "messageID" => message: Str<'a>,
    }

    /// A part, as far as events do not have it.
    struct Piece<'a> {
        "type" => kind: Str<'a>,
        text: Str<'a>,
        synthetic: Flag,
        /// True if the agent does not see the part.
        ignored: Flag,
        tool: Str<'a>,
        "callID" => call: Str<'a>,
        state: super::Maybe<super::ToolState<'a>>,
    }
}

impl Records for Export {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        if let Some(info) = record.info.0.as_ref().filter(|info| info.role.is_empty()) {
            out.session(&info.id);
            self.talk.sub_agent = !info.parent.is_empty();
            if std::mem::replace(&mut self.begun, true) {
                self.talk.turn(Boundary::Prompt, out);
            }
        }
        let revert = record.info.0.as_ref().and_then(|info| info.revert.0.as_ref());
        let revert = revert.map(|revert| revert.message.to_string()).unwrap_or_default();
        let inner = record.messages.0.into_iter().filter_map(|message| message.0);
        let outer = Record { info: record.info, parts: record.parts, ..Record::default() };
        // In one object with all messages, their number says more than the line of the object.
        let numbers = std::iter::once(out.line()).chain(1..);
        for (number, message) in numbers.zip(std::iter::once(outer).chain(inner)) {
            if let Some(info) = &message.info.0 {
                if !revert.is_empty() && *info.id == *revert {
                    // The person has taken back this message and those after it.
                    break;
                }
                self.message(info, message.parts, out.at(number));
            }
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.spent);
    }
}

impl Export {
    fn message(&mut self, info: &Info<'_>, parts: List<Object<Piece<'_>>>, out: &mut Out<'_>) {
        out.session(&info.session);
        let parts: Vec<Piece<'_>> = parts.0.into_iter().filter_map(|part| part.0).collect();
        match &*info.role {
            "user" => self.user(&parts, out),
            "assistant" => self.assistant(info, parts, out),
            _ => {}
        }
    }

    fn user(&mut self, parts: &[Piece<'_>], out: &mut Out<'_>) {
        let compaction = parts.iter().any(|part| &*part.kind == "compaction");
        let boundary = if compaction { Boundary::Compaction } else { Boundary::Prompt };
        self.talk.turn(boundary, out);
        for part in parts.iter().filter(|part| &*part.kind == "text") {
            let role = match (self.talk.sub_agent, part.synthetic.0 || part.ignored.0) {
                (true, _) => Role::Tool,
                (_, true) => Role::System,
                _ => Role::User,
            };
            out.say(role, &part.text);
        }
    }

    fn assistant(&mut self, info: &Info<'_>, parts: Vec<Piece<'_>>, out: &mut Out<'_>) {
        out.model(&info.model);
        let tokens = info.tokens.0.as_ref().map(Tokens::total);
        self.spent.add(Usage { tokens, cost_micro_usd: info.cost.micro(), ..Usage::default() });
        if info.summary.0 {
            self.talk.turn(Boundary::Compaction, out);
        }
        for part in parts {
            self.part(info, part, out);
        }
        if let Some(failure) = &info.error.0 {
            fail(failure, out);
        }
    }

    fn part(&mut self, info: &Info<'_>, part: Piece<'_>, out: &mut Out<'_>) {
        match &*part.kind {
            "text" if self.talk.sub_agent => out.say(Role::Tool, &part.text),
            "text" if info.summary.0 || part.synthetic.0 || part.ignored.0 => {
                out.say(Role::System, &part.text);
            }
            "text" => self.talk.block(&info.id, &part.text, out),
            "reasoning" => self.talk.thought(&part.text, out),
            "tool" => {
                self.talk.close();
                let call = Part { tool: part.tool, call: part.call, ..Part::default() };
                if let Some(state) = &part.state.0 {
                    tool(&call, state, out);
                }
            }
            _ => {}
        }
    }
}
