//! The messages of Goose, as far as they are read.
//!
//! Source: block/goose, `crates/goose/src/conversation/message.rs`.

use serde::Deserialize;

use crate::json::Borrowed;
use crate::loose::{Either, Flag, Leaves, List, Num, Object, Str};

/// Marks [`Record`] for reading.
pub(super) struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

/// The object of `json`, an event of the stream, or a line of a session file,
/// which is its header or a bare message.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Record<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) messages: List<Object<Message<'a>>>,
    #[serde(borrow)]
    pub(super) message: Object<Message<'a>>,
    #[serde(borrow)]
    pub(super) error: Leaves<'a>,
    pub(super) total_tokens: Num,
    #[serde(borrow)]
    pub(super) metadata: Object<Metadata<'a>>,

    // A bare message.
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    pub(super) role: Str<'a>,
    #[serde(borrow)]
    content: List<Object<Block<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Str<'a>,
    #[serde(borrow)]
    pub(super) role: Str<'a>,
    #[serde(borrow)]
    content: List<Object<Block<'a>>>,
    #[serde(borrow)]
    metadata: Object<Metadata<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Metadata<'a> {
    /// Absent if both see the message.
    #[serde(rename = "userVisible")]
    user_visible: Option<Flag>,
    #[serde(borrow)]
    inference: Object<Inference<'a>>,
    pub(super) total_tokens: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Inference<'a> {
    #[serde(borrow, rename = "requestedModel")]
    model: Str<'a>,
}

/// One block of a message.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) id: Str<'a>,
    #[serde(borrow)]
    pub(super) text: Str<'a>,
    #[serde(borrow)]
    pub(super) thinking: Str<'a>,
    /// The client's message, in blocks of its own kinds.
    #[serde(borrow, rename = "msg")]
    pub(super) notice: Str<'a>,
    #[serde(borrow, rename = "toolCall")]
    tool_call: Object<ToolCall<'a>>,
    #[serde(borrow, rename = "toolResult")]
    pub(super) tool_result: Object<ToolResult<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ToolCall<'a> {
    #[serde(borrow)]
    value: Object<Call<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) name: Str<'a>,
    #[serde(borrow)]
    pub(super) arguments: Leaves<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ToolResult<'a> {
    #[serde(borrow)]
    status: Str<'a>,
    #[serde(borrow)]
    error: Str<'a>,
    #[serde(borrow)]
    value: Either<Piece<'a>, Answer<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Answer<'a> {
    #[serde(borrow)]
    content: List<Object<Piece<'a>>>,
    #[serde(rename = "isError")]
    is_error: Flag,
    #[serde(rename = "structuredContent")]
    structured: Object<Structured>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Piece<'a> {
    #[serde(borrow)]
    text: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Structured {
    exit_code: Num,
}

impl<'a> Record<'a> {
    /// True for the object of `json`, which is a whole run.
    pub(super) fn is_run(&self) -> bool {
        let holds = self.metadata.0.is_some() || !self.messages.0.is_empty();
        holds && self.kind.is_empty() && self.role.is_empty()
    }

    /// The messages, of which some records are one.
    pub(super) fn into_messages(self) -> impl Iterator<Item = Message<'a>> {
        let Self { messages, message, id, role, content, metadata, .. } = self;
        let bare = (!role.is_empty()).then_some(Message { id, role, content, metadata });
        let held = messages.0.into_iter().chain([message]).filter_map(|message| message.0);
        held.chain(bare)
    }
}

impl<'a> Message<'a> {
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block<'a>> {
        self.content.0.iter().filter_map(|block| block.0.as_ref())
    }

    /// True if the person sees the message: the client injects others.
    pub(super) fn is_seen(&self) -> bool {
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
            Either::Object(answer) => {
                let pieces = answer.content.0.iter().filter_map(|piece| piece.0.as_ref());
                pieces.map(|piece| &*piece.text).collect()
            }
        };
        if pieces.is_empty() { self.error.to_string() } else { pieces.join("\n") }
    }

    pub(super) fn is_error(&self) -> bool {
        let marked = matches!(&self.value, Either::Object(answer) if answer.is_error.0);
        marked || &*self.status == "error"
    }

    pub(super) fn exit_code(&self) -> Option<i32> {
        let Either::Object(answer) = &self.value else {
            return None;
        };
        let structured = answer.structured.0.as_ref()?;
        structured.exit_code.signed()?.try_into().ok()
    }
}
