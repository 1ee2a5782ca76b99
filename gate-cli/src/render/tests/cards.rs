//! The card of a decision, at three widths and as a program reads it.
//!
//! `cards/NAME.txt` holds what is printed. `UPDATE=1 cargo test -p gate-cli cards::` writes
//! the files anew.

use std::path::PathBuf;

use gate_core::Policy;
use gate_core::config::{Layer, Origin, resolve};
use gate_core::decide::score::Indicators;
use gate_core::scan::Transcript;
use serde_json::{Value, json};

use super::super::card::fill_card;
use super::super::page::Page;
use super::super::{CardOptions, scan_card};
use super::plain;
use crate::record::Record;
use crate::tests::{decision, record};

/// Columns of a narrow, a usual and a wide terminal.
const WIDTHS: [usize; 3] = [40, 80, 120];

fn card(record: &Record, options: CardOptions<'_>, columns: Option<usize>) -> String {
    let mut page = Page::with_columns(columns);
    fill_card(&mut page, record, options);
    plain(&page.into_text())
}

/// Compares a card with the file of this name.
#[track_caller]
fn check(name: &str, changes: &Value, options: CardOptions<'_>) {
    let mut shown = String::new();
    for columns in WIDTHS {
        let card = card(&record(changes), options, Some(columns));
        let longest = card.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(columns), "a line is longer than {columns} columns:\n{card}");
        shown.push_str(&format!("--- {columns} columns\n{card}"));
    }
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join(format!("src/render/tests/cards/{name}.txt"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &shown).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(shown == expected, "{} holds another card than this:\n{shown}", file.display());
}

/// The lines below the head and its blank line, unwrapped.
#[track_caller]
fn check_rows(changes: &Value, expected: &[&str]) {
    let card = card(&record(changes), CardOptions::default(), None);
    let rows: Vec<_> = card.lines().skip(2).collect();
    assert_eq!(rows, expected, "{card}");
}

#[track_caller]
fn check_head(changes: &Value, expected: &str) {
    let card = card(&record(changes), CardOptions::default(), None);
    assert_eq!(card.lines().next(), Some(expected));
}

fn signal() -> Value {
    json!({ "status": "complete", "source": "exit_status", "line": 14,
            "reason": "the discount is implemented and all tests pass",
            "problems": [], "near_misses": [] })
}

fn passed(check: &str, duration_ms: u64) -> Value {
    json!({ "check": check, "mode": "require", "outcome": "pass", "summary": "12 passed",
            "duration_ms": duration_ms })
}

fn red_tests() -> Value {
    json!({ "check": "tests", "mode": "require", "outcome": "fail",
            "summary": "1 of 12 failed: tests/test_cart.py::test_discount", "duration_ms": 1_520,
            "log": "/home/ada/.local/state/gate/trees/95b4e6/logs/7/tests.log",
            "detail": { "tests": {
                "failed_tests": ["tests/test_cart.py::test_discount"],
                "failures": [{
                    "test": "tests/test_cart.py::test_discount", "file": "tests/test_cart.py",
                    "line": 9,
                    "message": "> assert discount([100], 10) == 90\nE assert 100 == 90",
                }] } } })
}

/// A check whose output gate cannot read.
fn red_lint() -> Value {
    json!({ "check": "lint", "mode": "require", "outcome": "fail", "summary": "exit code 4",
            "duration_ms": 0, "log": "/home/ada/.local/state/gate/trees/95b4e6/logs/7/lint.log" })
}

fn stored() -> Value {
    json!({ "seq": 12, "hash": "ab12" })
}

#[test]
fn red_tests_are_named_with_what_to_do() {
    let changes = json!({
        "ledger": stored(),
        "signal": signal(),
        "evidence": [red_lint(), red_tests(), passed("build", 400),
            { "check": "clean_git", "mode": "warn", "outcome": "fail",
              "summary": "1 file is not committed: src/shop/cart.py (unstaged)" }],
        "reasons": [{ "code": "required-check-failed", "check": "tests", "message": "tests failed" },
                    { "code": "required-check-failed", "check": "lint", "message": "lint failed" }],
        "warnings": [{ "code": "check-warning", "message": "clean_git did not pass" }],
        "breaker": { "state": "closed", "trip": null, "counters": { "refused": 3, "no_exit": 4 } },
        "next": "fix test_discount (tests/test_cart.py:9)",
    });
    let policy = Policy::default();
    check("red-tests", &changes, CardOptions { policy: Some(&policy), ..CardOptions::default() });
    check("red-tests-verbose", &changes, CardOptions { verbose: true, policy: Some(&policy) });
}

#[test]
fn a_missing_signal_is_shown_once_with_what_was_almost_one() {
    let miss = json!({ "text": "<promise>COMPLETE</promise>", "line": 9, "why": "it is quoted" });
    let changes = json!({
        "signal": { "status": "absent", "problems": [], "near_misses": [miss] },
        "reasons": [{ "code": "signal-absent",
                      "message": "the agent's final message contains no exit signal" }],
        "next": "repeat the exit signal: line 9 was almost one, but it is quoted",
    });
    check("no-signal", &changes, CardOptions::default());
}

#[test]
fn done_takes_one_line_for_all_that_is_fine() {
    let changes = json!({
        "verdict": "exit", "exit_code": 0, "success": true, "signal": signal(),
        "evidence": [passed("build", 400), passed("tests", 12_300)],
    });
    check("done", &changes, CardOptions::default());
}

#[test]
fn done_on_the_agents_word_alone_says_so() {
    let changes = json!({
        "verdict": "exit", "exit_code": 0, "success": true, "verified": false, "signal": signal(),
        "warnings": [{ "code": "no-evidence", "message": "threshold 1: no checks configured" }],
    });
    check("done-unverified", &changes, CardOptions::default());
}

#[test]
fn a_forced_end_names_the_operators_reason() {
    let changes = json!({
        "verdict": "exit", "exit_code": 0, "success": true, "verified": false, "forced": true,
        "force_reason": "released by hand: the tests are flaky",
    });
    check("forced", &changes, CardOptions::default());
}

#[test]
fn a_blocked_agent_says_what_blocks_it() {
    let changes = json!({
        "verdict": "blocked", "exit_code": 4,
        "signal": { "status": "blocked", "source": "exit_status", "line": 3, "problems": [],
                    "near_misses": [], "reason": "the database password is missing" },
        "reasons": [{ "code": "signal-blocked",
            "message": "the agent says that it cannot go on: the database password is missing" }],
        "next": "solve that, then start the agent again",
    });
    check("blocked", &changes, CardOptions::default());
}

#[test]
fn a_stopped_loop_says_why_and_what_to_do() {
    let message = "3 iterations in a row changed no file";
    let changes = json!({
        "verdict": "tripped", "exit_code": 3, "signal": signal(), "evidence": [red_tests()],
        "reasons": [{ "code": "breaker-tripped", "message": message },
                    { "code": "required-check-failed", "check": "tests", "message": "tests failed" }],
        "breaker": { "state": "open", "trip": null, "counters": { "no_progress": 3 } },
        "next": "fix the cause, then `gate breaker reset --reason …`",
    });
    check("stopped", &changes, CardOptions::default());
}

#[test]
fn changed_settings_come_with_both_ways_out() {
    let message = "gate.toml changed since you approved it. If that was you: `gate trust`. \
                   If not: `git diff gate.toml`.";
    let changes = json!({
        "verdict": "blocked", "exit_code": 4, "signal": signal(), "evidence": [passed("tests", 200)],
        "reasons": [{ "code": "settings-changed", "message": message }],
    });
    check("settings-changed", &changes, CardOptions::default());
}

#[test]
fn a_tool_that_is_missing_is_no_failure() {
    let missing = "ruff is not installed";
    let changes = json!({
        "signal": signal(),
        "evidence": [
            { "check": "lint", "mode": "require", "outcome": "inconclusive", "summary": missing },
            { "check": "build", "mode": "require", "outcome": "skipped",
              "summary": "not needed, since lint did not pass" },
            { "check": "tests", "mode": "require", "outcome": "skipped",
              "summary": "not needed, since lint did not pass" }],
        "reasons": [{ "code": "required-check-inconclusive", "check": "lint",
                      "message": "lint gave no result: ruff is not installed" }],
    });
    check("tool-missing", &changes, CardOptions::default());
}

#[test]
fn a_command_that_fails_shows_its_first_error() {
    let lines = ["one", "two", "Error: three", "", "four", "five", "six", "seven", "eight"];
    let rows = |excerpt: String| {
        let failed = json!({ "check": "build", "mode": "require", "outcome": "fail",
                             "summary": "exit code 2", "excerpt": excerpt });
        let changes = json!({ "signal": signal(), "evidence": [failed] });
        let card = card(&record(&changes), CardOptions::default(), None);
        let rows = card.lines().skip(3).take_while(|row| row.starts_with("          "));
        rows.map(|row| row.trim().to_owned()).collect::<Vec<_>>()
    };
    let from_error = ["Error: three", "four", "five", "six", "seven", "eight"];
    assert_eq!(rows(lines.join("\n")), from_error);
    let last = ["two", "four", "five", "six", "seven", "eight"];
    assert_eq!(rows(lines.join("\n").replace("Error: three", "")), last);
    assert_eq!(rows("error:\u{1b}[2J\tgone".to_owned()), ["error: gone"]);
}

#[test]
fn a_released_stop_is_no_exit() {
    let red = json!({ "released": "red", "signal": { "status": "absent", "problems": [],
        "near_misses": [] }, "evidence": [red_tests()] });
    check("released-red", &red, CardOptions::default());
    check_head(
        &json!({ "released": "green" }),
        "RELEASED (green)  the agent may stop; its checks pass",
    );
    let not_run = "RELEASED (not checked)  the agent may stop; nothing was run";
    check_head(&json!({ "released": "not-run" }), not_run);
}

#[test]
fn a_broken_signal_is_shown_with_its_place_and_problems() {
    let signal = json!({
        "status": "invalid", "source": "ralph_status", "line": 12, "reason": "it is cut off",
        "problems": ["the block has no end"],
        "near_misses": [{ "text": "t1", "line": 1, "why": "quoted" },
                        { "text": "t2", "line": 2, "why": "quoted" }],
    });
    check_rows(
        &json!({ "signal": signal, "repeated": true }),
        &[
            "    repeated    this iteration was decided before; this is that decision",
            "  ✗ signal      cannot be read in line 12 (ralph_status): it is cut off",
            "                the block has no end",
            "                almost, in line 2: quoted: t2",
        ],
    );
}

#[test]
fn the_most_telling_findings_are_shown_and_the_rest_is_counted() {
    let finding = |line: u64| {
        json!({ "rule": "skip", "severity": "block", "file": "t.rs", "line": line,
                "excerpt": "#[ignore]", "message": "a test is skipped", "hint": "run it" })
    };
    let findings = [finding(1), json!({ "torn": true }), finding(3), finding(4), finding(5)];
    let evidence = json!([{ "check": "integrity", "mode": "require", "outcome": "tamper",
        "summary": "4 tests are skipped", "detail": { "findings": findings } }]);
    check_rows(
        &json!({ "evidence": evidence, "signal": signal() }),
        &[
            "  ✗ integrity   does not count: 4 tests are skipped",
            "                t.rs:1: #[ignore] (skip: run it)",
            "                t.rs:3: #[ignore] (skip: run it)",
            "                t.rs:4: #[ignore] (skip: run it)",
            "                and 1 more: gate last --verbose",
            "    signal      the agent signals completion in line 14 (exit_status)",
        ],
    );
}

#[test]
fn a_finding_in_the_row_is_not_shown_again() {
    let finding = |file: &str| {
        json!({ "rule": "gone", "severity": "block", "file": file,
                "message": "a test is gone", "hint": "put it back" })
    };
    let summary = "a.rs: a test is gone [gone]; b.rs: a test is gone [gone]";
    let evidence = json!([{ "check": "integrity", "mode": "require", "outcome": "fail",
        "summary": summary, "detail": { "findings": [finding("a.rs"), finding("b.rs")] } }]);
    check_rows(
        &json!({ "evidence": evidence, "signal": signal(), "next": "a.rs: put it back" }),
        &[
            "  ✗ integrity   a.rs: a test is gone [gone]; b.rs: a test is gone [gone]",
            "                b.rs: put it back",
            "    signal      the agent signals completion in line 14 (exit_status)",
            "    next        a.rs: put it back",
        ],
    );
}

#[test]
fn limits_are_shown_from_half_of_them_on() {
    let layer = Layer::parse(Origin::Project("gate.toml".into()), "[breaker]\nno_progress = 4\n");
    let policy = resolve(&[layer.unwrap()], None).unwrap().policy;
    let limits = |no_progress: u32| {
        let counters = json!({ "no_progress": no_progress, "no_exit": 3 });
        let changes = json!({ "breaker": { "state": "closed", "trip": null, "counters": counters },
                              "signal": signal() });
        let options = CardOptions { policy: Some(&policy), ..CardOptions::default() };
        let card = card(&record(&changes), options, None);
        let limits = card.lines().filter_map(|line| line.trim().strip_prefix("limit"));
        limits.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    assert!(limits(1).is_empty());
    assert_eq!(limits(2), ["2 of 4 iterations without a changed file, then the loop stops"]);
}

#[test]
fn captured_text_cannot_write_to_the_terminal() {
    let changes = json!({
        "signal": signal(),
        "reasons": [{ "code": "threshold-not-reached", "message": "0 of\n2\u{1b}[2J" }],
        "next": "end with\tthe signal",
    });
    check_head(&changes, "NOT DONE  0 of 2");
    check_rows(
        &changes,
        &[
            "    signal      the agent signals completion in line 14 (exit_status)",
            "    next        end with the signal",
        ],
    );
}

fn hit(line: u64, weight: u32) -> Value {
    json!({ "pattern": format!("p{line}"), "pack": "completion", "weight": weight, "line": line,
            "column": 1, "excerpt": "All done." })
}

#[test]
fn indicators_that_count_are_shown_on_demand() {
    let indicators = json!({ "score": 3, "patterns": 2, "fields": 1, "hits": [hit(1, 1), hit(2, 0), hit(3, 1)] });
    let changes = json!({ "indicators": indicators });
    let quiet = card(&record(&changes), CardOptions::default(), None);
    assert!(!quiet.contains("indicators"), "{quiet}");
    let verbose = CardOptions { verbose: true, policy: None };
    let card = card(&record(&changes), verbose, None);
    let rows = "    indicators  3 found, 2 needed\n                line 1: p1 \"All done.\"\n                \
                line 3: p3 \"All done.\"\n                the signal's other fields say the same\n";
    assert!(card.ends_with(rows), "{card}");
}

#[test]
fn a_scan_names_its_file_and_format() {
    let decided = decision(&json!({}));
    let scan = |file: &str, format: Option<&str>| {
        let mut transcript = Transcript::default();
        transcript.format = format.map(str::to_owned);
        let indicators: &Indicators = &decided.input.indicators;
        plain(&scan_card(file, &transcript, &decided.input.signal, indicators))
    };
    assert_eq!(
        scan("t/a\u{1b}[31m.log", Some("codex")),
        "t/a.log  (codex)\n    signal      none in the agent's final message\n    indicators  0 found, 2 needed\n"
    );
    assert!(scan("a.log", None).starts_with("a.log  (empty)\n"));
}
