//! Claude Code's streams and sessions, and those that speak as they do.

use crate::lines::{dressed, noise};
use crate::ways::Format;
use crate::{Item, json};

pub(crate) const STREAM: Format = Format {
    head: concat!(
        "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s0\",\"model\":\"m\"}\n",
        "{\"type\":\"assistant\",\"message\":{\"id\":\"m9\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"I begin.\"}]},\"session_id\":\"s0\"}\n"
    ),
    record: |item| record(item, "session_id"),
    idle: |words| idle(words, "session_id"),
};

pub(crate) const SESSION: Format = Format {
    head: concat!(
        "{\"type\":\"user\",\"sessionId\":\"s0\",\"message\":{\"content\":\"Begin.\"},\"parentUuid\":null}\n",
        "{\"type\":\"assistant\",\"message\":{\"id\":\"m9\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"I begin.\"}]},\"sessionId\":\"s0\"}\n"
    ),
    record: |item| record(item, "sessionId"),
    idle: |words| idle(words, "sessionId"),
};

pub(crate) const QWEN: Format = Format {
    head: "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s0\",\"model\":\"m\",\"qwen_code_version\":\"0\"}\n",
    ..STREAM
};

pub(crate) const AMP: Format = Format {
    head: "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"T-s0\",\"model\":\"m\"}\n",
    record: |item| {
        String::from_utf8_lossy(&record(item, "session_id")).replace("\"s0\"", "\"T-s0\"").into()
    },
    idle: |words| idle(words, "session_id").replace("\"s0\"", "\"T-s0\""),
};

fn idle(words: &str, session: &str) -> String {
    let answer = format!(r#"{{"tool_use_id":"t0","type":"tool_result","content":{words:?}}}"#);
    format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{answer}]}},\"{session}\":\"s0\"}}\n"
    )
}

fn record(item: &Item, session: &str) -> Vec<u8> {
    let end = format!(",\"{session}\":\"s{}\"}}", usize::from(item.vary == 11 && item.id == 2));
    match item.kind {
        62.. => noise(item),
        kind => match said(kind, item) {
            said if said.is_empty() => noise(item),
            said => dressed(&format!("{{{said}{end}"), item),
        },
    }
}

/// A record without its braces and its session.
fn said(kind: usize, item: &Item) -> String {
    let (text, more) = (json(item.text, item.vary), json(item.more, 1));
    let spoken = format!(r#"{{"type":"text","text":{text}}}"#);
    let called = format!(
        r#"{{"type":"tool_use","id":"t{}","name":"Bash","input":{{"command":{more}}}}}"#,
        item.id
    );
    let thought = format!(r#"{{"type":"thinking","thinking":{more}}}"#);
    let answer = |content: &str| {
        let error = ["", r#","is_error":true"#, r#","is_error":false"#][item.vary % 3];
        format!(
            r#"{{"tool_use_id":"t{}","type":"tool_result","content":{content}{error}}}"#,
            item.id
        )
    };
    let parts = format!(r#"[{{"type":"text","text":{text}}},{{"type":"text","text":{more}}}]"#);
    match kind % 32 {
        0..6 => assistant(&spoken, item, ""),
        6 => assistant(&format!(r#"{spoken},{{"type":"text","text":{more}}}"#), item, ""),
        7 => assistant(&format!("{spoken},{called}"), item, ""),
        8 => assistant(&format!("{called},{spoken}"), item, ""),
        9 | 10 => assistant(&called, item, ""),
        11 => assistant(&thought, item, ""),
        12 => assistant(&format!("{thought},{spoken}"), item, ""),
        13 => assistant(&r#"{"type":"redacted_thinking","data":"x"}"#.replace('x', "y"), item, ""),
        14 => assistant(&spoken, item, r#","parent_tool_use_id":"t0","isSidechain":true"#),
        15 => assistant(&spoken, item, r#","isApiErrorMessage":true,"error":"unknown""#),
        16 => assistant(&vec![spoken; 5].join(","), item, ""),
        17..20 => user(&format!("[{}]", answer(&text)), ""),
        20 => user(&format!("[{}]", answer(&parts)), ""),
        21 => user(&format!("[{},{spoken}]", answer(&more)), ""),
        22 => user(&text, ""),
        23 => user(
            &format!("[{spoken}]"),
            ["", r#","isMeta":true"#, r#","isSynthetic":true"#][item.id],
        ),
        24 => user(&text, r#","isCompactSummary":true"#),
        25 => user(&format!("\"<task-notification>{}\"", item.id), ""),
        26 => format!(
            r#""type":"system","subtype":"{}","content":{text}"#,
            ["task_notification", "compact_boundary", "info"][item.id]
        ),
        27 => result(&text, item),
        28 => format!(r#""type":"stream_event","event":{{"delta":{text}}}"#),
        29 => format!(r#""type":"progress","data":{text}"#),
        30 => format!(
            r#""type":"attachment","attachment":{{"type":"queued_command","prompt":{text}}}"#
        ),
        _ => String::new(),
    }
}

fn assistant(blocks: &str, item: &Item, rest: &str) -> String {
    let usage = [
        r#","usage":{"input_tokens":3,"output_tokens":7,"cache_read_input_tokens":99}"#,
        "",
        r#","usage":{"input_tokens":1}"#,
    ][item.vary % 3];
    format!(r#""type":"assistant","message":{{"id":"m{}","model":"m","role":"assistant","content":[{blocks}]{usage}}},"parent_tool_use_id":null{rest}"#, item.id)
        .replace(r#""parent_tool_use_id":null,"parent_tool_use_id""#, r#""parent_tool_use_id""#)
}

fn user(content: &str, rest: &str) -> String {
    format!(
        r#""type":"user","message":{{"role":"user","content":{content}}},"parent_tool_use_id":null{rest}"#
    )
}

fn result(text: &str, item: &Item) -> String {
    let rest = match item.vary {
        0..4 => "",
        4..7 => r#","result_index":1"#,
        7 | 8 => r#","permission_denials":[{"tool_name":"Bash","tool_use_id":"t1"}]"#,
        9 => r#","usage":{"input_tokens":50},"total_cost_usd":0.5,"duration_ms":9"#,
        _ => r#","is_error":true,"subtype":"error_during_execution""#,
    };
    format!(r#""type":"result","result":{text}{rest}"#)
}
