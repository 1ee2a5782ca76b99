//! Cline's `ui_messages.json`.

use super::{Format, check, words};

fn shown(kind: &str, name: &str, text: &str) -> String {
    format!(r#"{{"ts":1,"type":"{kind}","{kind}":"{name}","text":"{text}"}}"#)
}

fn ending(last: &str) -> String {
    let task = shown("say", "text", "Go.");
    format!("[{task},\n{},\n{last}]", shown("say", "text", "Not yet."))
}

#[test]
fn a_whole_task() {
    let request = r#"{\"request\":\"x\",\"tokensIn\":10,\"tokensOut\":2,\"cacheWrites\":3,\"cacheReads\":9,\"cost\":0.5}"#;
    let last = [
        shown("say", "api_req_started", request),
        shown("say", "reasoning", "Hm."),
        shown("ask", "command", "make"),
        shown("say", "command_output", "ok"),
        shown("say", "completion_result", "Done.HAS_CHANGES"),
        shown("ask", "completion_result", ""),
    ];
    check(
        Format::ClineSession,
        &ending(&last.join(",\n")),
        &[
            "1 --- prompt",
            "1 user: Go.",
            "2 assistant: Not yet.",
            r#"3 system: {"request":"x","tokensIn":10,"tokensOut":2,"cacheWrites":3,"cacheReads":9,"cost":0.5}"#,
            "4 thinking: Hm.",
            "5 tool: make",
            "6 tool: ok",
            "7 assistant: Done.",
            "usage 15 tokens, 500000 µ$, - ms",
        ],
    );
}

#[test]
fn only_the_agent_speaks_for_itself() {
    for (kind, name, word) in [
        ("say", "completion_result", Some("COMPLETE")),
        ("ask", "plan_mode_respond", Some("COMPLETE")),
        ("say", "reasoning", Some("Not yet.")),
        ("say", "command_output", Some("Not yet.")),
        ("say", "subagent", Some("Not yet.")),
        ("say", "hook_output_stream", Some("Not yet.")),
        ("say", "user_feedback", None),
    ] {
        let input = ending(&shown(kind, name, "COMPLETE"));
        assert_eq!(words(&input).first().map(String::as_str), word, "{name}");
    }
    let cut = format!("[{},{}]", shown("say", "tool", "{}"), shown("say", "text", "COMPLETE"));
    assert_eq!(words(&cut), ["COMPLETE"]);
    assert!(words(&format!("[{}]", shown("say", "text", "COMPLETE"))).is_empty());
    let partial = shown("say", "text", "COMPLETE").replace("\"ts\"", "\"partial\":true,\"ts\"");
    assert!(words(&ending(&partial)).is_empty());
    let input = ending(&shown("say", "user_feedback", "COMPLETE"));
    for end in 0..input.len() {
        assert!(!words(&input[..end]).concat().contains("COMPLETE"), "{end}");
    }
}
