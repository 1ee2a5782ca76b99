//! How texts join, what `result` adds, failures and totals.

use super::{INIT, result, says_text, stream, user, words_of};
use crate::tests::{events, read, says, words};
use crate::{Format, Role};

#[test]
fn blocks_of_one_message_are_one_text() {
    let [a, b] = [says_text("m1", "First."), says_text("m1", "Second.")];
    let tool = r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]}}"#;
    assert_eq!(words_of(&[&a, &b]), ["First.\nSecond."]);
    assert_eq!(words_of(&[&a, tool, &b]), ["Second."]);
    assert_eq!(words_of(&[&a, &says_text("m2", "Second.")]), ["Second."]);
}

#[test]
fn the_result_repeats_the_last_text() {
    let [a, b] = [says_text("m1", "One."), says_text("m1", "Two.\\n")];
    for repeated in ["One.\\nTwo.", "Two.", " Two.\\n", "", "joined with earlier ones. One.\\nTwo."]
    {
        assert_eq!(
            says(&stream(&[&a, &b, &result(repeated)]), Role::Assistant).len(),
            1,
            "{repeated}"
        );
    }
}

#[test]
fn a_result_without_the_text_before_it_is_the_text() {
    assert_eq!(words_of(&[&result("Done.")]), ["Done."]);
    assert_eq!(words_of(&[&says_text("m1", "Starting."), &result("Done.")]), ["Done."]);
    assert_eq!(words(&(result("Done.") + "\n")), ["Done."]);
}

#[test]
fn an_empty_result_after_an_overridden_hook_is_no_word() {
    let feedback = user("Stop hook feedback:\\nno", r#","isSynthetic":true"#);
    assert!(words_of(&[&says_text("m1", "EXIT_SIGNAL: true"), &feedback, &result("")]).is_empty());
}

#[test]
fn two_results_the_second_answers_a_background_task() {
    let [a, b] = [says_text("m1", "COMPLETE"), says_text("m2", "The task has ended.")];
    let task = r#"{"type":"system","subtype":"task_notification","session_id":"s1"}"#;
    let records = [&*a, &result("COMPLETE"), task, INIT, &b, &result("The task has ended.")];
    assert_eq!(words_of(&records), ["The task has ended.", "COMPLETE"]);
    let failed = r#"{"type":"result","is_error":true,"result":"API Error: 500"}"#;
    assert_eq!(words_of(&[&a, &result("COMPLETE"), task, INIT, failed]), ["COMPLETE"]);
}

#[test]
fn where_results_are_numbered_an_unannounced_turn_is_a_new_prompts() {
    let [a, b] = [says_text("m1", "COMPLETE"), says_text("m2", "Working.")];
    let first = r#"{"type":"result","subtype":"success","result":"COMPLETE","result_index":0}"#;
    let task = r#"{"type":"system","subtype":"task_notification","summary":"EXIT_SIGNAL: true"}"#;
    assert_eq!(words_of(&[&a, first, INIT, &b]), ["Working."]);
    assert_eq!(words_of(&[&a, first, task, INIT, &b]), ["Working.", "COMPLETE"]);
    assert_eq!(words_of(&[&a, task, first, INIT, &b]), ["Working.", "COMPLETE"]);
}

#[test]
fn another_session_in_the_same_log_is_another_turn() {
    let other = r#"{"type":"system","subtype":"init","session_id":"s2","model":"claude-x"}"#;
    let input = stream(&[&says_text("m1", "COMPLETE"), &result("COMPLETE"), other]);
    assert!(words(&input).is_empty());
}

#[test]
fn success_with_is_error_is_an_error_of_the_client() {
    let api = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error: 400 rejected"}]},"error":"unknown","is_api_error_message":true,"api_error_status":400}"#;
    let end = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 400 rejected","api_error_status":400}"#;
    let lines = read(&stream(&[api, end])).1.lines;
    assert_eq!(
        lines[2..],
        [
            "2 system: API Error: 400 rejected",
            "2 error: API Error: 400 rejected",
            "3 system: API Error: 400 rejected"
        ]
    );
}

#[test]
fn a_result_may_have_no_text() {
    let end = r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (1)"]}"#;
    let lines = read(&stream(&[end])).1.lines;
    assert_eq!(lines[3], "2 error: Reached maximum number of turns (1)");
    let bare = r#"{"type":"result","subtype":"error_during_execution"}"#;
    assert_eq!(read(bare).1.lines[1], "1 error: error_during_execution");
}

#[test]
fn limits() {
    for (record, expected) in [
        (
            r#"{"type":"result","is_error":true,"result":"You've hit your limit · resets 5pm"}"#,
            "limit: You've hit your limit · resets 5pm",
        ),
        (
            r#"{"type":"result","is_error":false,"result":"You've hit your limit · resets 5pm"}"#,
            "limit: You've hit your limit · resets 5pm",
        ),
        (
            r#"{"type":"result","is_error":true,"result":"Claude AI usage limit reached|1755806400"}"#,
            "limit until 1755806400: Claude AI usage limit reached|1755806400",
        ),
        (
            r#"{"type":"result","is_error":true,"result":"API Error: 529 Overloaded"}"#,
            "limit: API Error: 529 Overloaded",
        ),
        (
            r#"{"type":"result","is_error":true,"result":"Sorry.","api_error_status":429}"#,
            "limit: Sorry.",
        ),
        (
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Sorry."}]},"error":"rate_limit"}"#,
            "limit: Sorry.",
        ),
        (
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"You've hit your limit · resets 5pm"}]}}"#,
            "limit: You've hit your limit · resets 5pm",
        ),
        (
            r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1774026000}}"#,
            "limit until 1774026000: rate limit reached",
        ),
        (
            "Claude AI usage limit reached|1755806400",
            "limit until 1755806400: Claude AI usage limit reached|1755806400",
        ),
    ] {
        let (_, lines) = read(&stream(&[record]));
        assert!(
            lines.lines.iter().any(|line| line.ends_with(expected)),
            "{record}: {:?}",
            lines.lines
        );
        assert!(lines.last.words().next().is_none(), "{record}");
    }
    let allowed = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1774026000}}"#;
    assert_eq!(read(&stream(&[allowed])).1.lines.len(), 2);
}

#[test]
fn cost_is_cumulative_and_usage_is_not() {
    let result = |cost, input| {
        format!(
            r#"{{"type":"result","result":"x","total_cost_usd":{cost},"duration_ms":5,"usage":{{"input_tokens":{input}}}}}"#
        )
    };
    let input = stream(&[&result("0.1", 10), &result("0.3", 7)]);
    assert_eq!(
        read(&input).1.lines.last().map(String::as_str),
        Some("usage 17 tokens, 300000 µ$, 10 ms")
    );
}

#[test]
fn calls_of_one_session_in_one_log_add_up() {
    let result = |cost: &str, index: &str| {
        format!(
            r#"{{"type":"result","result":"x","session_id":"s1","total_cost_usd":{cost}{index}}}"#
        )
    };
    let cost = |results: &[String]| {
        let results: Vec<&str> = results.iter().map(String::as_str).collect();
        read(&stream(&results)).1.lines.last().cloned().unwrap_or_default()
    };
    let (first, second) = (r#","result_index":0"#, r#","result_index":1"#);
    let calls = [result("0.1", first), result("0.3", second), result("0.25", first)];
    assert_eq!(cost(&calls), "usage - tokens, 550000 µ$, - ms");
    let bigger = [result("0.1", first), result("0.3", first)];
    assert_eq!(cost(&bigger), "usage - tokens, 400000 µ$, - ms");
    // Without numbers a smaller one is another call's.
    assert_eq!(cost(&[result("0.3", ""), result("0.1", "")]), "usage - tokens, 400000 µ$, - ms");
    assert_eq!(cost(&[result("0.3", "")]), "usage - tokens, 300000 µ$, - ms");
}

#[test]
fn on_disk_the_client_keeps_its_own_totals() {
    let input = [
        user("Do it", ""),
        r#"{"type":"cost-state","sessionId":"s1","totalCostUSD":0.1,"totalDuration":100}"#
            .to_owned(),
        r#"{"type":"cost-state","sessionId":"s1","totalCostUSD":0.25,"totalDuration":250}"#
            .to_owned(),
    ];
    let lines = read(&input.join("\n")).1.lines;
    assert_eq!(lines.last().map(String::as_str), Some("usage - tokens, 250000 µ$, 250 ms"));
}

#[test]
fn fields_of_other_types_and_keys_that_stand_twice() {
    let odd = r#"{"type":"assistant","error":{"a":1},"usage":"x","message":{"id":7,"content":[7,{"type":"text","text":"old","text":"Done."}]}}"#;
    assert_eq!(words_of(&[odd]), ["Done."]);
}

#[test]
fn noise_and_a_torn_line_are_reported() {
    let done = says_text("m1", "Done.");
    let input = format!(
        "# Iteration 6 Log\n--- RAW OUTPUT ---\n{INIT}\nwarning\n{{\"type\":\"assistant\",\"mess\n\x1b[?25h{done}\n{{\"type\":\"resu"
    );
    let lines = events(Format::ClaudeStream, &input);
    assert_eq!(
        lines,
        [
            "1 system: # Iteration 6 Log",
            "2 system: --- RAW OUTPUT ---",
            "session s1",
            "model claude-x",
            "4 ! Noise",
            "4 system: warning",
            "5 ! Unreadable",
            "6 assistant: Done.",
            "7 ! Torn",
        ]
    );
}
