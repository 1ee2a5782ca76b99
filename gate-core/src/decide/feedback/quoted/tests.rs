//! Quotations fill their room and never more.

use serde_json::json;

use super::*;
use crate::decide::evidence::Outcome;
use crate::decide::policy::Mode;
use crate::decide::signal::Signal;

const NAMES: [&str; 4] = ["test_a", "test_b", "test_c", "test_d"];

/// The first of the tests explain their failure, in a line that is cut to any room.
fn failed(explained: usize, failed_tests: &[&str]) -> Evidence {
    let message = "E".repeat(1_000);
    let failures: Vec<_> = NAMES[..explained]
        .iter()
        .map(|test| json!({ "test": test, "message": message, "file": null, "line": null }))
        .collect();
    let tests = json!({ "failures": failures, "failed_tests": failed_tests });
    let failed = Evidence::new("tests", Mode::Require, Outcome::Fail);
    let summary = "exit code 1".to_owned();
    Evidence { summary, detail: Some(json!({ "tests": tests })), ..failed }
}

#[test]
fn failures_are_explained_within_their_room() {
    for room in 100..900 {
        for record in [failed(1, &NAMES[..1]), failed(3, &NAMES[..3]), failed(3, &NAMES)] {
            let length = length(&explanation(&record, room).unwrap());
            assert!((room - 12..=room).contains(&length), "{length} in {room}");
        }
    }
}

#[test]
fn a_failure_is_given_within_its_room() {
    let failures = failed(1, &NAMES[..1]).failures();
    for room in 20..60 {
        let length = length(&failure_text(&failures[0], room));
        assert!((room - 4..=room).contains(&length), "{length} in {room}");
    }
}

#[test]
fn a_failure_after_the_first_is_explained_if_it_gets_enough_room() {
    let record = failed(3, &[]);
    let shown = |room| explanation(&record, room).unwrap().matches("test_").count();
    for (room, count) in [(50, 1), (319, 1), (320, 2), (479, 2), (480, 3), (900, 3)] {
        assert_eq!(shown(room), count, "{room}");
    }
}

#[test]
fn a_quotation_that_can_be_cut_to_its_room_is_not_left_out() {
    let record = failed(3, &NAMES);
    let block = Block {
        heading: "What tests says".to_owned(),
        summary: record.summary.clone(),
        failed_check: Some(&record),
    };
    for room in 200..900 {
        let quoted = block.quoted(&Policy::default(), room, room).unwrap();
        assert!(quoted.contains("exit code 1\ntest_a\nE"), "{room}: {quoted}");
        assert!((room - 12..=room).contains(&length(&quoted)), "{} in {room}", length(&quoted));
    }
}

#[test]
fn what_follows_keeps_no_more_than_a_quarter_of_the_room() {
    let build = Evidence::new("build", Mode::Require, Outcome::Fail);
    let build = Evidence { summary: "x".repeat(MAX_SUMMARY_CHARS), ..build };
    let signal = Signal::absent();
    let evidence = vec![failed(1, &NAMES[..1]), build];
    let input = Input { evidence, ..Input::new(signal, Vec::new()) };
    let reasons = ["tests", "build"]
        .map(|check| Reason::for_check(ReasonCode::RequiredCheckFailed, check, ""));
    let quoted = quotations(&reasons, &input, &Policy::default(), 1_000);
    let first = length(quoted.split("What build says").next().unwrap());
    assert!((740..=750).contains(&first), "{first}");
    assert!(quoted.ends_with("xxx…\n```\n"), "{quoted}");
    assert_eq!(length(&quoted), 1_000);
}

#[test]
fn a_summary_is_whole_if_it_fits_and_cut_if_enough_of_it_stays() {
    for summary in ["exit code 1".to_owned(), "x".repeat(90), format!("````{}", "y".repeat(90))] {
        let whole = summary.chars().count();
        let block = Block { heading: "What tests says".to_owned(), summary, failed_check: None };
        let least = block.min_length();
        for most in 0..600 {
            let quoted = block.quoted(&Policy::default(), most, most);
            match quoted {
                Some(quoted) if most >= least => assert!(quoted.contains(&block.summary)),
                Some(quoted) => {
                    assert!(quoted.contains('…') && length(&quoted) == most, "{quoted}");
                }
                None => {
                    assert!(most < least && most + whole <= least + MIN_SUMMARY_CHARS, "{most}");
                }
            }
        }
    }
}

#[test]
fn failures_are_quoted_without_a_summary_too() {
    let mut input = Input::new(Signal::absent(), Vec::new());
    input.evidence.push(Evidence { summary: String::new(), ..failed(1, &NAMES[..1]) });
    let reason = Reason::for_check(ReasonCode::RequiredCheckFailed, "tests", "");
    let block = Block::new(&reason, &input).unwrap();
    let quoted = block.quoted(&Policy::default(), 300, 300).unwrap();
    assert!(quoted.contains("test_a"), "{quoted}");
}
