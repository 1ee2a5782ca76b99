//! VS Code's chats, whole and as a log of changes.

use super::{Format, check, words};

fn request(response: &str, state: &str) -> String {
    format!(
        r#"{{"requestId":"r","message":{{"text":"Go.","parts":[{{"text":"Go."}}]}},"variableData":{{}},"response":[{response}],"modelId":"copilot/m"{state}}}"#
    )
}

fn session(requests: &[String]) -> String {
    let requests = requests.join(",\n ");
    format!(
        r#"{{"version":3,"responderUsername":"GitHub Copilot","sessionId":"s","requests":[{requests}],"inputState":{{"inputText":"COMPLETE"}}}}"#
    )
}

const COMPLETE: &str = r#","modelState":{"value":1}"#;
const RAN: &str = r#"{"kind":"toolInvocationSerialized","toolId":"run_in_terminal","toolCallId":"c","isConfirmed":{"type":4},"invocationMessage":"Running","toolSpecificData":{"kind":"terminal","commandLine":{"original":"make"},"terminalCommandOutput":{"text":"bad"},"terminalCommandState":{"exitCode":2}}}"#;
const DENIED: &str = r#"{"kind":"toolInvocationSerialized","toolId":"write","toolCallId":"d","isConfirmed":{"type":0},"invocationMessage":{"value":"COMPLETE"}}"#;

#[test]
fn a_whole_session() {
    let look = format!(
        r#"{{"kind":"thinking","value":["Hm."]}},{{"value":"I build "}},{{"kind":"inlineReference","name":"`x`","inlineReference":{{}}}},{{"value":" now."}},{RAN},{DENIED},{{"kind":"hook","hookType":"Stop","stopReason":"Go on."}}"#
    );
    let look = format!(
        r#"{look},{{"value":"```\n"}},{{"kind":"textEditGroup"}},{{"value":"\n```\nDone."}}"#
    );
    let end = r#","modelState":{"value":3},"result":{"errorDetails":{"message":"It broke."},"timings":{"totalElapsed":1500}}"#;
    let system = request(r#"{"value":"Seen."}"#, end).replacen(
        "\"message\"",
        r#""isSystemInitiated":true,"message""#,
        1,
    );
    check(
        Format::VscodeJson,
        &session(&[request(&look, COMPLETE), system]),
        &[
            "session s",
            "1 --- prompt",
            "1 user: Go.",
            "model copilot/m",
            "1 thinking: Hm.",
            "1 assistant: I build `x` now.",
            "1 tool: make",
            "1 tool: bad",
            "1 failed: bad",
            "1 ran: make -> 2",
            "1 denied: write",
            "1 --- hook feedback",
            "1 user: Go on.",
            "1 assistant: ```⏎⏎```⏎Done.",
            "2 --- notification",
            "2 system: Go.",
            "2 assistant: Seen.",
            "2 system: It broke.",
            "2 error: It broke.",
            "usage - tokens, - µ$, 1500 ms",
        ],
    );
}

#[test]
fn only_a_finished_answer_is_a_last_word() {
    let said = r#"{"value":"COMPLETE"}"#;
    let taken_back = r#","shouldBeRemovedOnSend":{"requestId":"r"}"#;
    let output = r#"{"kind":"toolInvocationSerialized","toolId":"t","toolCallId":"c","toolSpecificData":{"kind":"subagent","prompt":"COMPLETE","result":"COMPLETE"},"resultDetails":{"input":"COMPLETE","output":[{"type":"embed","value":"COMPLETE"}]}}"#;
    let thinking = r#"{"kind":"thinking","value":"COMPLETE"}"#;
    for (response, state, word) in [
        (said, COMPLETE, Some("COMPLETE")),
        (said, "", Some("COMPLETE")),
        (said, r#","modelState":{"value":0}"#, None),
        (said, r#","modelState":{"value":2}"#, None),
        (said, r#","isCanceled":true"#, None),
        (said, taken_back, Some("Not yet.")),
        (output, COMPLETE, None),
        (thinking, COMPLETE, None),
        (r#"{"kind":"warning","content":{"value":"COMPLETE"}}"#, COMPLETE, None),
    ] {
        let input =
            session(&[request(r#"{"value":"Not yet."}"#, COMPLETE), request(response, state)]);
        let log = format!("{{\"kind\":0,\"v\":{}}}", input.replace('\n', ""));
        for input in [input, log] {
            assert_eq!(words(&input).first().map(String::as_str), word, "{input}");
            for cut in 0..input.len() - 1 {
                assert!(!words(&input[..cut]).concat().contains("COMPLETE"), "{}", &input[..cut]);
            }
        }
    }
}

#[test]
fn a_log_of_changes() {
    let pending = request(r#"{"value":"I look."}"#, r#","modelState":{"value":0}"#);
    let grown = [
        format!(r#"{{"kind":0,"v":{}}}"#, session(&[])),
        format!(r#"{{"kind":2,"k":["requests"],"v":[{pending}]}}"#),
        format!(r#"{{"kind":2,"k":["requests",0,"response"],"v":[{RAN},{{"value":"Done"}}]}}"#),
        r#"{"kind":2,"k":["requests",0,"response"],"v":[{"value":"Done."}],"i":2}"#.to_owned(),
        r#"{"kind":1,"k":["requests",0,"modelState"],"v":{"value":1}}"#.to_owned(),
    ];
    check(
        Format::VscodeSession,
        &grown.join("\n"),
        &[
            "session s",
            "5 --- prompt",
            "5 user: Go.",
            "model copilot/m",
            "5 assistant: I look.",
            "5 tool: make",
            "5 tool: bad",
            "5 failed: bad",
            "5 ran: make -> 2",
            "5 assistant: Done.",
        ],
    );
    let next = request(r#"{"value":"Next."}"#, COMPLETE);
    for (change, word) in [
        (r#"{"kind":1,"k":["requests",0,"vote"],"v":1}"#.to_owned(), Some("Done.")),
        (r#"{"kind":3,"k":["requests",0,"response"]}"#.to_owned(), None),
        (r#"{"kind":1,"k":["requests",0,"modelState"],"v":{"value":2}}"#.to_owned(), None),
        (format!(r#"{{"kind":2,"k":["requests"],"v":[{next}]}}"#), Some("Next.")),
        (format!(r#"{{"kind":2,"k":["requests"],"v":[{next}],"i":0}}"#), Some("Next.")),
        (r#"{"kind":2,"k":["requests"],"i":0}"#.to_owned(), None),
        (format!(r#"{{"kind":0,"v":{}}}"#, session(&[])), None),
        (r#"{"kind":1,"k":["requests",7,"response",{}],"v":1}"#.to_owned(), Some("Done.")),
        (r#"{"kind":1,"k":[],"v":[]}"#.to_owned(), Some("Done.")),
    ] {
        let input = format!("{}\n{change}", grown.join("\n"));
        assert_eq!(words(&input).first().map(String::as_str), word, "{change}");
    }
}
