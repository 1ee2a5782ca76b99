//! The JSON exit signal as an explicit signal of the gate.

use super::*;
use crate::exit::WorkPhase;

const SIGNAL: &str = r#"{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"completed","notes":"both layouts are read"}"#;

fn with(text: &str) -> String {
    text.replace('@', SIGNAL)
}

#[track_caller]
fn said(text: &str) -> Signal {
    let signal = complete(&with(text));
    assert_eq!(signal.source, Some(Spelling::AgentExit), "{text}");
    assert_eq!(
        exit_signals(&turn(&[&with(text)]))
            .iter()
            .filter(|exit_signal| exit_signal.found.is_ok())
            .count(),
        1
    );
    signal
}

#[track_caller]
fn not_said(text: &str, why: &str) {
    near_miss(&with(text), why);
    assert!(
        exit_signals(&turn(&[&with(text)])).iter().all(|exit_signal| exit_signal.found.is_err()),
        "{text}"
    );
}

fn pretty() -> String {
    let value: serde_json::Value = serde_json::from_str(SIGNAL).unwrap();
    serde_json::to_string_pretty(&value).unwrap()
}

#[test]
fn alone_indented_and_fenced() {
    said("@");
    said("The importer reads both layouts.\n\n@\n");
    said(&pretty());
    said(&format!("Done.\n\n{}\n", pretty()));
    said("```\n@\n```");
    said("```json\n@\n```");
    said(&format!("Here is my exit signal:\n\n```json\n{}\n```\n", pretty()));
    said("`@`");
    said("- @");
    said("Exit signal: @");
    said("@\n\n## Summary\n\nThe importer reads both layouts now.");
    assert_eq!(said("One\ntwo\n@").line, Some(3));
    assert_eq!(said("@").reason.as_deref(), Some("both layouts are read"));
}

#[test]
fn among_other_json() {
    said("I read the settings:\n\n{\"retries\": 3, \"nested\": {\"a\": [1, 2]}}\n\n@");
    said("```json\n{\"a\": 1}\n```\n\n@\n");
    said("The list [1, 2] and {braces} do no harm.\n{\"unfinished\": …}\n\n@");
}

#[test]
fn within_other_json_it_is_none() {
    not_said("[@]", "invalid JSON: ");
    not_said("[\n@\n]", "invalid JSON: ");
    not_said("{\"signal\": @}", "invalid JSON: unknown field `signal`");
    not_said("{\n\"signal\":\n@\n}", "invalid JSON: unknown field `signal`");
    not_said("{\"unfinished\":\n@\n", "invalid JSON: unknown field `unfinished`");
    not_said("@ trailing", "goes on");
    not_said("@@", "goes on");
}

#[test]
fn examples_and_mentions() {
    not_said("For example:\n\n@\n", "example");
    not_said("Once CI is green I will print:\n\n@", "condition");
    not_said("I must not print this yet:\n@", "denies");
    not_said("The docs show @ as the last line.", "sentence");
    not_said("> @", "quoted");
    not_said("+@", "diff");
    not_said("```rust\n@\n```", "code");
    not_said("The protocol:\n\n```json\n@\n```\n", "example");
    not_said("echo '@'", "quoted");
    not_said("@\n\nNow let me start with task 4.", "next work");
}

#[test]
fn a_fence_of_json_holds_no_other_spelling() {
    near_miss("```json\n<promise>COMPLETE</promise>\n```", "code example");
}

#[test]
fn blocked_and_failed_sessions_block() {
    for reason in ["blocked", "error"] {
        let text = SIGNAL.replace("completed\",\"notes", &format!("{reason}\",\"notes"));
        let signal = check(&text, Status::Blocked);
        assert_eq!(signal.reason.as_deref(), Some("both layouts are read"), "{text}");
    }
    check(&SIGNAL.replace("IMPLEMENTATION", "BLOCKED"), Status::Blocked);
    let bare = r#"{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"REVIEW","exit_reason":"error"}"#;
    assert_eq!(check(bare, Status::Blocked).reason.as_deref(), Some("REVIEW: error"));
    check(&format!("{bare}\n\nThe credentials are still missing."), Status::Blocked);
}

#[test]
fn the_last_valid_one_counts() {
    let blocked = SIGNAL.replace("\"completed\"", "\"blocked\"");
    check(&format!("{SIGNAL}\n{blocked}"), Status::Blocked);
    check(&format!("{blocked}\n{SIGNAL}"), Status::Complete);
    let invalid = SIGNAL.replace("1.0.0", "2.0.0");
    let signal = check(&format!("{SIGNAL}\n{invalid}"), Status::Complete);
    assert_eq!(signal.near_misses[0].why, "unsupported version: expected '1.x', got '2.0.0'");
    let found = exit_signals(&turn(&[&format!("{SIGNAL}\n{invalid}\n{blocked}\n{invalid}")]));
    assert_eq!(
        found.iter().map(|found| found.found.is_ok()).collect::<Vec<_>>(),
        [true, false, true, false]
    );
}

#[test]
fn inv_exit002_an_invalid_one_is_told_and_changes_nothing() {
    for (from, to, why) in [
        ("apm2_agent_exit\"", "apm2_agent_exit2\"", "unknown protocol"),
        ("1.0.0", "2.0.0", "unsupported version"),
        ("IMPLEMENTATION", "CODING", "unknown variant"),
        ("\"completed\"", "\"done\"", "unknown variant"),
        (",\"version\"", ",\"zzz\":1,\"version\"", "unknown field"),
        (",\"version\":", ",\"version\" ", "expected `:`"),
        ("\"1.0.0\"", "\"1.0.0", "expected `,` or `}`"),
    ] {
        let text = format!("{}\nbye", SIGNAL.replacen(from, to, 1));
        near_miss(&text, why);
        complete(&format!("EXIT_STATUS: COMPLETE\n\n{text}"));
        check(&format!("EXIT_STATUS: CONTINUE\n\n{text}"), Status::Continue);
    }
}

#[test]
fn other_spellings_contradict_it() {
    contradicts(&format!("EXIT_STATUS: CONTINUE\n\n{SIGNAL}"), "contradicts");
    complete(&format!("EXIT_STATUS: COMPLETE\n\n{SIGNAL}"));
}

#[test]
fn while_the_flag_is_off_it_is_only_told() {
    let off = SignalPolicy { exit_protocol: false, ..policy() };
    let signal = read_with(SIGNAL, &off);
    assert_eq!(signal.status, Status::Absent);
    let why = "exit signal validation is disabled (AGENT_EXIT_PROTOCOL_ENABLED=false)";
    assert_eq!(signal.near_misses[0].why, why);
    let both =
        format!("EXIT_STATUS: COMPLETE\n\n{}", SIGNAL.replace("\"completed\"", "\"blocked\""));
    assert_eq!(read_with(&both, &off).status, Status::Complete);
}

#[test]
fn what_it_says_is_no_indicator_as_well() {
    assert!(said("@").texts[0].contains("both layouts are read"));
}

#[test]
fn the_sentence_around_it_goes_on_behind_its_last_line() {
    for signal in [SIGNAL.to_owned(), pretty()] {
        near_miss(&format!("I almost printed\n\n{signal}\n\nbut one story is open."), "goes on");
    }
}

#[test]
fn below_an_example_one_with_a_heading_is_another_one() {
    for fence in ["```", "```json"] {
        let shown = format!("For example:\n\n{fence}\n@\n```\n\n## Final status\n\n");
        near_miss(&with(&format!("{shown}{fence}\n@\n```\n")), "this is an example too");
    }
}

#[test]
fn an_answer_to_a_notification_gives_way_unless_it_holds_one() {
    let blocked = SIGNAL.replace("\"completed\"", "\"blocked\"");
    for (answer, phase) in
        [("The build has ended.", WorkPhase::CiPending), (&blocked, WorkPhase::Blocked)]
    {
        let mut turn = turn(&[SIGNAL]);
        turn.event(&Event::Boundary(gate_transcript::Boundary::Notification, 2));
        turn.event(&Event::Text(Text {
            role: Role::Assistant,
            text: answer,
            line: 3,
            multiline: true,
            continues: false,
        }));
        let found = exit_signals(&turn);
        assert_eq!(found.len(), 1, "{answer}");
        assert_eq!(found[0].found.as_ref().unwrap().next_expected_phase(), phase);
    }
}

#[test]
fn only_the_last_word_is_looked_at() {
    let turn = turn(&[SIGNAL, "Committed."]);
    assert_eq!(exit_signals(&turn), []);
    assert_eq!(Signal::read(&turn, &policy()).status(), Status::Absent);
}

#[test]
fn the_phase_is_the_signals() {
    let found = exit_signals(&turn(&[&with("Done.\n@")]));
    let signal = found[0].found.clone().unwrap();
    assert_eq!((found[0].line, signal.next_expected_phase()), (2, WorkPhase::CiPending));
    assert_eq!(said("Done.\n@").exit_signal.as_deref(), Some(&signal));
}
