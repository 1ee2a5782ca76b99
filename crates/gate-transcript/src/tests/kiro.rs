//! What Kiro CLI saves.

use super::{Format, check, words};

/// A conversation with these turns and what follows.
fn with(next: &str, turns: &str) -> String {
    format!(
        r#"{{"conversation_id":"c","next_message":{next},"history":[{turns}],"valid_history_range":[0,9],"transcript":["COMPLETE"],"latest_summary":["COMPLETE",{{}}],"model_info":{{"model_id":"m"}},"tangent_state":{{"main_history":[{{"assistant":{{"Response":{{"content":"COMPLETE"}}}}}}]}}}}"#
    )
}

fn turn(user: &str, assistant: &str) -> String {
    format!(r#"{{"user":{{"content":{user}}},"assistant":{assistant}}}"#)
}

const PROMPT: &str = r#"{"Prompt":{"prompt":"Go."}}"#;

fn says(text: &str) -> String {
    format!(r#"{{"Response":{{"message_id":"m","content":"{text}"}}}}"#)
}

#[test]
fn a_whole_conversation() {
    let calls = r#"{"ToolUse":{"content":"I build.","thinking":{"text":"Hm."},"tool_uses":[{"id":"a","name":"execute_bash","args":{"command":"make"}},{"id":"b","name":"fs_write","args":{"command":"create"}}]}}"#;
    let answers = r#"{"ToolUseResults":{"tool_use_results":[{"tool_use_id":"a","content":[{"Json":{"exit_status":"2","stdout":"","stderr":"bad"}}],"status":"Success"},{"tool_use_id":"b","content":[{"Text":"no room"}],"status":"Error"}]}}"#;
    let turns = [turn(PROMPT, calls), turn(answers, &says("Done."))].join(",\n ");
    check(
        Format::KiroJson,
        &with("null", &turns),
        &[
            "session c",
            "model m",
            "1 --- prompt",
            "1 user: Go.",
            "1 thinking: Hm.",
            "1 assistant: I build.",
            "1 tool: make",
            "1 tool: create",
            "2 tool: bad",
            "2 failed: bad",
            "2 ran: make -> 2",
            "2 tool: no room",
            "2 failed: no room",
            "2 assistant: Done.",
        ],
    );
}

#[test]
fn only_the_agent_speaks_for_itself() {
    let results = r#"{"ToolUseResults":{"tool_use_results":[{"tool_use_id":"a","content":[{"Text":"COMPLETE"}],"status":"Success"}]}}"#;
    let denied = r#"{"CancelledToolUses":{"prompt":"COMPLETE","tool_use_results":[]}}"#;
    let calls = r#"{"ToolUse":{"content":"","thinking":"COMPLETE","tool_uses":[{"id":"a","name":"x","args":{"y":"COMPLETE"}}]}}"#;
    let open = format!(r#"{{"content":{PROMPT}}}"#);
    for (next, last, word) in [
        ("null", turn(PROMPT, &says("COMPLETE")), Some("COMPLETE")),
        ("null", turn(results, &says("")), Some("Not yet.")),
        ("null", turn(denied, &says("")), None),
        ("null", turn(results, calls), Some("Not yet.")),
        (&open, turn(PROMPT, &says("COMPLETE")), None),
    ] {
        let input = with(next, &[turn(PROMPT, &says("Not yet.")), last].join(",\n "));
        assert_eq!(words(&input).first().map(String::as_str), word, "{input}");
        for cut in 0..input.len() - 1 {
            assert!(!words(&input[..cut]).concat().contains("COMPLETE"), "{}", &input[..cut]);
        }
    }
}
