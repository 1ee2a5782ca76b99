//! `opencode export`: one object with the session and its messages, which is
//! also how the server hands them out.
//!
//! Sources: the database of 1.18.33, whose rows it joins; sst/opencode,
//! `packages/opencode/src/session/message-v2.ts`. A sub-agent has a session of
//! its own, with a parent: in it nobody is the main agent.

use super::{Failure, OPENCODE_JSON, Part, Tokens, fail, tool_call};
use crate::json::{Json, Records, records};
use crate::loose::{Flag, List, Num, Object, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Role, Usage};

pub(crate) const OPENCODE_EXPORT: Spec = Spec {
    name: "opencode-export",
    known_by: KnownBy::Record(|shape| {
        let is_session = shape.inner("info").has("id") && shape.has("messages");
        let is_message = shape.inner("info").has("role") && shape.has("parts");
        is_session || is_message
    }),
    open: |_| Box::new(Json::new(Export::default())),
    ..OPENCODE_JSON
};

/// Follows the messages.
#[derive(Debug, Default)]
struct Export {
    talk: Talk,
    /// A session came: the next one begins another run.
    has_session: bool,
    usage: Usage,
}

records! {
    /// A session with its messages, or one message with its parts.
    struct Record<'a> {
        info: Object<Info<'a>>,
        messages: List<Object<Record<'a>>>,
        parts: List<Object<MessagePart<'a>>>,
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

    /// A part of a message, with the members that parts of events lack.
    struct MessagePart<'a> {
        "type" => kind: Str<'a>,
        text: Str<'a>,
        synthetic: Flag,
        /// The agent does not see the part.
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
            if std::mem::replace(&mut self.has_session, true) {
                self.talk.turn(Boundary::Prompt, out);
            }
        }
        let revert = record.info.0.as_ref().and_then(|info| info.revert.0.as_ref());
        let reverted_id = revert.map(|revert| revert.message.to_string()).unwrap_or_default();
        let messages = record.messages.0.into_iter().filter_map(|message| message.0);
        let bare_message = Record { info: record.info, parts: record.parts, ..Record::default() };
        // In one object with all messages, their number says more than the line of the object.
        let lines = std::iter::once(out.line()).chain(1..);
        for (line, message) in lines.zip(std::iter::once(bare_message).chain(messages)) {
            if let Some(info) = &message.info.0 {
                if !reverted_id.is_empty() && *info.id == *reverted_id {
                    // The person has taken back this message and those after it.
                    break;
                }
                self.message(info, message.parts, out.at_line(line));
            }
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl Export {
    fn message(
        &mut self,
        info: &Info<'_>,
        parts: List<Object<MessagePart<'_>>>,
        out: &mut Out<'_>,
    ) {
        out.session(&info.session);
        let parts: Vec<MessagePart<'_>> = parts.0.into_iter().filter_map(|part| part.0).collect();
        match &*info.role {
            "user" => self.user(&parts, out),
            "assistant" => self.assistant(info, parts, out),
            _ => {}
        }
    }

    fn user(&mut self, parts: &[MessagePart<'_>], out: &mut Out<'_>) {
        let is_compaction = parts.iter().any(|part| &*part.kind == "compaction");
        let boundary = if is_compaction { Boundary::Compaction } else { Boundary::Prompt };
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

    fn assistant(&mut self, info: &Info<'_>, parts: Vec<MessagePart<'_>>, out: &mut Out<'_>) {
        out.model(&info.model);
        let tokens = info.tokens.0.as_ref().map(Tokens::total);
        self.usage.add(Usage { tokens, cost_micro_usd: info.cost.micro(), ..Usage::default() });
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

    fn part(&mut self, info: &Info<'_>, part: MessagePart<'_>, out: &mut Out<'_>) {
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
                    tool_call(&call, state, out);
                }
            }
            _ => {}
        }
    }
}
