//! The records of a ledger, a line each: the event, and its reason.

use anstyle::AnsiColor;
use gate_core::history::kind;
use gate_core::ledger::{Body, Draft, Head, Sealed};
use gate_fleet::work;
use serde_json::{Value, json};

use super::{log_line, record_card};
use gate_card::text::{local_seconds, local_time};

/// A text without colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn record(kind: &str, run: Option<&str>, body: &Value) -> Sealed {
    Head::EMPTY.follow(Draft {
        time: "2026-11-02T10:00:00Z".to_owned(),
        kind: kind.to_owned(),
        run: run.map(str::to_owned),
        actor: "gate".to_owned(),
        body: Body::new(body).unwrap(),
    })
}

/// The event and the reason in the line of a record.
#[track_caller]
fn check(kind: &str, body: &Value, event: &str, why: &str) {
    let line = plain(&log_line(&record(kind, None, body), None, None));
    let start = format!("{}      1  ", local_seconds("2026-11-02T10:00:00Z"));
    let shown = line.strip_prefix(&start).unwrap();
    let (_, shown) = shown.split_once("  ").unwrap();
    let (found, reason) = shown.trim().split_once("  ").unwrap_or((shown.trim(), ""));
    assert_eq!((found, reason.trim()), (event, why), "{line}");
}

#[test]
fn a_decision_says_its_verdict_and_why() {
    let decided = |verdict: &str, more: Value| {
        let mut decision = json!({
            "verdict": verdict, "forced": false,
            "reasons": [{ "message": "first" }, { "message": "second" }],
        });
        decision.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "decision": decision })
    };
    check(kind::PASSED, &decided("exit", json!({})), "exit", "first");
    check(kind::BLOCKED, &decided("continue", json!({})), "continue", "first");
    check(kind::BLOCKED, &decided("tripped", json!({})), "tripped", "first");
    for (released, event) in
        [("green", "released, green"), ("red", "released, red"), ("not-run", "released, not run")]
    {
        let body = decided("continue", json!({ "released": released }));
        check(kind::RELEASED, &body, event, "first");
    }
    check(kind::BLOCKED, &decided("continue", json!({ "reasons": [] })), "continue", "");
}

#[test]
fn what_hooks_let_go_names_the_agent() {
    let body = json!({ "agent": "codex", "why": "the agent is in plan mode" });
    let why = "codex: the agent is in plan mode";
    check(kind::NOT_JUDGED, &body, "not judged", why);
    check(kind::UNDECIDED, &body, "undecided", why);
    check(kind::NO_BASELINE, &body, "no baseline", why);
    let began = json!({ "agent": "qwen", "baseline": "blake3:ab" });
    check(kind::BASELINE, &began, "baseline", "qwen: blake3:ab");
}

#[test]
fn acts_of_the_operator_are_shown_in_both_directions() {
    let switch = |off: bool, until: Value| json!({ "switch": { "off": off, "until": until } });
    check(kind::SWITCH, &switch(true, Value::Null), "hooks off", "");
    let until = "2026-11-02T11:00:00.362720043Z";
    let why = format!("until {}", local_time(until));
    check(kind::SWITCH, &switch(true, json!(until)), "hooks off", &why);
    check(kind::SWITCH, &switch(false, Value::Null), "hooks on", "");
    check(kind::TRUST, &json!({ "trust": { "digest": "blake3:ab" } }), "trusted", "blake3:ab");
    check(kind::TRUST, &json!({ "trust": {} }), "trust revoked", "");
    // A record of a version before this one.
    check("policy_lock", &json!({ "lock": null }), "policy_lock", "");
    let threshold = json!({ "act": "exit_threshold", "value": "3", "reason": "" });
    check(kind::ACT, &threshold, "exit_threshold", "3");
}

#[test]
fn a_work_item_is_followed_from_phase_to_phase() {
    let added = json!({ "work": { "id": "W-1", "phase": "DRAFT" } });
    check(work::kind::ADDED, &added, "work added", "W-1: DRAFT");
    let moved = |reason: &str, notes: &str| {
        let step = json!({ "id": "W-1", "from": "DRAFT", "to": "BLOCKED", "cause": "signal" });
        json!({ "work": step, "reason": reason, "event": { "notes": notes } })
    };
    let step = "W-1: DRAFT to BLOCKED, signal";
    check(work::kind::MOVED, &moved("", ""), "work", step);
    check(work::kind::MOVED, &moved("", "no key"), "work", &format!("{step}: no key"));
    check(work::kind::MOVED, &moved("red", "no key"), "work", &format!("{step}: red"));
    check(work::kind::ENDED, &moved("", ""), "work", step);
    let ended = |notes: &str| {
        let event = json!({ "phase_completed": "PLAN", "exit_reason": "blocked", "notes": notes });
        json!({ "event": event })
    };
    check(work::kind::ENDED, &ended(""), "session ended", "PLAN: blocked");
    check(work::kind::ENDED, &ended("no key"), "session ended", "PLAN: blocked: no key");
}

#[test]
fn a_loop_without_costs_shows_none() {
    let ended = |more: Value| {
        let mut body = json!({ "message": "the work is done", "stopped_by": "completed" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let timed = ended(json!({ "iterations": 1, "duration_ms": 4_000 }));
    check(kind::RUN_ENDED, &timed, "loop ended", "the work is done (1 iteration, 4.0s)");
    let bare = ended(json!({ "iterations": "many" }));
    check(kind::RUN_ENDED, &bare, "loop ended", "the work is done (0 iterations, 0.0s)");
}

#[test]
fn locked_tests_are_shown_with_both_agents() {
    let locked = json!({ "tests": { "files": ["a.py", "b.py"] }, "tests_by": "codex" });
    check(kind::TESTS_LOCKED, &locked, "tests locked", "a.py, b.py, by codex");
    let mut both = locked;
    both["code_by"] = json!("amp");
    check(kind::TESTS_LOCKED, &both, "tests locked", "a.py, b.py, by codex; code by amp");
}

#[test]
fn decisions_are_shown_with_their_answers() {
    let open =
        json!([{ "question": "name", "choice": "tax" }, { "question": "default", "choice": "0" }]);
    let listed = json!({ "open": open, "by": "codex" });
    let shown = "name (tax), default (0), by codex";
    check(kind::DECISIONS_LISTED, &listed, "decisions listed", shown);
    let confirmed =
        json!({ "by": "codex", "confirmed": [{ "question": "name", "answer": "vat" }] });
    check(kind::DECISIONS_CONFIRMED, &confirmed, "decided", "name (vat)");
    let none = json!({ "by": "codex", "confirmed": [] });
    check(kind::DECISIONS_CONFIRMED, &none, "decided", "nothing is open, says codex");
}

#[test]
fn colours_tell_success_from_the_rest() {
    let colored = |kind: &str, body: Value, color: AnsiColor| {
        let line = log_line(&record(kind, None, &body), None, None);
        assert!(line.contains(&color.render_fg().to_string()), "{line:?}");
    };
    let decision = |decision: Value| json!({ "decision": decision });
    colored(kind::PASSED, decision(json!({ "verdict": "exit" })), AnsiColor::Green);
    let forced = json!({ "verdict": "exit", "forced": true });
    colored(kind::PASSED, decision(forced), AnsiColor::Yellow);
    colored(kind::BLOCKED, decision(json!({ "verdict": "tripped" })), AnsiColor::Red);
    let completed = json!({ "stopped_by": "completed" });
    colored(kind::RUN_ENDED, completed, AnsiColor::Green);
    colored(kind::RUN_ENDED, json!({ "stopped_by": "cancelled" }), AnsiColor::Red);
    colored(work::kind::MOVED, json!({ "work": { "to": "BLOCKED" } }), AnsiColor::Red);
    colored(work::kind::MOVED, json!({ "work": { "to": "COMPLETED" } }), AnsiColor::Green);
}

#[test]
fn the_subject_is_the_run_and_else_the_task() {
    let subject = |run: Option<&str>, body: Value| {
        let line = plain(&log_line(&record("run_started", run, &body), None, None));
        let start = format!("{}      1  ", local_seconds("2026-11-02T10:00:00Z"));
        let rest = line.strip_prefix(&start).unwrap();
        rest.split_once("  ").unwrap().0.to_owned()
    };
    assert_eq!(subject(Some("nightly"), json!({ "state": { "iteration": 12 } })), "nightly, 12");
    assert_eq!(subject(Some("nightly"), json!({ "task": "7" })), "nightly");
    assert_eq!(subject(None, json!({ "task": "7", "state": { "task": "42" } })), "task 42");
    assert_eq!(subject(None, json!({ "task": "" })), "-");
    let long = subject(Some("task-20261102-100000-mend-the-login"), json!({}));
    assert_eq!(long, "task-202611…nd-the-login");
}

#[test]
fn a_whole_record_shows_every_field_and_its_body() {
    let sealed = record("run_started", None, &json!({ "b": [1, "x"], "a": {} }));
    let card = plain(&record_card(&sealed));
    let time = local_seconds("2026-11-02T10:00:00Z");
    let hash = sealed.hash.to_string();
    let prev = sealed.record.prev.to_string();
    let expected = format!(
        "record 1  {time}\n\n    type        run_started\n    run         none\n    \
         actor       gate\n    hash        {hash}\n    prev        {prev}\n\n\
         {{\n  \"a\": {{}},\n  \"b\": [\n    1,\n    \"x\"\n  ]\n}}"
    );
    assert_eq!(card, expected);
}

/// The line without colours.
fn cleaned_line(kind: &str, body: &Value) -> String {
    gate_core::text::clean(&log_line(&record(kind, None, body), None, None))
}

#[test]
fn every_kind_of_record_says_what_happened_and_why() {
    let trip = json!({ "cause": "refused", "message": "5 claims were refused" });
    let step = json!({ "from": "closed", "to": "open", "trip": trip, "state": { "task": "42" } });
    let forced =
        json!({ "verdict": "exit", "forced": true, "reasons": [{ "message": "shipped" }] });
    for (kind, body, expected) in [
        (
            kind::TRANSITION,
            step,
            "task 42                   breaker        closed to open: 5 claims were refused",
        ),
        (
            kind::TRANSITION,
            json!({ "from": "half_open", "to": "closed" }),
            "-                         breaker        half_open to closed",
        ),
        (
            kind::ACT,
            json!({ "act": "breaker_reset", "reason": "lunch" }),
            "-                         breaker_reset  lunch",
        ),
        (
            kind::ACT,
            json!({ "act": "no_checks", "task": "7" }),
            "task 7                    no_checks",
        ),
        (
            kind::PASSED,
            json!({ "decision": forced }),
            "-                         exit, forced   shipped",
        ),
        (kind::BLOCKED, json!({ "decision": 7 }), "-"),
        (
            kind::RUN_ENDED,
            json!({ "task": "7", "stopped_by": "cancelled", "message": "cancelled",
                    "iterations": 3, "cost_micro_usd": 1_480_000, "duration_ms": 62_000 }),
            "task 7                    loop ended     cancelled (3 iterations, 1m 2s, $1.48)",
        ),
        ("run_paused", json!({}), "-                         run_paused"),
    ] {
        let expected = format!("{}      1  {expected}", local_seconds("2026-11-02T10:00:00Z"));
        assert_eq!(cleaned_line(kind, &body).trim_end(), expected);
    }
}

#[test]
fn what_others_wrote_is_cleaned() {
    let dirty = "a\u{1b}[2Jb\u{9b}c\u{202e}d\ne";
    let mut sealed = record(dirty, None, &json!({ dirty: [dirty] }));
    sealed.record.run = Some(dirty.to_owned());
    sealed.record.time = dirty.to_owned();
    let shown = [log_line(&sealed, None, None), record_card(&sealed)].concat();
    let bad = |c: &char| matches!(c, '\u{9b}' | '\u{202e}') || (c.is_control() && *c != '\n');
    let colours = anstream::adapter::strip_str(&shown).to_string();
    assert_eq!(colours.chars().find(bad), None, "{shown:?}");
    assert!(log_line(&sealed, None, None).starts_with("abcd e"), "{shown}");
    assert!(shown.contains("which does not fit what the record says"), "{shown}");
}
