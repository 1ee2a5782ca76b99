//! Qwen Code: `stream-json` and `json`, which have Claude Code's records, and
//! the session file.
//!
//! Source: captures of 0.15.10. The stream does not show hook feedback, so
//! that an answer to it continues the text before; it does not show exit codes
//! either (`is_error` is false whatever a command returned). `json` is the
//! array of the stream's events, and `result` joins the turn's last texts.

mod session;

pub(super) use session::QWEN_SESSION;

use super::claude::{self, Shell};
use crate::claude_like::{is_event, is_qwen_init, is_result};
use crate::shape::Shape;
use crate::spec::{KnownBy, Spec};

const FAMILY: &[&str] = &["qwen", "qwen-code"];

pub(super) const QWEN_JSON: Spec = Spec {
    name: "qwen-json",
    family: FAMILY,
    known_by: KnownBy::Record(|shape| shape.in_array && is_record(shape)),
    open: |_| {
        let exit_code = |_: &str, _: bool| None;
        claude::open(Shell { tool: "", exit_code, marks_failures: false, wakes_agent: false })
    },
};

pub(super) const QWEN_STREAM: Spec = Spec {
    name: "qwen-stream",
    known_by: KnownBy::Record(|shape| !shape.in_array && is_record(shape)),
    ..QWEN_JSON
};

fn is_record(shape: &Shape<'_>) -> bool {
    is_event(shape) || is_result(shape) || is_qwen_init(shape)
}
