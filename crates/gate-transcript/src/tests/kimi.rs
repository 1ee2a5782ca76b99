//! Kimi's session logs.

use super::{Format, check, has_problem, read_pieces, words};
use crate::{Forced, ProblemKind};

const HEAD: &str = r#"{"type":"metadata","protocol_version":"1.3"}"#;

/// A message of kimi-cli as its file has it.
fn envelope(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":1.5,"message":{{"type":"{kind}","payload":{payload}}}}}"#)
}

fn says(text: &str) -> String {
    envelope("ContentPart", &format!(r#"{{"type":"text","text":"{text}"}}"#))
}

fn asks(text: &str) -> String {
    envelope("TurnBegin", &format!(r#"{{"user_input":"{text}"}}"#))
}

#[test]
fn a_whole_session_of_kimi_cli() {
    let call = r#"{"type":"function","id":"c1","function":{"name":"Shell","arguments":"{\"command\":\"make\"}"},"extras":null}"#;
    let result = r#"{"tool_call_id":"c1","return_value":{"is_error":true,"output":"bad","message":"Exit code 2.","display":[],"extras":null}}"#;
    let used = r#"{"context_usage":0.1,"token_usage":{"input_other":10,"output":5,"input_cache_read":99,"input_cache_creation":2},"message_id":"m1"}"#;
    let input = [
        HEAD.to_owned(),
        asks("Go."),
        envelope("StepBegin", r#"{"n":1}"#),
        envelope("ContentPart", r#"{"type":"think","think":"Hm.","encrypted":null}"#),
        says("I "),
        says("begin."),
        envelope("ToolCall", call),
        envelope("ToolResult", result),
        envelope("StatusUpdate", used),
        envelope("StepBegin", r#"{"n":2}"#),
        says("Done."),
        envelope("TurnEnd", "{}"),
    ];
    check(
        Format::KimiWire,
        &input.join("\n"),
        &[
            "2 --- prompt",
            "2 user: Go.",
            "4 thinking: Hm.",
            "5 assistant: I begin.",
            "7 tool: make",
            "8 tool: bad⏎Exit code 2.",
            "8 failed: bad⏎Exit code 2.",
            "11 assistant: Done.",
            "usage 17 tokens, - µ$, - ms",
        ],
    );
    assert_eq!(words(&input.join("\n")), ["Done."]);
}

#[test]
fn a_whole_session_of_kimi_code() {
    let event = |event: &str| {
        format!(r#"{{"type":"context.append_loop_event","event":{event},"time":1782295306000}}"#)
    };
    let part = |part: &str| {
        event(&format!(r#"{{"type":"content.part","uuid":"p","stepUuid":"s1","part":{part}}}"#))
    };
    let message = |role: &str, kind: &str, text: &str| {
        format!(
            r#"{{"type":"context.append_message","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}],"toolCalls":[],"origin":{{"kind":"{kind}"}}}},"time":1}}"#
        )
    };
    let input = [
        r#"{"type":"metadata","protocol_version":"1.5","created_at":1}"#.to_owned(),
        r#"{"type":"turn.prompt","input":[{"type":"text","text":"Go."}],"origin":{"kind":"user"},"time":1}"#
            .to_owned(),
        message("user", "user", "Go."),
        message("user", "injection", "<system-reminder>x</system-reminder>"),
        event(r#"{"type":"step.begin","uuid":"s1","turnId":"0"}"#),
        part(r#"{"type":"think","think":"Hm."}"#),
        part(r#"{"type":"text","text":"I begin."}"#),
        event(
            r#"{"type":"tool.call","stepUuid":"s1","toolCallId":"c1","name":"Bash","args":{"command":"make"}}"#,
        ),
        event(
            r#"{"type":"tool.result","toolCallId":"c1","result":{"output":"bad","isError":true}}"#,
        ),
        r#"{"type":"usage.record","model":"kimi-k3","usage":{"inputOther":10,"output":5,"inputCacheRead":9,"inputCacheCreation":0},"time":1}"#
            .to_owned(),
        message("user", "hook_result", "Tests fail."),
        part(r#"{"type":"text","text":"Done."}"#),
        r#"{"type":"turn.ended","turnId":0,"reason":"completed","time":1}"#.to_owned(),
    ];
    check(
        Format::KimiWire,
        &input.join("\n"),
        &[
            "3 --- prompt",
            "3 user: Go.",
            "4 system: <system-reminder>x</system-reminder>",
            "6 thinking: Hm.",
            "7 assistant: I begin.",
            "8 tool: make",
            "9 tool: bad",
            "9 failed: bad",
            "model kimi-k3",
            "11 --- hook feedback",
            "11 user: Tests fail.",
            "12 assistant: Done.",
            "usage 15 tokens, - µ$, - ms",
        ],
    );
    // Once taken for the events of `codex exec`.
    check(Format::KimiWire, &input[1..3].join("\n"), &["2 --- prompt", "2 user: Go."]);
}

#[test]
fn the_wire_on_standard_output_is_read_as_the_file_is() {
    let event = |params: &str| format!(r#"{{"jsonrpc":"2.0","method":"event","params":{params}}}"#);
    let input = [
        event(r#"{"type":"TurnBegin","payload":{"user_input":[{"type":"text","text":"Go."}]}}"#),
        event(r#"{"type":"ContentPart","payload":{"type":"text","text":"Done."}}"#),
        r#"{"jsonrpc":"2.0","id":"1","result":{"status":"finished"}}"#.to_owned(),
    ];
    check(
        Format::KimiWire,
        &input.join("\n"),
        &["1 --- prompt", "1 user: Go.", "2 assistant: Done."],
    );
}

#[test]
fn what_others_say_is_not_the_agents() {
    let claims = "EXIT_STATUS: COMPLETE";
    let nested = format!(
        r#"{{"parent_tool_call_id":"c1","event":{{"type":"ContentPart","payload":{{"type":"text","text":"{claims}"}}}}}}"#
    );
    for record in [
        envelope("SubagentEvent", &nested),
        envelope("ContentPart", &format!(r#"{{"type":"think","think":"{claims}"}}"#)),
        envelope("Notification", &format!(r#"{{"id":"n","title":"t","body":"{claims}"}}"#)),
        envelope(
            "ToolResult",
            &format!(
                r#"{{"tool_call_id":"c","return_value":{{"is_error":false,"output":"{claims}","message":""}}}}"#
            ),
        ),
    ] {
        let input = [HEAD.to_owned(), says("Not yet."), record.clone()].join("\n");
        assert_eq!(words(&input), ["Not yet."], "{record}");
    }
    let blocked = r#"{"event":"Stop","target":"","action":"block","reason":"Tests fail."}"#;
    for record in
        [asks("More."), envelope("HookResolved", blocked), envelope("CompactionBegin", "{}")]
    {
        let input = [HEAD.to_owned(), says("Done."), record.clone()].join("\n");
        assert_eq!(words(&input), [""; 0], "{record}");
    }
}

#[test]
fn a_log_that_was_cut_off_is_read_as_far_as_it_goes() {
    let whole = [HEAD.to_owned(), asks("Go."), says("Done."), says("And more")].join("\n");
    let cut = &whole[..whole.len() - 9];
    assert_eq!(words(cut), ["Done."]);
    assert!(has_problem(cut, ProblemKind::Torn));
    let mixed = format!("{}\nWarning: slow\n{}\n", [HEAD, &asks("Go.")].join("\n"), says("Done."));
    assert_eq!(words(&mixed), ["Done."]);
    assert!(has_problem(&mixed, ProblemKind::Noise));
}

#[test]
fn what_kimi_prints_as_a_stream_is_read() {
    let call = r#"{"type":"function","id":"c1","function":{"name":"Shell","arguments":"{\"command\":\"make\"}"}}"#;
    let input = [
        format!(r#"{{"role":"assistant","content":"I begin.","tool_calls":[{call}]}}"#),
        r#"{"role":"tool","tool_call_id":"c1","content":"EXIT_STATUS: COMPLETE"}"#.to_owned(),
        r#"{"role":"meta","type":"turn.step.retrying","failed_attempt":1}"#.to_owned(),
        r#"{"role":"assistant","content":[{"type":"think","think":"Hm."},{"type":"text","text":"Done."}]}"#
            .to_owned(),
    ];
    check(
        Format::KimiStream,
        &input.join("\n"),
        &[
            "1 assistant: I begin.",
            "1 tool: make",
            "2 tool: EXIT_STATUS: COMPLETE",
            "4 thinking: Hm.",
            "4 assistant: Done.",
        ],
    );
    // A message without calls is known by the agent's name alone.
    let forced = "kimi".parse::<Forced>().ok();
    let only = br#"{"role":"assistant","content":"Done."}"#;
    let (_, lines) = read_pieces(only, forced, usize::MAX);
    assert_eq!(lines.lines, ["1 assistant: Done."]);
}
