//! Replies that the clients would take for a block, and others.

use gate_core::decide::signal::Status;

use super::*;

#[track_caller]
fn problem(agent: Agent, script: &str) -> String {
    let stop = test_stop(agent, script);
    assert_eq!(stop.blocked, stop.problem.is_none());
    stop.problem.unwrap_or_default()
}

#[test]
fn a_block_is_exactly_that() {
    let block = r#"cat >/dev/null; echo '{"decision":"block","reason":"tests fail"}'"#;
    assert_eq!(problem(Agent::Codex, block), "");
    assert!(problem(Agent::Cursor, block).contains("no block"));
    assert_eq!(problem(Agent::Cursor, r#"echo '{"followup_message":"tests fail"}'"#), "");
    for reply in [
        r#"{"decision":"block","reason":""}"#,
        r#"{"decision":"block"}"#,
        r#"{"decision":"block","reason":"x","more":1}"#,
        r#"{"decision":"deny","reason":"x"}"#,
        "[]",
    ] {
        assert!(problem(Agent::Codex, &format!("echo '{reply}'")).contains("no block"), "{reply}");
    }
}

#[test]
fn a_reply_that_lets_the_agent_go_is_shown_with_its_reason() {
    assert_eq!(problem(Agent::Goose, "true"), "it let the agent go");
    let with_reason = problem(Agent::Goose, "echo gate is not installed >&2");
    assert_eq!(with_reason, "it let the agent go: gate is not installed");
    assert_eq!(problem(Agent::Goose, "echo no >&2; exit 3"), "it ended with code 3: no");
    assert!(problem(Agent::Goose, "echo done").contains("no JSON"));
    assert!(problem(Agent::Goose, "kill -9 $$").contains("a signal"));
}

#[test]
fn the_command_runs_in_a_place_of_its_own() {
    let script = r#"test -f gate.toml && test "$HOME" = "$(cd ../home && pwd)" && test -z "$GATE" &&
        case "$GATE_STATE_DIR" in "$HOME"/*) echo '{"decision":"block","reason":"x"}';; esac"#;
    assert_eq!(problem(Agent::ClaudeCode, script), "");
}

#[test]
fn every_client_gets_an_event_in_its_own_form() {
    let folder = Path::new("/p");
    for agent in Agent::ALL {
        let event = event::stop_event(agent, folder, Path::new("/t.jsonl"));
        let has = |name: &str| event.get(name).is_some();
        assert!(!event.to_string().contains("\"{"), "a placeholder has no value: {event}");
        assert_eq!(has("turn_id"), agent == Agent::Codex);
        assert_eq!(has("prompt_response"), agent == Agent::Gemini);
        assert_eq!(has("conversation_id"), agent == Agent::Cursor);
        assert_eq!(has("event"), agent == Agent::Goose);
        assert_eq!(has("background_tasks"), agent == Agent::ClaudeCode);
    }
}

#[test]
fn every_transcript_can_be_read() {
    for agent in Agent::ALL {
        let policy = gate_core::config::resolve(&[], None).unwrap().policy;
        let scan = gate_core::scan(event::transcript(agent).as_bytes(), &policy).unwrap();
        assert_eq!(scan.signal.status, Status::Complete, "{}", agent.name());
    }
}
