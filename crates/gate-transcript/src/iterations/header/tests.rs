//! Lines that are headers of a loop, and lines that look like one.

use super::*;

/// The number of a header in a log that begins with a rule, as far as it is one.
fn number(line: &str) -> Option<u64> {
    let title = title(line, false)?;
    (title.header.kind != Kind::Boxed).then_some(title.number)
}

#[test]
fn headers_are_decorated_on_both_sides_and_count_one_of_four_things() {
    for (line, expected) in [
        ("=== Iteration 3 of 10 ===", 3),
        ("--- Loop #3 ---", 3),
        ("═══ Cycle: 12 ═══", 12),
        ("*** ROUND 7 ***", 7),
        ("==Loop 3==", 3),
        ("~~~ my agent's next loop 4 ~~~", 4),
        ("=== Iteration 3/10 ===", 3),
        ("=== Iteration 3: Thu Jan 8 ===", 3),
        ("=== Iteration 3 (amp) ===", 3),
        ("=== Iteration 3 – later ===", 3),
        ("=== Iteration 3 | $0.02 ===", 3),
        ("=== Iteration 3 [codex] ===", 3),
    ] {
        assert_eq!(number(line), Some(expected), "{line}");
    }
}

#[test]
fn what_only_looks_like_a_header_is_none() {
    for line in [
        "=== Iteration 3",
        "Iteration 3 ===",
        "= Iteration 3 =",
        "=== Iteration 3 ---",
        "## Iteration 3 ##",
        "=== Iteration ===",
        "=== Iteration three ===",
        "=== Step 3 ===",
        "=== Iterations 3 ===",
        "=== Iteration 3 is over ===",
        "=== Iteration 3of 10 ===",
        "=== Iteration 3rd ===",
        "=== this is what I did in loop 3 ===",
        "=== Iteration 99999999999999999999 ===",
    ] {
        assert_eq!(number(line), None, "{line}");
    }
}

#[test]
fn a_time_and_a_level_before_a_header_are_the_loggers() {
    for (line, message) in [
        ("[2026-01-09 10:00:00] [LOOP] === Loop 3 ===", Some("=== Loop 3 ===")),
        ("[x]a", Some("a")),
        ("[x", None),
        ("a [x] b", None),
    ] {
        assert_eq!(without_log_prefix(line), message, "{line}");
    }
    let Title { header, number } = title("[10:00] === Loop 3 ===", false).unwrap();
    assert_eq!((header.kind, number), (Kind::Logged, 3));
    assert!(is_logged("  [10:00] a") && !is_logged("[LOOP] a") && !is_logged("[10:00"));
    assert_eq!(stamp(" [2026-01-09 10:00:00] [LOOP] a"), "2026-01-09 10:00:00");
}

#[test]
fn only_the_first_line_says_that_a_log_is_ralph_tuis() {
    let kind =
        |line: &str, first| title(line, first).map(|title| (title.header.kind, title.number));
    assert_eq!(kind("# Iteration 3 Log", true), Some((Kind::Tui, 3)));
    assert_eq!(kind("# Iteration 3 Log", false), None);
    assert_eq!(kind("# Iteration 3", true), None);
    assert_eq!(kind("# Iteration x Log", true), None);
    assert_eq!(kind("=== Loop 3 ===", true), Some((Kind::Line, 3)));
}

#[test]
fn a_rule_is_a_row_of_ten_of_one_mark() {
    for (line, expected) in [
        ("==========", true),
        ("  ━━━━━━━━━━━", true),
        ("=========", false),
        ("=====-=====", false),
        ("==========x", false),
        ("++++++++++", false),
        ("", false),
    ] {
        assert_eq!(is_rule(line), expected, "{line}");
    }
}

/// The judgements of the lines after the log's head, as letters: the line is dropped, is
/// kept, or begins an iteration before or after itself.
#[track_caller]
fn judged(log: &str) -> String {
    let mut cuts = Loop::detect(log.as_bytes()).unwrap();
    let letter = |line: &str| match cuts.judge(line.as_bytes()) {
        Cut::No => '.',
        Cut::Drop => 'd',
        Cut::Before => 'b',
        Cut::After => 'a',
    };
    log.lines().map(letter).collect()
}

#[test]
fn all_headers_of_a_loop_look_alike() {
    for other in [
        "--- Loop 2 ---",
        " === Loop 2 ===",
        "=== Round 2 ===",
        "=== Next loop 2 ===",
        "[10:00] === Loop 2 ===",
    ] {
        assert_eq!(
            judged(&format!("=== Loop 1 ===\nx\n{other}\n=== Loop 2 ===")),
            "a..a",
            "{other}"
        );
    }
    assert_eq!(judged("=== Loop 1 ===\nx\n=== LOOP 2 of 9 ===\ny"), "a.a.");
}

#[test]
fn numbers_go_up_one_by_one_unless_a_logger_wrote_them() {
    assert_eq!(judged("=== Loop 1 ===\n=== Loop 3 ===\n=== Loop 2 ===\n=== Loop 1 ==="), "a.aa");
    assert_eq!(judged("=== Loop 4 ===\n=== Loop 5 ===\n=== Loop 1 ==="), "aa.");
    let logged = |number: u32| format!("[10:0{number}] === Loop {number} ===\n");
    assert_eq!(judged(&[logged(4), logged(9), logged(2)].concat()), "aaa");
    let tui = |number: u32| format!("# Iteration {number} Log\n");
    assert_eq!(judged(&[tui(4), tui(9), tui(2)].concat()), "bb.");
    assert_eq!(judged(&format!("=== Loop {} ===\n=== Loop 1 ===", u64::MAX)), "a.");
}

#[test]
fn a_box_is_dropped_with_the_lines_up_to_its_lower_rule() {
    let rule = "==========";
    let boxed = |number: u32, more: &str| format!("{rule}\n  Loop {number} of 9\n{more}{rule}\n");
    let log = format!("{}x\n{}y", boxed(1, ""), boxed(2, "  Story: a\n"));
    assert_eq!(judged(&log), "dad..a.d.");
    let open = format!("{}{rule}\n  Loop 2\nx\n", boxed(1, ""));
    assert_eq!(judged(&open), "dad.a.");
    assert!(Loop::detect(format!("{rule}\n  Loop 1\n{}", "x\n".repeat(9)).as_bytes()).is_none());
    assert!(Loop::detect(format!("  Loop 1\n{rule}\n").as_bytes()).is_none());
    let five = format!("{rule}\n  Loop 1\n{}{rule}\n", "x\n".repeat(4));
    assert!(Loop::detect(five.as_bytes()).is_some());
}

#[test]
fn a_banner_may_come_before_the_first_header_and_not_a_conversation() {
    let after = |lines: usize| format!("{}=== Loop 1 ===\n", "Welcome\n".repeat(lines));
    assert!(Loop::detect(after(29).as_bytes()).is_some());
    assert!(Loop::detect(after(30).as_bytes()).is_none());
    let logged = "[10:00] Welcome\n".repeat(90) + "[10:01] === Loop 1 ===\n";
    assert!(Loop::detect(logged.as_bytes()).is_some());
    let unlogged = "Welcome\n[10:01] === Loop 1 ===\n";
    assert!(Loop::detect(unlogged.as_bytes()).is_none());
}

#[test]
fn a_line_longer_than_a_header_may_be_is_the_agents() {
    let long = format!("=== Loop 2 ({}) ===", "x".repeat(MAX_HEADER_BYTES));
    assert_eq!(judged(&format!("=== Loop 1 ===\n{long}\n=== Loop 2 ===")), "a.a");
    let colours = "\u{1b}[32m=== Loop 2 ===\u{1b}[0m   ";
    assert_eq!(judged(&format!("=== Loop 1 ===\n{colours}")), "aa");
}
