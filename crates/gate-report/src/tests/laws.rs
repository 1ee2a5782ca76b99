//! Laws: whatever is read, nothing panics, and nothing gets better by being
//! lost.

use gate_core::decide::evidence::Outcome;
use proptest::prelude::*;

use super::report;
use crate::go::Go;
use crate::junit;
use crate::libtest::Libtest;
use crate::nextest::Nextest;
use crate::pytest::Pytest;
use crate::tap::Tap;
use crate::{Format, Reader, Status, Tally, TestReport, judge};

fn readers() -> Vec<Box<dyn Reader>> {
    let nowhere = || std::path::PathBuf::from("/nowhere/at/all");
    vec![
        Box::new(Libtest::new()),
        Box::new(Nextest::new()),
        Box::new(Go::new()),
        Box::new(Tap::new()),
        Box::new(Pytest::new(nowhere())),
    ]
}

impl Reader for Box<dyn Reader> {
    fn line(&mut self, stream: crate::Stream, line: &str) {
        (**self).line(stream, line);
    }

    fn finish(self: Box<Self>) -> Option<TestReport> {
        (*self).finish()
    }
}

fn passes(report: Option<&TestReport>) -> bool {
    judge(report, Some(0), None).outcome == Outcome::Pass
}

/// Words of which the formats are made.
fn line() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "ok",
        "not ok",
        "1",
        "2",
        "1..2",
        "- a",
        "# todo",
        "# SKIP",
        "    ",
        "  ---",
        "  ...",
        "{",
        "}",
        "test a ...",
        "running 2 tests",
        "test result: ok.",
        "2 passed; 0 failed; 0 ignored",
        "FAILED",
        "failures:",
        "Bail out!",
        "2> ",
        "Running a (b-0)",
        "Summary [ 1s] 2 tests run:",
        r#"{"Action":"run","Package":"p","Test":"t"}"#,
        r#"{"Action":"fail","Package":"p"}"#,
        r#"{"type":"test","event":"ok","name":"a$b"}"#,
        "collected 3 items",
        "ü",
        "\u{1b}[1m",
    ]);
    prop_oneof![prop::collection::vec(words, 1..5).prop_map(|words| words.join(" ")), "\\PC{0,40}",]
}

proptest! {
    #[test]
    fn no_lines_make_a_reader_panic(lines in prop::collection::vec(line(), 0..40)) {
        for reader in readers() {
            let report = report(reader, &lines.join("\n")).unwrap();
            judge(Some(&report), Some(0), None);
        }
    }

    #[test]
    fn no_text_makes_the_xml_parser_panic(text in "(<(/?(testsuites?|testcase|failure)( name='a')?/?>|!\\[CDATA\\[|!DOCTYPE)|&a;|\\PC){0,30}") {
        let mut tally = Tally::new(Format::Junit);
        junit::parse(&text, &junit::ANY_DIALECT, &mut tally);
    }

    #[test]
    fn one_more_failing_test_never_makes_a_pass(
        passed in 0u64..3, failed in 0u64..3, skipped in 0u64..3,
        errors in 0usize..2, problems in 0usize..2, code in prop::option::of(-1i32..130),
    ) {
        let mut tally = Tally::new(Format::Tap);
        for (status, number) in [(Status::Passed, passed), (Status::Failed, failed), (Status::Skipped, skipped)] {
            tally.count(status, number);
        }
        (0..errors).for_each(|n| tally.add_error(n.to_string()));
        (0..problems).for_each(|n| tally.add_problem(n.to_string()));
        tally.add_test("one more", Status::Failed);
        prop_assert_eq!(judge(Some(&tally.finish()), code, None).outcome, Outcome::Fail);
    }
}

/// Drops each line in turn: the run has failed, and still must not pass.
#[track_caller]
fn still_fails<R: Reader + 'static>(reader: fn() -> R, text: &str) {
    let lines: Vec<_> = text.lines().collect();
    assert!(!passes(report(reader(), text).as_ref()));
    for dropped in 0..lines.len() {
        let mut rest = lines.clone();
        let line = rest.remove(dropped);
        let report = report(reader(), &rest.join("\n"));
        assert!(!passes(report.as_ref()), "without `{line}`: {report:#?}");
    }
}

#[test]
fn no_line_that_is_lost_turns_a_failure_into_a_pass() {
    still_fails(Libtest::new, include_str!("../fixtures/libtest/fail.txt"));
    still_fails(Libtest::new, include_str!("../fixtures/libtest/quiet-fail.txt"));
    still_fails(Libtest::new, include_str!("../fixtures/libtest/exit.txt"));
    still_fails(Nextest::new, include_str!("../fixtures/nextest/fail.txt"));
    still_fails(Go::new, include_str!("../fixtures/go/fail.txt"));
    still_fails(Go::new, include_str!("../fixtures/go/exit.txt"));
    still_fails(Tap::new, include_str!("../fixtures/tap/bats-fail.txt"));
    still_fails(Tap::new, include_str!("../fixtures/tap/node.txt"));
    still_fails(Tap::new, include_str!("../fixtures/tap/vitest.txt"));
    still_fails(Tap::new, include_str!("../fixtures/tap/perl-exit.txt"));
}

/// Cuts the output off after each line: it passes with all of it alone.
#[track_caller]
fn passes_whole_alone<R: Reader + 'static>(reader: fn() -> R, text: &str, last: &str) {
    let lines: Vec<_> = text.lines().collect();
    let needed = lines.iter().rposition(|line| line.contains(last)).unwrap();
    for length in 0..lines.len() {
        let report = report(reader(), &lines[..length].join("\n"));
        assert_eq!(passes(report.as_ref()), length > needed, "{length} lines: {report:#?}");
    }
}

#[test]
fn output_that_is_cut_off_does_not_pass() {
    passes_whole_alone(Nextest::new, include_str!("../fixtures/nextest/pass.txt"), "Summary [");
    passes_whole_alone(Tap::new, include_str!("../fixtures/tap/bats.txt"), "ok 6");
    let serial = include_str!("../fixtures/libtest/nocapture.txt");
    passes_whole_alone(Libtest::new, serial, "test result: ok.");
}

#[test]
fn a_flood_of_noise_is_not_remembered() {
    for mut reader in readers() {
        let noise = ["    an indented line of noise", "test x ... noise", "ok - noise, not a plan"];
        for line in noise.iter().cycle().take(30_000) {
            reader.line(crate::Stream::Stdout, line);
        }
        let report = reader.finish().unwrap();
        assert!(report.tests.len() <= 10_000, "{:?}", report.format);
        assert!(!passes(Some(&report)), "{:?}", report.format);
    }
}
