//! The records of Claude Code's formats, and the marks by which clients are told apart
//! that write the same formats.
//!
//! Several clients print Claude Code's records, so that scripts that read them go on to
//! work. Their first record, `system` with `init`, differs.

use super::shape::Shape;

pub(super) fn is_result(shape: &Shape<'_>) -> bool {
    let marks = ["subtype", "is_error", "num_turns", "total_cost_usd", "duration_api_ms"];
    let legacy = shape.has("result") && (shape.has("sessionId") || shape.has("session_id"));
    let own = shape.text("type") == "result" && !is_cursor_result(shape);
    let result = own && marks.iter().any(|key| shape.has(key));
    result || (legacy && !shape.has("type"))
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

/// True for the `system` record of a client that writes Claude Code's format as its own.
fn is_other_clients(shape: &Shape<'_>) -> bool {
    is_qwen_init(shape) || is_amp_init(shape) || is_cursor_init(shape)
}

pub(super) fn is_amp_init(shape: &Shape<'_>) -> bool {
    shape.text("type") == "system" && shape.text("session_id").starts_with("T-")
}

/// True for Cursor's `system` record, which lists no tools.
pub(super) fn is_cursor_init(shape: &Shape<'_>) -> bool {
    let others = ["tools", "uuid", "mcp_servers", "claude_code_version"];
    shape.text("subtype") == "init"
        && shape.has("permissionMode")
        && !others.iter().any(|key| shape.has(key))
}

/// True for Cursor's `result`, which counts no turns and no dollars.
pub(super) fn is_cursor_result(shape: &Shape<'_>) -> bool {
    let others = ["num_turns", "total_cost_usd", "uuid", "modelUsage", "stop_reason"];
    let own = shape.has("request_id") || shape.has("duration_api_ms");
    own && shape.has("session_id") && !others.iter().any(|key| shape.has(key))
}

pub(super) fn is_qwen_init(shape: &Shape<'_>) -> bool {
    shape.text("type") == "system" && (shape.has("qwen_code_version") || shape.has("systemPayload"))
}
