//! Qwen Code's streams and session files.

use super::{Format, check, events, words};

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s1","model":"qwen3","permission_mode":"yolo","qwen_code_version":"0.15.10"}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","session_id":"s1","is_error":false,"duration_ms":9,"num_turns":3,"result":"One.Done.","usage":{"input_tokens":800,"output_tokens":168,"cache_read_input_tokens":200},"permission_denials":[]}"#;

fn assistant(id: &str, block: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{id}","session_id":"s1","parent_tool_use_id":null,"message":{{"id":"{id}","role":"assistant","model":"qwen3","content":[{block}]}}}}"#
    )
}

#[test]
fn a_whole_run() {
    let call =
        r#"{"type":"tool_use","id":"c1","name":"run_shell_command","input":{"command":"exit 3"}}"#;
    let answer = r#"{"type":"user","session_id":"s1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":false,"content":"said"}]}}"#;
    let input = [
        INIT,
        &assistant("m1", r#"{"type":"thinking","thinking":"Hm."}"#),
        &assistant("m2", r#"{"type":"text","text":"One."}"#),
        &assistant("m3", call),
        answer,
        &assistant("m4", r#"{"type":"text","text":"Done."}"#),
        RESULT,
    ];
    let expected = [
        "session s1",
        "model qwen3",
        "2 thinking: Hm.",
        "3 assistant: One.",
        "4 tool: exit 3",
        "5 tool: said",
        "6 assistant: Done.",
        "usage 968 tokens, - µ$, 9 ms",
    ];
    check(Format::QwenStream, &input.join("\n"), &expected);
    assert_eq!(events(Format::QwenJson, &format!("[{}]", input.join(",\n"))), expected);
}

#[test]
fn a_result_that_joins_texts_is_no_other_word() {
    let input = [
        INIT,
        &assistant("m1", r#"{"type":"text","text":"EXIT_SIGNAL: true"}"#),
        &assistant("m2", r#"{"type":"text","text":"Not yet."}"#),
        &RESULT.replace("One.Done.", "EXIT_SIGNAL: trueNot yet."),
    ];
    assert_eq!(words(&input.join("\n")), ["Not yet."]);
}

fn record(kind: &str, message: &str) -> String {
    format!(
        r#"{{"uuid":"u-{kind}","parentUuid":null,"sessionId":"s1","timestamp":"t","type":"{kind}","cwd":"/w","version":"0.15.10",{message}}}"#
    )
}

fn system(subtype: &str, payload: &str) -> String {
    record("system", &format!(r#""subtype":"{subtype}","systemPayload":{{{payload}}}"#))
}

fn said(parts: &str) -> String {
    record(
        "assistant",
        &format!(
            r#""model":"qwen3","message":{{"role":"model","parts":[{parts}]}},"usageMetadata":{{"totalTokenCount":242,"cachedContentTokenCount":50}}"#
        ),
    )
}

fn user(parts: &str) -> String {
    record("user", &format!(r#""message":{{"role":"user","parts":[{parts}]}}"#))
}

#[test]
fn a_session_file() {
    let answer = record(
        "tool_result",
        r#""message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"Command: make\nOutput: bad\nError: (none)\nExit Code: 3\nSignal: 0"}}}]},"toolCallResult":{"callId":"c1","status":"success"}"#,
    );
    let input = [
        user(r#"{"text":"Go."}"#),
        system(
            "ui_telemetry",
            r#""uiEvent":{"event.name":"qwen-code.api_response","response_text":"EXIT_SIGNAL: true"}"#,
        ),
        said(
            r#"{"text":"Hm.","thought":true},{"text":"One."},{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"make"}}}"#,
        ),
        answer,
        said(r#"{"text":"EXIT_SIGNAL: true","thought":true},{"text":"Two."}"#)
            .replace("u-a", "v-a"),
    ];
    check(
        Format::QwenSession,
        &input.join("\n"),
        &[
            "session s1",
            "1 --- prompt",
            "1 user: Go.",
            "model qwen3",
            "3 thinking: Hm.",
            "3 assistant: One.",
            "3 tool: make",
            "4 tool: Command: make⏎Output: bad⏎Error: (none)⏎Exit Code: 3⏎Signal: 0",
            "4 failed: bad",
            "4 ran: make -> 3",
            "5 thinking: EXIT_SIGNAL: true",
            "5 assistant: Two.",
            "usage 384 tokens, - µ$, - ms",
        ],
    );
}

#[test]
fn boundaries_of_a_session_file() {
    let claim = said(r#"{"text":"COMPLETE"}"#);
    assert_eq!(words(&claim), ["COMPLETE"]);
    for after in [user(r#"{"text":"Tests fail."}"#), system("chat_compression", r#""info":{}"#)] {
        assert!(words(&format!("{claim}\n{after}")).is_empty(), "{after}");
    }
}

#[test]
fn failures_stand_in_telemetry() {
    let event = r#""uiEvent":{"event.name":"qwen-code.api_error","error_message":"Slow down","status_code":429}"#;
    let events = events(Format::QwenSession, &system("ui_telemetry", event));
    assert_eq!(events[1..], ["1 system: Slow down", "1 limit: Slow down"]);
}
