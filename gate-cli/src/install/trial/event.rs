//! Events that clients send when an agent stops, with a made-up claim that all is done.

use std::path::Path;

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::clients::{HookFacts, facts};

/// The agent's last word.
const CLAIM: &str =
    "All is done.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: a test stop of gate doctor\n";

const PROMPT: &str = "Do the work.";

const SESSION: &str = "00000000-0000-4000-8000-000000000000";

const TIME: &str = "2026-01-01T00:00:00.000Z";

/// The event of a stop, with the client's names and keys.
pub(super) fn stop_event(agent: Agent, project: &Path, transcript: &Path) -> Value {
    let HookFacts { events, keys, has_plan_mode, .. } = &facts(agent).hook;
    let mut common = json!({
        "cwd": project.display().to_string(),
        "hook_event_name": events.stop,
        "stop_hook_active": false,
    });
    let transcript = transcript.display().to_string();
    for (key, value) in [
        (keys.session.first(), SESSION),
        (keys.transcript.first(), &transcript),
        (keys.message.as_ref(), CLAIM),
        (keys.prompt_id.as_ref(), SESSION),
    ] {
        if let Some(key) = key {
            common[key] = value.into();
        }
    }
    if *has_plan_mode {
        common["permission_mode"] = "default".into();
    }
    let own = match agent {
        Agent::ClaudeCode => {
            json!({ "effort": { "level": "medium" }, "background_tasks": [], "session_crons": [] })
        }
        Agent::Codex => json!({ "transcript_path": null, "model": "test" }),
        Agent::Gemini => json!({ "timestamp": TIME, "prompt": PROMPT, "prompt_response": CLAIM }),
        // Qwen Code says always that its hook is active.
        Agent::Qwen => {
            json!({ "timestamp": TIME, "stop_hook_active": true, "last_assistant_message": CLAIM })
        }
        Agent::Copilot => json!({ "timestamp": TIME, "stop_reason": "end_turn" }),
        Agent::Cursor => return cursor(project, &transcript),
        Agent::Opencode => json!({ "client": "opencode" }),
        Agent::Goose => {
            return json!({ "event": "Stop", "session_id": SESSION, "last_assistant_message": CLAIM });
        }
        _ => json!({}),
    };
    joined(common, own)
}

fn cursor(project: &Path, transcript: &str) -> Value {
    json!({
        "conversation_id": SESSION,
        "generation_id": SESSION,
        "model": "test",
        "hook_event_name": "stop",
        "cursor_version": "0",
        "workspace_roots": [project.display().to_string()],
        "transcript_path": transcript,
        "status": "completed",
        "loop_count": 0,
    })
}

fn joined(mut all: Value, more: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        all.extend(more);
    }
    all
}

/// A session that ends with the same word, as the client keeps it.
pub(super) fn transcript(agent: Agent) -> String {
    let lines = match agent {
        Agent::Gemini => vec![
            json!({ "sessionId": SESSION, "projectHash": "0", "startTime": TIME, "kind": "main" }),
            json!({ "id": "1", "timestamp": TIME, "type": "user", "content": [{ "text": PROMPT }] }),
            json!({ "id": "2", "timestamp": TIME, "type": "gemini", "content": CLAIM, "thoughts": [] }),
        ],
        Agent::Qwen => vec![qwen("user", "user", PROMPT, 1), qwen("assistant", "model", CLAIM, 2)],
        Agent::Copilot => vec![
            json!({ "type": "session.start", "id": "1", "timestamp": TIME, "data": { "sessionId": SESSION } }),
            json!({ "type": "user.message", "id": "2", "timestamp": TIME, "data": { "content": PROMPT } }),
            json!({ "type": "assistant.message", "id": "3", "timestamp": TIME, "data": { "content": CLAIM, "toolRequests": [] } }),
        ],
        _ => vec![
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
