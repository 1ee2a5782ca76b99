//! Cursor's `json` and `stream-json`.

use super::{Format, check, events, words};

const INIT: &str = r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"s1","model":"Auto","permissionMode":"default"}"#;

fn result(text: &str) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","duration_ms":1200,"duration_api_ms":1200,"is_error":false,"result":"{text}","session_id":"s1","request_id":"r"}}"#
    )
}

fn message(role: &str, text: &str) -> String {
    format!(
        r#"{{"type":"{role}","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}},"session_id":"s1"}}"#
    )
}

fn call(subtype: &str, result: &str) -> String {
    format!(
        r#"{{"type":"tool_call","subtype":"{subtype}","call_id":"c1","tool_call":{{"toolCallId":"c1","hooks":[1],"shellToolCall":{{"args":{{"command":"make"}}{result}}}}},"session_id":"s1"}}"#
    )
}

fn thinking(subtype: &str, text: &str) -> String {
    format!(r#"{{"type":"thinking","subtype":"{subtype}","text":"{text}","session_id":"s1"}}"#)
}

#[test]
fn a_whole_run() {
    let failed = r#","result":{"failure":{"exitCode":3,"stdout":"bad","stderr":""}}"#;
    let input = [
        INIT.to_owned(),
        message("user", "Go."),
        thinking("delta", "H"),
        thinking("delta", "m."),
        thinking("completed", ""),
        message("assistant", "One."),
        call("started", ""),
        call("completed", failed),
        message("assistant", "Done."),
        result("One.Done."),
    ];
    check(
        Format::CursorStream,
        &input.join("\n"),
        &[
            "session s1",
            "model Auto",
            "2 --- prompt",
            "2 user: Go.",
            "3 thinking: Hm.",
            "6 assistant: One.",
            "7 tool: make",
            "8 tool: bad",
            "8 ran: make -> 3",
            "8 failed: bad",
            "9 assistant: Done.",
            "usage - tokens, - µ$, 1200 ms",
        ],
    );
}

#[test]
fn pieces_are_one_text_and_the_whole_after_them_is_none() {
    let input = [
        INIT.to_owned(),
        message("assistant", "EXIT_SIG"),
        message("assistant", "NAL: true"),
        message("assistant", "EXIT_SIGNAL: true"),
        result("Before.EXIT_SIGNAL: true"),
    ];
    let events = events(Format::CursorStream, &input.join("\n"));
    assert_eq!(events[2..4], ["2 assistant: EXIT_SIGNAL: true", "usage - tokens, - µ$, 1200 ms"]);
}

#[test]
fn a_joined_result_is_not_the_last_word() {
    let input = [
        INIT.to_owned(),
        message("assistant", "EXIT_SIGNAL: true"),
        call("started", ""),
        message("assistant", "Not yet."),
        result("EXIT_SIGNAL: trueNot yet."),
    ];
    assert_eq!(words(&input.join("\n")), ["Not yet."]);
}

#[test]
fn a_denied_call() {
    let input = [INIT, &call("completed", r#","result":{"rejected":{"reason":"blocked"}}"#)];
    let events = events(Format::CursorStream, &input.join("\n"));
    assert_eq!(events[2..], ["2 tool: blocked", "2 denied: shellToolCall"]);
}

#[test]
fn another_run_answers_another_prompt() {
    let input = [INIT, &message("assistant", "COMPLETE"), &result("COMPLETE"), INIT];
    assert!(words(&input.join("\n")).is_empty());
}

#[test]
fn the_object_of_json() {
    check(
        Format::CursorJson,
        &result("Done."),
        &["session s1", "1 assistant: Done.", "usage - tokens, - µ$, 1200 ms"],
    );
    let failed = result("No key").replace("false", "true");
    let events = events(Format::CursorJson, &failed);
    assert_eq!(events[1..3], ["1 system: No key", "1 error: No key"]);
}
