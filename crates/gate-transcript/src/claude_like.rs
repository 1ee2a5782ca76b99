//! The records of Claude Code's formats, and the marks by which clients are told apart
//! that write the same formats.
//!
//! Several clients print Claude Code's records, so that scripts that read them go on to
//! work. Their first record, `system` with `init`, differs.

use super::json::records;
use super::loose::{Content, Flag, Leaves, Maybe, Num, Piece, Str, sum};
use super::shape::Shape;

records! {
    struct Message<'a> {
        id: Str<'a>,
        role: Str<'a>,
        model: Str<'a>,
        content: Content<'a, Block<'a>>,
        usage: Maybe<Tokens>,
    }

    /// One block of a message, in the form of Anthropic's API. Many agents keep messages so.
    struct Block<'a> {
        "type" => kind: Str<'a>,
        text: Str<'a>,
        thinking: Str<'a>,
        id: Str<'a>,
        name: Str<'a>,
        input: Leaves<'a>,
        tool_use_id: Str<'a>,
        /// The parts of a tool's result; images have no text.
        content: Content<'a, Block<'a>>,
        is_error: Flag,
        /// Kimi's name for `thinking`.
        think: Str<'a>,
        /// Pi's name for `input`.
        arguments: Leaves<'a>,
    }

    /// Tokens of one message, or of one result.
    #[derive(Clone, Copy)]
    struct Tokens {
        input_tokens: Num,
        cache_creation_input_tokens: Num,
        output_tokens: Num,
    }
}

impl Piece for Block<'_> {
    fn text(&self) -> &str {
        &self.text
    }
}

impl Tokens {
    /// Input and output together. Input out of a cache is left out, as
    /// in Codex's own count: it would drown everything else.
    pub(super) fn total(self) -> Option<u64> {
        sum([self.input_tokens, self.cache_creation_input_tokens, self.output_tokens])
    }
}

pub(super) fn is_result(shape: &Shape<'_>) -> bool {
    let marks = ["subtype", "is_error", "num_turns", "total_cost_usd", "duration_api_ms"];
    let is_typed = shape.text("type") == "result"
        && !is_cursor_result(shape)
        && marks.iter().any(|key| shape.has(key));
    // An older form of the result has no type.
    let has_session = shape.has("sessionId") || shape.has("session_id");
    let is_untyped = shape.has("result") && has_session && !shape.has("type");
    is_typed || is_untyped
}

pub(super) fn is_event(shape: &Shape<'_>) -> bool {
    match shape.text("type") {
        "assistant" | "user" => shape.has("message") && !shape.inner("message").has("parts"),
        "system" => shape.has("subtype") && !is_other_clients(shape),
        "stream_event" => shape.has("event"),
        "rate_limit_event" => true,
        _ => false,
    }
}

/// The `system` record of a client that writes Claude Code's format as its own.
fn is_other_clients(shape: &Shape<'_>) -> bool {
    is_qwen_init(shape) || is_amp_init(shape) || is_cursor_init(shape)
}

pub(super) fn is_amp_init(shape: &Shape<'_>) -> bool {
    shape.text("type") == "system" && shape.text("session_id").starts_with("T-")
}

/// Cursor's `system` record, which lists no tools.
pub(super) fn is_cursor_init(shape: &Shape<'_>) -> bool {
    let claude_keys = ["tools", "uuid", "mcp_servers", "claude_code_version"];
    shape.text("subtype") == "init"
        && shape.has("permissionMode")
        && !claude_keys.iter().any(|key| shape.has(key))
}

/// Cursor's `result`, which counts no turns and no dollars.
pub(super) fn is_cursor_result(shape: &Shape<'_>) -> bool {
    let claude_keys = ["num_turns", "total_cost_usd", "uuid", "modelUsage", "stop_reason"];
    let has_mark = shape.has("request_id") || shape.has("duration_api_ms");
    has_mark && shape.has("session_id") && !claude_keys.iter().any(|key| shape.has(key))
}

pub(super) fn is_qwen_init(shape: &Shape<'_>) -> bool {
    shape.text("type") == "system" && (shape.has("qwen_code_version") || shape.has("systemPayload"))
}
