//! The card of a decision: its first line, and what stands below.

use gate_core::Transcript;
use gate_core::decide::score::Indicators;
use serde_json::{Value, json};

use super::super::{card, scan_card};
use super::plain;
use crate::tests::{decision, record};

#[track_caller]
fn check_head(changes: &Value, expected: &str) {
    let card = plain(&card(&record(changes)));
    assert_eq!(card.lines().next(), Some(expected));
}

/// The lines below the first one and its blank line.
#[track_caller]
fn check_rows(changes: &Value, expected: &[&str]) {
    let card = plain(&card(&record(changes)));
    let rows: Vec<_> = card.lines().skip(2).collect();
    assert_eq!(rows, expected, "{card}");
}

#[test]
fn the_first_line_says_what_the_verdict_means() {
    let exit = |more: Value| {
        let mut exit = json!({ "verdict": "exit", "exit_code": 0, "success": true });
        exit.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        exit
    };
    check_head(&exit(json!({})), "DONE  the loop may end");
    check_head(
        &exit(json!({ "verified": false })),
        "DONE (unverified)  the loop may end, on the agent's word alone",
    );
    check_head(&exit(json!({ "forced": true })), "DONE  forced by the operator: the loop ends");
    check_head(
        &exit(json!({ "forced": true, "verified": false })),
        "DONE (unverified)  forced by the operator: the loop ends",
    );
    check_head(&json!({}), "NOT DONE  the loop goes on");
    let tripped = "STOPPED  not done: the loop got nowhere, a person is needed";
    check_head(&json!({ "verdict": "tripped" }), tripped);
    let blocked = "BLOCKED  not done: the agent cannot go on, a person is needed";
    check_head(&json!({ "verdict": "blocked" }), blocked);
    let changed = json!([{ "code": "settings-changed", "message": "gate.toml changed" }]);
    check_head(
        &json!({ "verdict": "blocked", "reasons": changed }),
        "BLOCKED  not done: a person has to approve changed settings",
    );
}

#[test]
fn a_stop_that_was_let_go_is_no_exit() {
    for (released, expected) in [
        ("green", "RELEASED  green: the agent was let go; no exit"),
        ("red", "RELEASED  red, not done: the agent was let go"),
        ("not-run", "RELEASED  not checked: the agent was let go"),
    ] {
        check_head(&json!({ "released": released }), expected);
    }
}

#[test]
fn the_signal_is_shown_with_its_place_problems_and_last_near_misses() {
    let misses: Vec<_> = (1..=6)
        .map(|line| json!({ "text": format!("t{line}"), "line": line, "why": "quoted" }))
        .collect();
    let signal = json!({
        "status": "invalid", "source": "ralph_status", "line": 12, "reason": "it is cut off",
        "problems": ["the block has no end"], "near_misses": misses,
    });
    check_rows(
        &json!({ "signal": signal }),
        &[
            "  signal      cannot be read (ralph_status, line 12): it is cut off",
            "              the block has no end",
            "              line 6: quoted: t6",
            "              line 5: quoted: t5",
            "              line 4: quoted: t4",
            "              line 3: quoted: t3",
            "              line 2: quoted: t2",
            "  indicators  0 of 2",
        ],
    );
    check_rows(
        &json!({ "repeated": true }),
        &[
            "  repeated    this iteration was decided before: this is that decision",
            "  signal      none in the agent's last word",
            "  indicators  0 of 2",
        ],
    );
}

fn hit(line: u64, weight: u32) -> Value {
    json!({ "pattern": format!("p{line}"), "pack": "completion", "weight": weight, "line": line,
            "column": 1, "excerpt": "All done." })
}

#[test]
fn hits_that_count_are_shown_and_the_rest_of_many_is_counted() {
    let hits: Vec<_> = [(1, 1), (2, 0), (3, 1), (4, 2), (5, 1), (6, 1), (7, 1), (8, 1)]
        .map(|(line, weight)| hit(line, weight))
        .to_vec();
    let indicators = json!({ "score": 9, "patterns": 8, "fields": 1, "hits": hits });
    check_rows(
        &json!({ "indicators": indicators }),
        &[
            "  signal      none in the agent's last word",
            "  indicators  9 of 2",
            "              line 1: p1 \"All done.\"",
            "              line 3: p3 \"All done.\"",
            "              line 4: p4 \"All done.\"",
            "              line 5: p5 \"All done.\"",
            "              line 6: p6 \"All done.\"",
            "              and 2 more patterns",
            "              the signal's other fields say the same",
        ],
    );
}

#[test]
fn each_check_is_a_row_and_the_log_of_one_that_did_not_pass_is_whole() {
    let log = format!("/s/{}/tests.log", "x".repeat(220));
    let finding = |line: u64| {
        json!({ "rule": "skip", "severity": "block", "file": "t.rs", "line": line,
                "excerpt": "#[ignore]", "message": "a test is skipped", "hint": "run it" })
    };
    let evidence = json!([
        { "check": "tests", "mode": "require", "outcome": "fail", "summary": "2 of 9 failed",
          "duration_ms": 1_250, "log": log },
        { "check": "lint", "mode": "count", "outcome": "pass", "summary": "clean", "cached": true,
          "duration_ms": 999, "log": "/s/lint.log" },
        { "check": "integrity", "mode": "warn", "outcome": "tamper", "summary": "6 findings",
          "detail": { "findings": [finding(1), { "torn": true }, finding(3)] } },
        { "check": "build", "mode": "require", "outcome": "skipped", "summary": "no path" },
        { "check": "types", "mode": "require", "outcome": "inconclusive", "summary": "timed out" },
    ]);
    let whole = format!("                {log}");
    check_rows(
        &json!({ "evidence": evidence }),
        &[
            "  signal      none in the agent's last word",
            "  indicators  0 of 2",
            "  evidence    tests: fail: 2 of 9 failed (1.2 s)",
            &whole,
            "              lint: pass, as before: clean",
            "              integrity: tampered with: 6 findings",
            "                t.rs:1: #[ignore] (skip: run it)",
            "                t.rs:3: #[ignore] (skip: run it)",
            "              build: did not run: no path",
            "              types: inconclusive: timed out",
        ],
    );
}

#[test]
fn the_breaker_is_shown_where_it_counts_or_is_not_closed() {
    let signal = "  signal      none in the agent's last word";
    let indicators = "  indicators  0 of 2";
    let breaker = |state: &str, counters: Value| json!({ "breaker": { "state": state, "trip": null, "counters": counters } });
    check_rows(&breaker("closed", json!({})), &[signal, indicators]);
    let counting = breaker("closed", json!({ "no_exit": 3, "same_error": 1 }));
    let row = "  breaker     closed: no exit 3, same error 1";
    check_rows(&counting, &[signal, indicators, row]);
    let half = breaker("half_open", json!({}));
    check_rows(&half, &[signal, indicators, "  breaker     half open"]);
}

#[test]
fn reasons_warnings_and_what_to_do_come_last() {
    let long = format!("the agent says: {}", "word ".repeat(60));
    let changes = json!({
        "reasons": [{ "code": "signal-absent", "message": long },
                    { "code": "threshold-not-reached", "message": "0 of\n2\u{1b}[2J" }],
        "warnings": [{ "code": "no-evidence", "message": "no check\tis configured" }],
        "next": "end with the signal",
    });
    let card = plain(&card(&record(&changes)));
    let rows: Vec<_> = card.lines().skip(4).collect();
    assert_eq!(rows[0].chars().count(), 14 + 201, "{}", rows[0]);
    assert!(rows[0].starts_with("  why         the agent says: word") && rows[0].ends_with('…'));
    assert_eq!(rows[1], "              0 of 2");
    assert_eq!(rows[2], "  note        no check is configured");
    assert_eq!(rows[3..], ["  next        end with the signal"]);
}

#[test]
fn a_scan_names_its_file_and_format() {
    let decided = decision(&json!({}));
    let scan = |file: &str, format: Option<&str>| {
        let format = format.map(str::to_owned);
        let transcript = Transcript { format, ..Transcript::default() };
        let indicators: &Indicators = &decided.indicators;
        scan_card(file, &transcript, &decided.signal, indicators)
    };
    assert_eq!(
        scan("t/a\u{1b}[31m.log", Some("codex")),
        "t/a.log (codex)\n  signal      none in the agent's last word\n  indicators  0 of 2\n"
    );
    assert!(scan("a.log", None).starts_with("a.log (empty)\n"));
}
