//! `gate exit`, and an exit signal as the agent's word.

use serde_json::{Value, json};

use crate::support::{Run, gate};

pub(crate) const FLAG: &str = "AGENT_EXIT_PROTOCOL_ENABLED";
pub(crate) const DISABLED: &str =
    "exit signal validation is disabled (AGENT_EXIT_PROTOCOL_ENABLED=false)";

/// A signal with these members beside those that each has.
pub(crate) fn signal(phase: &str, reason: &str, more: &[(&str, &str)]) -> Value {
    let mut signal = json!({
        "protocol": "apm2_agent_exit", "version": "1.0.0",
        "phase_completed": phase, "exit_reason": reason,
    });
    for (name, value) in more {
        signal[*name] = json!(value);
    }
    signal
}

pub(crate) fn done() -> String {
    signal("IMPLEMENTATION", "completed", &[("notes", "both layouts are read")]).to_string()
}

/// `gate exit parse` of a text, with the flag on.
pub(crate) fn parse(text: &str) -> Run {
    gate("exit parse --json").env(FLAG, "true").stdin(text)
}

#[track_caller]
pub(crate) fn holds(text: &str, next: &str) -> Value {
    let parsed = parse(text).code(0).stderr("").json();
    assert_eq!((&parsed["ok"], &parsed["next_phase"]), (&json!(true), &json!(next)), "{text}");
    parsed["signal"].clone()
}

#[track_caller]
fn broken(text: &str) -> String {
    let parsed = parse(text).code(1).stderr("").json();
    assert_eq!(parsed["ok"], false, "{text}");
    assert_eq!(parsed.as_object().unwrap().len(), 2, "{parsed}");
    parsed["error"].as_str().expect("a text").to_owned()
}

#[test]
fn every_kind_of_signal_holds() {
    let pull = ("pr_url", "https://github.com/acme/shop/pull/7");
    for (phase, reason, more, next) in [
        (
            "IMPLEMENTATION",
            "completed",
            vec![
                pull,
                ("evidence_bundle_ref", "evidence/W-7/parser.yaml"),
                ("notes", "the parser is written"),
            ],
            "CI_PENDING",
        ),
        (
            "IMPLEMENTATION",
            "completed",
            vec![pull, ("notes", "ünïcödé \"quoted\"\n\tand more")],
            "CI_PENDING",
        ),
        (
            "REVIEW",
            "completed",
            vec![("evidence_bundle_ref", "evidence/W-7/review.yaml"), ("notes", "")],
            "READY_FOR_MERGE",
        ),
        ("IMPLEMENTATION", "blocked", vec![("notes", "no access to the staging host")], "BLOCKED"),
        ("IMPLEMENTATION", "error", vec![("notes", "the linker is killed")], "BLOCKED"),
    ] {
        let example = signal(phase, reason, &more);
        for text in [example.to_string(), format!("{example:#}\n")] {
            assert_eq!(holds(&text, next), example);
        }
    }
}

#[test]
fn the_protocols_own_errors_are_told_in_its_words() {
    let with = |name: &str, value: &str| {
        let mut signal = signal("IMPLEMENTATION", "completed", &[]);
        signal[name] = json!(value);
        broken(&format!("{signal:#}"))
    };
    assert_eq!(
        with("protocol", "wrong_protocol"),
        "unknown protocol: expected 'apm2_agent_exit', got 'wrong_protocol'"
    );
    assert_eq!(with("version", "2.0.0"), "unsupported version: expected '1.x', got '2.0.0'");
    let torn =
        format!("{:#}", signal("REVIEW", "completed", &[])).replacen("\"version\"", "version", 1);
    let error = broken(&torn);
    assert!(error.starts_with("invalid JSON: ") && error.contains(" at line "), "{error}");
    for off in [None, Some("false"), Some(""), Some("on"), Some(" true")] {
        let run = gate("exit parse --json").stdin(done());
        let run = if let Some(off) = off { run.env(FLAG, off) } else { run };
        assert_eq!(run.code(1).json(), json!({ "ok": false, "error": DISABLED }), "{off:?}");
    }
    for on in ["true", "1", "yes", "TRUE"] {
        gate("exit parse").env(FLAG, on).stdin(done()).code(0);
    }
}

#[test]
fn a_signal_is_found_in_an_agents_output() {
    let quoted = json!(format!("Done.\n\n{}", done()));
    let stream = format!(
        "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}}\n\
         {{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":{quoted},\"session_id\":\"s\"}}\n"
    );
    for text in [
        format!("Both layouts are read.\n\n{}\n", done()),
        format!("Both are read.\n\n```json\n{}\n```\n", done()),
        format!("{{\"retries\": 3}}\n{}\n", done()),
        stream,
    ] {
        assert_eq!(holds(&text, "CI_PENDING")["notes"], "both layouts are read");
    }
    let last = signal("REVIEW", "blocked", &[]);
    assert_eq!(holds(&format!("{}\n{last}\n", done()), "BLOCKED"), last);
    for (text, why) in [
        (format!("For example:\n\n{}\n", done()), "no exit signal: "),
        (format!("{}\nNow let me start with the next task.\n", done()), "no exit signal: "),
        (format!("[{}]\n", done()), "invalid JSON: "),
        (format!("Done.\n{}\n", done().replace("1.0.0", "2.0.0")), "unsupported version: "),
        (format!("{}\nbye\n", done().replace("1.0.0", "2.0.0")), "unsupported version: "),
        ("All done.\n".to_owned(), "invalid JSON: "),
        (String::new(), "invalid JSON: EOF"),
        ("All done.\n".repeat(9_000), "no exit signal in the agent's last word"),
        ("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"Done.\"}\n".to_owned(), "no exit signal in the agent's last word"),
    ] {
        assert!(broken(&text).starts_with(why), "{text}: {}", broken(&text));
    }
}

#[test]
fn an_invalid_signal_beside_a_valid_one_is_told_and_changes_nothing() {
    let text = format!("{}\n{}\n", done(), done().replace("1.0.0", "2.0.0"));
    let ran = parse(&text).code(0);
    assert_eq!(ran.json()["signal"]["version"], "1.0.0");
    ran.stderr("gate: line 2: unsupported version: expected '1.x', got '2.0.0'\n");
}

#[test]
fn what_an_attacker_tries_is_refused() {
    let long = signal("REVIEW", "completed", &[("notes", &"x".repeat(1 << 20))]);
    for text in [long.to_string(), format!("{long:#}\n")] {
        assert!(broken(&text).starts_with("input too large: "));
    }
    let twice = done().replacen('{', "{\"version\":\"1.0.0\",", 1);
    assert!(broken(&twice).starts_with("invalid JSON: duplicate field `version`"));
    let deep = done().replacen('{', &format!("{{\"zzz\":{},", "[".repeat(30_000)), 1);
    assert!(broken(&deep).starts_with("invalid JSON: unknown field `zzz`"));
    assert!(broken(&"[".repeat(60_000)).starts_with("invalid JSON: "));
    assert_eq!(
        broken(&done().replace("1.0.0", "\\u001b[31m")),
        "unsupported version: expected '1.x', got '\u{1b}[31m'"
    );
    let colours = done().replace("1.0.0", "\\u001b[31m");
    let ran = gate("exit parse").env(FLAG, "1").stdin(colours).code(1);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    let bytes = gate("exit parse --json").env(FLAG, "1").stdin(b"\xff\xfe".to_vec()).code(1);
    assert_eq!(bytes.json()["error"], "invalid JSON: no UTF-8 at line 1 column 1");
}

#[test]
fn a_person_is_told_in_one_line() {
    let run = |text: String| gate("exit parse s.json").env(FLAG, "yes").file("s.json", text);
    run(done()).code(0).stdout("VALID  IMPLEMENTATION completed: the next phase is CI_PENDING\n");
    let wrong = done().replace("1.0.0", "2.0.0");
    run(wrong).code(1).stdout("INVALID  unsupported version: expected '1.x', got '2.0.0'\n");
    // The file is not opened.
    let off = gate("exit parse missing.json").code(1).stderr("");
    off.stdout(&format!("OFF  exit signals are not read: set {FLAG}=1\n"));
}

#[test]
fn where_nothing_was_found_out_the_code_says_so() {
    let failed = gate("exit parse --json missing.json").env(FLAG, "1").code(2).json();
    assert_eq!(
        (&failed["schema"], &failed["code"]),
        (&json!("gate.error.v1"), &json!("input-unreadable"))
    );
    assert_eq!(gate("exit parse --json --what").code(2).json()["code"], "usage");
    gate("exit").code(2);
}

#[test]
fn the_shell_and_the_manual_know_it() {
    for shell in ["bash", "zsh", "fish"] {
        gate(&format!("completions {shell}")).code(0).says("evidence-bundle-ref");
    }
    gate("man exit").code(0).says("agent exit protocol").says("parse").says("emit");
}
