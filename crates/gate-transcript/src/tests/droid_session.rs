//! Droid's session files.

use super::{Format, check, words};

const START: &str = r#"{"type":"session_start","id":"s1","title":"t","owner":"me","cwd":"/w"}"#;

fn message(role: &str, blocks: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{role}-1","timestamp":"2026-11-02T10:00:00Z","message":{{"role":"{role}","content":[{blocks}]}}}}"#
    )
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

#[test]
fn a_whole_session() {
    let call = r#"{"type":"tool_use","id":"c1","name":"Execute","input":{"command":"make"}}"#;
    let answer = r#"{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"bad"}"#;
    let thinking = r#"{"type":"thinking","thinking":"Hm."}"#;
    let input = [
        START.to_owned(),
        message("user", &format!("{},{}", text("<system-reminder>x"), text("Go."))),
        message("assistant", &format!("{thinking},{},{call}", text("I begin."))),
        message("user", answer),
        message("user", &text("<system-reminder>Todo list is empty.")),
        message("assistant", &text("Done.")),
        r#"{"type":"todo_state","id":"t","timestamp":"t","todos":{}}"#.to_owned(),
    ];
    check(
        Format::DroidSession,
        &input.join("\n"),
        &[
            "session s1",
            "2 --- prompt",
            "2 system: <system-reminder>x",
            "2 user: Go.",
            "3 thinking: Hm.",
            "3 assistant: I begin.",
            "3 tool: make",
            "4 tool: bad",
            "4 failed: bad",
            "5 system: <system-reminder>Todo list is empty.",
            "6 assistant: Done.",
        ],
    );
    assert_eq!(words(&input.join("\n")), ["Done."]);
}

#[test]
fn a_prompt_begins_a_turn() {
    let input =
        [START.to_owned(), message("assistant", &text("Done.")), message("user", &text("More."))];
    assert_eq!(words(&input.join("\n")), [""; 0]);
}
