//! Sections of a test program's text: numbers against lines.

use super::super::line;
use super::*;
use crate::{Format, TestReport};

/// The section of these lines.
fn section(text: &str) -> Section {
    let mut section: Option<Section> = None;
    for text in text.lines() {
        match (line::parse(text), &mut section) {
            (Line::Running(announced), _) => section = Some(Section::new(announced, None)),
            (Line::Result(totals), Some(section)) => section.result = Some(totals),
            (line, Some(section)) => section.take(&line),
            (_, None) => {}
        }
    }
    section.unwrap()
}

fn report(section: &Section, program: Option<&str>) -> TestReport {
    let mut tally = Tally::new(Format::Libtest);
    section.add_to(&mut tally, program);
    tally.finish()
}

fn result(word: &str, passed: u64, failed: u64, ignored: u64) -> String {
    format!(
        "test result: {word}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out"
    )
}

/// The named tests, the counts of passed, failed and skipped, and the problems.
#[track_caller]
fn check(text: &str, named: &[&str], counts: [u64; 3], problems: &[&str]) {
    let report = report(&section(text), Some("lib"));
    let ids: Vec<_> = report.tests.iter().map(|test| test.id.as_str()).collect();
    assert_eq!(ids, named, "{text}");
    assert_eq!([report.passed, report.failed, report.skipped], counts, "{text}");
    assert_eq!(report.problems, problems, "{text}");
}

#[test]
fn each_line_of_a_test_is_a_test() {
    let text = format!(
        "running 3 tests\ntest a ... ok\ntest b ... FAILED\ntest c ... ignored\n{}",
        result("FAILED", 1, 1, 1)
    );
    check(&text, &["lib::a", "lib::b", "lib::c"], [1, 1, 1], &[]);
    let alone = report(&section(&text), None);
    assert_eq!(alone.tests[0].id, "a");
}

#[test]
fn a_quiet_text_only_counts() {
    check(&format!("running 3 tests\n..i\n{}", result("ok", 2, 0, 1)), &[], [2, 0, 1], &[]);
}

#[test]
fn failures_of_a_quiet_text_are_named_by_the_last_list() {
    let text = format!(
        "running 3 tests\nF.F\nfailures:\n\n---- a stdout ----\nfailures:\n    no::test\n\nfailures:\n    a\n    b\n\n{}",
        result("FAILED", 1, 2, 0)
    );
    check(&text, &["lib::a", "lib::b"], [1, 2, 0], &[]);
}

#[test]
fn a_list_of_failures_names_no_more_than_are_missing() {
    let text = format!(
        "running 2 tests\ntest a ... FAILED\nfailures:\n    a\n    b\n    c\n{}",
        result("FAILED", 0, 2, 0)
    );
    check(&text, &["lib::a", "lib::b"], [0, 2, 0], &[]);
}

#[test]
fn a_name_whose_result_stands_elsewhere_passed_where_the_numbers_say_so() {
    let begun = "running 2 tests\ntest a ... output\nok\ntest b ... ok\n";
    check(&format!("{begun}{}", result("ok", 2, 0, 0)), &["lib::b", "lib::a"], [2, 0, 0], &[]);
    let quiet = "running 2 tests\ntest a ... output\n";
    check(&format!("{quiet}{}", result("ok", 2, 0, 0)), &[], [2, 0, 0], &[]);
    let failed = "running 1 test\ntest a ... output\nfailures:\n    a\n";
    check(&format!("{failed}{}", result("FAILED", 0, 1, 0)), &["lib::a"], [0, 1, 0], &[]);
}

#[test]
fn lines_beyond_a_whole_section_are_output_of_tests() {
    let text =
        format!("running 1 test\ntest inner ... ok\ntest a ... ok\n{}", result("ok", 1, 0, 0));
    check(&text, &[], [1, 0, 0], &[]);
    let failed =
        format!("running 1 test\ntest inner ... FAILED\ntest a ... ok\n{}", result("ok", 1, 0, 0));
    let problem = ["lib sums 0 tests up of the 1 that failed"];
    check(&failed, &["lib::inner", "lib::a"], [1, 1, 0], &problem);
}

#[test]
fn a_failure_beyond_the_numbers_is_output_only_where_tests_ran_tests() {
    let text =
        format!("running 1 test\ntest inner ... FAILED\ntest a ... ok\n{}", result("ok", 1, 0, 0));
    let mut section = section(&text);
    section.has_inner_sections = true;
    let report = report(&section, Some("lib"));
    assert_eq!((report.passed, report.failed, report.problems), (1, 0, Vec::new()));
}

#[test]
fn a_section_without_a_result_says_how_far_it_came() {
    let text = "running 5 tests\ntest a ... ok\ntest b ... ";
    let problem = ["lib announced 5 tests and told the result of 1 (it began b)"];
    check(text, &["lib::a"], [1, 0, 0], &problem);
    check("running 1 test", &[], [0, 0, 0], &["lib announced 1 tests and told the result of 0"]);
    let unnamed = report(&section("running 1 test"), None);
    assert_eq!(unnamed.problems, ["a test program announced 1 tests and told the result of 0"]);
}

#[test]
fn numbers_that_do_not_add_up_are_a_problem() {
    let fewer = format!("running 3 tests\n..\n{}", result("ok", 2, 0, 0));
    check(&fewer, &[], [2, 0, 0], &["lib announced 3 tests and sums 2 up"]);
    let seen = format!("running 3 tests\ntest a ... ok\ntest b ... ok\n{}", result("ok", 1, 0, 0));
    let problems =
        ["lib announced 3 tests and sums 1 up", "lib sums 1 tests up of the 2 that passed"];
    check(&seen, &["lib::a", "lib::b"], [2, 0, 0], &problems);
}

#[test]
fn a_program_that_failed_without_a_failed_test_is_an_error() {
    let text = format!("running 1 test\ntest a ... ok\n{}", result("FAILED", 1, 0, 0));
    assert_eq!(report(&section(&text), Some("lib")).errors, ["lib failed outside of its tests"]);
}

#[test]
fn lines_among_the_output_of_tests_name_nothing() {
    let text = format!(
        "running 1 test\ntest a ... ok\n\nsuccesses:\n\n---- a stdout ----\ntest x ... FAILED\n    x\n{}",
        result("ok", 1, 0, 0)
    );
    check(&text, &["lib::a"], [1, 0, 0], &[]);
}

#[test]
fn documentation_tests_in_a_row_are_one_program() {
    let program = section("running 1 test\ntest a ... ok");
    let documentation = section("running 1 test\ntest src/lib.rs - f (line 3) ... ok");
    let both = section("running 2 tests\ntest src/lib.rs - f (line 3) ... ok\ntest a ... ok");
    let empty = section("running 0 tests");
    let all = [&program, &documentation, &documentation, &both, &documentation, &empty, &empty];
    assert_eq!(program_indexes(&all), [0, 1, 1, 2, 3, 4, 5]);
    assert_eq!(program_indexes(&[]), [0; 0]);
}
