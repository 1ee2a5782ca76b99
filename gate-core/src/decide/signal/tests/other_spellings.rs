//! Spellings of other loops are named as near misses.

use super::*;

#[track_caller]
fn check(message: &str, line: u64, reason: &str) {
    let signal = read(message);
    assert_eq!(signal.status, Status::Absent, "{message}");
    let miss = signal.near_misses.last().expect("a near miss");
    assert_eq!(miss.line, line, "{message}");
    assert!(miss.why.contains(reason), "{message}: {}", miss.why);
}

#[test]
fn the_setting_that_would_accept_it_is_named() {
    check("All stories pass.\n\nSTORY_COMPLETE\n", 3, "regex = '^STORY_COMPLETE$'");
    check("The parser is done.\n\n**COMPLETE**\n", 3, "regex = '^COMPLETE$'");
    check("The parser is done.\n\n✅ COMPLETE!\n", 3, "regex = '^COMPLETE$'");
    check("The parser is done.\nCOMPLETE: true\n", 2, r"regex = '^COMPLETE:\s*true$'");
    check("The parser is done.\nEXIT_SIGNAL\n", 2, "EXIT_SIGNAL: true is read");
    check("Done.\n<!-- RALPH_STATUS\nstatus: done\n-->\n", 2, "comment of markup");
}

#[test]
fn a_sentence_or_a_denial_is_no_spelling() {
    for message in [
        "The story is COMPLETE now.",
        "COMPLETE: false",
        "Complete",
        "NOT DONE YET",
        "story_COMPLETE",
        "(COMPLETE)",
        "完COMPLETE",
        "The work is DONE now.\n\nPARSER",
        "<!-- DONE -->\nIt is DONE now.",
    ] {
        assert_eq!(read(message).near_misses, [], "{message}");
    }
}

#[test]
fn beside_a_signal_nothing_is_named() {
    assert_eq!(complete("STORY_COMPLETE\n\n<promise>COMPLETE</promise>").near_misses, []);
}
