//! Codex's session file: calls and their ends, and texts that stand in it twice.

use super::{events, words};
use crate::Format;

const META: &str = r#"{"type":"session_meta","payload":{"id":"r1","source":"exec"}}"#;

fn response(payload: &str) -> String {
    format!(r#"{{"type":"response_item","payload":{{{payload}}}}}"#)
}

fn event(payload: &str) -> String {
    format!(r#"{{"type":"event_msg","payload":{{{payload}}}}}"#)
}

fn said(role: &str, text: &str) -> String {
    let part = format!(r#"{{"type":"output_text","text":"{text}"}}"#);
    response(&format!(r#""type":"message","role":"{role}","content":[{part}]"#))
}

fn shown(kind: &str, text: &str) -> String {
    event(&format!(r#""type":"{kind}","message":"{text}""#))
}

/// The events after the session's.
#[track_caller]
fn check(records: &[String], expected: &[&str]) {
    let input = format!("{META}\n{}", records.join("\n"));
    assert_eq!(events(Format::CodexRollout, &input)[1..], *expected, "{input}");
}

/// A call of a shell and its output, as text and as the events that follow from it.
fn ran(output: &str) -> Vec<String> {
    let call = r#""type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"make\"]}","call_id":"c1""#;
    let output = format!(
        r#""type":"function_call_output","call_id":"c1","output":{}"#,
        serde_json::to_string(output).unwrap()
    );
    let input = [META.to_owned(), response(call), response(&output)].join("\n");
    let all = events(Format::CodexRollout, &input);
    all[2..].iter().filter(|line| !line.contains(" tool: ")).cloned().collect()
}

#[test]
fn the_head_of_an_output_says_how_its_command_ended() {
    for (output, expected) in [
        (
            "Exit code: 5\nWall time: 0 s\nOutput:\nbad\n",
            &["3 failed: bad", "3 ran: bash -lc make -> 5"][..],
        ),
        ("Chunk ID: x\nProcess exited with code -1\nOutput:\n", &["3 ran: bash -lc make -> -1"]),
        ("Exit code: 0\nOutput:\nExit code: 9", &["3 ran: bash -lc make -> 0"]),
        ("Wall time: 0 s\nOutput:\nExit code: 9", &[]),
        ("Process running with session ID 7\nOutput:\n", &[]),
        ("Exit code: many\nOutput:\n", &[]),
        (
            r#"{"output":"bad\n","metadata":{"exit_code":3,"duration_seconds":0.1}}"#,
            &["3 failed: bad", "3 ran: bash -lc make -> 3"],
        ),
        (r#"{"output":"Exit code: 3","metadata":{}}"#, &[]),
        (r#"{"output":"bad","metadata":{"exit_code":99999999999}}"#, &[]),
        ("This command requires approval", &["3 denied: shell"]),
        (
            "Exit code: 1\nOutput:\nThis command requires approval",
            &["3 failed: This command requires approval", "3 ran: bash -lc make -> 1"],
        ),
    ] {
        assert_eq!(ran(output), expected, "{output}");
    }
    let late = format!("{}\nExit code: 3\nOutput:\n", "x".repeat(500));
    assert_eq!(ran(&late), [""; 0]);
}

#[test]
fn other_calls_are_named_by_their_tool_or_by_their_type() {
    let denied = |call: &str| {
        let output = r#""type":"custom_tool_call_output","call_id":"c1","output":"approval required by policy, but nobody can be asked""#;
        let input = [META.to_owned(), response(call), response(output)].join("\n");
        events(Format::CodexRollout, &input)[1..].to_vec()
    };
    let asked = "3 tool: approval required by policy, but nobody can be asked";
    assert_eq!(
        denied(
            r#""type":"custom_tool_call","name":"apply_patch","input":"*** Begin","call_id":"c1""#
        ),
        ["2 tool: *** Begin", "3 denied: apply_patch", asked]
    );
    assert_eq!(
        denied(r#""type":"local_shell_call","call_id":"c1""#),
        ["3 denied: local_shell_call", asked]
    );
    assert_eq!(denied(r#""type":"web_search_call","call_id":"c1""#), [asked]);
}

#[test]
fn a_command_that_was_shown_without_an_exit_code_is_not_reported_later() {
    let call = response(
        r#""type":"function_call","name":"shell","arguments":"{\"command\":\"make\"}","call_id":"c1""#,
    );
    let output = response(
        r#""type":"function_call_output","call_id":"c1","output":"Exit code: 0\nOutput:\n""#,
    );
    let arguments = r#"2 tool: {"command":"make"}"#;
    let end = |more: &str| event(&format!(r#""type":"exec_command_end","call_id":"c1"{more}"#));
    check(&[call.clone(), end(""), output.clone()], &[arguments, "4 tool: Exit code: 0⏎Output:⏎"]);
    check(
        &[call, end(r#","exit_code":7"#), output],
        &[arguments, "3 ran: make -> 7", "4 tool: Exit code: 0⏎Output:⏎"],
    );
}

#[test]
fn speakers_that_are_neither_agent_nor_person_are_kept_apart() {
    check(
        &[
            said("developer", "You are in a sandbox."),
            response(r#""type":"reasoning","summary":[{"text":"Hm."},{"text":"So."}]"#),
            r#"{"type":"turn_context","payload":{"model":"gpt-5"}}"#.to_owned(),
            r#"{"type":"world_state","payload":{"message":"EXIT_SIGNAL: true"}}"#.to_owned(),
            r#"{"type":"event_msg","payload":[]}"#.to_owned(),
            event(r#""type":"error","message":"You've hit your usage limit."#),
        ][..5],
        &["2 system: You are in a sandbox.", "3 thinking: Hm.", "3 thinking: So.", "model gpt-5"],
    );
    let limit = "You've hit your usage limit. Upgrade to continue.";
    check(
        &[shown("error", limit), shown("error", limit), shown("error", "no route")],
        &[
            &format!("2 system: {limit}"),
            &format!("2 limit: {limit}"),
            &format!("3 system: {limit}"),
            "4 system: no route",
            "4 error: no route",
        ],
    );
}

#[test]
fn a_text_of_both_sources_is_one_whatever_white_space_was_lost() {
    check(
        &[said("assistant", "Done.\\n"), shown("agent_message", " Done.")],
        &["2 assistant: Done.⏎"],
    );
    check(
        &[shown("agent_message", "Done."), shown("agent_message", "Done.")],
        &["2 assistant: Done.", "3 assistant: Done."],
    );
    check(&[said("assistant", " \\n"), shown("agent_message", "")], &[]);
    check(
        &[said("assistant", "Done."), shown("agent_message", "Compact task completed")],
        &["2 assistant: Done.", "3 system: Compact task completed"],
    );
    let asked = [said("user", "Go."), shown("user_message", "Go."), shown("user_message", "Go.")];
    check(&asked, &["2 --- prompt", "2 user: Go.", "4 --- prompt", "4 user: Go."]);
}

#[test]
fn the_text_at_the_end_of_a_task_counts_only_where_the_turn_has_none() {
    let end = event(r#""type":"task_complete","last_agent_message":"Done.""#);
    let told = |records: &[String]| words(&[&[META.to_owned()], records].concat().join("\n"));
    assert_eq!(told(&[said("assistant", "Working."), end.clone()]), ["Working."]);
    let notified = said("user", "<subagent_notification>{}");
    assert_eq!(told(&[said("assistant", "Working."), notified, end.clone()]), ["Working."]);
    assert_eq!(told(&[said("assistant", "Working."), said("user", "Go."), end]), ["Done."]);
}

#[test]
fn a_commentary_is_no_last_word_of_a_turn_that_ends_without_an_answer() {
    let none = event(r#""type":"task_complete","last_agent_message":null"#);
    let empty = event(r#""type":"task_complete","last_agent_message":"""#);
    let answer = |phase: &str| {
        let part = r#"{"type":"output_text","text":"Done."}"#;
        response(&format!(
            r#""type":"message","role":"assistant","phase":"{phase}","content":[{part}]"#
        ))
    };
    let told = |records: &[String]| words(&[&[META.to_owned()], records].concat().join("\n"));
    for end in [none, empty] {
        assert_eq!(told(&[answer("commentary"), end.clone()]), [""; 0]);
        assert_eq!(told(&[said("assistant", "Working."), end.clone()]), [""; 0]);
        assert_eq!(told(&[answer("final_answer"), end.clone()]), ["Done."]);
        let go_on = [answer("commentary"), end, said("user", "Go."), answer("final_answer")];
        assert_eq!(told(&go_on), ["Done."]);
    }
    assert_eq!(told(&[answer("commentary")]), [""; 0], "the file ends behind it");
    let aborted = event(r#""type":"turn_aborted","reason":"interrupted""#);
    for text in [answer("commentary"), said("assistant", "Done."), answer("final_answer")] {
        assert_eq!(told(&[text, aborted.clone()]), [""; 0], "the person broke it off");
    }
}

#[test]
fn what_the_client_sends_as_the_user_is_the_systems() {
    for text in [
        "<user_instructions>x",
        "<permissions instructions>x",
        "<turn_aborted>x",
        "<user_shell_command>x",
        "<skill name='x'>",
        " \\n<INSTRUCTIONS>x",
    ] {
        let expected = format!("2 system: {}", text.replace("\\n", "⏎"));
        check(&[said("user", text)], &[&expected]);
    }
    check(&[said("user", "<div>")], &["2 --- prompt", "2 user: <div>"]);
}

#[test]
fn the_first_meta_says_whose_file_it_is_and_the_last_count_what_it_used() {
    let fork = r#"{"type":"session_meta","payload":{"id":"r0","thread_source":"subagent"}}"#;
    let count = |info: &str| event(&format!(r#""type":"token_count","info":{info}"#));
    let total = r#"{"total_token_usage":{"input_tokens":9,"output_tokens":1}}"#;
    check(
        &[fork.to_owned(), said("assistant", "Done."), count(total), count("null")],
        &["3 assistant: Done.", "usage 10 tokens, - µ$, - ms"],
    );
}

#[test]
fn an_old_file_has_its_items_without_a_wrapper() {
    let records = [
        r#"{"id":"s1","timestamp":"t","instructions":null}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Go."}]}"#,
        r#"{"type":"function_call","name":"shell","arguments":"{\"command\":[\"make\"]}","call_id":"c1"}"#,
        r#"{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"ok\",\"metadata\":{\"exit_code\":0}}"}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}"#,
    ];
    let input = records.join("\n");
    assert_eq!(words(&input), ["Done."]);
    let all = events(Format::CodexRollout, &input);
    assert_eq!(all[0], "session s1");
    assert!(all.contains(&"5 ran: make -> 0".to_owned()), "{all:?}");
}
