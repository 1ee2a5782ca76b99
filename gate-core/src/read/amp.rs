//! `amp --execute --stream-json`, which speaks as Claude Code's stream does.
//!
//! Sources: ampcode.com/news/streaming-json (2025), public logs of 2026. What
//! is different: the session is a thread, `T-…`; a command's result is an
//! object with the exit code in it. Where no such thread is named nothing
//! tells the two apart, and both are read alike.

use serde::Deserialize;

use super::claude::{self, Shell};
use super::format::Spec;
use super::loose::Num;
use super::shape::Shape;

pub(super) const AMP_STREAM: Spec = Spec {
    name: "amp-stream",
    family: &["amp"],
    record: |shape| claude::is_event(shape) || claude::is_result(shape) || is_init(shape),
    open: |_| claude::open(Shell { tool: "Bash", exit_code, wakes: false }),
    ..claude::STREAM
};

/// Whether a `system` record is of Amp.
pub(super) fn is_init(shape: &Shape<'_>) -> bool {
    shape.text("type") == "system" && shape.text("session_id").starts_with("T-")
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Ended {
    #[serde(rename = "exitCode")]
    exit_code: Num,
}

fn exit_code(result: &str, _: bool) -> Option<i32> {
    let ended: Ended = serde_json::from_str(result).ok()?;
    ended.exit_code.signed()?.try_into().ok()
}
