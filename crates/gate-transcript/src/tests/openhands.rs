//! OpenHands' events, older and newer ones.

use super::{Format, check, words};

const PROMPT: &str = r#"{"id":1,"timestamp":"t","source":"user","message":"Go.","action":"message","args":{"content":"Go."}}"#;

fn older(source: &str, action: &str, args: &str) -> String {
    format!(
        r#"{{"id":2,"timestamp":"t","source":"{source}","message":"m","action":"{action}","args":{{{args}}}}}"#
    )
}

fn newer(source: &str, kind: &str, members: &str) -> String {
    format!(r#"{{"id":"e","timestamp":"t","source":"{source}","kind":"{kind}",{members}}}"#)
}

fn message(source: &str, text: &str) -> String {
    let content = format!(r#""content":[{{"type":"text","text":"{text}"}}]"#);
    newer(source, "MessageEvent", &format!(r#""llm_message":{{"role":"x",{content}}}"#))
}

#[test]
fn older_events() {
    let metrics = r#""llm_metrics":{"accumulated_cost":0.5,"accumulated_token_usage":{"prompt_tokens":100,"completion_tokens":9,"cache_read_tokens":60}},"source":"agent""#;
    let input = [
        older("agent", "system", r#""content":"You code.""#).replace("\"agent\"", "\"environment\""),
        PROMPT.to_owned(),
        older("agent", "run", r#""command":"make","thought":"I build.""#),
        r#"{"id":3,"timestamp":"t","source":"agent","cause":2,"observation":"run","content":"bad","extras":{"command":"make","metadata":{"exit_code":2}}}"#.to_owned(),
        older("agent", "think", r#""thought":"Hm.""#),
        older("agent", "finish", r#""final_thought":"Done.""#).replacen(r#""source":"agent""#, metrics, 1),
    ];
    check(
        Format::OpenhandsSession,
        &format!("[{}]", input.join(",\n")),
        &[
            "1 system: You code.",
            "2 --- prompt",
            "2 user: Go.",
            "3 assistant: I build.",
            "3 tool: make",
            "4 tool: bad",
            "4 failed: bad",
            "4 ran: make -> 2",
            "5 thinking: Hm.",
            "6 assistant: Done.",
            "usage 49 tokens, 500000 µ$, - ms",
        ],
    );
}

#[test]
fn newer_events() {
    let call = r#""thought":[{"type":"text","text":"I build."}],"reasoning_content":"Hm.","action":{"kind":"TerminalAction","command":"make"},"tool_name":"terminal","tool_call_id":"c""#;
    let answer = r#""observation":{"kind":"TerminalObservation","content":[{"type":"text","text":"ok"}],"exit_code":0},"tool_name":"terminal","tool_call_id":"c""#;
    let finish = r#""thought":[],"action":{"kind":"FinishAction","message":"Done."},"tool_name":"finish","tool_call_id":"f""#;
    let input = [
        message("user", "Go."),
        newer("agent", "ActionEvent", call),
        newer("environment", "ObservationEvent", answer),
        newer("agent", "ActionEvent", finish),
    ];
    check(
        Format::OpenhandsSession,
        &input.join("\n"),
        &[
            "1 --- prompt",
            "1 user: Go.",
            "2 thinking: Hm.",
            "2 assistant: I build.",
            "2 tool: TerminalAction",
            "2 tool: make",
            "3 tool: ok",
            "3 ran: make -> 0",
            "4 assistant: Done.",
        ],
    );
}

#[test]
fn only_the_agent_speaks_for_itself() {
    let observation = r#"{"id":3,"timestamp":"t","source":"agent","cause":9,"observation":"read","content":"COMPLETE","extras":{}}"#;
    let said = older("agent", "message", r#""content":"COMPLETE""#);
    for (event, word) in [
        (said.clone(), Some("COMPLETE")),
        (older("user", "message", r#""content":"COMPLETE""#), None),
        (older("agent", "think", r#""thought":"COMPLETE""#), Some("Not yet.")),
        (observation.to_owned(), Some("Not yet.")),
        (older("agent", "delegate", r#""agent":"x""#) + "\n" + &said, Some("Not yet.")),
        (message("agent", "COMPLETE"), Some("COMPLETE")),
        (message("user", "COMPLETE"), None),
        (message("hook", "COMPLETE"), None),
    ] {
        let input = [PROMPT, &older("agent", "message", r#""content":"Not yet.""#), &event];
        let input = input.join("\n");
        assert_eq!(words(&input).first().map(String::as_str), word, "{event}");
        for end in 0..input.len() {
            let said = words(&input[..end]).concat();
            assert!(word == Some("COMPLETE") || !said.contains("COMPLETE"), "{said}");
        }
    }
}
