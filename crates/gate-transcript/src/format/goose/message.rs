//! The messages of Goose, as far as they are read.
//!
//! Source: block/goose, `crates/goose/src/conversation/message.rs`.

use crate::claude_like::Block as TextBlock;
use crate::json::records;
use crate::loose::{Content, Either, Flag, Leaves, List, Num, Object, Str};

records! {
    /// The object of `json`, an event of the stream, or a line of a session file,
    /// which is its header or a bare message.
    struct Record<'a> {
        "type" => kind: Str<'a>,
        messages: List<Object<Message<'a>>>,
        message: Object<Message<'a>>,
        error: Leaves<'a>,
        total_tokens: Num,
        metadata: Object<Metadata<'a>>,

        // A bare message.
        id: Str<'a>,
        role: Str<'a>,
        content: List<Object<Block<'a>>>,
    }

    struct Message<'a> {
        id: Str<'a>,
        role: Str<'a>,
        content: List<Object<Block<'a>>>,
        metadata: Object<Metadata<'a>>,
    }

    struct Metadata<'a> {
        /// Absent if both see the message.
        "userVisible" => user_visible: Option<Flag>,
        inference: Object<Inference<'a>>,
        total_tokens: Num,
    }

    struct Inference<'a> {
        "requestedModel" => model: Str<'a>,
    }

    /// One block of a message.
    struct Block<'a> {
        "type" => kind: Str<'a>,
        id: Str<'a>,
        text: Str<'a>,
        thinking: Str<'a>,
        /// The client's message, in blocks of its own kinds.
        "msg" => notice: Str<'a>,
        "toolCall" => tool_call: Object<ToolCall<'a>>,
        "toolResult" => tool_result: Object<ToolResult<'a>>,
    }

    struct ToolCall<'a> {
        value: Object<Call<'a>>,
    }

    struct Call<'a> {
        name: Str<'a>,
        arguments: Leaves<'a>,
    }

    struct ToolResult<'a> {
        status: Str<'a>,
        error: Str<'a>,
        value: Either<TextBlock<'a>, Answer<'a>>,
    }

    struct Answer<'a> {
        content: Content<'a, TextBlock<'a>>,
        "isError" => is_error: Flag,
        "structuredContent" => structured: Object<Structured>,
    }

    struct Structured {
        exit_code: Num,
    }
}

impl<'a> Record<'a> {
    /// The object of `json`, which is a whole run.
    pub(super) fn is_run(&self) -> bool {
        let has_content = self.metadata.0.is_some() || !self.messages.0.is_empty();
        has_content && self.kind.is_empty() && self.role.is_empty()
    }

    /// The messages, of which some records are one.
    pub(super) fn into_messages(self) -> impl Iterator<Item = Message<'a>> {
        let Self { messages, message, id, role, content, metadata, .. } = self;
        let bare_message = (!role.is_empty()).then_some(Message { id, role, content, metadata });
        let members = messages.0.into_iter().chain([message]);
        members.filter_map(|message| message.0).chain(bare_message)
    }
}

impl<'a> Message<'a> {
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block<'a>> {
        self.content.0.iter().filter_map(|block| block.0.as_ref())
    }

    /// A message that the person sees. The client hides those that it injects.
    pub(super) fn is_visible(&self) -> bool {
        let metadata = self.metadata.0.as_ref();
        metadata.and_then(|metadata| metadata.user_visible).is_none_or(|visible| visible.0)
    }

    pub(super) fn model(&self) -> &str {
        let metadata = self.metadata.0.as_ref();
        let inference = metadata.and_then(|metadata| metadata.inference.0.as_ref());
        inference.map_or("", |inference| &inference.model)
    }
}

impl<'a> Block<'a> {
    pub(super) fn call(&self) -> Option<&Call<'a>> {
        self.tool_call.0.as_ref()?.value.0.as_ref()
    }
}

impl ToolResult<'_> {
    pub(super) fn text(&self) -> String {
        let pieces: Vec<&str> = match &self.value {
            Either::List(pieces) => pieces.iter().map(|piece| &*piece.text).collect(),
            Either::Object(answer) => answer.content.texts().collect(),
        };
        if pieces.is_empty() { self.error.to_string() } else { pieces.join("\n") }
    }

    pub(super) fn is_error(&self) -> bool {
        let is_marked = matches!(&self.value, Either::Object(answer) if answer.is_error.0);
        is_marked || &*self.status == "error"
    }

    pub(super) fn exit_code(&self) -> Option<i32> {
        let Either::Object(answer) = &self.value else {
            return None;
        };
        let structured = answer.structured.0.as_ref()?;
        structured.exit_code.exit_code()
    }
}
