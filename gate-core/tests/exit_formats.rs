//! An exit signal is found in what every agent writes, and only where the agent
//! itself says it.
#![allow(clippy::expect_used, reason = "a test says what it expects")]

use gate_core::exit::{ExitReason, ExitSignal, WorkPhase};
use gate_core::exit_scan::{ExitScan, ExitScanner};
use gate_transcript::{Forced, Format};
use proptest::prelude::*;
use proptest::sample::select;

/// A transcript of each format that ends with a word of the agent: `@` is that
/// word in JSON, `¶` as it is.
const FORMATS: &[(&str, &str)] = &[
    ("text", "Reading the parser.\n\n¶\n"),
    (
        "claude-json",
        r#"{"type":"result","subtype":"success","is_error":false,"result":@,"session_id":"s","num_turns":2}"#,
    ),
    (
        "claude-session",
        r#"{"type":"user","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Go."}}
{"type":"assistant","parentUuid":"a","isSidechain":false,"sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":@}]}}"#,
    ),
    (
        "claude-stream",
        r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}
{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":@}]},"parent_tool_use_id":null,"session_id":"s"}
{"type":"result","subtype":"success","is_error":false,"result":@,"session_id":"s"}"#,
    ),
    (
        "codex-text",
        "OpenAI Codex v0.169.0\n--------\nmodel: m\n--------\nuser\nGo.\ncodex\n¶\ntokens used\n12\n",
    ),
    (
        "codex-exec",
        r#"{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"1","type":"agent_message","text":@}}
{"type":"turn.completed","usage":{"input_tokens":8,"output_tokens":1}}"#,
    ),
    (
        "codex-rollout",
        r#"{"type":"session_meta","payload":{"id":"r","source":"exec"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go."}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":@}]}}"#,
    ),
    (
        "opencode-json",
        r#"{"type":"step_start","timestamp":1,"sessionID":"s","part":{"messageID":"m","type":"step-start"}}
{"type":"text","timestamp":1,"sessionID":"s","part":{"messageID":"m","type":"text","text":@}}"#,
    ),
    (
        "opencode-export",
        r#"{"info":{"id":"s"},"messages":[{"info":{"id":"u","sessionID":"s","role":"user"},"parts":[{"type":"text","text":"Go."}]},{"info":{"id":"m","sessionID":"s","role":"assistant"},"parts":[{"type":"text","text":@}]}]}"#,
    ),
    ("gemini-json", r#"{"session_id":"s","response":@,"stats":{"models":{}}}"#),
    (
        "gemini-stream",
        r#"{"type":"init","timestamp":"t","session_id":"s","model":"m"}
{"type":"message","timestamp":"t","role":"assistant","content":@,"delta":true}
{"type":"result","timestamp":"t","status":"success","stats":{"total_tokens":9}}"#,
    ),
    (
        "gemini-session",
        r#"{"sessionId":"s","projectHash":"h","startTime":"t","lastUpdated":"t","kind":"main"}
{"id":"u","timestamp":"t","type":"user","content":[{"text":"Go."}]}
{"id":"g","timestamp":"t","type":"gemini","content":@,"model":"m"}"#,
    ),
    (
        "qwen-session",
        r#"{"uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"t","type":"user","cwd":"/w","version":"0.15.10","message":{"role":"user","parts":[{"text":"Go."}]}}
{"uuid":"v","parentUuid":"u","sessionId":"s","timestamp":"t","type":"assistant","cwd":"/w","version":"0.15.10","model":"m","message":{"role":"model","parts":[{"text":@}]}}"#,
    ),
    (
        "qwen-json",
        r#"[{"type":"system","subtype":"init","session_id":"s","model":"m","qwen_code_version":"0.15.10"},
{"type":"assistant","uuid":"a","session_id":"s","parent_tool_use_id":null,"message":{"id":"a","role":"assistant","content":[{"type":"text","text":@}]}}]"#,
    ),
    (
        "qwen-stream",
        r#"{"type":"system","subtype":"init","session_id":"s","model":"m","qwen_code_version":"0.15.10"}
{"type":"assistant","uuid":"a","session_id":"s","parent_tool_use_id":null,"message":{"id":"a","role":"assistant","content":[{"type":"text","text":@}]}}"#,
    ),
    (
        "copilot-json",
        r#"{"type":"user.message","data":{"content":"Go."},"id":"1","timestamp":"t","parentId":null}
{"type":"assistant.message","data":{"model":"m","content":@,"toolRequests":[]},"id":"2","timestamp":"t","parentId":null}"#,
    ),
    (
        "cursor-json",
        r#"{"type":"result","subtype":"success","duration_ms":12,"duration_api_ms":12,"is_error":false,"result":@,"session_id":"s","request_id":"r"}"#,
    ),
    (
        "cursor-stream",
        r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"s","model":"Auto","permissionMode":"default"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":@}]},"session_id":"s"}"#,
    ),
    (
        "cursor-session",
        r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nGo.\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":@}]}}
{"type":"turn_ended","status":"success"}"#,
    ),
    (
        "cline-stream",
        r#"{"ts":"t","type":"run_start","providerId":"p","modelId":"m","sessionId":"s"}
{"ts":"t","type":"agent_event","event":{"type":"content_end","contentType":"text","text":@}}"#,
    ),
    (
        "antigravity-session",
        r#"{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","content":"Go."}
{"step_index":1,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","content":@}"#,
    ),
    (
        "amp-stream",
        r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"T-1","tools":["Bash"]}
{"type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"text","text":@}]},"parent_tool_use_id":null,"session_id":"T-1"}"#,
    ),
    (
        "droid-json",
        r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"num_turns":2,"result":@,"session_id":"s"}"#,
    ),
    (
        "droid-stream",
        r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":["Execute"],"model":"m","reasoning_effort":"high"}
{"type":"message","role":"assistant","id":"m1","text":@,"timestamp":1,"session_id":"s"}"#,
    ),
    (
        "pi-stream",
        r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}
{"type":"agent_start"}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":@}],"stopReason":"stop"}}"#,
    ),
    (
        "pi-session",
        r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}
{"type":"message","id":"m","parentId":null,"timestamp":"t","message":{"role":"assistant","content":[{"type":"text","text":@}]}}"#,
    ),
    (
        "droid-session",
        r#"{"type":"session_start","id":"s","title":"t","owner":"me","cwd":"/w"}
{"type":"message","id":"m","timestamp":"2026-11-02T10:00:00Z","message":{"role":"assistant","content":[{"type":"text","text":@}]}}"#,
    ),
    (
        "goose-json",
        r#"{"messages":[{"role":"user","created":1,"content":[{"type":"text","text":"Go."}]},{"role":"assistant","created":2,"content":[{"type":"text","text":@}]}],"metadata":{"total_tokens":7,"status":"completed"}}"#,
    ),
    (
        "goose-stream",
        r#"{"type":"message","message":{"id":"m","role":"assistant","created":1,"content":[{"type":"text","text":@}]}}
{"type":"complete","total_tokens":7}"#,
    ),
    (
        "goose-session",
        r#"{"working_dir":"/w","description":"x","message_count":1,"total_tokens":7}
{"role":"assistant","created":1,"content":[{"type":"text","text":@}]}"#,
    ),
    (
        "kimi-wire",
        r#"{"type":"metadata","protocol_version":"1.3"}
{"timestamp":1.5,"message":{"type":"TurnBegin","payload":{"user_input":"Go."}}}
{"timestamp":2.5,"message":{"type":"ContentPart","payload":{"type":"text","text":@}}}"#,
    ),
    (
        "kimi-stream",
        r#"{"role":"assistant","content":"I look.","tool_calls":[]}
{"role":"assistant","content":@}"#,
    ),
    (
        "aider-history",
        "\n# aider chat started at 2025-12-24 16:45:52\n\n#### Go.  \n\n¶\n\n> Tokens: 2 sent, 3 received.  \n",
    ),
    (
        "specstory-md",
        "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# 2026-01-28\n\n_**User**_\n\nGo.\n\n---\n\n_**Agent (m 2026-01-28 13:10:31Z)**_\n\n¶\n",
    ),
    ("chat-json", r#"[{"role":"user","content":"Go."},{"role":"assistant","content":@}]"#),
];

fn transcript(template: &str, word: &str) -> String {
    let json = serde_json::to_string(word).expect("a text is JSON");
    template.replace('@', &json).replace('¶', word)
}

fn signal() -> ExitSignal {
    ExitSignal::new(WorkPhase::Implementation, ExitReason::Completed)
        .with_notes("a \"quoted\" \\ path, {braces} and ünïcödé")
}

/// What an agent may say that ends with a signal.
fn words() -> Vec<String> {
    let line = serde_json::to_string(&signal()).expect("a signal is JSON");
    let pretty = serde_json::to_string_pretty(&signal()).expect("a signal is JSON");
    let invalid = line.replace("1.0.0", "2.0.0");
    vec![
        line.clone(),
        pretty.clone(),
        format!("The parser reads both layouts.\n\n{line}"),
        format!("Done.\n\n```json\n{pretty}\n```"),
        format!("The settings:\n\n{{\"retries\": 3}}\n\n{pretty}"),
        format!("{line}\n{invalid}"),
    ]
}

fn scanned(text: &str, format: Option<Forced>, size: usize) -> ExitScan {
    let mut scanner = ExitScanner::new(format);
    for piece in text.as_bytes().chunks(size) {
        scanner.push(piece);
    }
    scanner.finish()
}

#[test]
fn every_format_has_its_transcript() {
    let known: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
    let here: Vec<_> = FORMATS.iter().map(|(name, _)| *name).collect();
    let missing: Vec<_> = known.iter().filter(|name| !here.contains(name)).collect();
    assert!(missing.is_empty(), "add a transcript to FORMATS in this file for: {missing:?}");
    assert_eq!(here, known, "FORMATS in this file has another order than Format::ALL");
}

#[test]
fn a_signal_is_found_in_every_format() {
    for (format, (name, template)) in Format::ALL.iter().zip(FORMATS) {
        for word in words() {
            let text = transcript(template, &word);
            for forced in [None, Some(Forced::Format(*format))] {
                let scan = scanned(&text, forced, usize::MAX);
                assert_eq!(scan.signal(), Some(&signal()), "{name} {forced:?}:\n{text}");
            }
        }
    }
}

#[test]
fn what_the_agent_said_before_or_only_shows_is_none() {
    let line = serde_json::to_string(&signal()).expect("a signal is JSON");
    for word in [
        format!("For example:\n\n{line}\n"),
        format!("Once the tests pass I will print:\n\n{line}\n"),
        format!("{line}\n\nNow let me start with the next task."),
        line.replace("1.0.0", "2.0.0"),
        line.replacen('{', "{\"zzz\":1,", 1),
        line[..line.len() - 4].to_owned(),
    ] {
        for (format, (name, template)) in Format::ALL.iter().zip(FORMATS) {
            let text = transcript(template, &word);
            let scan = scanned(&text, Some(Forced::Format(*format)), usize::MAX);
            assert_eq!(scan.signal(), None, "{name}:\n{text}");
            assert!(!scan.sightings.is_empty(), "{name}: nothing is told\n{text}");
        }
    }
    for after in ["tool", "user"] {
        let later = format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":\"Go on.\"}}}}\n\
             {{\"type\":\"{after}\",\"message\":{{\"content\":{}}}}}",
            serde_json::to_string(&line).expect("a text is JSON")
        );
        let scan = scanned(&later, None, usize::MAX);
        assert_eq!(scan.signal(), None, "{later}");
    }
}

#[test]
fn before_a_record_that_cannot_be_read_nothing_is_a_signal() {
    let line = serde_json::to_string(&signal()).expect("a signal is JSON");
    let stream = FORMATS[3].1;
    for (lost, is_told) in [
        ("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"te", true),
        ("not a record at all", false),
    ] {
        let text = format!("{}\n{lost}\n", transcript(stream, &line));
        let scan = scanned(&text, None, usize::MAX);
        assert_eq!(scan.signal().is_none(), is_told, "{lost}: {scan:?}");
        let why = scan.sightings[0].found.as_ref().err().map(ToString::to_string);
        assert_eq!(why.is_some_and(|why| why.contains("could not be read")), is_told, "{lost}");
    }
}

proptest! {
    #[test]
    fn the_pieces_of_the_input_do_not_matter(
        at in 0..FORMATS.len(),
        word in select(words()),
        size in 1_usize..200,
    ) {
        let text = transcript(FORMATS[at].1, &word);
        let whole = scanned(&text, None, usize::MAX);
        prop_assert_eq!(whole.signal(), Some(&signal()));
        prop_assert_eq!(scanned(&text, None, size), whole);
    }
}
