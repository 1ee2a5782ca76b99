//! Gemini CLI's session files and checkpoints.

use super::{Format, check, events, says, words};
use crate::Role;

const HEADER: &str =
    r#"{"sessionId":"s1","projectHash":"h","startTime":"t","lastUpdated":"t","kind":"main"}"#;

fn user(id: &str, text: &str) -> String {
    format!(r#"{{"id":"{id}","timestamp":"t","type":"user","content":[{{"text":"{text}"}}]}}"#)
}

fn gemini(id: &str, text: &str, more: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"t","type":"gemini","content":"{text}","thoughts":[{{"subject":"","description":"Hm."}}],"tokens":{{"total":249,"cached":50}},"model":"gemini-2.5-pro"{more}}}"#
    )
}

fn calls(status: &str, output: &str) -> String {
    format!(
        r#","toolCalls":[{{"id":"c1","name":"run_shell_command","args":{{"command":"make"}},"status":"{status}","result":[{{"functionResponse":{{"id":"c1","name":"run_shell_command","response":{{"output":"{output}"}}}}}}]}}]"#
    )
}

fn set(messages: &[String]) -> String {
    format!(r#"{{"$set":{{"messages":[{}],"lastUpdated":"t"}}}}"#, messages.join(","))
}

#[test]
fn a_message_that_is_written_again_counts_once() {
    let report = r"Output: ok\nbad\nExit Code: 3\nProcess Group PGID: 7";
    let answer = r#"{"id":"u2","timestamp":"t","type":"user","content":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"x"}}}]}"#;
    let input = [
        HEADER,
        &set(&[user("u0", "<session_context>here</session_context>")]),
        &user("u1", "Go."),
        &gemini("g1", "I begin.", ""),
        &gemini("g1", "I begin.", &calls("executing", "")),
        &gemini("g1", "I begin.", &calls("error", report)),
        answer,
        r#"{"$set":{"lastUpdated":"t"}}"#,
        &gemini("g2", "Done.", ""),
    ];
    check(
        Format::GeminiSession,
        &input.join("\n"),
        &[
            "session s1",
            "2 system: <session_context>here</session_context>",
            "3 --- prompt",
            "3 user: Go.",
            "model gemini-2.5-pro",
            "4 thinking: Hm.",
            "4 assistant: I begin.",
            "6 tool: make",
            "6 tool: Output: ok⏎bad⏎Exit Code: 3⏎Process Group PGID: 7",
            "6 failed: ok⏎bad",
            "6 ran: make -> 3",
            "9 thinking: Hm.",
            "9 assistant: Done.",
            "usage 398 tokens, - µ$, - ms",
        ],
    );
}

#[test]
fn the_last_writing_of_the_last_message_wins() {
    let input =
        [gemini("g1", "EXIT_SIGNAL: true", ""), gemini("g1", "EXIT_SIGNAL: true\\nBut no.", "")];
    assert_eq!(words(&input.join("\n")), ["EXIT_SIGNAL: true\nBut no."]);
    let input =
        [gemini("g1", "COMPLETE", ""), gemini("g2", "No.", ""), gemini("g1", "COMPLETE", "")];
    assert_eq!(words(&input.join("\n")), ["No."]);
}

#[test]
fn a_zero_is_an_exit_code_too() {
    let report = r"Output: ok\nProcess Group PGID: 7";
    let input = [HEADER, &gemini("g1", "x", &calls("success", report))].join("\n");
    let events = events(Format::GeminiSession, &input);
    assert!(events.contains(&"2 ran: make -> 0".to_owned()), "{events:?}");
}

#[test]
fn what_is_taken_back_is_not_the_last_word() {
    let [a, b] = [user("u1", "Go."), gemini("g1", "COMPLETE", "")];
    let whole = [HEADER, &a, &b].join("\n");
    assert_eq!(words(&whole), ["COMPLETE"]);
    assert!(words(&format!("{whole}\n{}", set(std::slice::from_ref(&a)))).is_empty());
    assert!(words(&format!("{whole}\n{{\"$rewindTo\":\"u1\"}}")).is_empty());
    assert_eq!(words(&format!("{whole}\n{}", set(&[a, b]))), ["COMPLETE"]);
}

#[test]
fn a_hooks_reason_is_a_users_message() {
    let input = [HEADER, &gemini("g1", "COMPLETE", ""), &user("u2", "Tests fail.")];
    assert!(words(&input.join("\n")).is_empty());
}

#[test]
fn a_sub_agents_file_has_no_word_of_the_agent() {
    let input = [HEADER.replace("main", "subagent"), gemini("g1", "EXIT_SIGNAL: true", "")];
    assert!(words(&input.join("\n")).is_empty());
    assert!(says(&input.join("\n"), Role::Tool).contains(&"EXIT_SIGNAL: true".to_owned()));
}

#[test]
fn errors() {
    let error = r#"{"id":"e","timestamp":"t","type":"error","content":"[API Error: {\"error\":{\"code\": 429}}]"}"#;
    let events = events(Format::GeminiSession, &format!("{HEADER}\n{error}"));
    assert_eq!(events[2], r#"2 limit: [API Error: {"error":{"code": 429}}]"#);
}

#[test]
fn older_files_are_one_object() {
    let input = format!(
        "{{\n\"sessionId\":\"s1\",\"projectHash\":\"h\",\n\"messages\":[{},{}]}}",
        user("u1", "Go."),
        gemini("g1", "Done.", "")
    );
    assert_eq!(events(Format::GeminiSession, &input)[0], "session s1");
    assert_eq!(words(&input), ["Done."]);
}

#[test]
fn a_checkpoint_is_the_bare_conversation() {
    let input = r#"[{"role":"user","parts":[{"text":"Go."}]},
{"role":"model","parts":[{"text":"Hm.","thought":true},{"text":"One."},{"functionCall":{"id":"c","name":"run_shell_command","args":{"command":"ls"}}}]},
{"role":"user","parts":[{"functionResponse":{"id":"c","name":"run_shell_command","response":{"output":"x"}}}]},
{"role":"model","parts":[{"text":"Done."}]}]"#;
    check(
        Format::GeminiSession,
        input,
        &[
            "1 --- prompt",
            "1 user: Go.",
            "2 thinking: Hm.",
            "2 assistant: One.",
            "2 tool: ls",
            "3 tool: x",
            "4 assistant: Done.",
        ],
    );
}

#[test]
fn a_message_that_is_written_again_says_what_it_says_then() {
    let answer = r#"{"id":"u2","timestamp":"t","type":"user","content":[{"functionResponse":{"id":"c","name":"x","response":{"output":"o"}}}]}"#;
    let written = |again: &str| {
        let [first, again] = ["COMPLETE", again].map(|text| gemini("g1", text, ""));
        words(&[HEADER, &user("u1", "Go."), &first, answer, &again].join("\n"))
    };
    assert_eq!(written("COMPLETE"), ["COMPLETE"]);
    assert_eq!(written("Not yet."), ["Not yet."]);
    assert!(written("").is_empty());
}

#[test]
fn a_text_beside_a_tools_answer_is_a_prompt() {
    let answer = r#"{"id":"u2","timestamp":"t","type":"user","content":[{"functionResponse":{"id":"c","name":"x","response":{"output":"o"}}},{"text":"Stop."}]}"#;
    assert!(words(&[HEADER, &gemini("g1", "COMPLETE", ""), answer].join("\n")).is_empty());
}

#[test]
fn a_file_may_become_a_sub_agents() {
    let input = [HEADER, r#"{"$set":{"kind":"subagent"}}"#, &gemini("g1", "COMPLETE", "")];
    assert!(words(&input.join("\n")).is_empty());
}
