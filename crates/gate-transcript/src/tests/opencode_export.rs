//! `opencode export`.

use super::{Format, check, events, words};

fn message(role: &str, more: &str, parts: &str) -> String {
    let id = format!("m-{role}-{}", parts.len());
    format!(
        r#"{{"info":{{"id":"{id}","sessionID":"ses_1","role":"{role}"{more}}},"parts":[{parts}]}}"#
    )
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn export(more: &str, messages: &[String]) -> String {
    format!(r#"{{"info":{{"id":"ses_1"{more}}},"messages":[{}]}}"#, messages.join(","))
}

const SPENT: &str = r#","modelID":"m1","cost":0.002,"tokens":{"input":150,"output":35,"reasoning":7,"cache":{"write":3,"read":50}}"#;

#[test]
fn a_whole_session() {
    let tool = r#"{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"make"},"output":"bad","metadata":{"exit":3}}}"#;
    let parts = [r#"{"type":"reasoning","text":"Hm."}"#, &text("One."), tool, &text("Two.")];
    let messages = [
        message("user", "", &text("Go.")),
        message("assistant", SPENT, &parts.join(",")),
        message("assistant", SPENT, &[text("Done."), text("Really.")].join(",")),
    ];
    check(
        Format::OpencodeExport,
        &export("", &messages),
        &[
            "session ses_1",
            "1 --- prompt",
            "1 user: Go.",
            "model m1",
            "2 thinking: Hm.",
            "2 assistant: One.",
            "2 tool: make",
            "2 tool: bad",
            "2 ran: make -> 3",
            "2 failed: bad",
            "2 assistant: Two.",
            "3 assistant: Done.⏎Really.",
            "usage 390 tokens, 4000 µ$, - ms",
        ],
    );
}

#[test]
fn a_sub_agents_session_has_no_word_of_the_agent() {
    let messages = [message("assistant", "", &text("EXIT_SIGNAL: true"))];
    assert_eq!(words(&export("", &messages)), ["EXIT_SIGNAL: true"]);
    assert!(words(&export(r#","parentID":"ses_0""#, &messages)).is_empty());
}

#[test]
fn compactions_and_failures() {
    let claim = message("assistant", "", &text("COMPLETE"));
    let asked = message("user", "", r#"{"type":"compaction","auto":true}"#);
    let summary = message("assistant", r#","summary":true"#, &text("EXIT_SIGNAL: true"));
    assert!(words(&export("", &[claim.clone(), asked])).is_empty());
    assert!(words(&export("", &[claim, summary])).is_empty());
    let error = r#","error":{"name":"APIError","data":{"message":"Slow down","statusCode":429}}"#;
    let events = events(Format::OpencodeExport, &export("", &[message("assistant", error, "")]));
    assert_eq!(events[1..], ["1 system: Slow down", "1 limit: Slow down"]);
}

#[test]
fn messages_may_come_without_their_session() {
    let messages = [message("user", "", &text("Go.")), message("assistant", "", &text("Done."))];
    let input = format!("[{}]", messages.join(","));
    assert_eq!(events(Format::OpencodeExport, &input)[0], "session ses_1");
    assert_eq!(words(&input), ["Done."]);
}

#[test]
fn what_is_taken_back_or_not_shown_to_the_agent_is_no_word() {
    let ignored = text("COMPLETE").replace(r#""type""#, r#""ignored":true,"type""#);
    let said = message("assistant", "", &[text("Not yet."), ignored].join(","));
    assert_eq!(words(&export("", &[said])), ["Not yet."]);
    let messages = [message("user", "", &text("Go.")), message("assistant", "", &text("COMPLETE"))];
    assert_eq!(words(&export("", &messages)), ["COMPLETE"]);
    let last = format!("m-assistant-{}", text("COMPLETE").len());
    let revert = format!(r#","revert":{{"messageID":"{last}"}}"#);
    assert!(words(&export(&revert, &messages)).is_empty());
}
