//! Antigravity's transcripts.

use super::{Format, check, has_problem, words};
use crate::ProblemKind;

fn step(index: u32, source: &str, kind: &str, more: &str) -> String {
    format!(
        r#"{{"step_index":{index},"source":"{source}","type":"{kind}","status":"DONE","created_at":"2026-08-17T08:51:30Z"{more}}}"#
    )
}

fn content(text: &str) -> String {
    format!(r#","content":"{text}""#)
}

fn asks(index: u32, words: &str) -> String {
    let request = content(&format!(r"<USER_REQUEST>\n{words}\n</USER_REQUEST>"));
    step(index, "USER_EXPLICIT", "USER_INPUT", &request)
}

fn says(index: u32, words: &str) -> String {
    step(index, "MODEL", "PLANNER_RESPONSE", &content(words))
}

#[test]
fn a_whole_session() {
    let calls = r#","content":"I build.","thinking":"Hm.","tool_calls":[{"name":"run_command","args":{"CommandLine":"make"}}]"#;
    let input = [
        asks(0, "Go."),
        step(1, "SYSTEM", "CONVERSATION_HISTORY", ""),
        step(2, "MODEL", "PLANNER_RESPONSE", calls),
        step(3, "MODEL", "RUN_COMMAND", &content("EXIT_STATUS: COMPLETE")),
        step(4, "SYSTEM", "EPHEMERAL_MESSAGE", &content("EXIT_STATUS: COMPLETE")),
        says(5, "Done."),
    ];
    check(
        Format::AntigravitySession,
        &input.join("\n"),
        &[
            "1 --- prompt",
            "1 user: <USER_REQUEST>⏎Go.⏎</USER_REQUEST>",
            "3 thinking: Hm.",
            "3 assistant: I build.",
            "3 tool: make",
            "4 tool: EXIT_STATUS: COMPLETE",
            "5 system: EXIT_STATUS: COMPLETE",
            "6 assistant: Done.",
        ],
    );
    assert_eq!(words(&input.join("\n")), ["Done."]);
}

#[test]
fn whoever_writes_to_the_agent_takes_its_last_word_back() {
    let message = step(1, "SYSTEM", "SYSTEM_MESSAGE", &content("Tests fail."));
    for later in [asks(1, "More."), message] {
        let input = [says(0, "Done."), later.clone()].join("\n");
        assert_eq!(words(&input), [""; 0], "{later}");
    }
}

#[test]
fn a_checkpoint_after_the_last_word_takes_nothing_back() {
    let checkpoint = step(1, "SYSTEM", "CHECKPOINT", &content("{{ CHECKPOINT 0 }}"));
    let ended = [says(0, "Done."), checkpoint].join("\n");
    assert_eq!(words(&ended), ["Done."]);
    assert_eq!(words(&[ended, says(2, "Not yet.")].join("\n")), ["Not yet."]);
}

#[test]
fn the_name_of_a_task_may_follow_any_character() {
    let call = r#","tool_calls":[{"name":"run_command","args":{"CommandLine":"make"}}]"#;
    let runs =
        step(2, "MODEL", "RUN_COMMAND", &content("\u{3000}c/task-1")).replace("DONE", "RUNNING");
    let ended = step(3, "SYSTEM", "SYSTEM_MESSAGE", &content("\u{3000}c/task-1 done"));
    let input = [step(1, "MODEL", "PLANNER_RESPONSE", call), runs, ended];
    let expected = [
        "1 tool: make",
        "2 tool: \u{3000}c/task-1",
        "3 --- hook feedback",
        "3 tool: \u{3000}c/task-1 done",
    ];
    check(Format::AntigravitySession, &input.join("\n"), &expected);
}

#[test]
fn a_step_that_is_written_twice_is_one() {
    let input = [says(3, "Done."), says(3, "Done.")].join("\n");
    check(Format::AntigravitySession, &input, &["1 assistant: Done."]);
}

#[test]
fn errors_and_a_cut_off_file_are_told() {
    let error = step(1, "SYSTEM", "ERROR_MESSAGE", &content("The model is overloaded."));
    let input = [says(0, "I begin."), error].join("\n");
    check(
        Format::AntigravitySession,
        &input,
        &[
            "1 assistant: I begin.",
            "2 system: The model is overloaded.",
            "2 limit: The model is overloaded.",
        ],
    );
    let cut = [asks(0, "Go."), says(1, "Done."), says(2, "And")].join("\n");
    let cut = &cut[..cut.len() - 4];
    assert_eq!(words(cut), ["Done."]);
    assert!(has_problem(cut, ProblemKind::Torn));
}
