//! Stop hooks, by what their clients say: one made-up session an agent.

mod began;
mod dialects;
mod goals;
mod helpers;
mod judged;
mod lasting;
mod laundered;
mod leniency;
mod newly_red;
mod pauses;
mod persons;
mod released;
mod speakers;
mod talk;
mod traps;
mod trees;
mod whose;

use serde_json::{Value, json};

use crate::support::clients::{agents, agents_with, facts};
use crate::support::{Ran, Run, gate, keys};

/// A check that fails until the file `fixed` is there.
const RED: &str = "[checks.tests]\ncommand = [\"sh\", \"check.sh\"]\n";
const CHECK: &str = "echo checking\ntest -e fixed || { echo 'AssertionError: 2 != 3'; exit 1; }\n";

const CLAIM: &str =
    "All tasks are completed.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: the parser is in place";
const CHAT: &str = "That function adds two numbers.";
const QUESTION: &str = "There are two ways.\n\nWhich one should I take?\n\n1. SQLite\n2. a file";

/// Settings under which each turn that changed something needs an `exit`.
const STRICT: &str = "[hook]\nsignal = \"require\"\n";

/// A committed project whose check is red, with these settings beside it.
fn at_rest(more: &str) -> Ran {
    gate("prompt")
        .settings(&format!("{RED}{more}"))
        .file("check.sh", CHECK)
        .file(".gitignore", "session.jsonl\nevent.json\n")
        .committed()
        .code(0)
}

/// The same with a file that the agent wrote.
fn project(more: &str) -> Ran {
    at_rest(more).again("prompt").setup("echo >work").code(0)
}

/// What the agent's client says when the agent stops with these words, and the
/// transcript that it names.
fn event(agent: &str, ran: &Ran, said: &str) -> (Value, String) {
    let (cwd, path) = (ran.path("").display().to_string(), ran.path("session.jsonl"));
    let path = path.display().to_string();
    let stop = |more: Value| {
        let mut all = json!({ "session_id": "s1", "cwd": cwd, "hook_event_name": "Stop" });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    match agent {
        "claude-code" => {
            let more = json!({ "transcript_path": "/nowhere.jsonl", "prompt_id": "p1",
                "permission_mode": "default", "stop_hook_active": false,
                "last_assistant_message": said, "background_tasks": [] });
            (stop(more), String::new())
        }
        "codex" => {
            let more = json!({ "transcript_path": null, "turn_id": "t1", "model": "m",
                "permission_mode": "bypassPermissions", "last_assistant_message": said });
            (stop(more), String::new())
        }
        "gemini" => {
            let more = json!({ "transcript_path": path, "hook_event_name": "AfterAgent",
                "prompt": "Go.", "prompt_response": "Go wr ong wrong EXIT_STATUS: COMPLETE",
                "stop_hook_active": false });
            let lines = [
                json!({ "sessionId": "s1", "projectHash": "h", "startTime": "2026-11-02T10:00:00Z", "kind": "main" }),
                json!({ "id": "a", "timestamp": "2026-11-02T10:00:00Z", "type": "user", "content": [{ "text": "Go." }] }),
                json!({ "id": "t", "timestamp": "2026-11-02T10:00:00Z", "type": "gemini", "content": "", "thoughts": [], "model": "m",
                    "toolCalls": [{ "id": "c", "name": "run_shell_command", "args": { "command": "touch work" }, "status": "success",
                        "result": [{ "functionResponse": { "id": "c", "name": "run_shell_command", "response": { "output": "ok" } } }] }] }),
                json!({ "id": "b", "timestamp": "2026-11-02T10:00:01Z", "type": "gemini", "content": said, "thoughts": [], "model": "m" }),
            ];
            (stop(more), jsonl(&lines))
        }
        "qwen" => {
            let more = json!({ "transcript_path": path, "timestamp": "2026-11-02T10:00:00Z",
                "stop_hook_active": true,
                "last_assistant_message": format!("Looks finished.{said}") });
            let record = |kind: &str, role: &str, text: &str| {
                json!({ "uuid": role, "parentUuid": null, "sessionId": "s1", "type": kind,
                    "message": { "role": role, "parts": [{ "text": text }] } })
            };
            let mut call = record("assistant", "model", "");
            call["uuid"] = "c".into();
            call["message"]["parts"] = json!([{ "functionCall": { "id": "c",
                "name": "run_shell_command", "args": { "command": "touch work" } } }]);
            let lines = [record("user", "user", "Go."), call, record("assistant", "model", said)];
            (stop(more), jsonl(&lines))
        }
        "copilot" => {
            let more = json!({ "transcript_path": path, "stop_reason": "end_turn",
                "timestamp": "2026-11-02T10:00:00Z", "stop_hook_active": false });
            let lines = [
                json!({ "type": "session.start", "data": { "sessionId": "s1", "version": 1, "producer": "copilot-agent" }, "id": "0", "timestamp": "t", "parentId": null }),
                json!({ "type": "user.message", "data": { "content": "Go." }, "id": "1", "timestamp": "t", "parentId": "0" }),
                json!({ "type": "tool.execution_start", "data": { "toolCallId": "c", "toolName": "bash", "arguments": { "command": "touch work" } }, "id": "5", "timestamp": "t", "parentId": "1" }),
                json!({ "type": "tool.execution_complete", "data": { "toolCallId": "c", "success": true, "result": { "content": "ok" } }, "id": "6", "timestamp": "t", "parentId": "5" }),
                json!({ "type": "assistant.message", "data": { "content": said, "toolRequests": [] }, "id": "2", "timestamp": "t", "parentId": "1" }),
            ];
            (stop(more), jsonl(&lines))
        }
        "cursor" => {
            let event = json!({ "conversation_id": "s1", "generation_id": "g", "model": "m",
                "hook_event_name": "stop", "workspace_roots": [cwd], "status": "completed",
                "loop_count": 0, "last_assistant_message": said });
            (event, String::new())
        }
        "droid" => {
            let message = |role: &str, text: &str| {
                json!({ "type": "message", "id": role, "timestamp": "2026-11-02T10:00:00Z",
                    "message": { "role": role, "content": [{ "type": "text", "text": text }] } })
            };
            let lines = [
                json!({ "type": "session_start", "id": "s1", "title": "t", "cwd": "/w" }),
                message("user", "Go."),
                json!({ "type": "message", "id": "c", "timestamp": "2026-11-02T10:00:00Z",
                    "message": { "role": "assistant", "content": [{ "type": "tool_use", "id": "c",
                        "name": "Execute", "input": { "command": "touch work" } }] } }),
                message("assistant", said),
            ];
            (stop(json!({ "transcript_path": path, "stop_hook_active": false })), jsonl(&lines))
        }
        "goose" => {
            let event =
                json!({ "event": "Stop", "session_id": "s1", "last_assistant_message": said });
            (event, String::new())
        }
        // A client that sends the message with each stop.
        _ => {
            let hook = &facts(agent)["hook"];
            let mut more = json!({ "hook_event_name": hook["events"]["stop"].as_str() });
            let key = hook["keys"].get("message").and_then(toml::Value::as_str);
            more[key.unwrap_or_else(|| panic!("write the event of {agent}"))] = said.into();
            (stop(more), String::new())
        }
    }
}

fn jsonl(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The agent stops with these words.
fn stops(agent: &str, ran: Ran, said: &str) -> Ran {
    let (event, transcript) = event(agent, &ran, said);
    hooked(ran.again(&format!("hook {agent}")).file("session.jsonl", transcript), &event)
}

/// The client says this.
fn hooked(run: Run, event: &Value) -> Ran {
    run.stdin(event.to_string()).code(0)
}

/// The reason of a refusal; none where nothing was printed.
fn refused(agent: &str, ran: &Ran) -> Option<String> {
    if ran.out().is_empty() {
        return None;
    }
    let reply = ran.json();
    let reason = match agent {
        "cursor" => {
            assert_eq!(reply, json!({ "followup_message": reply["followup_message"] }));
            &reply["followup_message"]
        }
        _ => {
            assert_eq!(reply, json!({ "decision": "block", "reason": reply["reason"] }));
            &reply["reason"]
        }
    };
    let reason = reason.as_str().unwrap();
    assert!(!reason.is_empty() && reason.chars().count() <= 1_500, "{reason}");
    Some(reason.to_owned())
}

/// The types of all records.
fn types(ran: Ran) -> (Ran, Vec<String>) {
    let ran = ran.again("log -n 100 --json").code(0);
    let types = ran
        .json_lines()
        .iter()
        .map(|json_line| json_line["type"].as_str().unwrap().to_owned())
        .collect();
    (ran, types)
}
