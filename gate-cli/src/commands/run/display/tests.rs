//! The card at the end of a loop.

use std::path::Path;

use gate_core::exit::WorkPhase;

use super::run_card;
use crate::memory::StoppedBy;
use crate::record::LatestDecision;
use crate::render::tests::plain;
use crate::runner::{End, RunRecord, TestsWritten};

fn end() -> End {
    End::without_work(StoppedBy::Completed, Path::new("/r/p/t"))
}

fn ended(end: &End, success: bool, verified: Option<bool>) -> RunRecord<'_> {
    RunRecord {
        schema: "gate.run.v1",
        exit_code: u8::from(!success),
        success,
        message: "the work is done".to_owned(),
        project: "p",
        task: "",
        end,
        iterations: 2,
        next: None,
        denied: &[],
        latest: LatestDecision::default(),
        verified,
        goals: &[],
        duration_ms: 61_000,
    }
}

#[track_caller]
fn check(record: &RunRecord<'_>, expected: &[&str]) {
    let card = plain(&run_card(record));
    assert_eq!(card.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn the_first_word_says_if_the_work_is_done() {
    let rest = ["", "    iterations  2 in 1m 1s, cost unknown", "    folder      /r/p/t"];
    for (success, verified, head) in [
        (true, Some(true), "DONE  the work is done"),
        (true, None, "DONE  the work is done"),
        (true, Some(false), "DONE (unverified)  the work is done"),
        (false, Some(true), "NOT DONE  the work is done"),
        (false, Some(false), "NOT DONE  the work is done"),
    ] {
        check(&ended(&end(), success, verified), &[&[head], rest.as_slice()].concat());
    }
}

#[test]
fn tests_that_were_written_first_are_shown_with_their_author() {
    let written = |locked, tests: &[&str], files: &[&str]| {
        let [tests, files] = [tests, files].map(|all| all.iter().map(|&s| s.to_owned()).collect());
        Some(TestsWritten { by: "codex".to_owned(), locked, tests, files })
    };
    for (tests_first, row) in [
        (written(true, &["a", "b"], &["t.py"]), "2 in t.py, by codex, locked"),
        (written(false, &["a"], &["t.py"]), "1 in t.py, by codex, not locked"),
        (written(true, &[], &["t.rs", "u.rs"]), "t.rs, u.rs, by codex, locked"),
        (written(false, &[], &[]), "none so far, by codex"),
    ] {
        let end = End { tests_first, ..end() };
        let record = ended(&end, true, Some(true));
        let row = format!("    tests first {row}");
        let rest = ["    iterations  2 in 1m 1s, cost unknown", "    folder      /r/p/t"];
        check(&record, &[&["DONE  the work is done", "", row.as_str()], rest.as_slice()].concat());
    }
}

#[test]
fn a_person_finds_what_is_needed_to_go_on() {
    let command = format!("gate run --task 42 -- {}", "word ".repeat(60).trim_end());
    let end = End {
        handoff: Some("/r/p/t/HANDOFF.md".to_owned()),
        work: Some(crate::runner::WorkEnd {
            work: "W-1".to_owned(),
            phase: WorkPhase::Draft,
            lease: "l".to_owned(),
            actor: "a".to_owned(),
            submitted: false,
            refused: None,
            next_phase: None,
            seq: None,
        }),
        resume: Some(command.clone()),
        ..end()
    };
    let record = RunRecord {
        message: "stopped after 2\niterations, the limit".to_owned(),
        task: "42",
        denied: &["Bash".to_owned(), "Web\u{1b}[2JFetch".to_owned()],
        latest: LatestDecision {
            tokens: Some(1_200),
            cost_usd: Some(0.375),
            ..LatestDecision::default()
        },
        next: Some(format!("go on with: `{command}`")),
        ..ended(&end, false, None)
    };
    let next = format!("    next        go on with: `{command}`");
    check(
        &record,
        &[
            "NOT DONE  stopped after 2 iterations, the limit",
            "",
            "    work item   W-1: DRAFT, now as it was",
            "    task        42",
            "    iterations  2 in 1m 1s, $0.38, 1200 tokens",
            "    folder      /r/p/t",
            "    handoff     /r/p/t/HANDOFF.md",
            "    denied      Bash, WebFetch",
            "                allow more with `--allow`, or in `[run.agents.NAME] args` of gate.toml",
            &next,
        ],
    );
}
