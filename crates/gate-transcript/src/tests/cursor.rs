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

/// The events of one completed call after its session's.
#[track_caller]
fn check_call(tools: &str, expected: &[&str]) {
    let call = format!(
        r#"{{"type":"tool_call","subtype":"completed","call_id":"c1","tool_call":{{{tools}}},"session_id":"s1"}}"#
    );
    let events = events(Format::CursorStream, &format!("{INIT}\n{call}"));
    assert_eq!(events[2..], *expected, "{tools}");
}

#[test]
fn a_call_ended_as_its_outcome_and_its_exit_code_say() {
    let shell = |result: &str| {
        format!(r#""shellToolCall":{{"args":{{"command":"make"}},"result":{{{result}}}}}"#)
    };
    check_call(
        &shell(r#""success":{"exitCode":0,"stdout":"ok","stderr":""}"#),
        &["2 tool: ok", "2 ran: make -> 0"],
    );
    check_call(
        &shell(r#""success":{"exitCode":2,"stdout":"a","stderr":"b"}"#),
        &["2 tool: a", "2 tool: b", "2 ran: make -> 2", "2 failed: a⏎b"],
    );
    check_call(
        &shell(r#""timeout":{"errorMessage":"too slow"}"#),
        &["2 tool: too slow", "2 failed: too slow"],
    );
    check_call(
        &shell(r#""permissionDenied":{"error":"no"}"#),
        &["2 tool: no", "2 denied: shellToolCall"],
    );
    check_call(
        &shell(r#""failure":{"error":"This command requires approval"}"#),
        &["2 tool: This command requires approval", "2 denied: shellToolCall"],
    );
    check_call(&shell(r#""failure":{"exitCode":4294967297}"#), &[]);
    check_call(&shell(r#""success":7"#), &[]);
}

#[test]
fn a_tool_without_a_command_reports_no_exit_code() {
    check_call(
        r#""readToolCall":{"args":{"path":"a"},"result":{"error":{"exitCode":1,"errorMessage":"no a"}}}"#,
        &["2 tool: no a", "2 failed: no a"],
    );
}

#[test]
fn a_call_that_starts_shows_its_arguments_in_either_spelling() {
    let call = call("started", "").replace(r#""args""#, r#""arguments""#);
    let events = events(Format::CursorStream, &format!("{INIT}\n{call}"));
    assert_eq!(events[2..], ["2 tool: make"]);
}

#[test]
fn a_thought_goes_on_until_something_else_comes() {
    let input = [
        INIT.to_owned(),
        thinking("delta", "H"),
        thinking("delta", "m."),
        message("assistant", "One."),
        thinking("delta", "So"),
        thinking("completed", ""),
        thinking("delta", "Then."),
    ];
    assert_eq!(
        events(Format::CursorStream, &input.join("\n"))[2..],
        ["2 thinking: Hm.", "4 assistant: One.", "5 thinking: So", "7 thinking: Then."]
    );
}

#[test]
fn the_runs_of_a_log_add_up_and_each_begins_a_turn() {
    let used = |tokens: &str| {
        result("Done.").replace("\"session_id\"", &format!("\"usage\":{{{tokens}}},\"session_id\""))
    };
    let first = used(r#""inputTokens":10,"outputTokens":2,"cacheReadTokens":900"#);
    let second = used(r#""outputTokens":5,"cacheWriteTokens":7"#);
    let input = [INIT, &message("assistant", "Done."), &first, &message("user", "Go."), &second];
    assert_eq!(
        events(Format::CursorStream, &input.join("\n"))[2..],
        [
            "2 assistant: Done.",
            "4 --- prompt",
            "4 user: Go.",
            "5 assistant: Done.",
            "usage 24 tokens, - µ$, 2400 ms",
        ]
    );
}

#[test]
fn a_failure_is_told_by_its_result_or_by_its_subtype() {
    let failed = |text: &str| {
        let record = result(text).replace("success", "error_during_execution");
        events(Format::CursorJson, &record)[1..3].to_vec()
    };
    assert_eq!(failed("No key"), ["1 system: No key", "1 error: No key"]);
    let subtype = ["1 system: error_during_execution", "1 error: error_during_execution"];
    assert_eq!(failed(""), subtype);
    assert!(words(&result("COMPLETE").replace("success", "error_x")).is_empty());
}
