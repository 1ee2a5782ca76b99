//! Claude Code: every trap of its formats is a test of its own.

mod ends;
mod records;
mod results;
mod users;

use super::words;

pub(super) const INIT: &str =
    r#"{"type":"system","subtype":"init","session_id":"s1","model":"claude-x"}"#;

/// A stream: the init record, then these.
pub(super) fn stream(records: &[&str]) -> String {
    let mut all = vec![INIT];
    all.extend(records);
    all.join("\n") + "\n"
}

pub(super) fn says_text(id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"{id}","model":"claude-x","content":[{{"type":"text","text":"{text}"}}]}},"parent_tool_use_id":null,"session_id":"s1"}}"#
    )
}

pub(super) fn result(text: &str) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"result":"{text}","session_id":"s1"}}"#
    )
}

pub(super) fn user(text: &str, flags: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"role":"user","content":"{text}"}},"session_id":"s1"{flags}}}"#
    )
}

pub(super) fn words_of(records: &[&str]) -> Vec<String> {
    words(&stream(records))
}
