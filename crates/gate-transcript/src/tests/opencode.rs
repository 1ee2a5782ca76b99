//! OpenCode's `run --format json`.

use super::{check, events, words};
use crate::Format;

fn record(kind: &str, part: &str) -> String {
    format!(r#"{{"type":"{kind}","timestamp":1,"sessionID":"ses_1","part":{{{part}}}}}"#)
}

fn text(message: &str, text: &str) -> String {
    record("text", &format!(r#""messageID":"{message}","type":"text","text":"{text}""#))
}

fn finish(reason: &str) -> String {
    record(
        "step_finish",
        &format!(
            r#""reason":"{reason}","tokens":{{"total":242,"input":150,"output":35,"reasoning":7,"cache":{{"write":3,"read":50}}}},"cost":0.002"#
        ),
    )
}

fn tool() -> String {
    record(
        "tool_use",
        r#""tool":"bash","state":{"status":"completed","input":{"command":"make"},"output":"ok\n","metadata":{"output":"ok\n","exit":3}}"#,
    )
}

#[test]
fn a_whole_run() {
    let start = record("step_start", r#""messageID":"m1","type":"step-start""#);
    let input = [
        start,
        text("m1", "I begin."),
        tool(),
        finish("tool-calls"),
        text("m2", "Done."),
        finish("stop"),
    ];
    check(
        Format::OpencodeJson,
        &input.join("\n"),
        &[
            "session ses_1",
            "2 assistant: I begin.",
            "3 tool: make",
            "3 tool: ok⏎",
            "3 ran: make -> 3",
            "3 failed: ok",
            "5 assistant: Done.",
            "usage 390 tokens, 4000 µ$, - ms",
        ],
    );
}

#[test]
fn parts_of_one_message_are_one_text_until_a_tool() {
    let [a, b] = [text("m1", "One."), text("m1", "Two.")];
    assert_eq!(words(&[&*a, &b].join("\n")), ["One.\nTwo."]);
    assert_eq!(words(&[&*a, &tool(), &b].join("\n")), ["Two."]);
}

#[test]
fn a_step_after_the_end_answers_a_new_prompt() {
    let input =
        [text("m1", "COMPLETE"), finish("stop"), record("step_start", r#""messageID":"m2""#)];
    assert!(words(&input.join("\n")).is_empty());
    assert_eq!(words(&input[..2].join("\n")), ["COMPLETE"]);
}

#[test]
fn failures() {
    let limit = r#"{"type":"error","timestamp":1,"sessionID":"ses_1","error":{"name":"APIError","data":{"message":"Slow down","statusCode":429}}}"#;
    check(
        Format::OpencodeJson,
        limit,
        &["session ses_1", "1 system: Slow down", "1 limit: Slow down"],
    );
    let bare =
        r#"{"type":"error","timestamp":1,"sessionID":"ses_1","error":{"name":"MessageAborted"}}"#;
    assert_eq!(events(Format::OpencodeJson, bare)[2], "1 error: MessageAborted");
}
