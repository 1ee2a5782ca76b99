//! Ends of Claude Code's turns: the cause of a failure, limits, and what was spent.

use super::{INIT, result, says_text, stream, words_of};
use crate::tests::{read, words};

fn ended(more: &str) -> String {
    format!(r#"{{"type":"result","session_id":"s1",{more}}}"#)
}

fn facts(records: &[&str]) -> Vec<String> {
    read(&stream(records)).1.lines[2..].to_vec()
}

fn last_fact(records: &[&str]) -> String {
    facts(records).pop().unwrap()
}

#[test]
fn a_failure_is_told_by_the_first_cause_that_says_anything_new() {
    for (more, expected) in [
        (r#""is_error":true,"subtype":"x","result":"No key","errors":["e"]"#, "2 error: No key"),
        (r#""is_error":true,"subtype":"x","result":" ","errors":["e","f"]"#, "2 error: e"),
        (r#""is_error":true,"subtype":"x","error":{"message":"m"}"#, "2 error: m"),
        (r#""is_error":true,"subtype":"x","error":"told""#, "2 error: told"),
        (r#""is_error":true,"subtype":"x""#, "2 error: x"),
        (r#""subtype":"error_max_turns","errors":[]"#, "2 error: error_max_turns"),
    ] {
        assert_eq!(last_fact(&[&ended(more)]), expected, "{more}");
    }
    let failed = ended(r#""is_error":true,"subtype":"x","result":"Done.","errors":["e"]"#);
    let lines = facts(&[&says_text("m1", "Done."), &failed]);
    assert_eq!(lines, ["2 assistant: Done.", "3 system: e", "3 error: e"]);
}

#[test]
fn a_statuss_number_makes_an_error_a_limit() {
    for (more, expected) in [
        (r#""api_error_status":529"#, "2 limit: Sorry."),
        (r#""apiErrorStatus":429"#, "2 limit: Sorry."),
        (r#""api_error_status":500"#, "2 error: Sorry."),
        (r#""error":"rate_limit","api_error_status":500"#, "2 limit: Sorry."),
        (r#""error":"server_error""#, "2 error: Sorry."),
    ] {
        let record = format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"Sorry."}}]}},"isApiErrorMessage":true,{more}}}"#
        );
        assert_eq!(last_fact(&[&record]), expected, "{more}");
    }
}

#[test]
fn a_message_of_the_client_that_is_no_failure_is_the_systems_alone() {
    let synthetic = |text: &str| {
        let record = format!(
            r#"{{"type":"assistant","message":{{"model":"<synthetic>","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        );
        facts(&[&record])
    };
    assert_eq!(synthetic("No response requested."), ["2 system: No response requested."]);
    let failed = "API Error: 500 Internal";
    assert_eq!(synthetic(failed), [format!("2 system: {failed}"), format!("2 error: {failed}")]);
}

#[test]
fn only_a_rejected_limit_ends_a_turn_and_its_time_may_be_in_milliseconds() {
    let event = |info: &str| {
        facts(&[&format!(r#"{{"type":"rate_limit_event","rate_limit_info":{{{info}}}}}"#)])
    };
    let none = [""; 0];
    assert_eq!(
        event(r#""status":"rejected","resetsAt":1774026000123"#),
        ["2 limit until 1774026000: rate limit reached"]
    );
    assert_eq!(event(r#""status":"rejected","resetsAt":17"#), ["2 limit: rate limit reached"]);
    assert_eq!(event(r#""status":"rejected""#), ["2 limit: rate limit reached"]);
    assert_eq!(event(r#""status":"allowed_warning","resetsAt":1774026000"#), none);
}

fn costs(tokens: u64, more: &str) -> String {
    ended(&format!(r#""result":"x","usage":{{"input_tokens":{tokens}}}{more}"#))
}

fn spends(id: &str, tokens: u64) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"{id}","content":[],"usage":{{"output_tokens":{tokens}}}}}}}"#
    )
}

#[test]
fn a_results_usage_stands_for_the_messages_before_it_and_not_for_those_after() {
    let usage = |records: &[&str]| last_fact(records);
    let (one, two, again) = (spends("m1", 5), spends("m2", 7), spends("m1", 9));
    assert_eq!(usage(&[&one, &two, &again]), "usage 16 tokens, - µ$, - ms");
    assert_eq!(usage(&[&one, &two, &costs(100, "")]), "usage 100 tokens, - µ$, - ms");
    assert_eq!(usage(&[&one, &costs(100, ""), &two]), "usage 107 tokens, - µ$, - ms");
    let silent = ended(r#""result":"x","duration_ms":3"#);
    assert_eq!(usage(&[&one, &silent, &two]), "usage 12 tokens, - µ$, 3 ms");
}

#[test]
fn what_was_read_from_a_cache_is_left_out_and_what_was_written_to_it_is_not() {
    let usage = r#""usage":{"input_tokens":1,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":4000}"#;
    let end = ended(&format!(r#""result":"x",{usage}"#));
    assert_eq!(last_fact(&[&end]), "usage 4021 tokens, - µ$, - ms");
}

#[test]
fn cost_adds_up_over_sessions_and_stays_where_one_tells_none() {
    let cost = |session: &str, dollars: &str| {
        costs(1, &format!(r#","total_cost_usd":{dollars}"#)).replace("s1", session)
    };
    let all = [&*cost("s1", "0.5"), &cost("s2", "0.25"), &cost("s2", "0.75")];
    assert_eq!(last_fact(&all), "usage 3 tokens, 1250000 µ$, - ms");
    let silent = costs(1, "").replace("s1", "s2");
    let all = [&*cost("s1", "0.5"), &silent];
    assert_eq!(last_fact(&all), "usage 2 tokens, 500000 µ$, - ms");
    assert_eq!(last_fact(&[&cost("s1", "-1")]), "usage 1 tokens, - µ$, - ms");
}

/// Events after a claim and its result, and whether the next words are a new prompt's.
#[track_caller]
fn next_words(between: &[&str], expected: &[&str]) {
    let (claim, again) = (says_text("m1", "COMPLETE"), says_text("m2", "It ended."));
    let mut records = vec![&*claim];
    records.extend(between);
    records.push(&again);
    assert_eq!(words_of(&records), expected, "{between:?}");
}

#[test]
fn an_announced_task_wakes_the_agent_until_its_report_has_come() {
    let task = r#"{"type":"system","subtype":"task_notification","session_id":"s1"}"#;
    let report = super::user("<task-notification>it ended", "");
    let end = result("COMPLETE");
    let woken = &["It ended.", "COMPLETE"];
    next_words(&[&end, task], woken);
    next_words(&[&end, task, INIT], woken);
    next_words(&[task, &end], woken);
    next_words(&[&end], &["It ended."]);
    next_words(&[task, &report, &end, INIT], &["It ended."]);
    let answered = end.replace("\"subtype\"", r#""origin":{"kind":"task-notification"},"subtype""#);
    next_words(&[task, &answered], &["It ended."]);
}

#[test]
fn a_task_that_runs_on_may_wake_the_agent_after_each_result() {
    let tool = |answer: &str| {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"{answer}"}}]}},"session_id":"s1"}}"#
        )
    };
    let end = result("COMPLETE");
    for answer in [
        "Command was manually backgrounded by user with ID: b1",
        "Async agent launched successfully.",
    ] {
        let (started, claim, again) =
            (tool(answer), says_text("m1", "COMPLETE"), says_text("m2", "It ended."));
        let run = [&*started, &claim, &end, INIT, &again];
        assert_eq!(words_of(&run), ["It ended.", "COMPLETE"], "{answer}");
        let end = result("It ended.");
        let third = says_text("m3", "More.");
        let run = [&run[..], &[end.as_str(), INIT, &third]].concat();
        assert_eq!(words(&stream(&run)), ["More.", "It ended.", "COMPLETE"], "{answer}");
    }
}
