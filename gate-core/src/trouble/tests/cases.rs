//! Cases of the field, named after their ids, in our own words.

use super::super::Effort;
use crate::Policy;

/// What a transcript tells the breaker.
pub(super) fn effort(transcript: &str) -> Effort {
    crate::scan(transcript.as_bytes(), &Policy::default()).unwrap().effort
}

fn result(is_error: bool, text: &str, more: &str) -> String {
    let record = serde_json::json!({
        "type": "result", "subtype": "success", "is_error": is_error, "result": text,
        "session_id": "s1", "num_turns": 3,
    });
    let mut record = record.to_string();
    record.pop();
    format!("{record}{more}}}")
}

fn signature(transcript: &str) -> Option<String> {
    effort(transcript).signature.map(String::from)
}

fn limit(transcript: &str) -> Option<(String, Option<i64>)> {
    effort(transcript).limited.map(|limited| (limited.text, limited.resets_at))
}

fn denied(denials: &str) -> Vec<String> {
    let more = format!(r#","permission_denials":[{denials}]"#);
    effort(&result(false, "Went on without it.", &more)).denied
}

#[test]
fn rf_028_a_denied_compound_command_is_one_denied_tool() {
    let twice = r#"{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"make | tail"}},{"tool_name":"Bash","tool_use_id":"t2"}"#;
    assert_eq!(denied(twice), ["Bash"]);
}

#[test]
fn rf_029_one_denial_is_no_error() {
    let more = r#","permission_denials":[{"tool_name":"WebFetch","tool_use_id":"t1"}]"#;
    let effort = effort(&result(false, "No network, so I wrote it by hand.", more));
    assert_eq!((effort.denied, effort.signature), (vec!["WebFetch".to_owned()], None));
}

#[test]
fn rf_030_a_question_that_nobody_answers_is_no_denial() {
    for tool in ["AskUserQuestion", "ask_user", "question", "request_user_input"] {
        let denial = format!(r#"{{"tool_name":"{tool}","tool_use_id":"t1"}}"#);
        assert!(denied(&denial).is_empty(), "{tool}");
    }
}

#[test]
fn rf_031_a_denial_of_an_earlier_turn_is_over() {
    let session = [
        r#"{"type":"user","sessionId":"s","message":{"content":"Go"}}"#,
        r#"{"type":"assistant","sessionId":"s","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"docker ps"}}]}}"#,
        r#"{"type":"user","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"This command requires approval"}]}}"#,
    ]
    .join("\n");
    assert_eq!(effort(&session).denied, ["Bash"]);
    let prompt = r#"{"type":"user","sessionId":"s","message":{"content":"It may now."}}"#;
    assert!(effort(&format!("{session}\n{prompt}")).denied.is_empty());
}

#[test]
fn rf_062_fields_that_deny_an_error_are_none() {
    let pretty = "{\n  \"type\": \"result\",\n  \"is_error\": false,\n  \"error\": null,\n  \"result\": \"The form is there.\\n0 errors, no failures\"\n}";
    assert_eq!(signature(pretty), None);
    assert_eq!(signature("Built it.\n\"is_error\": false\nerrors: 0\nError: none"), None);
}

#[test]
fn rf_068_different_errors_have_different_signatures() {
    let missing = |module: &str| {
        signature(&format!("Error: cannot find module './{module}'\nWriting {module} now.\n"))
    };
    assert_eq!(missing("cart").as_deref(), Some("Error: cannot find module 'cart'"));
    assert_ne!(missing("cart"), missing("user"));
    assert_eq!(missing("cart"), missing("../shop/cart"));
}

#[test]
fn rf_071_an_outage_is_a_limit() {
    for (text, status) in [
        ("API Error: the server limits requests for now", r#","api_error_status":429"#),
        ("API Error: Overloaded", ""),
        ("API Error: 529 try again", ""),
    ] {
        let transcript = result(true, text, status);
        assert_eq!(limit(&transcript), Some((text.to_owned(), None)), "{text}");
        assert_eq!(signature(&transcript), None, "{text}");
    }
}

#[test]
fn rf_073_a_limit_in_a_tool_s_answer_is_none() {
    let session = [
        r#"{"type":"system","subtype":"init","session_id":"s"}"#,
        r#"{"type":"assistant","session_id":"s","message":{"id":"m","content":[{"type":"text","text":"Reading."},{"type":"tool_use","id":"t","name":"Read","input":{}}]}}"#,
        r#"{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"You've hit your 5-hour limit: what the runner then does"}]}}"#,
    ];
    assert_eq!(limit(&session.join("\n")), None);
}

#[test]
fn rf_074_who_builds_a_limiter_is_not_limited() {
    for text in [
        "The limiter answers `usage limit reached` now.\n\nNext: the 5-hour limit.\nSegmentation fault",
        "Usage limit reached is what the limiter says after ten requests.",
        "Weekly limit reached handling is done.",
        "I print \"You've hit your limit\" on the page.",
    ] {
        assert_eq!(limit(text), None, "{text}");
        assert_eq!(limit(&result(false, text, "")), None, "{text}");
    }
}

#[test]
fn rf_077_the_same_error_of_the_api_has_the_same_signature() {
    let failed =
        |id| signature(&result(true, &format!("API Error: 400 tool calls overlap (req_{id})"), ""));
    assert_eq!(
        failed("011CQabcdefghijkLM").as_deref(),
        Some("API Error: <n> tool calls overlap (<id>)")
    );
    assert_eq!(failed("011CQabcdefghijkLM"), failed("022DRzyxwvutsrqpON"));
}

#[test]
fn rf_093_a_plan_that_nobody_approves_is_no_denial() {
    for tool in ["ExitPlanMode", "exit_plan_mode", "EnterPlanMode"] {
        let denial = format!(r#"{{"tool_name":"{tool}","tool_use_id":"t1"}}"#);
        assert!(denied(&denial).is_empty(), "{tool}");
    }
}

#[test]
fn rf_095_a_rejected_event_is_a_limit_with_its_end() {
    let event = |status| {
        format!(
            r#"{{"type":"rate_limit_event","session_id":"s1","rate_limit_info":{{"status":"{status}","resetsAt":1774026000}}}}"#
        )
    };
    let rejected = limit(&event("rejected"));
    assert_eq!(rejected, Some(("rate limit reached".to_owned(), Some(1_774_026_000))));
    assert_eq!(limit(&event("allowed")), None);
    let notice = "You've hit your limit · resets 5pm";
    let both = format!("{}\n{}", event("rejected"), result(true, notice, ""));
    assert_eq!(limit(&both), Some((notice.to_owned(), Some(1_774_026_000))));
    let over = format!("{}\n{}", event("rejected"), result(false, "Waited, then wrote it.", ""));
    assert_eq!(limit(&over), None);
}

#[test]
fn rf_096_newer_wordings_of_a_limit() {
    for text in [
        "You've hit your limit · resets 1am (Asia/Tokyo)",
        "You've hit your session limit · resets 3:30pm",
        "You've reached your individual spend limit",
        "You're out of extra usage · resets 6pm",
        "Claude AI usage limit reached|1755806400",
    ] {
        assert!(limit(text).is_some(), "{text}");
        assert!(limit(&result(true, text, "")).is_some(), "{text}");
    }
    assert_eq!(
        limit("Claude AI usage limit reached|1755806400").and_then(|limit| limit.1),
        Some(1_755_806_400)
    );
}

#[test]
fn rf_097_a_notice_without_an_error_is_a_limit() {
    let notice = "You've hit your limit · resets 5pm (Europe/Riga)";
    for transcript in [notice.to_owned(), format!("{notice}\n"), result(false, notice, "")] {
        assert_eq!(limit(&transcript), Some((notice.to_owned(), None)), "{transcript}");
    }
}
