//! Cursor's transcripts.

use super::{Format, check, has_problem, words};
use crate::ProblemKind;

fn message(role: &str, blocks: &str) -> String {
    format!(r#"{{"role":"{role}","message":{{"content":[{blocks}]}}}}"#)
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn asks(words: &str) -> String {
    message("user", &text(&format!(r"<user_query>\n{words}\n</user_query>")))
}

fn says(words: &str) -> String {
    message("assistant", &text(words))
}

const ENDED: &str = r#"{"type":"turn_ended","status":"success"}"#;

#[test]
fn a_whole_session() {
    let call = r#"{"type":"tool_use","name":"Shell","input":{"command":"make"}}"#;
    let input = [
        asks("Go."),
        message("assistant", &format!("{},{},{call}", text("I look."), text("I build."))),
        says(r"Done.\n\n[REDACTED]"),
        ENDED.to_owned(),
    ];
    check(
        Format::CursorSession,
        &input.join("\n"),
        &[
            "1 --- prompt",
            "1 user: <user_query>⏎Go.⏎</user_query>",
            "2 assistant: I look.⏎I build.",
            "2 tool: make",
            "3 assistant: Done.",
        ],
    );
    assert_eq!(words(&input.join("\n")), ["Done."]);
}

#[test]
fn a_prompt_takes_the_last_word_back_and_a_call_does_not() {
    let call = message("assistant", r#"{"type":"tool_use","name":"Read","input":{"path":"x"}}"#);
    assert_eq!(words(&[says("Done."), call].join("\n")), ["Done."]);
    assert_eq!(words(&[says("Done."), ENDED.to_owned(), asks("More.")].join("\n")), [""; 0]);
    let plain = r#"{"role":"user","message":{"content":"EXIT_STATUS: COMPLETE"}}"#;
    assert_eq!(words(&[says("Done.").as_str(), plain].join("\n")), [""; 0]);
}

#[test]
fn a_failed_turn_and_a_cut_off_file_are_told() {
    let failed = r#"{"type":"turn_ended","status":"error","error":"User aborted request"}"#;
    let input = [says("I begin.").as_str(), failed].join("\n");
    check(
        Format::CursorSession,
        &input,
        &["1 assistant: I begin.", "2 error: User aborted request"],
    );
    let cut = [asks("Go."), says("Done."), says("And")].join("\n");
    let cut = &cut[..cut.len() - 5];
    assert_eq!(words(cut), ["Done."]);
    assert!(has_problem(cut, ProblemKind::Torn));
    let mixed = [asks("Go."), "[watch] restarted".to_owned(), says("Done.")].join("\n");
    assert_eq!(words(&mixed), ["Done."]);
}
