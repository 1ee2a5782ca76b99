//! `gate exit emit`, and an exit signal as the agent's word for the gate.

use serde_json::{Value, json};

use crate::exit::{DISABLED, FLAG, done, holds, signal};
use crate::support::{Ran, Run, gate, judge};

fn emit(words: &str, more: &[&str]) -> Run {
    gate(&format!("exit emit {words}")).args(more)
}

#[test]
fn what_is_emitted_is_parsed() {
    let bare = emit("--phase IMPLEMENTATION --reason completed", &[]).code(0).stderr("");
    let expected = "{\"protocol\":\"apm2_agent_exit\",\"version\":\"1.0.0\",\
                    \"phase_completed\":\"IMPLEMENTATION\",\"exit_reason\":\"completed\"}\n";
    holds(bare.stdout(expected).out(), "CI_PENDING");
    let more = [
        "--notes",
        "- a \"list\"\nof ünïcödé",
        "--pr-url",
        "https://github.com/acme/shop/pull/7",
        "--evidence-bundle-ref",
        "evidence/W-7/review.yaml",
    ];
    let line = emit("--phase review --reason BLOCKED --json", &more).code(0).stderr("");
    assert_eq!(line.stdout.lines().count(), 1);
    let read = holds(line.out(), "BLOCKED");
    assert_eq!((&read["notes"], &read["pr_url"]), (&json!(more[1]), &json!(more[3])));
    assert_eq!(
        (&read["evidence_bundle_ref"], &read["phase_completed"]),
        (&json!(more[5]), &json!("REVIEW"))
    );
}

#[test]
fn what_would_not_hold_is_not_emitted() {
    let wrong = |name: &str, value: &str| -> Ran {
        emit("--json --phase REVIEW --reason error", &[name, value]).code(2)
    };
    let long = "x".repeat(10_241);
    for (name, value, told) in [
        ("--pr-url", "http://x", "pr_url must start with 'https://': got 'http://x'"),
        ("--pr-url", "https://x;y", "pr_url contains potentially dangerous character: ';'"),
        (
            "--evidence-bundle-ref",
            "../x",
            "path traversal detected in evidence_bundle_ref: paths cannot contain '..' or start with '/'",
        ),
        ("--notes", &long, "notes exceeds maximum length: 10241 bytes > 10240 bytes"),
    ] {
        let failed = wrong(name, value).json();
        assert_eq!(
            (&failed["code"], &failed["message"]),
            (&json!("exit-signal-invalid"), &json!(told))
        );
    }
    emit("--phase CODING --reason error", &[]).code(2).stdout("").tells("CI_PENDING");
    emit("--phase REVIEW --reason success", &[])
        .code(2)
        .stdout("")
        .tells("completed, blocked, error");
    emit("--phase REVIEW", &[]).code(2).stdout("").tells("--reason");
}

/// `gate check` of an output that ends with these lines, with the flag on.
fn check(signals: &[String]) -> Run {
    let output =
        format!("Both layouts are read. It is ready for review.\n\n{}\n", signals.join("\n"));
    judge("check --json out.log", &output).env(FLAG, "true")
}

#[test]
fn a_signal_is_the_agents_word_for_the_gate() {
    let decision = check(&[done()]).code(0).json();
    assert_eq!(decision["signal"]["source"], "agent_exit");
    assert_eq!(decision["signal"]["reason"], "both layouts are read");
    for reason in ["blocked", "error"] {
        let why = [("notes", "no access")];
        let ran = check(&[signal("REVIEW", reason, &why).to_string()]).code(4).stops();
        let decision = ran.json();
        assert_eq!(
            (&decision["verdict"], &decision["success"]),
            (&json!("blocked"), &json!(false))
        );
        assert_eq!(decision["signal"]["reason"], "no access");
    }
    let wrong = done().replace("1.0.0", "2.0.0");
    let decision = check(std::slice::from_ref(&wrong)).code(1).json();
    assert_eq!(decision["signal"]["status"], "absent");
    let miss = &decision["signal"]["near_misses"][0]["why"];
    assert_eq!(miss, "unsupported version: expected '1.x', got '2.0.0'");
    check(&[done(), wrong]).code(0);
    check(&["EXIT_STATUS: CONTINUE".to_owned(), done()]).code(1);
}

/// The events of ended sessions in the ledger, each with its record's actor.
fn events(ran: Ran) -> Vec<(String, Value)> {
    let ran = ran.again("ledger verify").code(0).again("ledger export").code(0);
    let records = ran
        .json_lines()
        .into_iter()
        .filter(|json_line| json_line["type"] == "AgentSessionCompleted");
    let event = |it: Value| (it["actor"].as_str().unwrap().to_owned(), it["body"]["event"].clone());
    records.map(event).collect()
}

#[test]
fn a_session_that_works_on_no_item_leaves_its_event_too() {
    let ran = check(&[done()]).code(0).again("log").code(0).says("session ended");
    let [(actor, event)] = &events(ran)[..] else { panic!("one event") };
    assert_eq!((actor.as_str(), &event["actor_id"]), ("text", &json!("text")));
    assert_eq!(event["event_type"], "AgentSessionCompleted");
    assert_eq!(
        (&event["phase_completed"], &event["next_phase"]),
        (&json!("IMPLEMENTATION"), &json!("CI_PENDING"))
    );
    assert_eq!(event["notes"], "both layouts are read");
    assert!(!event["session_id"].as_str().unwrap().is_empty(), "{event}");

    let blocked = signal("REVIEW", "blocked", &[("notes", "no access")]).to_string();
    let events_of = events(check(&[blocked]).code(4));
    assert_eq!(events_of[0].1["next_phase"], "BLOCKED");
}

#[test]
fn what_is_no_valid_signal_leaves_no_event() {
    let wrong = done().replace("1.0.0", "2.0.0");
    assert_eq!(events(check(&[wrong]).code(1)), []);
    assert_eq!(events(check(&["EXIT_STATUS: CONTINUE".to_owned(), done()]).code(1)), []);
    let output = format!("It is ready for review.\n\n{}\n", done());
    assert_eq!(events(judge("check --json out.log", &output).code(1)), []);
    let dry = judge("check --dry-run out.log", &output).env(FLAG, "true").code(0);
    assert_eq!(events(dry.again("check --iteration 1 --json out.log").code(1)), []);
}

#[test]
fn the_same_iteration_leaves_one_event() {
    let ran = check(&[done()]).words("check --run r --iteration 1 out.log").code(0);
    let ran = ran.again("check --run r --iteration 1 out.log").env(FLAG, "true").code(0);
    assert_eq!(events(ran).len(), 1);
}

#[test]
fn a_loop_leaves_the_event_of_its_agent() {
    let agent = format!("touch fixed\ncat <<'END'\nIt is ready for review.\n\n{}\nEND\n", done());
    let ran = crate::run::project(&agent).env(FLAG, "true").code(0);
    let [(actor, event)] = &events(ran)[..] else { panic!("one event") };
    assert_eq!((actor.as_str(), &event["actor_id"]), ("agent.sh", &json!("agent.sh")));
}

#[test]
fn only_the_environments_flag_lets_it_count() {
    let output = format!("It is ready for review.\n\n{}\n", done());
    let off = judge("check --json out.log", &output).code(1).json();
    assert_eq!(off["signal"]["near_misses"][0]["why"], DISABLED);
    let shown = gate("config show").env(FLAG, "1").code(0);
    shown.says("# the agent exit protocol is on: AGENT_EXIT_PROTOCOL_ENABLED");
    gate("config show").code(0).says("# the agent exit protocol is off");
    let refused = "[signal]\naccept = [\"exit_status\"]\n";
    judge("check --json out.log", &output).settings(refused).env(FLAG, "1").code(1);
    let project = "[signal]\nexit_protocol = true\n";
    judge("check --json out.log", &output).settings(project).code(2).tells("exit_protocol");
}
