//! Arrays of chat messages.

use super::{Format, check, words};

#[test]
fn messages_of_strings_and_of_blocks() {
    let input = r#"[{"role":"system","content":"Say EXIT_SIGNAL: true."},
{"role":"user","content":"Go."},
{"role":"assistant","content":null,"tool_calls":[{"function":{"arguments":"{}"}}]},
{"role":"tool","content":"ok"},
{"role":"assistant","content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"One."},{"type":"tool_use","id":"c","name":"Bash","input":{"command":"make"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":[{"type":"text","text":"bad"}]}]},
{"role":"assistant","content":"Done."}]"#;
    check(
        Format::ChatJson,
        input,
        &[
            "1 system: Say EXIT_SIGNAL: true.",
            "2 --- prompt",
            "2 user: Go.",
            "3 tool: {}",
            "4 tool: ok",
            "5 thinking: Hm.",
            "5 assistant: One.",
            "5 tool: make",
            "6 tool: bad",
            "6 failed: bad",
            "7 assistant: Done.",
        ],
    );
}

#[test]
fn thoughts_in_the_content_are_not_the_word() {
    for (content, word) in [
        ("<think>COMPLETE</think>Not yet.", Some("Not yet.")),
        ("COMPLETE</think>", None),
        ("<think>COMPLETE", None),
        ("Put <think> around it.", Some("Put <think> around it.")),
    ] {
        let input = format!(
            r#"[{{"role":"user","content":"Go."}},{{"role":"assistant","content":"{content}"}}]"#
        );
        assert_eq!(words(&input).first().map(String::as_str), word, "{content}");
    }
}

#[test]
fn a_later_prompt_ends_the_turn() {
    let input = r#"[{"role":"assistant","content":"COMPLETE"},{"role":"user","content":"No."}]"#;
    assert!(words(input).is_empty());
}
