//! The fields of a stop, by client: taken where the client has them, and missing where
//! they are of no use.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::{Event, Payload, client};
use crate::agent::Agent;

fn event(agent: Agent, payload: &Value) -> Event {
    client(agent).event(&Payload::new(payload, &[]))
}

#[track_caller]
fn check(agent: Agent, payload: &Value, expected: &Event) {
    assert_eq!(event(agent, payload), *expected);
}

/// A stop in `/w` with a session and a transcript.
fn stop() -> Event {
    Event {
        session: Some("s1".to_owned()),
        folder: Some(PathBuf::from("/w")),
        transcript: Some(PathBuf::from("/t/s1.jsonl")),
        ..Event::default()
    }
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// The fields that most clients spell alike.
fn common(special_fields: &Value) -> Value {
    let mut payload = json!({
        "session_id": "s1", "cwd": "/w", "transcript_path": "/t/s1.jsonl",
        "last_assistant_message": "All is done.",
    });
    payload.as_object_mut().unwrap().extend(special_fields.as_object().unwrap().clone());
    payload
}

#[test]
fn a_message_that_the_client_sends_whole_is_taken() {
    let with_message = Event { last_message: text("All is done."), ..stop() };
    let claude = common(&json!({ "hook_event_name": "Stop", "prompt_id": "p1" }));
    check(Agent::ClaudeCode, &claude, &Event { prompt_id: text("p1"), ..with_message.clone() });
    let codex = common(&json!({ "hook_event_name": "Stop", "turn_id": "t1", "prompt_id": "p1" }));
    check(Agent::Codex, &codex, &Event { prompt_id: text("t1"), ..with_message.clone() });
    check(Agent::Goose, &common(&json!({ "event": "Stop" })), &with_message);
    let opencode = common(&json!({ "hook_event_name": "session.idle", "prompt_id": "p1" }));
    let expected = Event { prompt_id: text("p1"), transcript: None, ..with_message };
    check(Agent::Opencode, &opencode, &expected);
}

#[test]
fn a_message_that_the_client_changes_or_does_not_send_is_left_to_the_transcript() {
    let named = |name: &str| common(&json!({ "hook_event_name": name, "prompt_id": "p1" }));
    check(Agent::Qwen, &named("Stop"), &stop());
    check(Agent::Droid, &named("Stop"), &stop());
    check(Agent::Copilot, &named("Stop"), &stop());
    check(Agent::Gemini, &named("AfterAgent"), &stop());
}

#[test]
fn copilot_spells_its_own_event_in_camel_case() {
    let payload = json!({
        "sessionId": "s1", "timestamp": 1_795_294_161_298_i64, "cwd": "/w",
        "transcriptPath": "/t/s1.jsonl", "stopReason": "end_turn",
    });
    check(Agent::Copilot, &payload, &stop());
}

#[test]
fn cursor_names_its_conversation_and_its_roots() {
    let payload = json!({
        "conversation_id": "s1", "hook_event_name": "stop", "status": "completed",
        "workspace_roots": ["/w", "/v"], "transcript_path": "/t/s1.jsonl",
    });
    check(Agent::Cursor, &payload, &stop());
    let moved = json!({ "conversation_id": "s1", "workspace_roots": ["/v"], "cwd": "/w" });
    check(Agent::Cursor, &moved, &Event { transcript: None, ..stop() });
    let homeless = json!({ "conversation_id": "s1", "workspace_roots": [7] });
    check(Agent::Cursor, &homeless, &Event { transcript: None, folder: None, ..stop() });
}

#[test]
fn geminis_prompts_are_told_apart_by_their_texts() {
    let prompt = |words: &str| {
        let payload = common(&json!({ "hook_event_name": "AfterAgent", "prompt": words }));
        event(Agent::Gemini, &payload)
    };
    let event = prompt("Fix the parser.");
    assert_eq!(event.prompt_id, Some(gate_core::digest(b"Fix the parser.")));
    assert_eq!(event.prompt_text, text("Fix the parser."));
    assert_ne!(prompt("Fix the printer.").prompt_id, event.prompt_id);
}

#[test]
fn a_value_of_another_type_or_without_words_counts_as_missing() {
    let payload = json!({
        "session_id": 7, "cwd": ["/w"], "transcript_path": "", "prompt_id": " \n",
        "last_assistant_message": { "text": "done" }, "background_tasks": "one",
        "hook_event_name": null,
    });
    for agent in Agent::ALL {
        let ownerless = Event { not_judged: event(agent, &payload).not_judged, ..Event::default() };
        check(agent, &payload, &ownerless);
    }
    assert_eq!(event(Agent::ClaudeCode, &json!([])), Event::default());
}

#[test]
fn only_tasks_that_still_run_are_waited_for() {
    let long = "x".repeat(200);
    let tasks = json!([
        { "id": "1", "status": "running", "command": "npm run dev", "description": "server" },
        { "id": "2", "status": "completed", "command": "cargo test" },
        { "id": "3", "status": "", "command": "", "description": "a log that is followed" },
        { "id": "4" },
        { "status": "running", "command": 7 },
        { "id": "5", "command": long },
    ]);
    let payload = json!({ "hook_event_name": "Stop", "background_tasks": tasks });
    let running = event(Agent::ClaudeCode, &payload).tasks;
    let running: Vec<_> = running.into_iter().map(|task| task.name).collect();
    assert_eq!(running[..4], ["npm run dev", "a log that is followed", "4", "a task"]);
    assert_eq!(running[4], gate_core::text::brief(&long, 120));
    assert_eq!(running.len(), 5);
}

#[test]
fn a_session_names_a_run_without_marks_and_escapes() {
    let run = |id: &str| Event { session: text(id), ..Event::default() }.run();
    assert_eq!(run("0195-ab"), text("0195-ab"));
    assert_eq!(run("a#2"), text("a-2"));
    assert_eq!(run("a\u{1b}[2Jb"), text("ab"));
    assert_eq!(Event::default().run(), None);
}
