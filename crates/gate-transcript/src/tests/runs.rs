//! Several runs in one log: what the first one said is not the last word.

use super::{Format, events, words};

/// What says that it is complete, in a run that ended.
fn done(records: &[&str]) -> String {
    let input = records.join("\n");
    assert_eq!(words(&input).first().map(|word| word.trim()), Some("COMPLETE"), "{input}");
    input
}

/// Each of these, after the first run, ends its word.
fn ends(first: &str, rest: &[&str]) {
    for after in rest {
        let words = words(&format!("{first}\n{after}"));
        assert!(!words.iter().any(|word| word.contains("COMPLETE")), "{after}: {words:?}");
    }
}

const CLAUDE: &str = r#"{"type":"system","subtype":"init","session_id":"s1","model":"m"}"#;

fn says(text: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"{text}","model":"m","content":[{{"type":"text","text":"{text}"}}]}},"session_id":"s1"}}"#
    )
}

fn answer(text: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"{text}"}}]}},"session_id":"s1"}}"#
    )
}

fn result(text: &str, more: &str) -> String {
    format!(r#"{{"type":"result","subtype":"success","result":"{text}","session_id":"s1"{more}}}"#)
}

#[test]
fn a_session_of_claude_code_that_goes_on() {
    for index in ["", r#","result_index":0"#] {
        let claim = result("COMPLETE", index);
        let failed = result("API Error: 500", &format!(r#","is_error":true{index}"#));
        let first = done(&[CLAUDE, &says("COMPLETE"), &claim]);
        let working = result("Working.", index);
        let rest = [CLAUDE, &failed, &working, &format!("{CLAUDE}\n{failed}")];
        ends(&first, &rest);
        ends(&first, &[&format!("{CLAUDE}\n{}\n{working}", says("Working."))]);
        ends(&done(&[&claim]), &[&failed, &working]);
    }
}

#[test]
fn a_run_that_counts_from_zero_answers_no_event() {
    let claim = result("COMPLETE", r#","result_index":0"#);
    let task = r#"{"type":"system","subtype":"task_notification","session_id":"s1"}"#;
    let first = done(&[CLAUDE, &says("COMPLETE"), task, &claim]);
    let second = [CLAUDE, &says("Working."), &result("Working.", r#","result_index":0"#)];
    ends(&first, &[&second.join("\n")]);
}

#[test]
fn before_results_were_numbered_a_task_that_runs_on_may_wake_the_agent() {
    let again = [CLAUDE, &says("It has ended."), &result("It has ended.", "")].join("\n");
    let started = answer("Command running in background with ID: b1.");
    let read = [&*answer("It talks of the background."), &started].map(|tool| {
        words(&[CLAUDE, tool, &says("COMPLETE"), &result("COMPLETE", ""), &again].join("\n"))
    });
    assert_eq!(read[0], ["It has ended."]);
    assert_eq!(read[1], ["It has ended.", "COMPLETE"]);
}

#[test]
fn qwen_code_and_amp_wake_nobody() {
    let qwen = CLAUDE.replace("\"model\"", "\"qwen_code_version\":\"0\",\"model\"");
    let amp = CLAUDE.replace("s1", "T-s1");
    for init in [&qwen, &amp] {
        let session = |record: String| match init == &amp {
            true => record.replace("s1", "T-s1"),
            false => record,
        };
        let started = session(answer("Command running in background with ID: b1."));
        let claim = session(result("COMPLETE", ""));
        let first = done(&[init, &started, &session(says("COMPLETE")), &claim]);
        let failed = session(result("No.", r#","is_error":true"#));
        ends(&first, &[init, &failed, &format!("{init}\n{}", session(says("Working.")))]);
    }
}

#[test]
fn a_failure_alone_is_claude_codes_and_qwen_code_words_its_own_in_an_object() {
    let failed = result("API Error: 500", r#","is_error":true"#);
    assert!(events(Format::ClaudeStream, &format!("{CLAUDE}\n{failed}")).len() > 2);
    let init = CLAUDE.replace("\"model\"", "\"qwen_code_version\":\"0\",\"model\"");
    let limit = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"s1","error":{"type":"x","message":"429 rate limit exceeded"}}"#;
    let events = events(Format::QwenStream, &format!("{init}\n{limit}"));
    assert_eq!(events.last().map(String::as_str), Some("2 limit: 429 rate limit exceeded"));
}

#[test]
fn droid() {
    let init = r#"{"type":"system","subtype":"init","session_id":"s1","tools":[],"model":"m"}"#;
    let claim =
        r#"{"type":"message","role":"assistant","id":"1","text":"COMPLETE","session_id":"s1"}"#;
    let end = r#"{"type":"completion","finalText":"COMPLETE","session_id":"s1"}"#;
    let other = init.replace("s1", "s2");
    let first = done(&[init, claim, end]);
    let failed = format!("{other}\n{}", r#"{"type":"error","message":"No.","session_id":"s2"}"#);
    let empty = format!("{other}\n{}", end.replace("COMPLETE", "").replace("s1", "s2"));
    ends(&first, &[init, &other, &failed, &empty]);
}

#[test]
fn opencode() {
    let claim = r#"{"type":"text","sessionID":"a","part":{"messageID":"m","type":"text","text":"COMPLETE"}}"#;
    let end =
        r#"{"type":"step_finish","sessionID":"a","part":{"type":"step-finish","reason":"stop"}}"#;
    let failed = r#"{"type":"error","sessionID":"b","error":{"name":"APIError"}}"#;
    let first = done(&[claim, end]);
    ends(&first, &[failed, &failed.replace("\"b\"", "\"a\""), &end.replace("\"a\"", "\"b\"")]);
    let message =
        r#"{"info":{"id":"m","role":"assistant"},"parts":[{"type":"text","text":"COMPLETE"}]}"#;
    let export = format!(r#"{{"info":{{"id":"a"}},"messages":[{message}]}}"#);
    ends(&done(&[&export]), &[r#"{"info":{"id":"b"},"messages":[]}"#]);
}

#[test]
fn objects_that_are_a_whole_run() {
    let gemini = r#"{"session_id":"s","response":"COMPLETE","stats":{}}"#;
    let failed = r#"{"session_id":"t","error":{"type":"E","message":"quota","code":429}}"#;
    ends(&done(&[gemini]), &[failed, &gemini.replace("COMPLETE", "")]);
    let cursor = r#"{"type":"result","subtype":"success","duration_api_ms":1,"is_error":false,"result":"COMPLETE","session_id":"s","request_id":"r"}"#;
    let failed = cursor.replace("false", "true").replace("COMPLETE", "No.");
    ends(&done(&[cursor]), &[&failed, &cursor.replace("COMPLETE", "")]);
    done(&[cursor, cursor]);
    let goose = r#"{"messages":[{"role":"assistant","created":1,"content":[{"type":"text","text":"COMPLETE"}]}],"metadata":{"total_tokens":1}}"#;
    ends(&done(&[goose]), &[r#"{"messages":[],"metadata":{"status":"error"}}"#]);
    let chat = r#"[{"role":"user","content":"Go."},{"role":"assistant","content":"COMPLETE"}]"#;
    ends(&done(&[chat]), &[r#"[{"role":"system","content":"You code."}]"#]);
}

#[test]
fn streams() {
    let goose = r#"{"type":"message","message":{"id":"1","role":"assistant","created":1,"content":[{"type":"text","text":"COMPLETE"}]}}"#;
    let end = r#"{"type":"complete","total_tokens":1}"#;
    ends(&done(&[goose, end]), &[r#"{"type":"error","error":"No."}"#, end]);
    let init = r#"{"type":"init","timestamp":"t","session_id":"s1","model":"g"}"#;
    let claim = r#"{"type":"message","timestamp":"t","role":"assistant","content":"COMPLETE"}"#;
    let stopped = r#"{"type":"error","timestamp":"t","severity":"warning","message":"Agent execution stopped: no"}"#;
    ends(&done(&[init, claim]), &[init, stopped]);
}
