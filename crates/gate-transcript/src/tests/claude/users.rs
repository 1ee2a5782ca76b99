//! Claude Code's `user` records: answers of tools, and texts beside them.

use super::{says_text, stream, user, words_of};
use crate::tests::read;

fn called(name: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"t1","name":"{name}","input":{{"command":"make"}}}}]}}}}"#
    )
}

fn answered(result: &str, more: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1",{result}}}]}}{more}}}"#
    )
}

/// The events of an answer to a call of this tool.
#[track_caller]
fn check(tool: &str, answer: &str, expected: &[&str]) {
    let lines = read(&stream(&[&called(tool), answer])).1.lines;
    assert_eq!(lines[3..], *expected, "{answer}");
}

#[test]
fn an_answer_that_is_an_error_failed_or_was_denied() {
    let error = |content: &str| format!(r#""is_error":true,"content":{content}"#);
    check(
        "Bash",
        &answered(&error(r#""Exit code 3""#), ""),
        &["3 tool: Exit code 3", "3 ran: make -> 3"],
    );
    check(
        "Bash",
        &answered(&error(r#""Exit code 127 (not found)\nbad\nworse""#), ""),
        &[
            "3 tool: Exit code 127 (not found)⏎bad⏎worse",
            "3 failed: bad⏎worse",
            "3 ran: make -> 127",
        ],
    );
    check(
        "Read",
        &answered(&error(r#""File does not exist.""#), ""),
        &["3 tool: File does not exist.", "3 failed: File does not exist."],
    );
    check(
        "Bash",
        &answered(&error(r#""This command requires approval""#), ""),
        &["3 tool: This command requires approval", "3 denied: Bash"],
    );
    check(
        "Edit",
        &answered(&error(r#""No.""#), r#","toolDenialKind":"user""#),
        &["3 tool: No.", "3 denied: Edit"],
    );
    let parts = error(
        r#"[{"type":"text","text":"Exit code 1"},{"type":"image"},{"type":"text","text":"bad"}]"#,
    );
    check(
        "Bash",
        &answered(&parts, ""),
        &["3 tool: Exit code 1", "3 tool: bad", "3 failed: bad", "3 ran: make -> 1"],
    );
}

#[test]
fn a_denial_that_is_told_twice_is_one() {
    let denied = answered(r#""is_error":true,"content":"This command requires approval""#, "");
    let end = r#"{"type":"result","is_error":false,"result":"x","permission_denials":[{"tool_name":"Bash","tool_use_id":"t1"},{"tool_name":"Edit","tool_use_id":"t2"}]}"#;
    let told = r#"{"type":"system","subtype":"permission_denied","tool_name":"Edit","tool_use_id":"t2","session_id":"s1"}"#;
    let lines = read(&stream(&[&called("Bash"), &denied, end, told])).1.lines;
    let denials: Vec<_> = lines.iter().filter(|line| line.contains(" denied: ")).collect();
    assert_eq!(denials, ["3 denied: Bash", "4 denied: Edit"]);
}

#[test]
fn an_answer_without_its_call_is_denied_by_nobody() {
    let denied = answered(r#""is_error":true,"content":"This command requires approval""#, "");
    let lines = read(&stream(&[&denied])).1.lines;
    assert_eq!(lines[2..], ["2 tool: This command requires approval"]);
}

#[test]
fn a_text_beside_an_answer_is_no_prompt() {
    let beside = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"},{"type":"text","text":"Reminder."}]}}"#;
    assert_eq!(words_of(&[&says_text("m1", "Done."), beside]), ["Done."]);
    check("Read", beside, &["3 tool: ok", "3 system: Reminder."]);
}

#[test]
fn each_user_record_is_told_by_its_beginning_or_by_its_flags() {
    for (text, flags, expected) in [
        ("Go on", "", &["2 --- prompt", "2 user: Go on"][..]),
        ("Go on", r#","origin":{"kind":"human"}"#, &["2 --- prompt", "2 user: Go on"]),
        (
            "It ended.",
            r#","origin":{"kind":"task-notification"}"#,
            &["2 --- notification", "2 tool: It ended."],
        ),
        ("<bash-stdout>a", "", &["2 system: <bash-stdout>a"]),
        (" <local-command-stderr>a", "", &["2 system:  <local-command-stderr>a"]),
        ("a <system-reminder>", "", &["2 --- prompt", "2 user: a <system-reminder>"]),
        ("Stop hook feedback: no", r#","isSidechain":true"#, &["2 tool: Stop hook feedback: no"]),
        (
            "<task-notification>",
            r#","isCompactSummary":true"#,
            &["2 --- compaction", "2 system: <task-notification>"],
        ),
        ("", "", &[]),
    ] {
        let lines = read(&stream(&[&user(text, flags)])).1.lines;
        assert_eq!(lines[2..], *expected, "{text}{flags}");
    }
}

#[test]
fn a_picture_alone_is_a_prompt() {
    let picture = r#"{"type":"image","source":{"type":"base64","data":"iVBO"}}"#;
    let sent = |content: &str, more: &str| {
        format!(r#"{{"type":"user","message":{{"role":"user","content":[{content}]}}{more}}}"#)
    };
    let lines = |record: &str| read(&stream(&[record])).1.lines[2..].to_vec();
    assert_eq!(lines(&sent(picture, "")), ["2 --- prompt"]);
    assert_eq!(lines(&sent(picture, r#","isMeta":true"#)), [""; 0]);
}

#[test]
fn only_a_queued_command_is_a_prompt_among_attachments() {
    let attached = |kind: &str| {
        let record = format!(
            r#"{{"type":"attachment","attachment":{{"type":"{kind}","prompt":"And this"}},"sessionId":"s1"}}"#
        );
        read(&stream(&[&record])).1.lines[2..].to_vec()
    };
    assert_eq!(attached("queued_command"), ["2 --- prompt", "2 user: And this"]);
    assert_eq!(attached("nested_memory"), [""; 0]);
}
