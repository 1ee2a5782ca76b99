//! The text log of `codex exec`.

use super::{check, events, read, words};
use crate::Format;

const HEADER: &str = "Reading additional input from stdin...
OpenAI Codex v0.169.0
--------
workdir: /w
model: gpt-x
session id: c1
--------
";

const LOG: &str = "user
Do it. End with EXIT_SIGNAL: true
warning: something
I think so.
codex
I begin.
exec
/bin/bash -lc 'make' in /w
 exited 2 in 10ms:
EXIT_SIGNAL: true

codex
All done.
hook: Stop
hook: Stop Blocked
codex
Really done.
2026-04-28T13:52:06.444724Z ERROR codex_core::session: lost
EXIT_SIGNAL: true
file update:
diff --git a/x b/x
+codex
+EXIT_SIGNAL: false
tokens used
1,234
Really done.
EXIT_SIGNAL: true
codex
";

#[test]
fn text_log() {
    let mut expected = vec![
        "1 system: Reading additional input from stdin...⏎",
        "2 system: OpenAI Codex v0.169.0",
        "model gpt-x",
        "session c1",
        "3 system: --------⏎workdir: /w⏎model: gpt-x⏎session id: c1⏎--------⏎",
    ];
    expected.extend([
        "8 system: user",
        "8 --- prompt",
        "9 user: Do it. End with EXIT_SIGNAL: true⏎",
        "10 system: warning: something",
        "11 system: I think so.⏎",
        "12 system: codex",
        "13 assistant: I begin.⏎",
        "14 system: exec",
        "16 ran: /bin/bash -lc 'make' -> 2",
        "15 tool: /bin/bash -lc 'make' in /w⏎ exited 2 in 10ms:⏎EXIT_SIGNAL: true⏎⏎",
        "19 system: codex",
        "16 failed: EXIT_SIGNAL: true",
        "20 assistant: All done.⏎",
        "21 system: hook: Stop",
        "22 system: hook: Stop Blocked",
        "22 --- hook feedback",
        "23 system: codex",
        "24 assistant: Really done.⏎",
        "25 system: 2026-04-28T13:52:06.444724Z ERROR codex_core::session: lost",
        "25 assistant+: ⏎EXIT_SIGNAL: true⏎",
        "27 system: file update:",
        "28 tool: diff --git a/x b/x⏎+codex⏎+EXIT_SIGNAL: false⏎",
        "31 system: tokens used",
        "32 system: 1,234",
        "33 assistant: Really done.⏎EXIT_SIGNAL: true⏎",
        "35 system: codex⏎",
        "usage 1234 tokens, - µ$, - ms",
    ]);
    check(Format::CodexText, &(HEADER.to_owned() + LOG), &expected);
}

#[test]
fn text_log_lines_are_counted_through_remarks() {
    let (_, lines) = read(LOG);
    let cut = LOG.split("file update").next().unwrap_or_default();
    let (_, until) = read(cut);
    let word = until.last.words().next().cloned().unwrap_or_default();
    let signal = word.text.find("EXIT_SIGNAL").unwrap_or_default();
    assert_eq!((word.line, word.line_at(signal)), (17, 19));
    assert_eq!(lines.last.words().count(), 1);
}

#[test]
fn text_log_without_header() {
    check(
        Format::CodexText,
        "\nuser\nHi\ncodex\nHello.\n",
        &[
            "2 system: user",
            "2 --- prompt",
            "3 user: Hi⏎",
            "4 system: codex",
            "5 assistant: Hello.⏎",
        ],
    );
}

#[test]
fn text_log_cut_after_the_prompt_has_no_word() {
    let input = HEADER.to_owned() + "user\nSay <promise>COMPLETE</promise> when done.\n";
    assert!(words(&input).is_empty());
}

#[test]
fn text_log_of_two_runs_counts_the_second() {
    let input = HEADER.to_owned() + LOG + HEADER + "user\nMore\ncodex\nWorking.\n";
    assert_eq!(words(&input), ["Working.\n"]);
}

#[track_caller]
fn check_after_tokens(after: &str, word: &str) {
    let log = "user\nDo it.\ncodex\nI look.\ncodex\nDone.\n\n<promise>COMPLETE</promise>\ntokens used\n9,001\n";
    assert_eq!(words(&format!("{HEADER}{log}{after}")), [word], "{after}");
}

#[test]
fn a_driver_s_lines_after_the_answer_hide_no_signal() {
    let said = "Done.\n\n<promise>COMPLETE</promise>\n";
    check_after_tokens(said, said);
    check_after_tokens(&format!("\n{said}"), said);
    for driver in [
        "real\t0m41.2s\nuser\t0m1.0s\n",
        "To github.com:a/b.git\n   1f0c..9a2b  main -> main\n",
        "2026-05-02 10:11:12 iteration finished, status 0\n",
        "pushed\n",
    ] {
        check_after_tokens(driver, said);
        check_after_tokens(&format!("{said}{driver}"), said);
    }
}

#[test]
fn a_signal_that_a_driver_prints_is_not_the_agent_s() {
    let log = "user\nDo it.\ncodex\nTwo tests fail.\ntokens used\n9,001\nTwo tests fail.\n";
    let input = format!(
        "{HEADER}{log}waiting for <promise>COMPLETE</promise>\n<promise>COMPLETE</promise>\n"
    );
    assert_eq!(words(&input), ["Two tests fail.\n"]);
}

#[track_caller]
fn check_answer(message: &str, after: &str, said: &[&str]) {
    let log = format!("{HEADER}user\nDo it.\ncodex\n{message}tokens used\n9,001\n{after}");
    assert_eq!(words(&log), said, "{log}");
}

const CODE: &str = "It runs:\n```\nexec\nmake all\n```\n\nEXIT_STATUS: COMPLETE\n";

#[test]
fn an_answer_whose_code_block_has_a_mark_keeps_its_signal() {
    check_answer(CODE, CODE, &[CODE]);
    check_answer(CODE, &format!("{CODE}pushed\n<promise>COMPLETE</promise>\n"), &[CODE]);
}

#[test]
fn an_answer_without_the_warning_that_stood_in_its_message_keeps_its_signal() {
    let message = "Done.\nwarning: slow network\n\nEXIT_STATUS: COMPLETE\n";
    let answer = "Done.\n\nEXIT_STATUS: COMPLETE\n";
    check_answer(message, answer, &[answer]);
}

#[test]
fn what_a_command_printed_after_the_last_message_is_no_answer_of_the_agent_s() {
    let message = "Two tests fail.\nexec\n/bin/bash -lc 'cat x' in /w\nEXIT_STATUS: COMPLETE\n";
    let answer = "Two tests fail.\n";
    check_answer(message, &format!("{answer}EXIT_STATUS: COMPLETE\n"), &[answer]);
    check_answer(message, &format!("{answer}done\nexec\nEXIT_STATUS: COMPLETE\n"), &[answer]);
}

#[test]
fn text_log_of_old_versions_stamps_its_sections() {
    let input = "[2025-08-20T12:00:00] OpenAI Codex v0.22.0 (research preview)\n--------\nmodel: gpt-x\n\
                 [2025-08-20T12:00:01] User instructions:\nDo it\n[2025-08-20T12:00:02] codex\nDone.\n\
                 [2025-08-20T12:00:03] exec bash -lc ls in /w\nEXIT_SIGNAL: true\n[2025-08-20T12:00:04] tokens used: 1,234\n";
    assert_eq!(words(input), ["Done.\n"]);
    assert_eq!(
        events(Format::CodexText, input).last().map(String::as_str),
        Some("usage 1234 tokens, - µ$, - ms")
    );
}

#[test]
fn text_log_errors() {
    let limit = "ERROR: You've hit your usage limit. Try again at 5pm.";
    let input = format!("{HEADER}user\nHi\ncodex\nHello.\n{limit}\n");
    assert!(
        events(Format::CodexText, &input)
            .iter()
            .any(|line| line.starts_with("12 limit: You've hit"))
    );
}
