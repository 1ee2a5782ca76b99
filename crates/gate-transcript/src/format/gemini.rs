//! Gemini CLI: `json`, `stream-json` and the session file.
//!
//! Sources: captures of 0.61.0; google-gemini/gemini-cli,
//! `packages/core/src/services/chatRecordingService.ts`, for what they do not
//! show (`$rewindTo`, sub-agents, the older file of one object).

mod json;
mod session;
mod stream;

pub(super) use json::GEMINI_JSON;
pub(super) use session::GEMINI_SESSION;
pub(super) use stream::GEMINI_STREAM;

use crate::json::records;
use crate::loose::{Num, Str};
use crate::out::Out;
use crate::{Boundary, Role};

const FAMILY: &[&str] = &["gemini", "gemini-cli"];

/// Beginning of the client's warning after a hook sent the agent back.
const BLOCKED: &str = "Agent execution blocked: ";

/// Beginning of the client's warning after a hook stopped the agent.
const STOPPED: &str = "Agent execution stopped: ";

records! {
    /// A failure as the client words it.
    struct Failure<'a> {
        "type" => kind: Str<'a>,
        message: Str<'a>,
        code: Num,
    }

    struct Tokens {
        total: Num,
        cached: Num,
    }
}

impl Failure<'_> {
    fn send(&self, out: &mut Out<'_>) {
        let message = if self.message.is_empty() { &self.kind } else { &self.message };
        out.fail(message, status(message).or(self.code.signed()));
    }
}

impl Tokens {
    /// Input and output together, without what was read from a cache.
    fn total(&self) -> u64 {
        self.total.whole().unwrap_or(0).saturating_sub(self.cached.whole().unwrap_or(0))
    }
}

/// The status that the API's answer holds, which the message quotes.
fn status(message: &str) -> Option<i64> {
    let (_, code) = message.split_once("\"code\":")?;
    let code = code.trim_start();
    let code_end = code.find(|char: char| !char.is_ascii_digit()).unwrap_or(code.len());
    code[..code_end].parse().ok()
}

/// Takes a warning of the client, and returns if it reports the decision of a hook.
fn warning(text: &str, out: &mut Out<'_>) -> bool {
    let feedback = [BLOCKED, STOPPED].iter().find_map(|start| text.strip_prefix(start));
    if let Some(feedback) = feedback {
        out.boundary(Boundary::HookFeedback);
        out.say(Role::User, feedback);
    } else {
        out.say(Role::System, text);
    }
    feedback.is_some()
}
