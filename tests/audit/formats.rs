//! Claims in the transcripts of other agents.

use serde_json::{Value, json};

use super::{CLAIM, Session, audit, check};
use crate::support::gate;

#[test]
fn a_script_of_codex_calls_tools() {
    let record =
        |payload: Value| json!({"timestamp": "t", "type": "response_item", "payload": payload});
    let exec = |id: &str, script: &str| {
        record(json!({"type": "custom_tool_call", "name": "exec", "call_id": id, "input": script}))
    };
    let answer = |id: &str, text: &str| {
        record(json!({"type": "custom_tool_call_output", "call_id": id, "output": text}))
    };
    let patch =
        r#"await tools.apply_patch("*** Begin Patch\n*** Update File: a.ts\n*** End Patch")"#;
    let test = "const r = await tools.exec_command({cmd: 'npx vitest run'}); text(r.output)";
    let rollout = [
        json!({"timestamp": "t", "type": "session_meta", "payload": {"id": "s", "cwd": "/w"}}),
        exec("a", patch),
        answer("a", "Script completed\nOutput:\n{}"),
        exec("b", test),
        answer("b", "Script running with cell ID 3\nOutput:\n"),
        record(
            json!({"type": "function_call", "name": "wait", "call_id": "c", "arguments": "{\"cell_id\":\"3\"}"}),
        ),
        record(
            json!({"type": "function_call_output", "call_id": "c", "output": "Script completed\nOutput:\n      Tests  4 passed (4)"}),
        ),
        record(
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": CLAIM}]}),
        ),
    ];
    check(&Session(rollout.into()), &[("passed_after", Some("npx vitest run"))]);
}

#[test]
fn a_script_of_codex_may_wait_for_several_checks() {
    let record =
        |payload: Value| json!({"timestamp": "t", "type": "response_item", "payload": payload});
    let script = "await tools.apply_patch('*** Begin Patch\n*** Update File: a.ts'); await Promise.all([tools.exec_command({cmd: 'pnpm vitest'}), tools.exec_command({cmd: 'pnpm build'})])";
    let rollout = vec![
        json!({"timestamp": "t", "type": "session_meta", "payload": {"id": "s", "cwd": "/w"}}),
        record(
            json!({"type": "custom_tool_call", "name": "exec", "call_id": "a", "input": script}),
        ),
        record(
            json!({"type": "custom_tool_call_output", "call_id": "a", "output": "Script running with cell ID 7\nOutput:\n"}),
        ),
        record(
            json!({"type": "function_call", "name": "wait", "call_id": "b", "arguments": "{\"cell_id\":\"7\"}"}),
        ),
        record(
            json!({"type": "function_call_output", "call_id": "b", "output": "Script completed\n      Tests  1 failed | 4 passed (5)"}),
        ),
        record(
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": CLAIM}]}),
        ),
    ];
    let record = audit(&Session(rollout)).code(0).json();
    assert_eq!(record["items"][0]["standing"], "failed");
}

#[test]
fn in_one_object_the_line_is_the_number_of_the_message() {
    let parts = json!([
        {"type": "tool", "tool": "write", "callID": "c", "state": {"status": "completed", "input": {"filePath": "/w/a.rs"}}},
        {"type": "text", "text": CLAIM}
    ]);
    let export = json!({"info": {"id": "ses_1"}, "messages": [
        {"info": {"id": "m1", "sessionID": "ses_1", "role": "user"}, "parts": [{"type": "text", "text": "Go."}]},
        {"info": {"id": "m2", "sessionID": "ses_1", "role": "assistant"}, "parts": parts}
    ]});
    let record = audit(&Session(vec![export])).code(0).json();
    assert_eq!((&record["items"][0]["line"], &record["none"]), (&json!(2), &json!(1)));
}

#[test]
fn antigravity_says_how_a_command_ended() {
    let step = |kind: &str, content: &str| json!({"step_index": 1, "source": "MODEL", "type": kind, "status": "DONE", "content": content});
    let calls = |name: &str, args: Value| json!({"step_index": 0, "source": "MODEL", "type": "PLANNER_RESPONSE", "tool_calls": [{"name": name, "args": args}]});
    let session = |ended: &str| {
        Session(vec![
            json!({"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT", "content": "Do it."}),
            calls("replace_file_content", json!({"TargetFile": "c:\\w\\a.ts"})),
            step("CODE_ACTION", "The following changes were made"),
            calls("run_command", json!({"CommandLine": "npx jest"})),
            step("RUN_COMMAND", &format!("Created At: t\n\n\t\t{ended}\n\t\tOutput:\n")),
            step("PLANNER_RESPONSE", CLAIM),
        ])
    };
    let jest = Some("npx jest");
    check(&session("The command completed successfully."), &[("passed_after", jest)]);
    check(&session("The command failed with exit code: 1"), &[("failed", jest)]);
    check(&session("Tool is running as a background task"), &[("unknown", jest)]);
}

#[test]
fn conversations_of_antigravity_are_found_in_their_hidden_folders() {
    let step =
        json!({"step_index": 0, "source": "MODEL", "type": "PLANNER_RESPONSE", "content": CLAIM});
    let folder = "../home/.gemini/antigravity/brain/c-1/.system_generated/logs";
    let run = gate("audit").file(&format!("{folder}/transcript.jsonl"), format!("{step}\n"));
    run.code(0).says("1 files, ").says(": 1 turns");
}

#[test]
fn cursor_shows_no_answers() {
    let call = |name: &str, input: Value| json!({"role": "assistant", "message": {"content": [{"type": "tool_use", "name": name, "input": input}]}});
    let session = Session(vec![
        json!({"role": "user", "message": {"content": [{"type": "text", "text": "Do it."}]}}),
        call("StrReplace", json!({"path": "/w/a.ts"})),
        call("Shell", json!({"command": "npx jest"})),
        json!({"role": "assistant", "message": {"content": [{"type": "text", "text": CLAIM}]}}),
    ]);
    check(&session, &[("unknown", Some("npx jest"))]);
}

#[test]
fn other_agents_show_their_calls_too() {
    let codex = [
        json!({"type": "thread.started", "thread_id": "1"}),
        json!({"type": "item.completed", "item": {"id": "a", "type": "file_change", "changes": [{"path": "a.py", "kind": "update"}], "status": "completed"}}),
        json!({"type": "item.started", "item": {"id": "b", "type": "command_execution", "command": "bash -lc 'pytest -q'"}}),
        json!({"type": "item.completed", "item": {"id": "b", "type": "command_execution", "command": "bash -lc 'pytest -q'", "aggregated_output": "1 failed", "exit_code": 1}}),
        json!({"type": "item.completed", "item": {"id": "c", "type": "agent_message", "text": CLAIM}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 5}}),
    ];
    check(&Session(codex.into()), &[("failed", Some("pytest -q"))]);
}
