//! JUnit XML: names of tests, spellings of elements, bounds of a document.

use crate::junit::{ANY_DIALECT, parse};
use crate::{Format, Status, Tally, TestReport};

fn report(text: &str) -> TestReport {
    let mut tally = Tally::new(Format::Junit);
    parse(text, &ANY_DIALECT, &mut tally);
    tally.finish()
}

/// The ids of the passed tests of a document without problems.
#[track_caller]
fn check_ids(text: &str, expected: &[&str]) {
    let report = report(text);
    assert_eq!(report.problems, [""; 0], "{text}");
    assert_eq!(report.named(Status::Passed).collect::<Vec<_>>(), expected, "{text}");
}

#[track_caller]
fn check_problems(text: &str, expected: &[&str]) {
    assert_eq!(report(text).problems, expected, "{text}");
}

#[track_caller]
fn check_errors(text: &str, expected: &[&str]) {
    let report = report(text);
    assert_eq!(
        (report.errors, report.problems),
        (expected.iter().map(|&text| text.to_owned()).collect(), Vec::new()),
        "{text}"
    );
}

#[test]
fn a_test_is_named_by_its_class_else_its_suite_else_its_file() {
    check_ids(
        "<testsuite name='s'><testcase name='a' classname='c' file='f'/></testsuite>",
        &["c::a"],
    );
    check_ids(
        "<testsuite name='s'><testcase name='a' classname='' file='f'/></testsuite>",
        &["s::a"],
    );
    check_ids("<testsuite><testcase name='a' file='f'/></testsuite>", &["f::a"]);
    check_ids("<testsuite><testcase name='a'/></testsuite>", &["a"]);
}

#[test]
fn the_suite_of_a_test_is_the_innermost_and_never_the_root() {
    check_ids(
        "<testsuites name='all'><testsuite name='x'><testsuite name='y'><testcase name='a'/></testsuite><testcase name='b'/></testsuite></testsuites>",
        &["y::a", "x::b"],
    );
    check_ids("<testsuites name='all'><testcase name='a'/></testsuites>", &["a"]);
    check_ids(
        "<testsuite name='x'><group name='g'><testcase name='a'/></group></testsuite>",
        &["x::a"],
    );
}

#[test]
fn names_are_read_as_xml_writes_them() {
    check_ids("<testsuite><testcase name='a &amp;&lt;&#x62;&quot;'/></testsuite>", &["a &<b\""]);
    check_ids("\u{feff}<?xml version='1.0'?><testsuite><testcase name='a'/></testsuite>", &["a"]);
    check_ids("<j:testsuite xmlns:j='urn:j'><j:testcase j:name='a'/></j:testsuite>", &["a"]);
    check_ids(
        "<testsuite><!-- <testcase name='no'/> --><testcase name='a'/></testsuite>\n",
        &["a"],
    );
    let output = "<testsuite><testcase name='a'><system-out><![CDATA[<failure/>]]></system-out></testcase></testsuite>";
    check_ids(output, &["a"]);
}

#[test]
fn a_script_that_reported_no_test_is_incomplete() {
    let case = |class: &str, name: &str| {
        format!("<testsuite><testcase classname='{class}' name='{name}'/></testsuite>")
    };
    check_problems(&case("test", "a.test.mjs"), &["a.test.mjs ended without reporting a test"]);
    check_problems(
        &case("test", "/project/lib/b.ts"),
        &["/project/lib/b.ts ended without reporting a test"],
    );
    check_ids(&case("suite", "a.test.mjs"), &["suite::a.test.mjs"]);
    check_ids(&case("test", "reads a.js"), &["test::reads a.js"]);
}

#[test]
fn a_nameless_case_tells_its_place() {
    check_problems("<testsuite name='s'><testcase/></testsuite>", &["a test of `s` has no name"]);
    check_problems(
        "<testsuite><testcase><skipped/></testcase></testsuite>",
        &["a test of `` has no name"],
    );
    let failed =
        "<testsuite name='s'><testcase><failure/><error message='second'/></testcase></testsuite>";
    check_errors(failed, &["s: second"]);
}

#[test]
fn a_suites_error_is_its_message_or_its_type_in_one_line() {
    let suite =
        |error: &str| format!("<testsuite name='s'><testcase name='a'/>{error}</testsuite>");
    check_errors(&suite("<error message='one&#10;two' type='T'/>"), &["one"]);
    check_errors(&suite("<error message='' type='TypeError'/>"), &["TypeError"]);
    check_errors(&suite("<failure>text alone</failure>"), &["an error of a suite"]);
    check_errors(
        &suite("<error message='x'/><error message='x'/><error message='y'/>"),
        &["x", "y"],
    );
}

#[test]
fn a_retry_that_passed_is_flaky_and_one_that_did_not_has_failed() {
    let case = |inner: &str| {
        report(&format!("<testsuite><testcase name='a'>{inner}</testcase></testsuite>"))
    };
    let flaky = case("<flakyError message='x'/>");
    assert_eq!((flaky.flaky, flaky.passed, flaky.failed), (vec!["a".to_owned()], 1, 0));
    let both = case("<flakyFailure/><failure/>");
    assert_eq!((both.flaky, both.passed, both.failed), (Vec::new(), 0, 1));
    let retried = case("<rerunError/><flakyFailure/>");
    assert_eq!((retried.flaky.len(), retried.passed), (1, 1));
    let skipped = case("<flakyFailure/><skipped/>");
    assert_eq!((skipped.flaky.len(), skipped.skipped), (0, 1));
}

#[test]
fn every_word_for_a_test_that_did_not_run_is_known() {
    for word in ["notrun", "disabled", "SKIPPED", "ignored", " suppressed "] {
        for attribute in ["status", "result"] {
            let case = format!("<testsuite><testcase name='a' {attribute}='{word}'/></testsuite>");
            let report = report(&case);
            assert_eq!((report.skipped, report.passed), (1, 0), "{attribute} {word}");
        }
    }
    let both =
        report("<testsuite><testcase name='a' status='skipped' result='failed'/></testsuite>");
    assert_eq!((both.skipped, both.failed), (0, 1));
}

#[test]
fn announced_failures_are_counted_over_nested_suites() {
    let held = "<testsuites failures='2'><testsuite name='x' failures='1'><testcase name='a'><failure/></testcase></testsuite><testsuite name='y' errors='1'><error message='setup'/></testsuite></testsuites>";
    check_errors(held, &["setup"]);
    let missing = held.replace("failures='2'", "failures='1' errors='2'");
    check_errors(&missing, &["setup", "the report announces 3 failures and holds 2"]);
    let most = u64::MAX;
    check_errors(
        &format!(
            "<testsuite name='s' failures='{most}' errors='{most}'><testcase name='a'/></testsuite>"
        ),
        &[&format!("the suite `s` announces {most} failures and holds 0")],
    );
}

#[test]
fn sixty_four_elements_may_be_nested_and_no_more() {
    let nested = |depth: usize| {
        let (open, close) = ("<testsuite>".repeat(depth - 1), "</testsuite>".repeat(depth - 1));
        format!("{open}<testcase name='a'/>{close}")
    };
    check_ids(&nested(64), &["a"]);
    check_problems(&nested(65), &["the XML report is broken: more than 64 elements are nested"]);
}

#[test]
fn a_document_that_breaks_keeps_its_failures_and_not_its_passes() {
    let before = "<testsuite><testcase name='a'/><testcase name='b'><failure/></testcase>";
    let report_of = |rest: &str| {
        let report = report(&format!("{before}{rest}"));
        let ids = |status| report.named(status).map(str::to_owned).collect::<Vec<_>>();
        (ids(Status::Passed), ids(Status::Failed), report.problems.len())
    };
    let owned = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
    assert_eq!(report_of("<testcase name='c'>"), (owned(&["a"]), owned(&["b"]), 1));
    assert_eq!(report_of("<testcase name='c'><failure>"), (owned(&["a"]), owned(&["b", "c"]), 1));
    assert_eq!(
        report_of("<testcase name='c' status='failed'>"),
        (owned(&["a"]), owned(&["b", "c"]), 1)
    );
}
