//! Gemini CLI's `json` and `stream-json`.

use super::{Format, check, events, words};

const INIT: &str = r#"{"type":"init","timestamp":"t","session_id":"s1","model":"gemini-2.5-pro"}"#;
const RESULT: &str = r#"{"type":"result","timestamp":"t","status":"success","stats":{"total_tokens":996,"cached":200,"duration_ms":2744}}"#;

fn message(role: &str, text: &str) -> String {
    let delta = if role == "assistant" { r#","delta":true"# } else { "" };
    format!(r#"{{"type":"message","timestamp":"t","role":"{role}","content":"{text}"{delta}}}"#)
}

fn call(command: &str) -> String {
    format!(
        r#"{{"type":"tool_use","timestamp":"t","tool_name":"run_shell_command","tool_id":"c1","parameters":{{"command":"{command}"}}}}"#
    )
}

fn result(status: &str, more: &str) -> String {
    format!(
        r#"{{"type":"tool_result","timestamp":"t","tool_id":"c1","status":"{status}","output":"said"{more}}}"#
    )
}

fn error(severity: &str, text: &str) -> String {
    format!(r#"{{"type":"error","timestamp":"t","severity":"{severity}","message":"{text}"}}"#)
}

#[test]
fn a_whole_run() {
    let input = [
        INIT.to_owned(),
        message("user", "Go."),
        message("assistant", "I'll ru"),
        message("assistant", "n it."),
        call("make"),
        result("success", ""),
        message("assistant", r"Done.\nEXIT_SI"),
        message("assistant", "GNAL: true"),
        RESULT.to_owned(),
    ];
    check(
        Format::GeminiStream,
        &input.join("\n"),
        &[
            "session s1",
            "model gemini-2.5-pro",
            "2 --- prompt",
            "2 user: Go.",
            "3 assistant: I'll run it.",
            "5 tool: make",
            "6 tool: said",
            "7 assistant: Done.⏎EXIT_SIGNAL: true",
            "usage 796 tokens, - µ$, 2744 ms",
        ],
    );
}

#[test]
fn deltas_are_one_text_until_something_else_comes() {
    let [a, b] = [message("assistant", "EXIT_SIGNAL"), message("assistant", ": true")];
    let words = |middle: &str| words(&[INIT, &a, middle, &b].join("\n"));
    assert_eq!(words(RESULT), [": true"]);
    assert_eq!(words(&result("success", "")), [": true"]);
    assert_eq!(words(&error("warning", "Loop detected")), [": true"]);
    assert_eq!(words(&message("assistant", "")), ["EXIT_SIGNAL: true"]);
}

#[test]
fn blanks_after_a_tool_do_not_continue_the_text_before() {
    let input = [
        message("assistant", "EXIT_SIGNAL: true"),
        call("x"),
        message("assistant", r"\n"),
        message("assistant", "Not yet."),
    ];
    assert_eq!(words(&format!("{INIT}\n{}", input.join("\n"))), ["Not yet."]);
}

#[test]
fn a_block_by_a_hook_is_a_boundary() {
    let blocked = error("warning", "Agent execution blocked: tests fail");
    let input = [INIT.to_owned(), message("assistant", "COMPLETE"), blocked].join("\n");
    assert!(words(&input).is_empty());
    let events = events(Format::GeminiStream, &input);
    assert_eq!(events[3..], ["3 --- hook feedback", "3 user: tests fail"]);
}

#[test]
fn failures() {
    for (input, expected) in [
        (result("error", r#","error":{"message":"no such file"}"#), "2 failed: no such file"),
        (error("error", "Maximum session turns exceeded"), "2 error: Maximum session turns exceeded"),
        (
            RESULT.replace(r#""success""#, r#""error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":429}}]"}"#),
            r#"2 limit: [API Error: {"error":{"code":429}}]"#,
        ),
    ] {
        let events = events(Format::GeminiStream, &format!("{INIT}\n{input}"));
        assert!(events.iter().any(|event| event == expected), "{events:?}");
    }
}

#[test]
fn another_run_answers_another_prompt() {
    assert!(words(&[INIT, &message("assistant", "COMPLETE"), RESULT, INIT].join("\n")).is_empty());
}

#[test]
fn the_object_of_json() {
    let input = r#"{
  "session_id": "s1",
  "response": "Done.\n\nEXIT_SIGNAL: true",
  "stats": {"models": {
    "flash": {"tokens": {"total": 10, "cached": 0}},
    "pro": {"tokens": {"total": 996, "cached": 200}}
  }},
  "warnings": ["Agent execution blocked: go on", "256 colours"]
}"#;
    check(
        Format::GeminiJson,
        input,
        &[
            "session s1",
            "model pro",
            "1 --- hook feedback",
            "1 user: go on",
            "1 system: 256 colours",
            "1 assistant: Done.⏎⏎EXIT_SIGNAL: true",
            "usage 806 tokens, - µ$, - ms",
        ],
    );
    check(
        Format::GeminiJson,
        r#"{"session_id":"s1","error":{"type":"Error","message":"quota","code":429}}"#,
        &["session s1", "1 system: quota", "1 limit: quota"],
    );
}
