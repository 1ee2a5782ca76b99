//! The Test Anything Protocol: names, braces, indentation and ends of a document.

use super::report;
use crate::tap::Tap;
use crate::{Status, TestReport};

fn tap(text: &str) -> TestReport {
    report(Tap::new(), text).unwrap()
}

/// The tests of a document that is whole, as `+ passed`, `- failed` and `~ skipped`.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let report = tap(text);
    assert_eq!((&report.problems, &report.errors), (&Vec::new(), &Vec::new()), "{text}");
    let line = |test: &crate::Test| {
        let mark = match test.status {
            Status::Passed => '+',
            Status::Failed => '-',
            Status::Skipped => '~',
        };
        format!("{mark} {}", test.id)
    };
    assert_eq!(report.tests.iter().map(line).collect::<Vec<_>>(), expected, "{text}");
}

#[track_caller]
fn check_problems(text: &str, expected: &[&str]) {
    assert_eq!(tap(text).problems, expected, "{text}");
}

#[test]
fn the_name_of_a_test_is_its_description_without_marks() {
    check("1..1\nok 1 - adds numbers", &["+ adds numbers"]);
    check("1..1\nok 1 adds numbers", &["+ adds numbers"]);
    check("1..1\nok - adds numbers", &["+ adds numbers"]);
    check("1..1\nok 1", &["+ 1"]);
    check("1..2\nok\nnot ok", &["+ 1", "- 2"]);
    check("1..1\nok 1 - - dashed", &["+ - dashed"]);
    check("1..1\nok 1 - a \\# b", &["+ a # b"]);
    check("1..1\nok 1 - a # time=0.5ms", &["+ a"]);
    check("1..1\nok 1 - a # time=0.5ms # SKIP later", &["~ a"]);
    check("1..1\nok 1 - braces{", &["+ braces{"]);
    check("1..1\n  \t\nok 1 - a   ", &["+ a"]);
}

#[test]
fn a_directive_is_the_first_word_behind_a_mark() {
    check("1..1\nnot ok 1 - a # TO\u{44}O", &["~ a"]);
    check("1..1\nnot ok 1 - a #todo", &["~ a"]);
    check("1..1\nok 1 - a # Skipped: no network", &["~ a"]);
    check("1..1\nnot ok 1 - a # see issue # todo", &["~ a # see issue"]);
    check("1..1\nnot ok 1 - a # to do", &["- a # to do"]);
    check("1..1\nnot ok 1 - a todo", &["- a todo"]);
    check("1..1\nnot ok 1 # skip", &["~ 1"]);
}

#[test]
fn a_line_that_is_no_point_is_passed_over() {
    check("1..1\nokay 1\nok1 - x\nnot okay\nNOT OK 1\n# ok 2\nok 1 - a\n  ok 9 - odd", &["+ a"]);
    check("1..1\n2> 1..9\n2> not ok 2 - b\nok 1 - a", &["+ a"]);
}

#[test]
fn a_subtest_in_braces_holds_its_tests() {
    let two = "1..2\nok 1 - outer {\n    ok 1 - a\n    not ok 2 - b # TO\u{44}O\n    1..2\n}\nok 2 - last";
    check(two, &["+ outer > a", "~ outer > b", "+ last"]);
    let deep =
        "1..1\nok 1 - x {\n    1..1\n    ok 1 - y {\n        1..1\n        ok 1 - z\n    }\n}";
    check(deep, &["+ x > y > z"]);
    check("1..1\nok 1 - empty {\n    1..0\n}", &[]);
    check_problems("1..1\nok 1 - empty {\n}", &["the plan of `empty` is missing"]);
    check_problems("1..1\nok 1 - costs {", &["the plan of `costs` is missing"]);
    check_problems(
        "1..1\nok 1 - outer {\n    1..2\n    ok 1 - a\n}",
        &["the plan of `outer` is 2 tests, and 1 were reported"],
    );
}

#[test]
fn a_parent_in_braces_that_failed_by_itself_is_a_failed_test() {
    let own = "1..1\nnot ok 1 - outer {\n    1..1\n    ok 1 - a\n}";
    check(own, &["+ outer > a", "- outer"]);
    let inner = "1..1\nnot ok 1 - outer {\n    1..1\n    not ok 1 - a\n}";
    check(inner, &["- outer > a"]);
}

#[test]
fn an_indented_subtest_is_named_by_its_comment() {
    let text = "# Subtest: outer\n    # Subtest: inner\n        1..1\n        ok 1 - a\n    ok 1 - inner\n    1..1\nok 1 - outer\n1..1";
    check(text, &["+ outer > inner > a"]);
    let own_depth = "    # Subtest: outer\n    1..1\n    ok 1 - a\nok 1 - outer\n1..1";
    check(own_depth, &["+ a"]);
    check("# Subtest: empty\nok 1 - empty\n1..1", &["+ empty"]);
}

#[test]
fn two_subtests_of_a_level_are_counted_apart() {
    let text = "# Subtest: x\n    1..1\n    ok 1 - a\nok 1 - x\n# Subtest: y\n    1..1\n    not ok 1 - a\nnot ok 2 - y\n1..2";
    check(text, &["+ x > a", "- y > a"]);
}

#[test]
fn a_plan_of_a_subtest_has_to_hold_by_itself() {
    check_problems(
        "1..2\n# Subtest: x\n    ok 1 - a\nok 1 - x\nok 2 - y",
        &["the plan of `x` is missing"],
    );
    check_problems(
        "1..1\n# Subtest: x\n    1..1\n    1..1\n    ok 1 - a\nok 1 - x",
        &["there is more than one plan"],
    );
}

#[test]
fn points_behind_a_jump_are_out_of_order_once() {
    check_problems("1..3\nok 1 - a\nok 3 - b\nok 4 - c", &["test 2 is out of order: `b`"]);
    check_problems("1..2\nok 1 - a\nok 2 - b", &[]);
    check_problems("1..2\nok\nok 2 - b", &[]);
}

#[test]
fn a_block_of_diagnostics_ends_at_its_own_indentation() {
    check(
        "1..2\nnot ok 1 - a\n  ---\n  at: x\n    ...\nnot ok 7\n  ...\nok 2 - b",
        &["- a", "+ b"],
    );
    check(
        "1..1\n# Subtest: x\n    1..1\n    not ok 1 - a\n      ---\n      ok 9\n      ...\nnot ok 1 - x",
        &["- x > a"],
    );
    check("1..1\nok 1 - a\n---\nnot a block", &["+ a"]);
}

#[test]
fn a_plan_that_skips_all_is_whole_without_points() {
    let skipped = tap("1..0 # SKIP no database");
    assert_eq!((skipped.problems, skipped.passed, skipped.skipped), (Vec::new(), 0, 0));
    check_problems(
        "1..0 # SKIP no database\nok 1 - a",
        &["the plan is 0 tests, and 1 were reported"],
    );
    check_problems("1..2 # a remark\nok 1\nok 2", &[]);
}

#[test]
fn errors_outside_of_tests_are_told_in_the_words_of_the_document() {
    assert_eq!(tap("1..1\nok 1\nBail out!").errors, ["Bail out!"]);
    assert_eq!(tap("1..1\nok 1\n    Bail out! inner").errors, [""; 0]);
    let uncaught = "# Error: Test \"a\" generated asynchronous activity after the test ended. x";
    assert_eq!(tap(&format!("1..1\nok 1\n{uncaught}")).errors, [&uncaught[2..]]);
}

#[test]
fn subtests_that_are_nested_without_end_are_bounded() {
    let point = |depth: usize| format!("{}not ok 1 - d{depth}\n", " ".repeat(4 * depth));
    let text: String = (0..100).map(point).collect();
    let report = tap(&text);
    assert_eq!(report.failed, 32);
    assert!(!report.problems.is_empty());
}

#[test]
fn a_version_is_a_number() {
    let is_recognised = |text: &str| report(Tap::optional(), text).is_some();
    assert!(is_recognised("TAP version 14") && is_recognised("TAP version 13\nok 1\n1..1"));
    assert!(
        !is_recognised("TAP version ")
            && !is_recognised("TAP version 1x")
            && !is_recognised("    1..1\n    ok 1")
    );
}
