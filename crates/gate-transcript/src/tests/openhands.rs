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

#[test]
fn a_text_may_end_like_the_name_of_an_action() {
    for (tool, members, word) in [
        (
            "finish",
            r#""kind":"FinishAction","message":"I mended the GitHub Action""#,
            "I mended the GitHub Action",
        ),
        ("finish", r#""message":"See the Action","kind":"FinishAction""#, "See the Action"),
        ("think", r#""kind":"ThinkAction","thought":"See the Action""#, "COMPLETE"),
    ] {
        let input = [message("user", "Go."), call(tool, &format!("{{{members}}}"))].join("\n");
        assert_eq!(words(&input), [word], "{input}");
    }
}

/// A call beside a thought that claims.
fn call(tool: &str, action: &str) -> String {
    let thought = r#""thought":[{"type":"text","text":"COMPLETE"}]"#;
    let named = format!(r#""tool_name":"{tool}","tool_call_id":"c""#);
    newer("agent", "ActionEvent", &format!(r#"{thought},"action":{action},{named}"#))
}

#[test]
fn a_call_that_is_refused_takes_the_word_back() {
    let done = r#"{"kind":"FinishAction","message":"COMPLETE"}"#;
    let refused = |tool: &str, kind: &str, members: &str| {
        let named = format!(r#""tool_name":"{tool}","tool_call_id":"c",{members}"#);
        newer("environment", kind, &named)
    };
    let rejected =
        |source: &str| format!(r#""rejection_reason":"No.","rejection_source":"{source}""#);
    let failed = r#""observation":{"kind":"FinishObservation","content":[],"is_error":true}"#;
    for (event, word) in [
        (refused("finish", "UserRejectObservation", r#""rejection_reason":"No.""#), None),
        (refused("finish", "UserRejectObservation", &rejected("hook")), None),
        (refused("finish", "AgentErrorEvent", r#""error":"bad""#), None),
        (refused("", "AgentErrorEvent", r#""error":"bad""#), None),
        (refused("finish", "ObservationEvent", failed), None),
        (refused("finish", "ObservationEvent", &failed.replace("true", "false")), Some("COMPLETE")),
        (call("finish", "null"), None),
    ] {
        let input = [message("user", "Go."), call("finish", done), event].join("\n");
        assert_eq!(words(&input).first().map(String::as_str), word, "{input}");
    }
    let build = call("terminal", r#"{"kind":"TerminalAction","command":"make"}"#);
    for (source, word) in [("user", None), ("hook", Some("COMPLETE"))] {
        let event = refused("terminal", "UserRejectObservation", &rejected(source));
        let input = [message("user", "Go."), build.clone(), event].join("\n");
        assert_eq!(words(&input).first().map(String::as_str), word, "{input}");
    }
    let rejection = r#"{"id":3,"timestamp":"t","source":"user","cause":2,"observation":"user_rejected","content":"No.","extras":{}}"#;
    let input =
        [PROMPT, &older("agent", "run", r#""command":"x","thought":"COMPLETE""#), rejection];
    assert!(words(&input.join("\n")).is_empty());
}

#[test]
fn a_delegation_without_an_id_ends() {
    let said = |text: &str| older("agent", "message", &format!(r#""content":"{text}""#));
    let answer = |name: &str| {
        format!(
            r#"{{"timestamp":"t","source":"agent","observation":"{name}","content":"x","extras":{{}}}}"#
        )
    };
    let begin = older("agent", "delegate", r#""agent":"x""#).replace(r#""id":2,"#, "");
    let inner = [PROMPT, &said("Not yet."), &begin, &answer("run"), &said("COMPLETE")].join("\n");
    assert_eq!(words(&inner), ["Not yet."]);
    assert_eq!(words(&[inner, answer("delegate"), said("Done.")].join("\n")), ["Done."]);
}
