//! Gemini CLI's `AfterAgent` (0.61.0).
//!
//! Its `prompt_response` is of no use: it is all that was said since the prompt,
//! with chunks repeated and words torn apart. The transcript has the last word.

use std::time::Duration;

use super::lag::ends_alike;
use super::{Client, Event, Lag, Latest, Said, about, block, judged_as};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    lag,
    refusal: block,
    shows_messages: true,
    project: Some("GEMINI_PROJECT_DIR"),
    deadline: Duration::from_secs(50),
};

/// The event with which a session begins.
const BEGINNING: &str = "SessionStart";

fn event(said: &Said<'_>) -> Event {
    Event {
        about: about(said, BEGINNING),
        not_judged: judged_as(said.text("hook_event_name"), "AfterAgent"),
        session: said.owned("session_id"),
        prompt: said.text("prompt").map(|text| gate_core::digest(text.as_bytes())),
        folder: said.path("cwd"),
        transcript: said.path("transcript_path"),
        said: None,
        background: Vec::new(),
        typed: said.owned("prompt"),
    }
}

fn is_headless(said: &Said<'_>) -> Option<bool> {
    said.started_with("gemini", &["-p", "--prompt"])
}

/// How many characters at the end of `prompt_response` are compared.
const ALIKE: usize = 32;

/// Each chunk after the first stands twice in `prompt_response`, so it ends as the
/// last word does. That is what was seen, and nothing that it promises.
fn lag(said: &Said<'_>, _: &Latest, word: &str) -> Lag {
    let told = said.text("prompt_response");
    if told.is_none_or(|told| ends_alike(told, word, ALIKE)) { Lag::None } else { Lag::Likely }
}
