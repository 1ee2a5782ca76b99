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
    near_miss("EXIT_STATUS:", "no value");
    mangled("EXIT_STATUS: complete", "`COMPLETE` would be accepted");
    mangled("EXIT_STATUS: COMPLETED", "is no status");
    near_miss("Then EXIT_STATUS: COMPLETE was printed", "within a line");
}

#[test]
fn a_denial_in_capital_letters_ends_no_loop() {
    for denial in [
        "O trabalho não está concluído:",
        "O trabalho NÃO está concluído:",
        "РАБОТА ЕЩЁ НЕ ГОТОВА:",
        "Я НЕ МОГУ ЭТО ВЫВЕСТИ:",
    ] {
        near_miss(&format!("{denial}\n\nEXIT_STATUS: COMPLETE"), "denies");
    }
}

#[test]
fn placeholders() {
    near_miss("EXIT_STATUS: {COMPLETE|CONTINUE}", "placeholder");
    near_miss("EXIT_STATUS: COMPLETE|CONTINUE", "placeholder");
    near_miss("EXIT_STATUS: COMPLETE or CONTINUE", "placeholder");
    near_miss("EXIT_STATUS: <status>", "placeholder");
    near_miss("EXIT_STATUS: COMPLETE\nEXIT_REASON: {explanation}", "placeholder");
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
fn remaining_work_belongs_to_a_status_far_above() {
    contradicts("EXIT_STATUS: COMPLETE\n\n\nREMAINING_WORK: the login page", "the login page");
    complete("EXIT_STATUS: COMPLETE\n\n\nREMAINING_WORK: none");
    let first = "EXIT_STATUS: CONTINUE\nREMAINING_WORK: the docs";
    complete(&format!("{first}\n\n\nREMAINING_WORK: none\nEXIT_STATUS: COMPLETE"));
    complete("EXIT_STATUS: COMPLETE\nREMAINING_WORK:\n\n\nThe docs are in place.");
}

#[test]
fn a_mention_below_a_block_is_a_near_miss() {
    let text = "EXIT_STATUS: CONTINUE\nThen EXIT_STATUS: COMPLETE was printed by my_tool";
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

#[test]
fn the_next_work_below_refuses_a_completion_and_nothing_else() {
    near_miss("EXIT_STATUS: COMPLETE\n\nNow let me start with task 4.", "next work");
    check("EXIT_STATUS: BLOCKED\n\nNow let me start with task 4.", Status::Blocked);
}

#[test]
fn a_free_text_goes_on_over_the_lines_below_its_key() {
    let reason = |text: &str| complete(&format!("EXIT_STATUS: COMPLETE\n{text}")).reason.unwrap();
    assert_eq!(reason("EXIT_REASON: all stories\npass now\n"), "all stories pass now");
    assert_eq!(reason("EXIT_REASON:\n\nall stories pass\n"), "all stories pass");
    assert_eq!(reason("EXIT_REASON: it is done\n\nThe rest is prose.\n"), "it is done");
    let work = |text: &str| read(&format!("EXIT_STATUS: CONTINUE\n{text}")).remaining_work;
    let two = work("REMAINING_WORK: the docs\nand the tests\n");
    assert_eq!(two.as_deref(), Some("the docs and the tests"));
    assert_eq!(work("REMAINING_WORK: none\nAll is well.\n").as_deref(), Some("none"));
}

#[test]
fn the_status_and_the_remaining_work_are_taken_as_the_signal() {
    let text = "EXIT_STATUS: COMPLETE\nREMAINING_WORK: none\nEXIT_REASON: all tests pass";
    assert_eq!(complete(text).texts, ["EXIT_STATUS: COMPLETE", "REMAINING_WORK: none"]);
    let signal = Signal::read(&turn(&[&format!("It is done.\n{text}")]), &policy());
    assert_eq!((signal.line(), signal.texts().len()), (Some(2), 2));
}

#[test]
fn a_message_ends_with_its_signal_also_above_a_mention() {
    let shown = "For example:\n\n```\nEXIT_STATUS: COMPLETE\n```\n\nAll is there.\n\n";
    let last = "EXIT_STATUS: COMPLETE\n\nSo EXIT_STATUS: COMPLETE it is.";
    complete(&format!("{shown}{last}"));
    near_miss(&format!("{shown}{last}\n\nIt ends the loop."), "this is an example too");
}

#[test]
fn brackets_on_one_side_make_no_placeholder() {
    complete("EXIT_STATUS: COMPLETE [all of it]");
}
