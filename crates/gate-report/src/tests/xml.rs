//! JUnit XML of several producers, and broken XML.

use gate_core::decide::evidence::Outcome::{self, Fail, Inconclusive, Pass};

use super::outcome;
use crate::junit::{ANY_DIALECT, parse};
use crate::{Format, Status, Tally, TestReport};

fn report(text: &str) -> TestReport {
    let mut tally = Tally::new(Format::Junit);
    parse(text, &ANY_DIALECT, &mut tally);
    tally.finish()
}

#[track_caller]
fn check(text: &str, expected: Outcome, begin: &str) {
    let report = report(text);
    let (found, summary) = outcome(Some(&report), 0);
    assert_eq!(found, expected, "{summary}\n{text}");
    assert!(summary.contains(begin), "{summary}\n{text}");
}

#[test]
fn what_producers_really_wrote() {
    check(include_str!("../fixtures/junit/vitest.xml"), Pass, "10 passed, 2 skipped");
    check(include_str!("../fixtures/junit/node.xml"), Fail, "failed: test::ü");
    check(
        include_str!("../fixtures/junit/nextest.xml"),
        Fail,
        "1 of 11 failed: sample::integration::broken",
    );
    let flaky = report(include_str!("../fixtures/junit/nextest.xml")).flaky;
    assert_eq!(flaky, ["sample::integration::flaky"]);
}

fn suite(inner: &str) -> String {
    format!("<testsuites><testsuite name=\"s\">{inner}</testsuite></testsuites>")
}

#[test]
fn cases() {
    let check = |inner: &str, outcome, begin| check(&suite(inner), outcome, begin);
    check("<testcase name='a'/>", Pass, "1 passed");
    check("<testcase name='a' classname='c'><failure/></testcase>", Fail, "failed: c::a");
    check("<testcase name='a'><error/></testcase>", Fail, "failed: s::a");
    check("<testcase name='a'><skipped/></testcase>", Fail, "no test was executed (1 skipped)");
    check("<testcase name='a'><skipped/><failure/></testcase>", Fail, "1 of 1 failed");
    check("<testcase name='a'><failure/><skipped/></testcase>", Fail, "1 of 1 failed");
    check("<testcase name='a'><flakyFailure/></testcase>", Pass, "1 of them flaky");
    check("<testcase name='a'><rerunFailure/></testcase>", Fail, "1 of 1 failed");
    check("<testcase name='a' status='notrun'/>", Fail, "no test was executed");
    check("<testcase name='a'/><testsuite><testcase name='b'/></testsuite>", Pass, "2 passed");
    check("<testcase name='&lt;&#252;&gt;'><failure/></testcase>", Fail, "failed: s::<ü>");
}

#[test]
fn errors_outside_of_cases() {
    let passed = "<testcase name='a'/>";
    check(&suite(&format!("{passed}<error message='teardown'/>")), Fail, "tests: teardown");
    check(&suite(&format!("{passed}<failure>x</failure>")), Fail, "an error of a suite");
    let nameless = "<testcase name='' classname='c'><error message='setup'/></testcase>";
    check(&suite(&format!("{passed}{nameless}")), Fail, "tests: c: setup");
    check(&suite(&format!("{passed}<testcase/>")), Inconclusive, "has no name");
}

#[test]
fn what_is_announced_is_no_evidence() {
    check(
        "<testsuite tests='0' failures='0'><testcase name='a'><failure/></testcase></testsuite>",
        Fail,
        "1 of 1",
    );
    check(
        "<testsuite name='s' tests='2'><testcase name='a'/></testsuite>",
        Inconclusive,
        "announces 2 tests and holds 1",
    );
    check(
        "<testsuite tests='2'><testcase name='a'/><testsuite><testcase name='b'/></testsuite></testsuite>",
        Pass,
        "2 passed",
    );
    for (counts, problem) in [
        ("tests='99999999999999999999' failures='-1'", "`tests` of a suite is no count"),
        ("tests='1' failures='-1'", "`failures` of a suite is no count: `-1`"),
        ("errors='none'", "`errors` of a suite is no count: `none`"),
    ] {
        let text = format!("<testsuite {counts}><testcase name='a'/></testsuite>");
        check(&text, Inconclusive, problem);
    }
    check("<testsuite tests='' errors=' 0 '><testcase name='a'/></testsuite>", Pass, "1 passed");
    check("<testsuites tests='5'/>", Inconclusive, "the report announces 5 tests and holds 0");
    check("<testsuites tests='0'/>", Fail, "no test was executed");
}

#[test]
fn broken_documents() {
    let whole = suite("<testcase name='a'/><testcase name='b'/>");
    check(&whole[..whole.len() - 10], Inconclusive, "broken");
    check(&whole[..60], Inconclusive, "broken");
    check("", Inconclusive, "it is empty");
    check("not XML", Inconclusive, "it is empty");
    check("<html/>", Inconclusive, "its root is <html>");
    check(&format!("{whole}{whole}"), Inconclusive, "it has several roots");
    check(
        "<!DOCTYPE x [<!ENTITY a 'b'>]><testsuite><testcase name='&a;'/></testsuite>",
        Inconclusive,
        "document type",
    );
    check(&suite("<testcase name='&a;'/>"), Inconclusive, "broken");
    check(&suite("<testcase name='a' name='b'/>"), Inconclusive, "broken");
    check(&suite("<testcase name='a'></testsuite>"), Inconclusive, "broken");
    check(&suite(&"<testsuite>".repeat(1_000)), Inconclusive, "nested");
    let cut = "<testsuite><testcase name='a'><failure message='x'>";
    assert_eq!(report(cut).named(Status::Failed).count(), 1);
}

#[test]
fn failures_that_are_announced_and_not_held_are_errors() {
    let check = |text: &str| check(text, Fail, "announces 1 failures and holds 0");
    check("<testsuites failures='1'><testcase name='a'/></testsuites>");
    check("<testsuite name='s' errors='1'><testcase name='a'/></testsuite>");
    check(&suite("<testcase name='a'/><TestSuite failures='1'/>"));
    let held = "<testsuites failures='1' errors='1'><testsuite><testcase name='a'><failure/><error/></testcase></testsuite></testsuites>";
    assert_eq!(report(held).errors, Vec::<String>::new());
}

#[test]
fn a_failure_counts_wherever_it_stands() {
    let check = |inner: &str, begin| check(&suite(inner), Fail, begin);
    check("<testcase name='a'><properties><failure/></properties></testcase>", "failed: s::a");
    check("<testcase name='a'><subtest><x><error/></x></subtest></testcase>", "failed: s::a");
    check("<testcase name='a'><testcase name='b'><failure/></testcase></testcase>", "failed: s::b");
    check("<group><testcase name='a'><failure/></testcase></group>", "1 of 1 failed: s::a");
    check("<testcase name='a'/><group><error message='x'/></group>", "tests: x");
    check("<TestCase name='a'><Failure/></TestCase>", "1 of 1 failed: s::a");
    check("<testcase NAME='a'><FAILURE/></testcase>", "1 of 1 failed: s::a");
}

#[test]
fn a_case_that_calls_itself_failed_has_failed() {
    for word in ["failed", "FAILED", "fail", "failure", "error", "errored", "Broken", "aborted"] {
        for attribute in ["status", "result"] {
            check(&suite(&format!("<testcase name='a' {attribute}='{word}'/>")), Fail, "1 of 1");
        }
    }
    for word in ["run", "completed", "passed", "success"] {
        check(&suite(&format!("<testcase name='a' status='{word}'/>")), Pass, "1 passed");
    }
}
