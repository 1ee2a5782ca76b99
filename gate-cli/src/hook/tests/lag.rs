//! A transcript that is behind its client, as each client shows it.

use serde_json::{Value, json};

use super::super::{Payload, RecentRecords, TranscriptLag, client};
use crate::agent::Agent;

const CALLED_AT: i64 = 1_795_294_161_298;

fn lag(agent: Agent, payload: &Value, transcript: &str, last_message: &str) -> TranscriptLag {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.jsonl");
    std::fs::write(&file, transcript).unwrap();
    let records = RecentRecords::read(&file);
    client(agent).transcript_lag(&Payload::new(payload, &[]), &records, last_message)
}

/// Copilot's lag at a stop of `CALLED_AT` after these records.
#[track_caller]
fn check_copilot(records: &[Value], expected: TranscriptLag) {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    let payload = json!({ "stopReason": "end_turn", "timestamp": CALLED_AT });
    assert_eq!(lag(Agent::Copilot, &payload, &lines, "Done."), expected, "{lines}");
}

fn message(requests: &Value) -> Value {
    json!({ "type": "assistant.message", "data": { "content": "x", "toolRequests": requests } })
}

fn stop_called(time: &Value) -> Value {
    let data = json!({ "hookType": "agentStop", "input": { "timestamp": time } });
    json!({ "type": "hook.start", "data": data })
}

#[test]
fn copilot_has_written_the_message_when_it_has_written_the_call() {
    let (closing, up_to_date) = (message(&json!([])), TranscriptLag::UpToDate);
    check_copilot(&[closing.clone(), stop_called(&json!(CALLED_AT))], up_to_date);
    let rfc_3339 = json!("2026-11-21T20:49:21.298Z");
    check_copilot(&[closing.clone(), stop_called(&rfc_3339)], up_to_date);
    let earlier = stop_called(&json!(CALLED_AT - 1));
    check_copilot(&[closing.clone(), earlier.clone()], TranscriptLag::Certain);
    check_copilot(&[earlier, closing.clone()], TranscriptLag::Certain);
    let other_hook = json!({ "type": "hook.start", "data": {
        "hookType": "preToolUse", "input": { "timestamp": CALLED_AT } } });
    let call = message(&json!([{ "name": "bash" }]));
    check_copilot(&[closing, call, other_hook], TranscriptLag::Certain);
}

#[test]
fn before_the_first_call_copilots_message_itself_shows_it() {
    let closing = message(&json!([]));
    let plain = json!({ "type": "assistant.message", "data": { "content": "Done." } });
    let turn_end = json!({ "type": "assistant.turn_end", "data": {} });
    check_copilot(&[closing.clone(), turn_end.clone()], TranscriptLag::UpToDate);
    check_copilot(&[plain, turn_end], TranscriptLag::UpToDate);
    check_copilot(&[], TranscriptLag::Certain);
    for kind in ["user.message", "tool.execution_start", "tool.execution_complete"] {
        check_copilot(&[closing.clone(), json!({ "type": kind })], TranscriptLag::Certain);
    }
    let torn = format!("{closing}\n{}", r#"{"type":"tool.execution_st"#);
    let payload = json!({ "timestamp": CALLED_AT });
    assert_eq!(lag(Agent::Copilot, &payload, &torn, "x"), TranscriptLag::UpToDate);
}

#[test]
fn an_event_without_a_time_is_compared_with_the_message() {
    let records = [message(&json!([])), stop_called(&json!(CALLED_AT))];
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    assert_eq!(lag(Agent::Copilot, &json!({}), &lines, "x"), TranscriptLag::UpToDate);
    let payload = json!({ "timestamp": "yesterday" });
    let prompt = format!("{lines}{}\n", json!({ "type": "user.message" }));
    assert_eq!(lag(Agent::Copilot, &payload, &prompt, "x"), TranscriptLag::Certain);
}

#[test]
fn geminis_response_is_a_guess_and_qwens_is_none() {
    for (sent, last_message, gemini, qwen) in [
        ("I start. All is done.", "All is done.", TranscriptLag::UpToDate, TranscriptLag::UpToDate),
        ("All is done.", "I begin.", TranscriptLag::Likely, TranscriptLag::Certain),
        ("All is done.", "", TranscriptLag::Likely, TranscriptLag::Certain),
        (" ", "I begin.", TranscriptLag::UpToDate, TranscriptLag::UpToDate),
    ] {
        let payload = json!({ "prompt_response": sent, "last_assistant_message": sent });
        assert_eq!(lag(Agent::Gemini, &payload, "", last_message), gemini, "{sent:?}");
        assert_eq!(lag(Agent::Qwen, &payload, "", last_message), qwen, "{sent:?}");
    }
}

#[test]
fn geminis_repeated_chunks_are_compared_at_their_end_alone() {
    let last_message = "The parser reads every line and keeps its place.";
    let torn = "The par ser reads The parser reads every line and keeps its place.";
    let sent = |text: &str| json!({ "prompt_response": text, "last_assistant_message": text });
    assert_eq!(lag(Agent::Gemini, &sent(torn), "", last_message), TranscriptLag::UpToDate);
    let differs_early = format!("Another text than {}", &last_message[4..]);
    assert_eq!(
        lag(Agent::Gemini, &sent(&differs_early), "", last_message),
        TranscriptLag::UpToDate
    );
    assert_eq!(lag(Agent::Qwen, &sent(&differs_early), "", last_message), TranscriptLag::Certain);
}

#[test]
fn droid_has_written_the_message_when_its_id_is_there() {
    let prompt = json!({ "type": "message", "id": "m1", "message": { "role": "user" } });
    let answer = json!({ "type": "message", "id": "m2", "message": { "role": "assistant" } });
    let payload = json!({ "message_id": "m2" });
    for (lines, payload, expected) in [
        (format!("{prompt}\n{answer}\n"), &payload, TranscriptLag::UpToDate),
        (format!("{prompt}\n"), &payload, TranscriptLag::Certain),
        (format!("{prompt}\n{}", &answer.to_string()[..40]), &payload, TranscriptLag::Certain),
        (format!("{prompt}\n"), &json!({}), TranscriptLag::UpToDate),
    ] {
        assert_eq!(lag(Agent::Droid, payload, &lines, "x"), expected, "{lines}");
    }
}
