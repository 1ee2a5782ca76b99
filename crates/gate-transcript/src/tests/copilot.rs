//! Copilot CLI's events, as it prints and as it keeps them.

use super::{Format, check, events, says, words};
use crate::Role;

fn event(kind: &str, data: &str) -> String {
    format!(
        r#"{{"type":"{kind}","data":{{{data}}},"id":"e-{kind}","timestamp":"t","parentId":null}}"#
    )
}

fn ephemeral(kind: &str, data: &str) -> String {
    event(kind, data).replace(r#""id""#, r#""ephemeral":true,"id""#)
}

fn message(text: &str) -> String {
    event(
        "assistant.message",
        &format!(r#""model":"gpt-5.4","content":"{text}","toolRequests":[]"#),
    )
}

fn user(text: &str) -> String {
    event("user.message", &format!(r#""content":"{text}""#))
}

const RESULT: &str = r#"{"type":"result","timestamp":"t","sessionId":"s1","exitCode":0,"usage":{"premiumRequests":0,"sessionDurationMs":1400}}"#;

#[test]
fn what_it_prints() {
    let input = [
        ephemeral("session.mcp_servers_loaded", r#""servers":[]"#),
        user("Go."),
        ephemeral("assistant.reasoning_delta", r#""deltaContent":"Hm.""#),
        ephemeral("assistant.message_delta", r#""deltaContent":"One.""#),
        event(
            "assistant.message",
            r#""model":"gpt-5.4","content":"One.","reasoningText":"Hm.","toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{"command":"make"}}]"#,
        ),
        event(
            "tool.execution_start",
            r#""toolCallId":"c1","toolName":"bash","arguments":{"command":"make"}"#,
        ),
        ephemeral("tool.execution_partial_result", r#""partialOutput":"bad""#),
        event(
            "tool.execution_complete",
            r#""toolCallId":"c1","success":true,"shellExecution":{"exitCode":3},"result":{"content":"bad\n<shellId: 0 completed with exit code 3>"}"#,
        ),
        message("Done."),
        RESULT.to_owned(),
    ];
    check(
        Format::CopilotJson,
        &input.join("\n"),
        &[
            "2 --- prompt",
            "2 user: Go.",
            "model gpt-5.4",
            "5 thinking: Hm.",
            "5 assistant: One.",
            "6 tool: make",
            "8 tool: bad⏎<shellId: 0 completed with exit code 3>",
            "8 failed: bad",
            "8 ran: make -> 3",
            "9 assistant: Done.",
            "session s1",
            "usage - tokens, - µ$, 1400 ms",
        ],
    );
}

#[test]
fn what_it_keeps() {
    let start = event("session.start", r#""sessionId":"s1","selectedModel":"gpt-5.4""#);
    let spent = event(
        "session.usage_record",
        r#""usage":{"inputTokens":200,"outputTokens":42,"cacheReadTokens":50}"#,
    );
    let refused = event(
        "hook.end",
        r#""hookType":"agentStop","success":true,"output":{"decision":"block","reason":"no"}"#,
    );
    let system = event("system.message", r#""role":"system","content":"You are …""#);
    let input = [start, system, spent, message("COMPLETE"), refused, user("no")];
    check(
        Format::CopilotJson,
        &input.join("\n"),
        &[
            "session s1",
            "model gpt-5.4",
            "2 system: You are …",
            "4 assistant: COMPLETE",
            "6 --- hook feedback",
            "6 user: no",
            "usage 192 tokens, - µ$, - ms",
        ],
    );
}

#[test]
fn a_block_is_another_message_of_the_user() {
    assert!(words(&[message("COMPLETE"), user("Tests fail.")].join("\n")).is_empty());
    assert_eq!(words(&[user("Go."), message("A"), message("B")].join("\n")), ["B"]);
}

#[test]
fn sub_agents_are_tools() {
    let claim = "EXIT_SIGNAL: true";
    let named = message(claim).replace(r#""id""#, r#""agentId":"a1","id""#);
    let called =
        event("assistant.message", &format!(r#""content":"{claim}","parentToolCallId":"c1""#));
    let task = user("Look.").replace(r#""id""#, r#""agentId":"a1","id""#);
    let input = [user("Go."), message("Not yet."), task, named, called].join("\n");
    assert_eq!(words(&input), ["Not yet."]);
    assert_eq!(says(&input, Role::Tool), ["Look.", claim, claim]);
}

#[test]
fn failures_and_boundaries() {
    for (input, expected) in [
        (
            event("session.error", r#""errorType":"query","message":"400 bad","statusCode":400"#),
            "1 error: 400 bad",
        ),
        (
            event("session.error", r#""errorType":"rate_limit","message":"Slow down""#),
            "1 limit: Slow down",
        ),
        (
            event("session.compaction_complete", r#""success":true,"summaryContent":"x""#),
            "1 --- compaction",
        ),
        (
            event("session.snapshot_rewind", r#""upToEventId":"e1","eventsRemoved":2"#),
            "1 --- prompt",
        ),
        (
            event(
                "tool.execution_complete",
                r#""toolCallId":"c","success":false,"error":{"message":"no file","code":"failure"}"#,
            ),
            "1 failed: no file",
        ),
        (
            event(
                "tool.execution_complete",
                r#""toolCallId":"c","success":false,"error":{"message":"no","code":"denied"}"#,
            ),
            "1 denied: ",
        ),
    ] {
        let events = events(Format::CopilotJson, &input);
        assert!(events.contains(&expected.to_owned()), "{events:?}");
    }
}
