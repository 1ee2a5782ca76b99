//! Droid's `stream-json`.

use super::{Format, check, events, words};

const INIT: &str = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s1","tools":["Execute"],"model":"opus","reasoning_effort":"high"}"#;

fn event(kind: &str, more: &str) -> String {
    format!(r#"{{"type":"{kind}",{more},"timestamp":1,"session_id":"s1"}}"#)
}

fn message(role: &str, id: &str, text: &str) -> String {
    event("message", &format!(r#""role":"{role}","id":"{id}","text":"{text}""#))
}

fn completion(text: &str) -> String {
    event(
        "completion",
        &format!(
            r#""finalText":"{text}","numTurns":2,"durationMs":40,"usage":{{"input_tokens":100,"output_tokens":20,"cache_read_input_tokens":50,"cache_creation_input_tokens":10}}"#
        ),
    )
}

#[test]
fn a_whole_run() {
    let thought = event("reasoning", r#""id":"r1","text":"Hm.""#);
    let input = [
        INIT.to_owned(),
        message("user", "u1", "Go."),
        thought.clone(),
        thought,
        event("tool_call", r#""id":"c1","toolName":"Execute","parameters":{"command":"make"}"#),
        event("tool_result", r#""id":"c1","toolId":"Execute","isError":true,"value":"bad""#),
        message("assistant", "m1", "Done."),
        message("assistant", "m1", "Done."),
        completion("Done."),
    ];
    check(
        Format::DroidStream,
        &input.join("\n"),
        &[
            "session s1",
            "model opus",
            "2 --- prompt",
            "2 user: Go.",
            "3 thinking: Hm.",
            "5 tool: make",
            "6 tool: bad",
            "6 failed: bad",
            "7 assistant: Done.",
            "usage 130 tokens, - µ$, 40 ms",
        ],
    );
}

#[test]
fn the_final_text_counts_where_no_message_came() {
    assert_eq!(words(&[INIT, &completion("Done.")].join("\n")), ["Done."]);
    let input = [INIT, &message("assistant", "m1", "Not yet."), &completion("Not yet.")];
    assert_eq!(words(&input.join("\n")), ["Not yet."]);
}

#[test]
fn failures() {
    let failed = completion("No credit").replace(r#""numTurns""#, r#""isError":true,"numTurns""#);
    for input in [failed, event("error", r#""message":"No credit""#)] {
        let events =
            events(Format::DroidStream, &format!("{INIT}\n{}\n{input}", message("user", "u", "x")));
        assert_eq!(events[4..6], ["3 system: No credit", "3 error: No credit"]);
    }
}
