//! What each format tells of a turn's trouble.

use super::super::Signature;
use super::cases::effort;

const ASKED: &str = r#"{"type":"user","sessionId":"s","message":{"content":"Go"}}"#;

fn claude_says(text: &str) -> String {
    format!(
        r#"{{"type":"assistant","sessionId":"s","message":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

fn claude_ran(answer: &str, more: &str) -> String {
    [
        r#"{"type":"assistant","sessionId":"s","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}}"#,
        &format!(
            r#"{{"type":"user","sessionId":"s","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"{answer}"}}]}}{more}}}"#
        ),
    ]
    .join("\n")
}

fn signature(transcript: &str) -> String {
    effort(transcript).signature.as_ref().map_or("", Signature::as_str).to_owned()
}

#[test]
fn failed_tool_results_of_the_final_turn() {
    let claude = [ASKED, &claude_ran("Exit code 2\\nerror: no rule", ""), &claude_says("Hm.")];
    let exec = r#"{"type":"thread.started","thread_id":"t"}
{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"make","aggregated_output":"error: no rule\n","exit_code":2,"status":"failed"}}
{"type":"item.completed","item":{"id":"2","type":"agent_message","text":"Hm."}}"#;
    let rollout = r#"{"type":"session_meta","payload":{"id":"x"}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c","arguments":"{\"command\":[\"make\"]}"}}
{"type":"event_msg","payload":{"type":"exec_command_end","call_id":"c","exit_code":2}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"Exit code: 2\nWall time: 0.1 seconds\nOutput:\nerror: no rule\n"}}"#;
    let older = r#"{"type":"session_meta","payload":{"id":"x"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":\"error: no rule\\n\",\"metadata\":{\"exit_code\":2}}"}}"#;
    let log = "OpenAI Codex v0.169.0\n--------\nmodel: m\n--------\nuser\nGo\nexec\nmake in /w\n exited 2 in 5ms:\nerror: no rule\n\ncodex\nHm.\n";
    let opencode = r#"{"type":"tool_use","sessionID":"s","part":{"tool":"bash","callID":"c","state":{"status":"completed","output":"error: no rule\n","metadata":{"exit":2}}}}"#;
    let opencode_edit = r#"{"type":"tool_use","sessionID":"s","part":{"tool":"edit","callID":"c","state":{"status":"error","error":"error: no rule"}}}"#;
    for transcript in [&*claude.join("\n"), exec, rollout, older, log, opencode, opencode_edit] {
        assert_eq!(signature(transcript), "error: no rule", "{transcript}");
    }
}

#[test]
fn what_has_failed_in_an_earlier_turn_is_over() {
    let failed = claude_ran("Exit code 2\\nerror: no rule", "");
    assert_eq!(signature(&[ASKED, &failed, ASKED, &claude_says("Fine.")].join("\n")), "");
}

#[test]
fn a_denied_call_is_no_failed_one() {
    let claude = claude_ran("Claude requested permissions to use Bash, but nobody allowed it", "");
    let marked = claude_ran("Not now", r#","toolDenialKind":"user-rejected""#);
    let exec = r#"{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"make","aggregated_output":"","exit_code":null,"status":"declined"}}"#;
    let rollout = r#"{"type":"session_meta","payload":{"id":"x"}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c","arguments":"{}"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"exec command rejected by user"}}"#;
    let opencode = r#"{"type":"tool_use","sessionID":"s","part":{"tool":"bash","callID":"c","state":{"status":"error","error":"The user rejected permission to use this specific tool call."}}}"#;
    for (transcript, tool) in [
        (&*format!("{ASKED}\n{claude}"), "Bash"),
        (&*format!("{ASKED}\n{marked}"), "Bash"),
        (exec, "command_execution"),
        (rollout, "shell"),
        (opencode, "bash"),
    ] {
        let effort = effort(transcript);
        assert_eq!(
            (&*effort.denied, effort.signature),
            (&[tool.to_owned()][..], None),
            "{transcript}"
        );
    }
}

#[test]
fn a_denial_that_is_told_three_times_is_one() {
    let told = r#"{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"t1","session_id":"s"}"#;
    let end = r#"{"type":"result","is_error":false,"result":"Hm.","session_id":"s","permission_denials":[{"tool_name":"Bash","tool_use_id":"t1"}]}"#;
    let stream = [told, &claude_ran("This command requires approval", ""), end].join("\n");
    let scan = crate::scan(stream.as_bytes(), &crate::Policy::default()).unwrap();
    assert_eq!(scan.transcript.denials.len(), 1);
    assert_eq!(scan.effort.denied, ["Bash"]);
}

#[test]
fn errors_of_the_api_come_before_failed_tools_and_those_before_the_last_word() {
    let failed = claude_ran("Exit code 2\\nerror: no rule", "");
    let word = claude_says("error: I gave up");
    let api = r#"{"type":"assistant","sessionId":"s","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":[{"type":"text","text":"Invalid API key · Please run /login"}]}}"#;
    assert_eq!(signature(&[ASKED, &word].join("\n")), "error: I gave up");
    assert_eq!(signature(&[ASKED, &failed, &word].join("\n")), "error: no rule");
    let all = [ASKED, &failed, &word, api].join("\n");
    assert_eq!(signature(&all), "Invalid API key · Please run login");
    let over = [ASKED, api, &claude_says("Logged in again.")].join("\n");
    assert_eq!(signature(&over), "");
}

#[test]
fn in_a_log_a_later_message_tells_that_an_error_is_over() {
    let log = |rest| {
        let head = "OpenAI Codex v0.169.0\n--------\nmodel: m\n--------\nuser\nGo\n";
        effort(&format!("{head}codex\nOn it.\nERROR: You've hit your usage limit.\n{rest}"))
    };
    assert!(log("Try again at noon.\n").limited.is_some());
    assert!(log("codex\nI went on.\n").limited.is_none());
}

#[test]
fn how_much_the_agent_wrote_in_its_final_turn() {
    for (transcript, characters) in [
        ("Done: ü.".to_owned(), 8),
        ([ASKED, &claude_says("Done."), &claude_says("ü")].join("\n"), 6),
        ([ASKED, &claude_says("Done."), ASKED, &claude_says("ü")].join("\n"), 1),
        ([ASKED, &claude_ran("a long answer", "")].join("\n"), 0),
    ] {
        assert_eq!(effort(&transcript).output, characters, "{transcript}");
    }
}
