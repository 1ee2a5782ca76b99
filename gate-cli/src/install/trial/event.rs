//! Events that clients send when an agent stops, with a made-up claim that all is done.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::agent::Agent;
use crate::clients::{ClientFacts, TestStopFacts, TranscriptForm, facts};

/// The agent's last message.
const CLAIM: &str =
    "All is done.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: a test stop of gate doctor\n";

const PROMPT: &str = "Do the work.";

const SESSION: &str = "00000000-0000-4000-8000-000000000000";

const TIME: &str = "2026-01-01T00:00:00.000Z";

const MODEL: &str = "test";

/// The event of a stop, with the client's names and keys.
pub(super) fn stop_event(agent: Agent, project: &Path, transcript: &Path) -> Value {
    let ClientFacts { hook, test_stop, .. } = facts(agent);
    let project = project.display().to_string();
    let transcript = transcript.display().to_string();
    let own_members = own_members(
        test_stop,
        &[
            ("claim", CLAIM),
            ("prompt", PROMPT),
            ("session", SESSION),
            ("time", TIME),
            ("model", MODEL),
            ("project", &project),
            ("transcript", &transcript),
        ],
    );
    if test_stop.is_whole {
        return Value::Object(own_members);
    }
    let mut event = Map::from_iter([
        ("cwd".to_owned(), project.into()),
        ("hook_event_name".to_owned(), hook.events.stop.as_str().into()),
        ("stop_hook_active".to_owned(), false.into()),
    ]);
    let keys = &hook.keys;
    for (key, value) in [
        (keys.session.first(), SESSION),
        (keys.transcript.first(), &transcript),
        (keys.message.as_ref(), CLAIM),
        (keys.prompt_id.as_ref(), SESSION),
    ] {
        event.extend(key.map(|key| (key.clone(), value.into())));
    }
    if hook.has_plan_mode {
        event.insert("permission_mode".to_owned(), "default".into());
    }
    event.extend(own_members);
    Value::Object(event)
}

/// The client's own members, with these values for the placeholders.
#[expect(clippy::expect_used, reason = "a test makes the event of each client")]
fn own_members(test_stop: &TestStopFacts, values: &[(&str, &str)]) -> Map<String, Value> {
    let Some(members) = &test_stop.members else { return Map::new() };
    let mut json = members.clone();
    for (name, value) in values {
        json = json.replace(&format!("\"{{{name}}}\""), &json!(value).to_string());
    }
    serde_json::from_str(&json).expect("the members are JSON")
}

/// A session that ends with the same message, as the client keeps it.
pub(super) fn transcript(agent: Agent) -> String {
    let lines = match facts(agent).test_stop.transcript {
        TranscriptForm::Gemini => vec![
            json!({ "sessionId": SESSION, "projectHash": "0", "startTime": TIME, "kind": "main" }),
            json!({ "id": "1", "timestamp": TIME, "type": "user", "content": [{ "text": PROMPT }] }),
            json!({ "id": "2", "timestamp": TIME, "type": "gemini", "content": CLAIM, "thoughts": [] }),
        ],
        TranscriptForm::Qwen => {
            vec![qwen("user", "user", PROMPT, 1), qwen("assistant", "model", CLAIM, 2)]
        }
        TranscriptForm::Copilot => vec![
            json!({ "type": "session.start", "id": "1", "timestamp": TIME, "data": { "sessionId": SESSION } }),
            json!({ "type": "user.message", "id": "2", "timestamp": TIME, "data": { "content": PROMPT } }),
            json!({ "type": "assistant.message", "id": "3", "timestamp": TIME, "data": { "content": CLAIM, "toolRequests": [] } }),
        ],
        TranscriptForm::ClaudeCode => vec![
            claude("user", &json!({ "role": "user", "content": PROMPT }), 1),
            claude(
                "assistant",
                &json!({
                    "id": "msg_1", "type": "message", "role": "assistant", "model": "test",
                    "content": [{ "type": "text", "text": CLAIM }], "stop_reason": "end_turn",
                }),
                2,
            ),
        ],
    };
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn claude(kind: &str, message: &Value, id: u8) -> Value {
    json!({
        "type": kind, "message": message, "uuid": id.to_string(), "sessionId": SESSION,
        "timestamp": TIME, "isSidechain": false, "parentUuid": null,
    })
}

fn qwen(kind: &str, role: &str, text: &str, id: u8) -> Value {
    json!({
        "type": kind, "message": { "role": role, "parts": [{ "text": text }] },
        "uuid": id.to_string(), "parentUuid": null, "sessionId": SESSION, "timestamp": TIME,
    })
}
