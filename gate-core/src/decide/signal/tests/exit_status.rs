//! The keys of the seed.

use super::*;

#[test]
fn the_seed_s_block_with_all_keys() {
    let signal = complete(
        "EXIT_STATUS: COMPLETE\nEXIT_REASON: all criteria verified\nREMAINING_WORK: none\n\
         EXIT_CONFIDENCE: HIGH\nEXIT_OVERRIDE: true",
    );
    assert_eq!(signal.reason.as_deref(), Some("all criteria verified"));
    assert_eq!(signal.confidence.as_deref(), Some("high"));
    assert!(signal.override_requested && signal.fields_agree);
    assert_eq!((signal.source, signal.line), (Some(Spelling::ExitStatus), Some(1)));
}

#[test]
fn white_space_and_marks_around_the_key() {
    complete("EXIT_STATUS:COMPLETE");
    complete("EXIT_STATUS:\t COMPLETE");
    complete("- **EXIT_STATUS:** COMPLETE");
    complete("**EXIT_STATUS**: `COMPLETE`");
    complete("1. EXIT_STATUS: COMPLETE");
    complete("```\nEXIT_STATUS: COMPLETE\n```");
    complete("EXIT_STATUS: COMPLETE\r\nEXIT_REASON: done\r\n");
}

#[test]
fn the_other_values() {
    check("EXIT_STATUS: CONTINUE", Status::Continue);
    let signal = check("EXIT_STATUS: BLOCKED\nEXIT_REASON: no credentials", Status::Blocked);
    assert_eq!(signal.reason.as_deref(), Some("no credentials"));
}

#[test]
fn values_that_are_none() {
    none("EXIT_STATUS:", "no value");
    mangled("EXIT_STATUS: complete", "`COMPLETE` would be accepted");
    mangled("EXIT_STATUS: COMPLETED", "is no status");
    none("Then EXIT_STATUS: COMPLETE was printed", "within a line");
}

#[test]
fn a_denial_in_capital_letters_ends_no_loop() {
    for denial in [
        "O trabalho não está concluído:",
        "O trabalho NÃO está concluído:",
        "РАБОТА ЕЩЁ НЕ ГОТОВА:",
        "Я НЕ МОГУ ЭТО ВЫВЕСТИ:",
    ] {
        none(&format!("{denial}\n\nEXIT_STATUS: COMPLETE"), "denies");
    }
}

#[test]
fn placeholders() {
    none("EXIT_STATUS: {COMPLETE|CONTINUE}", "placeholder");
    none("EXIT_STATUS: COMPLETE|CONTINUE", "placeholder");
    none("EXIT_STATUS: COMPLETE or CONTINUE", "placeholder");
    none("EXIT_STATUS: <status>", "placeholder");
    none("EXIT_STATUS: COMPLETE\nEXIT_REASON: {explanation}", "placeholder");
}

#[test]
fn remaining_work_contradicts() {
    contradicts("EXIT_STATUS: COMPLETE\nREMAINING_WORK: the docs", "REMAINING_WORK: the docs");
    contradicts("EXIT_STATUS: COMPLETE\nREMAINING_WORK:\n- the docs\n- the tests", "the docs");
    contradicts("EXIT_STATUS: COMPLETE\nREMAINING_WORK: none, except the docs", "except the docs");
    for nothing in
        ["none", "None.", "nothing", "N/A", "n/a", "", "none (all criteria met)", "None remaining"]
    {
        complete(&format!("EXIT_STATUS: COMPLETE\nREMAINING_WORK: {nothing}\n"));
    }
}

#[test]
fn one_key_twice_in_one_block() {
    contradicts("EXIT_STATUS: COMPLETE\nEXIT_STATUS: CONTINUE", "stands twice");
    contradicts("EXIT_STATUS: CONTINUE\nEXIT_STATUS: COMPLETE", "stands twice");
    complete("EXIT_STATUS: COMPLETE\nEXIT_STATUS: COMPLETE");
}

#[test]
fn one_blank_line_is_within_a_block_and_two_end_it() {
    contradicts("EXIT_STATUS: CONTINUE\n\nEXIT_STATUS: COMPLETE", "stands twice");
    complete("EXIT_STATUS: CONTINUE\n\n\nEXIT_STATUS: COMPLETE");
}

#[test]
fn a_mention_below_a_block_is_a_near_miss() {
    let text = "EXIT_STATUS: CONTINUE\nThen EXIT_STATUS: COMPLETE was printed";
    let misses = check(text, Status::Continue).near_misses;
    assert_eq!(misses.iter().map(|miss| miss.line).collect::<Vec<_>>(), [2]);
}

#[test]
fn whole_blocks_are_a_history() {
    let text = |first, second| {
        format!("EXIT_STATUS: {first}\n\nThen I went on.\n\nEXIT_STATUS: {second}\n")
    };
    complete(&text("CONTINUE", "COMPLETE"));
    check(&text("COMPLETE", "CONTINUE"), Status::Continue);
}

#[test]
fn a_qualified_value_is_no_completion() {
    contradicts("EXIT_STATUS: COMPLETE once the tests pass", "qualified");
    contradicts("EXIT_STATUS: COMPLETE (not verified)", "qualified");
    complete("EXIT_STATUS: COMPLETE (everything verified)");
}
