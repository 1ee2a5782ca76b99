//! The records of both of Kimi's logs, as far as they are read.

use crate::claude_like::Block;
use crate::json::records;
use crate::loose::{Content, Flag, Leaves, List, Num, Object, Str, sum};

records! {
    /// A line of a log.
    struct Record<'a> {
        "type" => kind: Str<'a>,
        model: Str<'a>,
        /// kimi-cli's envelope in the file, or kimi-code's message.
        message: Object<Message<'a>>,
        /// kimi-cli's envelope on standard output.
        params: Object<Message<'a>>,
        event: Object<LoopEvent<'a>>,
        summary: Leaves<'a>,
        usage: Object<Tokens>,

        // A message of `stream-json`.
        role: Str<'a>,
        content: Content<'a, Block<'a>>,
        tool_calls: List<Object<ToolCall<'a>>>,
        "tool_call_id" => call: Str<'a>,
    }
}

impl<'a> Record<'a> {
    /// The message of kimi-cli that the record holds, if it is one of kimi-cli.
    pub(super) fn envelope(&self) -> Option<&Message<'a>> {
        let message = self.message.0.as_ref().or(self.params.0.as_ref())?;
        (self.kind.is_empty() && !message.kind.is_empty()).then_some(message)
    }
}

records! {
    struct Message<'a> {
        /// The type in an envelope, whose content is the payload.
        "type" => kind: Str<'a>,
        payload: Object<Payload<'a>>,
        role: Str<'a>,
        content: Content<'a, Block<'a>>,
        origin: Object<Origin<'a>>,
    }

    /// The sender of a message in the user's name.
    struct Origin<'a> {
        kind: Str<'a>,
    }

    /// An event of the agent's loop, as kimi-code records it.
    struct LoopEvent<'a> {
        "type" => kind: Str<'a>,
        "stepUuid" => step: Str<'a>,
        part: Object<Block<'a>>,
        "toolCallId" => call: Str<'a>,
        name: Str<'a>,
        args: Leaves<'a>,
        result: Object<ToolOutput<'a>>,
    }

    /// A tool's answer, in either client's spelling.
    struct ToolOutput<'a> {
        output: Leaves<'a>,
        message: Str<'a>,
        is_error: Flag,
        "isError" => error: Flag,
    }
}

impl ToolOutput<'_> {
    pub(super) fn has_failed(&self) -> bool {
        self.is_error.0 || self.error.0
    }
}

records! {
    /// The content of an envelope of kimi-cli. Each type has some of these fields.
    struct Payload<'a> {
        user_input: Content<'a, Block<'a>>,

        // A part of a message; its kind is a tool call's as well.
        "type" => kind: Str<'a>,
        text: Str<'a>,
        think: Str<'a>,

        id: Str<'a>,
        function: Object<Function<'a>>,
        tool_call_id: Str<'a>,
        return_value: Object<ToolOutput<'a>>,

        action: Str<'a>,
        reason: Str<'a>,
        /// A sub-agent's envelope, or the name of a hook's event.
        event: Leaves<'a>,

        body: Str<'a>,
        message_id: Str<'a>,
        token_usage: Object<Tokens>,
    }

    struct ToolCall<'a> {
        id: Str<'a>,
        function: Object<Function<'a>>,
    }

    struct Function<'a> {
        name: Str<'a>,
        /// JSON in a string.
        arguments: Str<'a>,
    }

    /// Tokens of a step, in either client's spelling, without those that were read from a cache.
    #[derive(Clone, Copy)]
    struct Tokens {
        #[serde(alias = "inputOther")]
        input_other: Num,
        #[serde(alias = "inputCacheCreation")]
        input_cache_creation: Num,
        output: Num,
    }
}

impl Tokens {
    pub(super) fn total(self) -> Option<u64> {
        sum([self.input_other, self.input_cache_creation, self.output])
    }
}
