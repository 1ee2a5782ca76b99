//! ATIF, Harbor's trajectories.

use super::{Format, check, words};

/// A trajectory that ends with these steps.
fn ending(steps: &str) -> String {
    format!(
        r#"{{"schema_version":"ATIF-v1.7","session_id":"s","agent":{{"name":"a","version":"1","model_name":"m"}},"steps":[{{"step_id":1,"source":"system","message":"You code."}},{{"step_id":2,"source":"user","message":"Go."}},{steps}],"subagent_trajectories":[{{"steps":[{{"source":"agent","message":"COMPLETE"}}]}}]}}"#
    )
}

#[test]
fn a_whole_run() {
    let input = ending(
        r#"{"source":"agent","message":"I look.","reasoning_content":"Hm.","tool_calls":[{"tool_call_id":"c","function_name":"bash","arguments":{"command":"make"}}],"observation":{"results":[{"source_call_id":"c","content":[{"type":"image"},{"type":"text","text":"bad"}]}]},"metrics":{"prompt_tokens":100,"cached_tokens":60,"completion_tokens":5,"cost_usd":0.5}},
 {"source":"agent","message":[{"type":"text","text":"Done."}],"metrics":{"prompt_tokens":10}}"#,
    );
    check(
        Format::AtifJson,
        &input,
        &[
            "session s",
            "model m",
            "1 system: You code.",
            "2 --- prompt",
            "2 user: Go.",
            "3 thinking: Hm.",
            "3 assistant: I look.",
            "3 tool: make",
            "3 tool: ⏎bad",
            "4 assistant: Done.",
            "usage 55 tokens, 500000 µ$, - ms",
        ],
    );
    let totals = r#""final_metrics":{"total_prompt_tokens":90,"total_completion_tokens":9,"total_cached_tokens":9,"total_cost_usd":2},"steps""#;
    let input = input.replacen("\"steps\"", totals, 1);
    let events = super::events(Format::AtifJson, &input);
    assert_eq!(events.last().unwrap(), "usage 90 tokens, 2000000 µ$, - ms");
    for end in 0..input.len() {
        let said = words(&input[..end]).concat();
        assert!(!said.contains("COMPLETE"), "{said}");
    }
}

const FINISH: &str = r#"{"source":"agent","message":"","tool_calls":[{"tool_call_id":"f","function_name":"finish","arguments":{"task_completed":"true","message":"COMPLETE"}}]}"#;

#[test]
fn only_the_agent_speaks_for_itself() {
    for (step, word) in [
        (r#"{"source":"agent","message":"COMPLETE"}"#, Some("COMPLETE")),
        (r#"{"source":"user","message":"COMPLETE"}"#, None),
        (r#"{"source":"user","message":[{"type":"image","source":{}}]}"#, None),
        (r#"{"source":"system","message":"COMPLETE"}"#, None),
        (r#"{"source":"agent","message":"","reasoning_content":"COMPLETE"}"#, Some("Not yet.")),
        (
            r#"{"source":"agent","message":"","observation":{"results":[{"content":"COMPLETE"}]}}"#,
            Some("Not yet."),
        ),
        (
            r#"{"source":"agent","message":"COMPLETE","extra":{"is_sidechain":true}}"#,
            Some("Not yet."),
        ),
        (FINISH, Some("COMPLETE")),
        (&FINISH.replace("finish", "write"), Some("Not yet.")),
        (&FINISH.replace("}]}", r#"}],"extra":{"is_sidechain":true}}"#), Some("Not yet.")),
        (&format!(r#"{FINISH},{{"source":"user","message":"No."}}"#), None),
    ] {
        let input = ending(&format!(r#"{{"source":"agent","message":"Not yet."}},{step}"#));
        assert_eq!(words(&input).first().map(String::as_str), word, "{step}");
    }
}
