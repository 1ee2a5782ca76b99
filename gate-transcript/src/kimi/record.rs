//! The records of both of Kimi's logs, as far as they are read.

use serde::Deserialize;

use crate::json::Borrowed;
use crate::loose::{Content, Flag, Leaves, List, Num, Object, Str, sum};

/// Marks [`Record`] for reading.
pub(super) struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

/// A line of a log.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Record<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) model: Str<'a>,
    /// kimi-cli's envelope in the file, or kimi-code's message.
    #[serde(borrow)]
    pub(super) message: Object<Message<'a>>,
    /// kimi-cli's envelope on standard output.
    #[serde(borrow)]
    params: Object<Message<'a>>,
    #[serde(borrow)]
    pub(super) event: Object<LoopEvent<'a>>,
    #[serde(borrow)]
    pub(super) summary: Leaves<'a>,
    pub(super) usage: Object<Tokens>,

    // A message of `stream-json`.
    #[serde(borrow)]
    pub(super) role: Str<'a>,
    #[serde(borrow)]
    pub(super) content: Content<'a, Part<'a>>,
    #[serde(borrow)]
    pub(super) tool_calls: List<Object<ToolCall<'a>>>,
    #[serde(rename = "tool_call_id", borrow)]
    pub(super) call: Str<'a>,
}

impl<'a> Record<'a> {
    /// The message of kimi-cli that the record holds, if it is one of kimi-cli.
    pub(super) fn envelope(&self) -> Option<&Message<'a>> {
        let held = self.message.0.as_ref().or(self.params.0.as_ref())?;
        (self.kind.is_empty() && !held.kind.is_empty()).then_some(held)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Message<'a> {
    /// The type in an envelope, whose content is the payload.
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) payload: Object<Payload<'a>>,
    #[serde(borrow)]
    pub(super) role: Str<'a>,
    #[serde(borrow)]
    pub(super) content: Content<'a, Part<'a>>,
    #[serde(borrow)]
    pub(super) origin: Object<Origin<'a>>,
}

/// The sender of a message in the user's name.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Origin<'a> {
    #[serde(borrow)]
    pub(super) kind: Str<'a>,
}

/// A part of a message.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) text: Str<'a>,
    #[serde(borrow)]
    pub(super) think: Str<'a>,
}

/// An event of the agent's loop, as kimi-code records it.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct LoopEvent<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(rename = "stepUuid", borrow)]
    pub(super) step: Str<'a>,
    #[serde(borrow)]
    pub(super) part: Object<Part<'a>>,
    #[serde(rename = "toolCallId", borrow)]
    pub(super) call: Str<'a>,
    #[serde(borrow)]
    pub(super) name: Str<'a>,
    #[serde(borrow)]
    pub(super) args: Leaves<'a>,
    #[serde(borrow)]
    pub(super) result: Object<ToolOutput<'a>>,
}

/// A tool's answer, in either client's spelling.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ToolOutput<'a> {
    #[serde(borrow)]
    pub(super) output: Leaves<'a>,
    #[serde(borrow)]
    pub(super) message: Str<'a>,
    is_error: Flag,
    #[serde(rename = "isError")]
    error: Flag,
}

impl ToolOutput<'_> {
    pub(super) fn failed(&self) -> bool {
        self.is_error.0 || self.error.0
    }
}

/// The content of an envelope of kimi-cli. Each type has some of these fields.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(borrow)]
    pub(super) user_input: Content<'a, Part<'a>>,

    // A part of a message; its kind is a tool call's as well.
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) text: Str<'a>,
    #[serde(borrow)]
    pub(super) think: Str<'a>,

    #[serde(borrow)]
    pub(super) id: Str<'a>,
    #[serde(borrow)]
    pub(super) function: Object<Function<'a>>,
    #[serde(borrow)]
    pub(super) tool_call_id: Str<'a>,
    #[serde(borrow)]
    pub(super) return_value: Object<ToolOutput<'a>>,

    #[serde(borrow)]
    pub(super) action: Str<'a>,
    #[serde(borrow)]
    pub(super) reason: Str<'a>,
    /// A sub-agent's envelope, or the name of a hook's event.
    #[serde(borrow)]
    pub(super) event: Leaves<'a>,

    #[serde(borrow)]
    pub(super) body: Str<'a>,
    #[serde(borrow)]
    pub(super) message_id: Str<'a>,
    pub(super) token_usage: Object<Tokens>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ToolCall<'a> {
    #[serde(borrow)]
    pub(super) id: Str<'a>,
    #[serde(borrow)]
    pub(super) function: Object<Function<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Str<'a>,
    /// JSON in a string.
    #[serde(borrow)]
    pub(super) arguments: Str<'a>,
}

/// Tokens of a step, in either client's spelling. What was read from a cache is left out.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(alias = "inputOther")]
    input_other: Num,
    #[serde(alias = "inputCacheCreation")]
    input_cache_creation: Num,
    output: Num,
}

impl Tokens {
    pub(super) fn total(self) -> Option<u64> {
        sum([self.input_other, self.input_cache_creation, self.output])
    }
}
