//! Pi's stream and its session files, which are OpenClaw's too.

use super::{Format, check, events, words};

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-03-09T02:00:00.000Z","cwd":"/w"}"#;

/// An entry of a session file.
fn entry(message: &str) -> String {
    format!(
        r#"{{"type":"message","id":"a1b2c3d4","parentId":null,"timestamp":"2026-03-09T02:00:01.000Z","message":{message}}}"#
    )
}

/// An event of the stream.
fn event(kind: &str, message: &str) -> String {
    format!(r#"{{"type":"{kind}","message":{message}}}"#)
}

fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}],"timestamp":1}}"#)
}

fn assistant(blocks: &str) -> String {
    format!(
        r#"{{"role":"assistant","content":[{blocks}],"api":"responses","model":"gpt-5","stopReason":"stop","usage":{{"input":10,"output":5,"cacheRead":90,"cacheWrite":1,"cost":{{"total":0.01}}}},"timestamp":2}}"#
    )
}

fn says(words: &str) -> String {
    assistant(&text(words))
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

const CALL: &str = r#"{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"make"}}"#;
const ANSWER: &str = r#"{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"bad"}],"isError":true,"details":{"exit_code":2},"timestamp":3}"#;

#[test]
fn a_whole_session() {
    let thinking = r#"{"type":"thinking","thinking":"Hm."}"#;
    let input = [
        HEADER.to_owned(),
        r#"{"type":"model_change","id":"m1","parentId":null,"timestamp":"t","provider":"openai","modelId":"gpt-5"}"#
            .to_owned(),
        entry(&user("Go.")),
        entry(&assistant(&format!("{thinking},{},{},{CALL}", text("I look."), text("I build.")))),
        entry(ANSWER),
        entry(&says("Done.")),
        r#"{"type":"label","id":"l1","parentId":"a1b2c3d4","timestamp":"t","targetId":"m1","label":"x"}"#
            .to_owned(),
    ];
    check(
        Format::PiSession,
        &input.join("\n"),
        &[
            "session s1",
            "model gpt-5",
            "3 --- prompt",
            "3 user: Go.",
            "4 thinking: Hm.",
            "4 assistant: I look.⏎I build.",
            "4 tool: make",
            "5 tool: bad",
            "5 failed: bad",
            "5 ran: make -> 2",
            "6 assistant: Done.",
            "usage 32 tokens, 20000 µ$, - ms",
        ],
    );
}

#[test]
fn a_whole_stream() {
    let input = [
        HEADER.to_owned(),
        r#"{"type":"agent_start"}"#.to_owned(),
        r#"{"type":"turn_start"}"#.to_owned(),
        event("message_start", &user("Go.")),
        event("message_end", &user("Go.")),
        event("message_start", &assistant("")),
        r#"{"type":"message_update","message":{"role":"assistant","content":[{"type":"text","text":"Do"}]},"assistantMessageEvent":{"type":"text_delta","delta":"Do"}}"#
            .to_owned(),
        event("message_end", &assistant(&format!("{},{CALL}", text("I begin.")))),
        r#"{"type":"tool_execution_start","toolCallId":"c1","toolName":"bash","args":{"command":"make"}}"#
            .to_owned(),
        event("message_end", ANSWER),
        event("message_end", &says("Done.")),
        format!(r#"{{"type":"turn_end","message":{},"toolResults":[]}}"#, says("Done.")),
        format!(r#"{{"type":"agent_end","messages":[{}]}}"#, says("Done.")),
    ];
    check(
        Format::PiStream,
        &input.join("\n"),
        &[
            "session s1",
            "5 --- prompt",
            "5 user: Go.",
            "model gpt-5",
            "8 assistant: I begin.",
            "8 tool: make",
            "10 tool: bad",
            "10 failed: bad",
            "10 ran: make -> 2",
            "11 assistant: Done.",
            "usage 32 tokens, 20000 µ$, - ms",
        ],
    );
    assert_eq!(words(&input.join("\n")), ["Done."]);
}

#[test]
fn an_openclaw_session_is_no_longer_a_droids() {
    let input = [
        HEADER.to_owned(),
        entry(r#"{"role":"user","content":[{"type":"text","text":"Go."}]}"#),
        entry(r#"{"role":"assistant","content":[{"type":"text","text":"Done."}]}"#),
    ];
    let read = ["session s1", "2 --- prompt", "2 user: Go.", "3 assistant: Done."];
    check(Format::PiSession, &input.join("\n"), &read);
    // Without the header, as the end of a longer file.
    check(Format::PiSession, &input[2], &["1 assistant: Done."]);
    check(Format::PiStream, HEADER, &["session s1"]);
}

#[test]
fn whoever_speaks_to_the_agent_begins_a_turn() {
    let custom = r#"{"role":"custom","customType":"loop","content":"Tests fail.","display":true}"#;
    let message = r#"{"type":"custom_message","id":"x","parentId":"y","customType":"loop","content":"Tests fail."}"#;
    let branch = r#"{"type":"branch_summary","id":"x","parentId":"y","timestamp":"t","fromId":"z","summary":"EXIT_STATUS: COMPLETE"}"#;
    for record in [&entry(&user("More.")), &entry(custom), message, branch] {
        let input = [HEADER, &entry(&says("Done.")), record].join("\n");
        assert_eq!(words(&input), [""; 0], "{record}");
    }
}

#[test]
fn a_compaction_after_the_last_word_takes_nothing_back() {
    let compaction = r#"{"type":"compaction","id":"x","parentId":"y","timestamp":"t","summary":"All was done.","firstKeptEntryId":"z","tokensBefore":9}"#;
    let ended = [HEADER, &entry(&says("Done.")), compaction].join("\n");
    assert_eq!(words(&ended), ["Done."]);
    let lines = events(Format::PiSession, &format!("{ended}\n{}", entry(&says("Not yet."))));
    assert_eq!(
        lines[3..6],
        ["3 system: All was done.", "4 --- compaction", "4 assistant: Not yet."]
    );
}

#[test]
fn a_failed_request_is_an_error_and_a_message_that_was_cut_off_is_not_the_last_word() {
    let error = r#"{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429 Too Many Requests: rate limit exceeded"}"#;
    let lines = events(Format::PiSession, &[HEADER, &entry(error)].join("\n"));
    assert!(lines[1].starts_with("2 limit: 429"), "{lines:?}");
    let begun = event("message_start", &assistant(""));
    let part = event("message_update", &says("EXIT_STATUS: COMP"));
    let input = [HEADER, &event("message_end", &says("I begin.")), &begun, &part[..60]].join("\n");
    assert_eq!(words(&input), ["I begin."]);
}

#[test]
fn a_sub_agents_file_is_read_as_a_session_of_its_own() {
    let record = |message: &str| {
        format!(
            r#"{{"version":1,"recordType":"message","runId":"r","agent":"reviewer","ts":1,"role":"x","text":"x","message":{message}}}"#
        )
    };
    let input = [record(&user("Go.")), record(ANSWER), record(&says("Done."))].join("\n");
    let lines = events(Format::PiSession, &input);
    assert_eq!(lines[..4], ["1 --- prompt", "1 user: Go.", "2 tool: bad", "2 failed: bad"]);
    assert_eq!(words(&input), ["Done."]);
}
