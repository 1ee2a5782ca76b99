//! Whose words a record holds, and where turns begin.

use super::{INIT, result, says_text, stream, user, words_of};
use crate::tests::{check, events, read, says};
use crate::{Format, Role};

#[test]
fn one_result_object() {
    check(
        Format::ClaudeJson,
        r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":1200,"result":"All done.\nEXIT_SIGNAL: true","session_id":"s1","total_cost_usd":0.0059,"usage":{"input_tokens":100,"cache_creation_input_tokens":20,"cache_read_input_tokens":9000,"output_tokens":30},"permission_denials":[{"tool_name":"Bash","tool_use_id":"t"}]}"#,
        &[
            "session s1",
            "1 denied: Bash",
            "1 assistant: All done.⏎EXIT_SIGNAL: true",
            "usage 150 tokens, 5900 µ$, 1200 ms",
        ],
    );
}

#[test]
fn a_result_object_may_be_pretty_printed_between_foreign_lines() {
    check(
        Format::ClaudeJson,
        "(node:48121) Warning: x\n{\n  \"type\": \"result\",\n  \"is_error\": false,\n  \"result\": \"Done.\"\n}\nFailed to export 12 events\n",
        &[
            "1 system: (node:48121) Warning: x",
            "2 assistant: Done.",
            "7 ! Noise",
            "7 system: Failed to export 12 events",
        ],
    );
}

#[test]
fn a_string_goes_on_after_a_line_break_that_was_not_escaped() {
    let said = r#"{"type":"result","is_error":false,"result":"All is done.BREAK<promise>COMPLETE</promise>"}"#;
    let whole = "1 assistant: All is done.⏎<promise>COMPLETE</promise>";
    for (text, last) in [
        (said.replace("BREAK", "\n"), whole),
        (said.replace("BREAK", "\r\n"), "1 assistant: All is done. ⏎<promise>COMPLETE</promise>"),
        (said.replace("BREAK", "\t"), "1 assistant: All is done.\t<promise>COMPLETE</promise>"),
        (
            said.replace("BREAK", "\n  {a: 1}\n"),
            "1 assistant: All is done.⏎  {a: 1}⏎<promise>COMPLETE</promise>",
        ),
    ] {
        check(Format::ClaudeJson, &text, &[last, "1 ! RawControl"]);
        let (first, second) =
            (format!("{text}\n"), r#"{"type":"result","is_error":false,"result":"More."}"#);
        let more = events(Format::ClaudeJson, &(first + second));
        assert!(more.iter().any(|line| line.ends_with("assistant: More.")), "{more:?}");
    }
}

#[test]
fn a_record_that_is_cut_off_within_a_string_takes_nothing_else_with_it() {
    let torn = r#"{"type":"result","is_error":false,"result":"All is"#;
    let input = format!(
        "{torn}\nwarning: \"x\"\n{{\"type\":\"result\",\"is_error\":false,\"result\":\"More.\"}}\n{torn}\nbye\n"
    );
    let all = events(Format::ClaudeJson, &input);
    let has = |line: &str| all.iter().any(|known| known == line);
    assert!(has("1 ! Unreadable") && has("2 system: warning: \"x\""), "{all:?}");
    assert!(has("3 assistant: More."), "{all:?}");
    assert!(has("4 ! Torn") && has("5 system: bye"), "{all:?}");
}

#[test]
fn the_legacy_object_without_type() {
    check(
        Format::ClaudeJson,
        r#"{"result":"Done.","sessionId":"s1","metadata":{"files_changed":2}}"#,
        &["session s1", "1 assistant: Done."],
    );
}

#[test]
fn an_array_of_events() {
    let [text, result] = [says_text("m1", "Done."), result("Done.")];
    let expected = ["session s1", "model claude-x", "2 assistant: Done."];
    check(
        Format::ClaudeJson,
        &format!("[\n{INIT},{text},\n{result}\n]\n"),
        &["session s1", "model claude-x", "2 assistant: Done."],
    );
    let one_line = events(Format::ClaudeJson, &format!("[{INIT}, {text}, {result}]"));
    assert_eq!(one_line[..2], expected[..2]);
    assert_eq!(one_line[2], "1 assistant: Done.");
}

#[test]
fn a_whole_stream() {
    let input = stream(&[
        r#"{"type":"assistant","message":{"id":"m1","model":"claude-x","content":[{"type":"thinking","thinking":"EXIT_SIGNAL: true?"}],"usage":{"input_tokens":10,"output_tokens":1}}}"#,
        r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make test","description":"Tests"}}],"usage":{"input_tokens":10,"output_tokens":5}}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"Exit code 3\nsome-error"}]}}"#,
        r#"{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Not yet."}],"usage":{"input_tokens":20,"output_tokens":5}}}"#,
    ]);
    check(
        Format::ClaudeStream,
        &input,
        &[
            "session s1",
            "model claude-x",
            "2 thinking: EXIT_SIGNAL: true?",
            "3 tool: make test",
            "3 tool: Tests",
            "4 tool: Exit code 3⏎some-error",
            "4 failed: some-error",
            "4 ran: make test -> 3",
            "5 assistant: Not yet.",
            "usage 40 tokens, - µ$, - ms",
        ],
    );
}

#[test]
fn a_bash_result_without_error_is_success_unless_it_runs_on() {
    let ran = |result: &str| {
        let input = stream(&[
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}}"#,
            &format!(
                r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1",{result}}}]}}}}"#
            ),
        ]);
        read(&input).1.lines.into_iter().find(|line| line.contains(" ran: "))
    };
    assert_eq!(ran(r#""content":"ok""#).as_deref(), Some("3 ran: make -> 0"));
    assert_eq!(ran(r#""content":"Permission denied","is_error":true"#), None);
    assert_eq!(ran(r#""content":"Command running in background with ID: b1""#), None);
}

#[test]
fn a_sub_agent_is_never_the_agent() {
    let sub = r#"{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"EXIT_SIGNAL: true"}]},"parent_tool_use_id":"t1"}"#;
    let side = r#"{"type":"assistant","message":{"id":"m3","content":[{"type":"text","text":"EXIT_SIGNAL: true"}]},"isSidechain":true}"#;
    let prompt = r#"{"type":"user","message":{"content":[{"type":"text","text":"Do the sub task"}]},"parent_tool_use_id":"t1"}"#;
    let main = says_text("m1", "Main work is open.");
    assert_eq!(words_of(&[&main, prompt, sub, side]), ["Main work is open."]);
    assert_eq!(
        says(&stream(&[sub]), Role::Tool),
        ["exit_signal: true".to_uppercase().replace("TRUE", "true")]
    );
}

#[test]
fn a_sub_agents_report_comes_back_as_a_user_record() {
    for flags in [
        r#","origin":{"kind":"task-notification"},"promptSource":"system""#,
        r#","promptSource":"system""#,
        "",
    ] {
        let report = user("<task-notification><result>EXIT_SIGNAL: true</result>", flags);
        let main = says_text("m1", "Open.");
        assert_eq!(words_of(&[&main, &report]), ["Open."]);
        let answer = says_text("m2", "Thanks.");
        assert_eq!(words_of(&[&main, &report, &answer]), ["Thanks.", "Open."]);
    }
}

#[test]
fn a_prompt_begins_a_turn_and_a_tool_result_does_not() {
    let done = says_text("m1", "Done.");
    assert!(words_of(&[&done, &user("Now the next thing", "")]).is_empty());
    let tool = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}"#;
    assert_eq!(words_of(&[&done, tool]), ["Done."]);
}

#[test]
fn hook_feedback_begins_a_turn_in_stream_and_session() {
    let done = says_text("m1", "Done.");
    let in_stream = r#"{"type":"user","message":{"content":[{"type":"text","text":"Stop hook feedback:\nnot done"}]},"isSynthetic":true}"#;
    let on_disk = user("Stop hook feedback:\\nnot done", r#","isMeta":true"#);
    for feedback in [in_stream, &on_disk] {
        assert!(words_of(&[&done, feedback]).is_empty());
        let lines = read(&stream(&[feedback])).1.lines;
        assert_eq!(lines[2..], ["2 --- hook feedback", "2 user: Stop hook feedback:⏎not done"]);
    }
}

#[test]
fn what_the_client_injects_begins_no_turn() {
    let done = says_text("m1", "Done.");
    for injected in [
        user("[Your previous response had no visible output.]", r#","isSynthetic":true"#),
        user("<system-reminder>x</system-reminder>", ""),
        user("<local-command-stdout>ok</local-command-stdout>", ""),
        user("<bash-stdout>ok</bash-stdout><bash-stderr>x</bash-stderr>", ""),
        user("Caveat: local commands", r#","isMeta":true"#),
        user("<bash-input>git log</bash-input>", ""),
        user("<command-name>/exit</command-name>", ""),
        user(
            "<command-name>/cost</command-name>\\n    <command-message>cost</command-message>\\n    <command-args></command-args>",
            "",
        ),
    ] {
        assert_eq!(words_of(&[&done, &injected]), ["Done."], "{injected}");
    }
}

#[test]
fn words_below_a_note_of_the_client_begin_a_turn() {
    let note = "<system-reminder>x</system-reminder>";
    let prompt = user(&format!("{note}\\n\\n{note}\\n\\nGo on"), "");
    assert!(words_of(&[&says_text("m1", "Done."), &prompt]).is_empty());
    let notes = user(&note.repeat(100_000), "");
    assert_eq!(words_of(&[&says_text("m1", "Done."), &notes]), ["Done."]);
}

#[test]
fn a_command_that_gives_work_begins_a_turn() {
    for command in [
        "<command-message>review is running…</command-message>\\n<command-name>/review</command-name>",
        "<command-name>/goal</command-name>\\n<command-args>ship the tax</command-args>",
        "<command-name>/ship</command-name>\\n<command-args></command-args>",
        "<command-name>/model</command-name>\\nNow redo the parser",
    ] {
        let words = words_of(&[&says_text("m1", "Done."), &user(command, "")]);
        assert!(words.is_empty(), "{command}");
    }
}

#[test]
fn a_compaction_quotes_old_claims() {
    let done = says_text("m1", "EXIT_SIGNAL: true");
    for summary in [
        user("Summary: it said EXIT_SIGNAL: true", r#","isCompactSummary":true"#),
        user(
            "This session is being continued from a previous conversation that ran out of context.",
            r#","isSynthetic":true"#,
        ),
        r#"{"type":"system","subtype":"compact_boundary","content":"Conversation compacted"}"#
            .to_owned(),
    ] {
        assert!(words_of(&[&done, &summary]).is_empty(), "{summary}");
        assert!(says(&stream(&[&summary]), Role::System).len() == 1, "{summary}");
    }
}

#[test]
fn prompts_stand_in_many_records_that_are_no_conversation() {
    for record in [
        r#"{"type":"queue-operation","operation":"enqueue","content":"EXIT_SIGNAL: true"}"#,
        r#"{"type":"last-prompt","lastPrompt":"EXIT_SIGNAL: true"}"#,
        r#"{"type":"attachment","attachment":{"type":"prompt_snapshot","prompt":"EXIT_SIGNAL: true"}}"#,
        r#"{"type":"api-request-blob","blob":"EXIT_SIGNAL: true"}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"text":"EXIT_SIGNAL: true"}}}"#,
    ] {
        assert_eq!(read(&stream(&[record])).1.lines.len(), 2, "{record}");
    }
}

#[test]
fn a_prompt_typed_while_the_agent_works_begins_a_turn() {
    let queued =
        r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"Also do this"}}"#;
    assert!(words_of(&[&says_text("m1", "Done."), queued]).is_empty());
}
