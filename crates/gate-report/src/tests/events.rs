//! JSON of jest, vitest, node, go and nextest, event by event.

use std::path::PathBuf;

use super::fed::in_file;
use super::report;
use crate::go::Go;
use crate::jest::Jest;
use crate::nextest::Nextest;
use crate::node::Node;
use crate::{Format, Status, TestReport};

/// Ids by status, errors and problems.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    passed: Vec<String>,
    failed: Vec<String>,
    skipped: Vec<String>,
    flaky: Vec<String>,
    errors: Vec<String>,
    problems: Vec<String>,
}

impl Seen {
    fn new(report: &TestReport) -> Self {
        let ids = |status| report.named(status).map(str::to_owned).collect();
        Self {
            passed: ids(Status::Passed),
            failed: ids(Status::Failed),
            skipped: ids(Status::Skipped),
            flaky: report.flaky.clone(),
            errors: report.errors.clone(),
            problems: report.problems.clone(),
        }
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// jest's report with these files, and with these members beside them.
fn jest(files: &str, members: &str) -> Seen {
    let text = format!(r#"{{"success":true,"testResults":[{files}]{members}}}"#);
    let reader = |path| Jest::new(Format::Jest, path, PathBuf::from("/project"));
    Seen::new(&in_file(Some(&text), "", reader).unwrap())
}

fn jest_file(assertions: &str) -> String {
    format!(
        r#"{{"name":"/project/a.test.js","status":"passed","assertionResults":[{assertions}]}}"#
    )
}

const ADDS: &str = r#"{"ancestorTitles":["sums",""],"title":"adds","status":"passed"}"#;

#[test]
fn jests_words_for_a_test_that_did_not_run_are_known_and_others_are_failures() {
    for word in ["pending", "skipped", "todo", "disabled"] {
        let file = jest_file(&format!(r#"{{"title":"a","status":"{word}"}}"#));
        let seen = jest(&file, r#","numTotalTests":1"#);
        assert_eq!(seen, Seen { skipped: owned(&["a.test.js > a"]), ..Seen::default() }, "{word}");
    }
    for word in ["failed", "focused", ""] {
        let file = jest_file(&format!(r#"{{"title":"a","status":"{word}"}}"#));
        let seen = jest(&file, r#","numTotalTests":1"#);
        assert_eq!(seen.failed, ["a.test.js > a"], "{word}");
    }
}

#[test]
fn a_test_that_jest_tried_again_is_flaky_where_it_passed() {
    for sign in [r#""retryReasons":["x"]"#, r#""failureMessages":["x"]"#] {
        let test = |status| format!(r#"{{"title":"a","status":"{status}",{sign}}}"#);
        let passed = jest(&jest_file(&test("passed")), r#","numTotalTests":1"#);
        assert_eq!(
            (passed.flaky, passed.failed),
            (owned(&["a.test.js > a"]), Vec::new()),
            "{sign}"
        );
        assert_eq!(jest(&jest_file(&test("failed")), "").flaky, [""; 0], "{sign}");
    }
}

#[test]
fn jests_totals_are_held_against_what_is_listed() {
    let file = jest_file(ADDS);
    let passed = Seen { passed: owned(&["a.test.js > sums > adds"]), ..Seen::default() };
    assert_eq!(jest(&file, r#","numTotalTests":1"#), passed);
    let fewer = jest(&file, r#","numTotalTests":0"#);
    assert_eq!(fewer.problems, ["the report announces 0 tests and holds 1"]);
    let failed = jest(&file, r#","numTotalTests":1,"numFailedTests":2"#);
    assert_eq!(failed.errors, ["2 tests failed, of which 0 are listed"]);
    let broken = jest(&file, r#","numTotalTests":1,"numRuntimeErrorTestSuites":1"#);
    assert_eq!(broken.errors, ["a test file could not be run"]);
    let interrupted = jest(&file, r#","numTotalTests":1,"wasInterrupted":true"#);
    assert_eq!(interrupted.problems, ["the run was interrupted"]);
}

#[test]
fn a_file_that_failed_without_a_failing_test_failed_outside_of_its_tests() {
    let file = |message: &str, tests: &str| {
        format!(
            r#"{{"name":"/project/b.test.js","status":"failed","message":"{message}","assertionResults":[{tests}]}}"#
        )
    };
    let check = |message: &str, expected: &str| {
        let seen = jest(&file(message, ADDS), r#","numTotalTests":1"#);
        assert_eq!(seen.errors, [format!("b.test.js: {expected}")]);
    };
    check("  ● Test suite failed to run\\n\\n x", "Test suite failed to run");
    check("\\n\\u001b[31mSyntaxError\\u001b[0m\\nat x", "SyntaxError");
    check(" \\n ● ", "it failed outside of its tests");
    let failing = file("x", r#"{"title":"a","status":"failed"}"#);
    assert_eq!(jest(&failing, r#","numTotalTests":1"#).errors, [""; 0]);
}

#[test]
fn a_run_that_jest_calls_a_failure_is_one() {
    let failure = |files: &str, members: &str| {
        let text = format!(r#"{{"success":false,"testResults":[{files}]{members}}}"#);
        let reader = |path| Jest::new(Format::Vitest, path, PathBuf::from("/project"));
        Seen::new(&in_file(Some(&text), "", reader).unwrap()).errors
    };
    let one = jest_file(ADDS);
    let total = r#","numTotalTests":1"#;
    assert_eq!(failure(&one, total), ["the runner calls the run a failure, and no test failed"]);
    let obsolete = format!(r#"{total},"snapshot":{{"failure":true,"unmatched":0}}"#);
    assert_eq!(failure(&one, &obsolete), ["snapshots are obsolete"]);
    let failing = jest_file(r#"{"title":"a","status":"failed"}"#);
    let unmatched = format!(r#"{total},"snapshot":{{"failure":true,"unmatched":1}}"#);
    assert_eq!(failure(&failing, &unmatched), [""; 0]);
    assert_eq!(failure("", ""), [""; 0], "without a test there is nothing to add");
}

fn node(lines: &[&str]) -> Seen {
    let reader = |path| Node::new(path, PathBuf::from("/project"));
    Seen::new(&in_file(Some(&lines.join("\n")), "", reader).unwrap())
}

fn node_start(name: &str, nesting: usize) -> String {
    format!(r#"{{"type":"start","name":"{name}","nesting":{nesting}}}"#)
}

fn node_end(kind: &str, name: &str, nesting: usize, more: &str) -> String {
    format!(
        r#"{{"type":"{kind}","name":"{name}","nesting":{nesting},"file":"/project/a.test.mjs","excused":false,"suite":false{more}}}"#
    )
}

fn node_total(number: usize) -> String {
    format!(r#"{{"type":"diagnostic","message":"tests {number}"}}"#)
}

#[test]
fn a_test_of_node_is_named_by_the_suites_above_it() {
    let lines = [
        node_start("sums", 0),
        node_start("adds", 1),
        node_end("pass", "adds", 1, ""),
        node_start("subtracts", 1),
        node_end("fail", "subtracts", 1, ""),
        node_end("fail", "sums", 0, "").replace(r#""suite":false"#, r#""suite":true"#),
        node_start("alone", 0),
        node_end("fail", "alone", 0, "").replace(r#""excused":false"#, r#""excused":true"#),
        node_total(3),
    ];
    let seen = node(&lines.each_ref().map(String::as_str));
    let expected = Seen {
        passed: owned(&["a.test.mjs > sums > adds"]),
        failed: owned(&["a.test.mjs > sums > subtracts"]),
        skipped: owned(&["a.test.mjs > alone"]),
        ..Seen::default()
    };
    assert_eq!(seen, expected);
}

#[test]
fn a_suite_of_node_that_failed_by_itself_is_an_error() {
    let suite = |failure: &str| {
        let end = node_end("fail", "sums", 0, &format!(r#","failure":"{failure}""#));
        node(&[&end.replace(r#""suite":false"#, r#""suite":true"#), &node_total(0)]).errors
    };
    assert_eq!(suite("hookFailed"), ["a.test.mjs > sums: hookFailed"]);
    assert_eq!(suite("subtestsFailed"), [""; 0]);
}

#[test]
fn every_test_that_node_announced_has_to_end_as_often() {
    let announced = |file: &str| format!(r#"{{"type":"enqueue","name":"a","nesting":0{file}}}"#);
    let here = announced(r#","file":"/project/a.test.mjs""#);
    let passed = node_end("pass", "a", 0, "");
    let problems = |lines: &[&str]| node(lines).problems;
    assert_eq!(problems(&[&here, &passed, &node_total(1)]), [""; 0]);
    assert_eq!(
        problems(&[&here, &here, &passed, &node_total(1)]),
        ["a.test.mjs > a was started and not ended"]
    );
    assert_eq!(
        problems(&[&announced(""), &passed, &node_total(1)]),
        ["(no file) > a was started and not ended"]
    );
    let whole = here.replace(r#""name":"a""#, r#""name":"a.test.mjs""#);
    assert_eq!(problems(&[&whole, &passed, &node_total(1)]), [""; 0]);
}

#[test]
fn a_file_of_node_is_no_test_and_an_error_where_it_failed() {
    let whole = |kind| node_end(kind, "a.test.mjs", 0, "");
    let ended = node(&[&whole("pass"), &node_total(1)]);
    assert_eq!(ended.problems, ["a.test.mjs ended without reporting a test"]);
    assert_eq!(
        node(&[&whole("fail"), &node_total(1)]).errors,
        ["a.test.mjs failed outside of its tests"]
    );
    let below = node_end("pass", "a.test.mjs", 1, "");
    assert_eq!(node(&[&below, &node_total(1)]).passed, ["a.test.mjs > a.test.mjs"]);
}

#[test]
fn nodes_own_count_has_to_fit() {
    let passed = node_end("pass", "a", 0, "");
    assert_eq!(node(&[&passed]).problems, ["node ended without its totals"]);
    assert_eq!(
        node(&[&passed, &node_total(2)]).problems,
        ["node counts 2 tests, and 1 were reported"]
    );
    assert_eq!(node(&[&passed, &node_total(2), &node_total(1)]).problems, [""; 0]);
    let torn = node(&[&passed, &node_total(1), "{"]);
    assert!(torn.problems[0].starts_with("node's report is broken: "), "{torn:?}");
}

fn go(lines: &[&str]) -> Seen {
    Seen::new(&report(Go::new(), &lines.join("\n")).unwrap())
}

const RUN: &str = r#"{"Action":"run","Package":"p","Test":"T"}"#;
const SAID: &str = r#"{"Action":"output","Package":"p","Output":"PASS\n"}"#;
const DONE: &str = r#"{"Action":"pass","Package":"p"}"#;

#[test]
fn a_package_of_go_has_to_end_and_its_tests_too() {
    let test = r#"{"Action":"pass","Package":"p","Test":"T"}"#;
    let passed = Seen { passed: owned(&["p.T"]), ..Seen::default() };
    assert_eq!(go(&[RUN, test, SAID, DONE]), passed);
    assert_eq!(go(&[RUN, test, SAID]).problems, ["p has no result"]);
    assert_eq!(go(&[RUN, SAID, DONE]).problems, ["p.T was started and not ended"]);
    assert_eq!(go(&[RUN, test, DONE]).problems, ["p ended without saying PASS"]);
    let skipped = r#"{"Action":"skip","Package":"p"}"#;
    assert_eq!(go(&[skipped]), Seen::default());
    assert_eq!(go(&[]).problems, ["go test wrote no event"]);
}

#[test]
fn a_package_of_go_that_failed_takes_its_running_tests_along() {
    let failed = DONE.replace("pass", "fail");
    let taken = Seen { failed: owned(&["p.T"]), ..Seen::default() };
    assert_eq!(go(&[RUN, &failed]), taken);
    assert_eq!(go(&[&failed]).errors, ["p failed outside of its tests"]);
}

#[test]
fn a_result_at_the_end_of_a_tests_own_line_is_found() {
    let output = |text: &str| format!(r#"{{"Action":"output","Package":"p","Output":"{text}\n"}}"#);
    let glued = output("no line end--- PASS: T (0.00s)");
    assert_eq!(go(&[RUN, &glued, SAID, DONE]).passed, ["p.T"]);
    let own = output("    --- PASS: T (0.00s)");
    assert_eq!(go(&[RUN, &own, SAID, DONE]).problems, ["p.T was started and not ended"]);
    let other = output("x--- PASS: U (0.00s)");
    assert_eq!(go(&[RUN, &other, SAID, DONE]).passed, [""; 0]);
}

#[test]
fn packages_of_go_that_could_not_be_built_are_errors() {
    assert_eq!(go(&["FAIL\tp [build failed]"]).errors, ["p: build failed"]);
    assert_eq!(go(&["2> FAIL\tp/q [setup failed]"]).errors, ["p/q: setup failed"]);
    assert_eq!(go(&["FAIL\tp\t0.01s", SAID, DONE]).errors, [""; 0]);
    let event = r#"{"ImportPath":"p [p.test]","Action":"build-fail"}"#;
    assert_eq!(go(&[event]).errors, ["p [p.test] could not be built"]);
    assert_eq!(report(Go::optional(), event), None);
}

fn nextest(lines: &[&str]) -> Seen {
    Seen::new(&report(Nextest::new(), &lines.join("\n")).unwrap())
}

fn nextest_event(event: &str, name: &str) -> String {
    format!(r#"{{"type":"test","event":"{event}","name":"{name}"}}"#)
}

fn nextest_summary(run: u64) -> String {
    format!("2>      Summary [   0.01s] {run} tests run: {run} passed, 0 skipped")
}

#[test]
fn a_test_of_nextest_is_named_by_its_package_or_its_binary() {
    let check = |name: &str, expected: &str| {
        let seen = nextest(&[&nextest_event("ok", name), &nextest_summary(1)]);
        assert_eq!(seen.passed, [expected], "{name}");
    };
    check("my-crate::my_crate$sums::adds", "my-crate::sums::adds");
    check("my-crate::it$adds", "my-crate::it::adds");
    check("tool::bin/tool$adds", "tool::bin/tool::adds");
    check("alone", "alone");
    check("c::c$adds#x", "c::adds#x");
}

#[test]
fn a_test_that_nextest_tried_again_is_flaky_under_one_name() {
    let lines = [nextest_event("ok", "c::c$a#2"), nextest_summary(1)];
    let seen = nextest(&lines.each_ref().map(String::as_str));
    let expected = Seen { passed: owned(&["c::a"]), flaky: owned(&["c::a"]), ..Seen::default() };
    assert_eq!(seen, expected);
}

#[test]
fn a_test_that_nextest_began_and_did_not_run_was_ignored() {
    let begun = nextest_event("started", "c::c$slow");
    let passed = nextest_event("ok", "c::c$a");
    let seen = nextest(&[&begun, &passed, &nextest_summary(1)]);
    assert_eq!((seen.skipped, seen.problems), (owned(&["c::slow"]), Vec::new()));
    let more = nextest(&[&begun, &passed, &nextest_summary(2)]);
    assert_eq!(more.problems, ["nextest says 2 tests were run, and reported 1"]);
    assert_eq!(more.skipped, [""; 0]);
}

#[test]
fn an_event_of_nextest_that_is_no_known_success_is_a_failure() {
    for event in ["failed", "timeout", "leak"] {
        let seen = nextest(&[&nextest_event(event, "c::c$a"), &nextest_summary(1)]);
        assert_eq!(seen.failed, ["c::a"], "{event}");
    }
    let suite = r#"{"type":"suite","event":"failed","name":"x"}"#;
    assert_eq!(nextest(&[suite, &nextest_summary(0)]), Seen::default());
}

#[test]
fn the_output_of_a_failed_test_may_be_cut_off() {
    let failed = nextest_event("failed", "c::c$a");
    let cut = failed.replace('}', r#","stdout":"thread 'a' panick"#);
    assert_eq!(nextest(&[&cut, &nextest_summary(1)]).failed, ["c::a"]);
}

#[test]
fn a_build_of_nextest_that_failed_needs_no_summary() {
    let failed = nextest(&["2> error: could not compile `c` (lib test) due to 1 previous error"]);
    assert_eq!(
        (failed.errors, failed.problems),
        (owned(&["could not compile `c` (lib test) due to 1 previous error"]), Vec::new())
    );
    assert_eq!(nextest(&[]).problems, ["nextest ended without its summary"]);
    let on_stdout = nextest_summary(0).replace("2> ", "");
    assert_eq!(nextest(&[&on_stdout]).problems, ["nextest ended without its summary"]);
}
