//! Codex CLI's `Stop` (0.169.0). It has no cap of its own on refusals, and
//! takes a reply with any key that it does not know for none.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::{Client, Event, Lag, Said, about, block, judged_as, why};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    lag: |_, _, _| Lag::None,
    refusal: block,
    shows_messages: true,
    project: None,
    deadline: Duration::from_secs(50),
};

/// The longest first line of a rollout that is read, in bytes.
const HEADER: u64 = 1 << 20;

/// The event with which a session begins.
const BEGINNING: &str = "SessionStart";

fn event(said: &Said<'_>) -> Event {
    let in_plan_mode = said.text("permission_mode") == Some("plan");
    Event {
        about: about(said, BEGINNING),
        not_judged: judged_as(said.text("hook_event_name"), "Stop")
            .or(in_plan_mode.then_some(why::PLAN_MODE)),
        session: said.owned("session_id"),
        prompt: said.owned("turn_id"),
        folder: said.path("cwd"),
        transcript: said.path("transcript_path"),
        said: said.owned("last_assistant_message"),
        background: Vec::new(),
        typed: said.owned("prompt"),
    }
}

fn is_headless(said: &Said<'_>) -> Option<bool> {
    let rollout = said.path("transcript_path");
    let of_exec = rollout.as_deref().and_then(is_of_exec);
    of_exec.or_else(|| said.started_with("codex", &["exec", "e"]))
}

/// Whether a rollout is one of `codex exec`, as its first record tells.
fn is_of_exec(rollout: &Path) -> Option<bool> {
    let mut line = String::new();
    BufReader::new(File::open(rollout).ok()?.take(HEADER)).read_line(&mut line).ok()?;
    let header: Value = serde_json::from_str(&line).ok()?;
    let source = header.get("payload")?.get("source")?;
    Some(source.as_str() == Some("exec"))
}
