//! `amp --execute --stream-json`, which has the records of Claude Code's stream.
//!
//! Sources: ampcode.com/news/streaming-json (2025), public logs of 2026. Two
//! things differ: the session is a thread, `T-…`; a command's result is an
//! object with the exit code in it. If no such thread is named nothing
//! tells the two apart, and both are read alike.

use super::claude::{self, Shell};
use crate::claude_like::{is_amp_init, is_event, is_result};
use crate::json::records;
use crate::loose::Num;
use crate::spec::{KnownBy, Spec};

pub(super) const AMP_STREAM: Spec = Spec {
    name: "amp-stream",
    family: &["amp"],
    known_by: KnownBy::Record(|shape| is_event(shape) || is_result(shape) || is_amp_init(shape)),
    open: |_| {
        claude::open(Shell { tool: "Bash", exit_code, marks_failures: false, wakes_agent: false })
    },
};

records! {
    struct CommandResult {
        "exitCode" => exit_code: Num,
    }
}

fn exit_code(result: &str, _: bool) -> Option<i32> {
    let result: CommandResult = serde_json::from_str(result).ok()?;
    result.exit_code.exit_code()
}
