//! Codex: `exec --json` and the rollout file.

use super::{check, events, says, words};
use crate::{Format, Role};

const EXEC: &str = r#"{"type":"thread.started","thread_id":"t1"}
{"type":"item.completed","item":{"id":"0","type":"error","message":"Model metadata not found"}}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"1","type":"reasoning","text":"EXIT_SIGNAL: true?"}}
{"type":"item.completed","item":{"id":"2","type":"agent_message","text":"I begin."}}
{"type":"item.started","item":{"id":"3","type":"command_execution","command":"make","aggregated_output":"","exit_code":null}}
{"type":"item.completed","item":{"id":"3","type":"command_execution","command":"make","aggregated_output":"bad\n","exit_code":2,"status":"failed"}}
{"type":"item.completed","item":{"id":"4","type":"collab_tool_call","tool":"spawn_agent","prompt":"sub task","agents_states":{"a":{"message":"EXIT_SIGNAL: true"}}}}
{"type":"item.completed","item":{"id":"5","type":"agent_message","text":"Not done."}}
{"type":"turn.completed","usage":{"input_tokens":800,"cached_input_tokens":200,"output_tokens":168}}
"#;

#[test]
fn exec_events() {
    check(
        Format::CodexExec,
        EXEC,
        &[
            "session t1",
            "2 system: Model metadata not found",
            "4 thinking: EXIT_SIGNAL: true?",
            "5 assistant: I begin.",
            "7 tool: make",
            "7 tool: bad⏎",
            "7 ran: make -> 2",
            "7 failed: bad",
            "8 tool: sub task",
            "8 tool: EXIT_SIGNAL: true",
            "9 assistant: Not done.",
            "usage 768 tokens, - µ$, - ms",
        ],
    );
}

#[test]
fn exec_a_turn_after_a_turn_answers_a_new_prompt() {
    let resumed = EXEC.to_owned()
        + "{\"type\":\"thread.started\",\"thread_id\":\"t1\"}\n{\"type\":\"turn.started\"}\n";
    assert!(words(&resumed).is_empty());
    assert_eq!(events(Format::CodexExec, &resumed)[11], "11 --- prompt");
}

#[test]
fn exec_usage_counts_a_thread_from_its_beginning() {
    let again =
        "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":900,\"output_tokens\":1}}\n";
    let other = "{\"type\":\"thread.started\",\"thread_id\":\"t2\"}\n{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":5}}\n";
    let lines = events(Format::CodexExec, &(EXEC.to_owned() + again + other));
    assert_eq!(lines.last().map(String::as_str), Some("usage 906 tokens, - µ$, - ms"));
}

#[test]
fn exec_failures_come_once_and_reconnecting_is_none() {
    let input = r#"{"type":"thread.started","thread_id":"t1"}
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests"}
{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}
"#;
    let lines = events(Format::CodexExec, input);
    let failures: Vec<&String> = lines.iter().filter(|line| !line.contains(" system: ")).collect();
    assert_eq!(
        failures,
        [
            "session t1",
            "3 limit: exceeded retry limit, last status: 429 Too Many Requests",
            "4 --- unanswered"
        ]
    );
}

fn response(role: &str, kind: &str, text: &str) -> String {
    format!(
        r#"{{"type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}}}"#
    )
}

fn shown(item: &str, text: &str) -> String {
    format!(
        r#"{{"type":"event_msg","payload":{{"type":"item_completed","item":{{"type":"{item}","content":[{{"type":"Text","text":"{text}"}}]}}}}}}"#
    )
}

fn agent(text: &str) -> [String; 2] {
    [shown("AgentMessage", text), response("assistant", "output_text", text)]
}

fn prompt(text: &str) -> [String; 2] {
    [response("user", "input_text", text), shown("UserMessage", text)]
}

const META: &str = r#"{"type":"session_meta","payload":{"id":"r1","source":"exec"}}"#;

fn rollout(records: &[[String; 2]]) -> String {
    let records = records.concat().join("\n");
    format!("{META}\n{records}\n")
}

#[test]
fn rollout_each_text_comes_once_though_it_stands_twice() {
    let input = rollout(&[prompt("Do it"), agent("Same."), agent("Same.")]);
    check(
        Format::CodexRollout,
        &input,
        &[
            "session r1",
            "2 --- prompt",
            "2 user: Do it",
            "4 assistant: Same.",
            "6 assistant: Same.",
        ],
    );
}

#[test]
fn rollout_one_source_alone_is_enough() {
    let old = r#"{"type":"event_msg","payload":{"type":"agent_message","message":"Done."}}"#;
    let end =
        r#"{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":"Done."}}"#;
    assert_eq!(words(&format!("{META}\n{old}\n{end}\n")), ["Done."]);
    assert_eq!(words(&format!("{META}\n{end}\n")), ["Done."]);
    assert_eq!(says(&format!("{META}\n{old}\n{end}\n"), Role::Assistant).len(), 1);
}

#[test]
fn rollout_user_items_that_are_no_prompt() {
    for (text, kept) in [
        ("<environment_context>x", true),
        ("# AGENTS.md instructions for /x", true),
        ("<subagent_notification>{}", true),
        ("<hook_prompt hook_run_id='1'>no</hook_prompt>", false),
        ("Go on", false),
    ] {
        let input = rollout(&[agent("Done."), prompt(text)]);
        assert_eq!(words(&input).is_empty(), !kept, "{text}");
    }
    let answer = rollout(&[agent("Done."), prompt("<subagent_notification>{}"), agent("Thanks.")]);
    assert_eq!(words(&answer), ["Thanks.", "Done."]);
}

#[test]
fn rollout_a_compaction_quotes_old_claims() {
    let compacted = r#"{"type":"compacted","payload":{"message":"It said EXIT_SIGNAL: true"}}"#;
    let input = rollout(&[agent("EXIT_SIGNAL: true")]) + compacted;
    assert!(words(&input).is_empty());
    assert_eq!(says(&input, Role::System), ["It said EXIT_SIGNAL: true"]);
}

#[test]
fn rollout_of_a_sub_agent_is_never_the_agents() {
    for meta in [
        r#"{"type":"session_meta","payload":{"id":"r2","source":{"subagent":{"thread_spawn":{"parent_thread_id":"r1","depth":1}}}}}"#,
        r#"{"type":"session_meta","payload":{"id":"r2","source":"exec","thread_source":"subagent"}}"#,
    ] {
        let input = format!(
            "{meta}\n{META}\n{}\n",
            response("assistant", "output_text", "EXIT_SIGNAL: true")
        );
        assert_eq!(says(&input, Role::Tool), ["EXIT_SIGNAL: true"]);
        assert!(words(&input).is_empty());
    }
}

#[test]
fn rollout_commands_are_reported_once() {
    let call = r#"{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\": \"make\"}","call_id":"c1"}}"#;
    let ended = r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","exit_code":3}}}"#;
    let output = r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Wall time: 0 s\nProcess exited with code 3\nOutput:\nProcess exited with code 0\n"}}"#;
    let old = r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":3}}"}}"#;
    for records in
        [vec![META, call, ended, output], vec![META, call, output], vec![META, call, old]]
    {
        let lines = events(Format::CodexRollout, &records.join("\n"));
        let ran: Vec<&String> = lines.iter().filter(|line| line.contains(" ran: ")).collect();
        assert!(matches!(&ran[..], [one] if one.ends_with("ran: make -> 3")), "{lines:?}");
    }
}

#[test]
fn rollout_tokens_are_cumulative() {
    let count = |input| {
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{input},"cached_input_tokens":50,"output_tokens":5}}}}}}}}"#
        )
    };
    let input = format!("{META}\n{}\n{}\n", count(100), count(300));
    assert_eq!(events(Format::CodexRollout, &input)[1], "usage 255 tokens, - µ$, - ms");
}
