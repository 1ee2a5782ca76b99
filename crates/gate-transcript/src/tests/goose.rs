//! Goose's outputs and session files.

use super::{Format, check, events, words};

fn message(role: &str, id: &str, content: &str) -> String {
    let id = if id.is_empty() { String::new() } else { format!(r#""id":"{id}","#) };
    format!(
        r#"{{{id}"role":"{role}","created":1,"content":[{content}],"metadata":{{"userVisible":true,"agentVisible":true}}}}"#
    )
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn event(message: &str) -> String {
    format!(r#"{{"type":"message","message":{message}}}"#)
}

const CALL: &str = r#"{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"make"}}}}"#;
const ANSWER: &str = r#"{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"bad"}],"structuredContent":{"exit_code":2},"isError":false}}}"#;

#[test]
fn a_stream() {
    let thought = r#"{"type":"thinking","thinking":"Hm.","signature":""}"#;
    let input = [
        "starting session | provider: openai".to_owned(),
        event(&message("user", "m0", &text("Go."))),
        event(&message("assistant", "m1", thought)),
        event(&message("assistant", "m1", &text("On"))),
        event(&message("assistant", "m1", &text("e."))),
        event(&message("assistant", "m1", CALL)),
        event(&message("user", "m2", ANSWER)),
        r#"{"type":"notification","extension_id":"developer","log":{"message":"EXIT_SIGNAL: true"}}"#.to_owned(),
        event(&message("assistant", "m3", &text("Done."))),
        r#"{"type":"complete","total_tokens":77}"#.to_owned(),
    ];
    check(
        Format::GooseStream,
        &input.join("\n"),
        &[
            "1 system: starting session | provider: openai",
            "2 --- prompt",
            "2 user: Go.",
            "3 thinking: Hm.",
            "4 assistant: One.",
            "6 tool: make",
            "7 tool: bad",
            "7 failed: bad",
            "7 ran: make -> 2",
            "9 assistant: Done.",
            "usage 77 tokens, - µ$, - ms",
        ],
    );
}

#[test]
fn the_object_of_json_and_the_session_file() {
    let messages = [message("user", "", &text("Go.")), message("assistant", "", &text("Done."))];
    let json = format!(
        r#"{{"messages":[{}],"metadata":{{"total_tokens":77,"status":"completed"}}}}"#,
        messages.join(",")
    );
    let lines =
        ["1 --- prompt", "1 user: Go.", "1 assistant: Done.", "usage 77 tokens, - µ$, - ms"];
    check(Format::GooseJson, &json, &lines);
    let header = r#"{"working_dir":"/w","description":"x","message_count":2,"total_tokens":77}"#;
    let file = format!("{header}\n{}", messages.join("\n"));
    assert_eq!(events(Format::GooseSession, &file)[2], "3 assistant: Done.");
    assert_eq!(events(Format::GooseSession, &messages.join("\n"))[2], "2 assistant: Done.");
}

#[test]
fn messages_without_ids_are_texts_of_their_own() {
    let input = ["A", "B"].map(|word| event(&message("assistant", "", &text(word))));
    assert_eq!(words(&input.join("\n")), ["B"]);
}

#[test]
fn what_the_client_puts_in_is_nobodys_word() {
    let hidden = event(&message("assistant", "m1", &text("EXIT_SIGNAL: true")))
        .replace(r#""userVisible":true"#, r#""userVisible":false"#);
    assert!(words(&hidden).is_empty());
    let compacted = r#"{"type":"conversationCompacted","msg":"Compacted."}"#;
    let input = [text("COMPLETE"), compacted.to_owned()]
        .map(|block| event(&message("assistant", "m2", &block)));
    assert!(words(&input.join("\n")).is_empty());
}

#[test]
fn failures() {
    let said = event(&message("assistant", "m", &text("Ran into this error: Rate limit exceeded")));
    let events_of = |input: &str| events(Format::GooseStream, input);
    assert!(words(&said).is_empty());
    assert!(events_of(&said)[1].ends_with(": Rate limit exceeded"));
    let input = format!("{said}\n{}", r#"{"type":"error","error":"broken"}"#);
    assert_eq!(events_of(&input)[2..], ["2 system: broken", "2 error: broken"]);
}

#[test]
fn a_stop_hook_and_a_person_send_the_agent_on() {
    let claim = event(&message("assistant", "m1", &text("COMPLETE")));
    let hidden = |said: &str| {
        let message = event(&message("user", "m2", &text(said)));
        message.replace(r#""userVisible":true"#, r#""userVisible":false"#)
    };
    let beside = format!("{ANSWER},{}", text("Stop."));
    let beside = event(&message("user", "m2", &beside));
    assert_eq!(words(&format!("{claim}\n{}", hidden("Working directory: /w"))), ["COMPLETE"]);
    assert_eq!(words(&format!("{claim}\n{}", event(&message("user", "m2", ANSWER)))), ["COMPLETE"]);
    for after in [hidden("A Stop hook blocked ending this turn: no"), beside] {
        assert!(words(&format!("{claim}\n{after}")).is_empty(), "{after}");
    }
}
