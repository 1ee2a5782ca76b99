//! Gemini CLI: failures, denials, and what several runs have used.

use super::{Format, events};

const INIT: &str = r#"{"type":"init","timestamp":"t","session_id":"s1","model":"gemini-2.5-pro"}"#;

/// The events of a stream after its `init`.
#[track_caller]
fn check_stream(records: &[&str], expected: &[&str]) {
    let input = format!("{INIT}\n{}", records.join("\n"));
    assert_eq!(events(Format::GeminiStream, &input)[2..], *expected, "{input}");
}

fn stats(more: &str) -> String {
    format!(r#"{{"type":"result","timestamp":"t","status":"success","stats":{{{more}}}}}"#)
}

fn ended(status: &str, error: &str) -> String {
    format!(
        r#"{{"type":"result","timestamp":"t","status":"{status}","error":{{{error}}},"stats":{{}}}}"#
    )
}

fn answer(status: &str, output: &str, error: &str) -> String {
    format!(
        r#"{{"type":"tool_result","timestamp":"t","tool_id":"c1","status":"{status}","output":"{output}","error":{{"type":"E","message":"{error}"}}}}"#
    )
}

#[test]
fn the_runs_of_a_stream_add_up_without_what_was_cached() {
    let first = stats(r#""total_tokens":100,"cached":30,"duration_ms":5"#);
    let without_cache = stats(r#""total_tokens":10,"duration_ms":7"#);
    let more_cached_than_used = stats(r#""total_tokens":10,"cached":30"#);
    let runs = [first.as_str(), &without_cache, &more_cached_than_used];
    check_stream(&runs, &["usage 80 tokens, - µ$, 12 ms"]);
    check_stream(&[&stats("")], &[]);
    check_stream(
        &[&stats(r#""total_tokens":"many","duration_ms":3"#)],
        &["usage - tokens, - µ$, 3 ms"],
    );
}

#[test]
fn the_status_that_a_message_quotes_tells_a_limit_from_an_error() {
    for (message, expected) in [
        (r#"{\"error\":{\"code\": 429}}"#, r#"2 limit: {"error":{"code": 429}}"#),
        (r#"{\"error\":{\"code\":529,"#, r#"2 limit: {"error":{"code":529,"#),
        (r#"{\"error\":{\"code\":500}}"#, r#"2 error: {"error":{"code":500}}"#),
        (r#"{\"code\":4}"#, r#"2 error: {"code":4}"#),
    ] {
        let record = ended("error", &format!(r#""type":"E","message":"{message}""#));
        let said = expected.replacen(" limit", " system", 1).replacen(" error:", " system:", 1);
        check_stream(&[&record], &[&said, expected]);
    }
}

#[test]
fn the_field_code_counts_where_the_message_quotes_none() {
    let of = |message: &str, code: i64| {
        let input = format!(
            r#"{{"session_id":"s","error":{{"type":"E","message":"{message}","code":{code}}}}}"#
        );
        events(Format::GeminiJson, &input).pop().unwrap()
    };
    assert_eq!(of("no quota", 429), "1 limit: no quota");
    assert_eq!(of("no quota", 41), "1 error: no quota");
    assert_eq!(of(r#"{\"code\":400}"#, 429), r#"1 error: {"code":400}"#);
}

#[test]
fn a_failure_without_a_message_is_told_by_its_type_and_a_success_fails_in_nothing() {
    let bare = r#""type":"FatalTurnLimitedError""#;
    check_stream(
        &[&ended("error", bare)],
        &["2 system: FatalTurnLimitedError", "2 error: FatalTurnLimitedError"],
    );
    check_stream(&[&ended("success", bare)], &[]);
}

#[test]
fn a_tool_that_failed_is_denied_if_its_answer_says_so() {
    let call = r#"{"type":"tool_use","timestamp":"t","tool_name":"write_file","tool_id":"c1","parameters":{"path":"a"}}"#;
    for (answer, expected) in [
        (
            answer("error", "", "This command requires approval"),
            &["3 tool: This command requires approval", "3 denied: write_file"][..],
        ),
        (
            answer("error", "no such file", "no such file"),
            &["3 tool: no such file", "3 failed: no such file"],
        ),
        (
            answer("error", "cat: a", "no such file"),
            &["3 tool: cat: a", "3 tool: no such file", "3 failed: no such file"],
        ),
        (answer("error", "cat: a", ""), &["3 tool: cat: a", "3 failed: cat: a"]),
        (answer("success", "cat: a", ""), &["3 tool: cat: a"]),
    ] {
        let input = format!("{INIT}\n{call}\n{answer}");
        let all = events(Format::GeminiStream, &input);
        assert_eq!(all[3..], *expected, "{answer}");
    }
}

#[test]
fn a_warning_of_the_client_is_no_error() {
    let error = |severity: &str, text: &str| {
        format!(r#"{{"type":"error","timestamp":"t","severity":"{severity}","message":"{text}"}}"#)
    };
    check_stream(&[&error("warning", "256 colours")], &["2 system: 256 colours"]);
    check_stream(
        &[&error("error", "Loop detected")],
        &["2 system: Loop detected", "2 error: Loop detected"],
    );
    check_stream(
        &[&error("error", "Agent execution stopped: enough")],
        &["2 --- hook feedback", "2 user: enough"],
    );
}

#[test]
fn each_object_of_json_is_a_run_and_their_tokens_add_up() {
    let run = |text: &str, models: &str| {
        format!(r#"{{"session_id":"s1","response":"{text}","stats":{{"models":{{{models}}}}}}}"#)
    };
    let model = |name: &str, total: u64| format!(r#""{name}":{{"tokens":{{"total":{total}}}}}"#);
    let first = run("One.", &[model("pro", 40), model("flash", 50)].join(","));
    let second = run("Two.", &format!(r#"{},"odd":7,"empty":{{}}"#, model("pro", 5)));
    assert_eq!(
        events(Format::GeminiJson, &format!("{first}\n{second}")),
        [
            "session s1",
            "model flash",
            "1 assistant: One.",
            "2 --- prompt",
            "2 assistant: Two.",
            "usage 95 tokens, - µ$, - ms",
        ]
    );
}

const HEADER: &str =
    r#"{"sessionId":"s1","projectHash":"h","startTime":"t","lastUpdated":"t","kind":"main"}"#;

fn message(id: &str, kind: &str, more: &str) -> String {
    format!(r#"{{"id":"{id}","timestamp":"t","type":"{kind}",{more}}}"#)
}

fn tool_call(name: &str, status: &str, response: &str) -> String {
    let result = format!(
        r#"{{"functionResponse":{{"id":"c1","name":"{name}","response":{{{response}}}}}}}"#
    );
    let call = format!(
        r#"{{"id":"c1","name":"{name}","args":{{"command":"make"}},"status":"{status}","result":[{result}]}}"#
    );
    message("g1", "gemini", &format!(r#""content":"","toolCalls":[{call}]"#))
}

#[test]
fn the_report_of_a_command_says_how_it_ended() {
    for (name, response, expected) in [
        (
            "run_shell_command",
            r#""output":"Command: make\nOutput: bad\nExit Code: 0\nError: (none)\nExit Code: 2\nSignal: 0""#,
            &["2 failed: bad⏎Exit Code: 0", "2 ran: make -> 2"][..],
        ),
        (
            "run_shell_command",
            r#""output":"Output: ok\nExit Code: 0\nProcess Group PGID: 7""#,
            &["2 ran: make -> 0"],
        ),
        ("run_shell_command", r#""output":"Output: \nExit Code: 1""#, &["2 ran: make -> 1"]),
        ("run_shell_command", r#""output":"Output: a\nExit Code: none""#, &[]),
        ("run_shell_command", r#""output":"it runs on""#, &[]),
        ("web_fetch", r#""output":"Output: a\nExit Code: 2""#, &[]),
        ("web_fetch", r#""error":"no route""#, &["2 failed: no route"]),
        ("web_fetch", r#""error":"This command requires approval""#, &["2 denied: web_fetch"]),
    ] {
        let input = format!("{HEADER}\n{}", tool_call(name, "success", response));
        let all = events(Format::GeminiSession, &input);
        let facts: Vec<_> = all[1..].iter().filter(|line| !line.contains(" tool: ")).collect();
        assert_eq!(facts, expected, "{response}");
    }
}

#[test]
fn a_call_counts_when_it_has_ended_in_whatever_way() {
    let report = r#""output":"x""#;
    for (status, expected) in [
        ("executing", &[][..]),
        ("awaiting_approval", &[]),
        ("success", &["2 tool: make", "2 tool: x"]),
        ("cancelled", &["2 tool: make", "2 tool: x"]),
        ("error", &["2 tool: make", "2 tool: x", "2 failed: x"]),
    ] {
        let input = format!("{HEADER}\n{}", tool_call("run_shell_command", status, report));
        assert_eq!(events(Format::GeminiSession, &input)[1..], *expected, "{status}");
    }
}

#[test]
fn a_list_that_only_adds_messages_is_read_on_and_takes_nothing_back() {
    let user = message("u1", "user", r#""content":"Go.""#);
    let said = message("g1", "gemini", r#""content":[{"text":"One."},{"text":"Two."}]"#);
    let info = message("i1", "info", r#""content":"Update available""#);
    let set = format!(r#"{{"$set":{{"messages":[{user},{said},{info}]}}}}"#);
    assert_eq!(
        events(Format::GeminiSession, &[HEADER, &user, &set].join("\n")),
        [
            "session s1",
            "2 --- prompt",
            "2 user: Go.",
            "3 assistant: One.⏎Two.",
            "3 system: Update available",
        ]
    );
}

#[test]
fn a_blank_message_begins_no_turn() {
    let blank = message("u1", "user", r#""content":" \n""#);
    let bare = message("u2", "user", r#""content":7"#);
    assert_eq!(events(Format::GeminiSession, &[HEADER, &blank, &bare].join("\n")), ["session s1"]);
}
