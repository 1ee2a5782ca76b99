//! A stop, a session that begins, a prompt, or an event in the middle of a turn; and the
//! stops that are none of the agent's.

use serde_json::{Value, json};

use super::super::{EventKind, Payload, client, not_judged};
use crate::agent::Agent;
use crate::clients::{HookFacts, facts};

#[track_caller]
fn check(agent: Agent, payload: &Value, kind: EventKind) {
    let event = client(agent).event(&Payload::new(payload, &[]));
    assert_eq!(event.kind, kind, "{}: {payload}", agent.name());
}

#[track_caller]
fn check_judged(agent: Agent, payload: &Value, reason: Option<&str>) {
    let event = client(agent).event(&Payload::new(payload, &[]));
    assert_eq!(event.not_judged, reason, "{}: {payload}", agent.name());
    assert_eq!(event.kind, EventKind::Stop, "{}: {payload}", agent.name());
}

#[test]
fn each_client_begins_a_session_in_its_own_words() {
    for agent in Agent::ALL {
        let Some(name) = facts(agent).hook.events.start.as_deref() else { continue };
        let named = |source: Value| json!({ "hook_event_name": name, "source": source });
        check(agent, &named("startup".into()), EventKind::SessionStart);
        check(agent, &named("resume".into()), EventKind::SessionStart);
        check(agent, &named(Value::Null), EventKind::SessionStart);
        check(agent, &named("compact".into()), EventKind::MidTurn);
        let other_case = json!({ "hook_event_name": name.to_uppercase() });
        check_judged(agent, &other_case, Some(not_judged::OTHER_EVENT));
    }
    check(Agent::Goose, &json!({ "event": "SessionStart" }), EventKind::SessionStart);
}

#[test]
fn what_a_sub_agent_begins_is_in_the_middle_of_the_agents_turn() {
    for name in ["SessionStart", "UserPromptSubmit"] {
        let payload = json!({ "hook_event_name": name, "agent_id": "a1", "source": "startup" });
        check(Agent::ClaudeCode, &payload, EventKind::MidTurn);
        check(Agent::Droid, &payload, EventKind::MidTurn);
    }
}

#[test]
fn a_prompt_is_one_whatever_the_client_calls_it() {
    for agent in Agent::ALL {
        for name in &facts(agent).hook.events.prompt {
            let payload = json!({ "hook_event_name": name, "prompt": "Go on." });
            check(agent, &payload, EventKind::Prompt);
        }
    }
    check(Agent::Goose, &json!({ "event": "UserPromptSubmit" }), EventKind::Prompt);
}

#[test]
fn copilots_events_without_a_name_are_recognised_by_their_fields() {
    check(Agent::Copilot, &json!({ "prompt": "Go on." }), EventKind::Prompt);
    let stop = json!({ "stopReason": "end_turn", "prompt": "Go on." });
    check_judged(Agent::Copilot, &stop, None);
    check_judged(Agent::Copilot, &json!({ "prompt": " " }), Some(not_judged::OTHER_EVENT));
    check_judged(Agent::Copilot, &json!({ "toolName": "bash" }), Some(not_judged::OTHER_EVENT));
    let cancelled = json!({ "stopReason": "cancelled" });
    check_judged(Agent::Copilot, &cancelled, Some(not_judged::BROKEN_OFF));
    let named = json!({ "hook_event_name": "Stop", "stop_reason": "max_tokens" });
    check_judged(Agent::Copilot, &named, Some(not_judged::BROKEN_OFF));
}

#[test]
fn a_turn_that_was_broken_off_or_is_anothers_is_not_judged() {
    let named = |name: &str| json!({ "hook_event_name": name });
    for agent in Agent::ALL {
        check_judged(agent, &named(&facts(agent).hook.events.stop), None);
        check_judged(agent, &named("SubagentStop"), Some(not_judged::SUB_AGENT));
        check_judged(agent, &named("StopFailure"), Some(not_judged::BROKEN_OFF));
        check_judged(agent, &named("PreToolUse"), Some(not_judged::OTHER_EVENT));
    }
    for (status, reason) in [
        ("completed", None),
        ("aborted", Some(not_judged::BROKEN_OFF)),
        ("error", Some(not_judged::BROKEN_OFF)),
    ] {
        let payload = json!({ "hook_event_name": "stop", "status": status });
        check_judged(Agent::Cursor, &payload, reason);
    }
}

#[test]
fn what_the_person_interrupted_is_told_by_the_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("session.jsonl");
    let check = |agent: Agent, lines: &[Value], reason: Option<&str>| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, text).unwrap();
        let payload = json!({ "hook_event_name": facts(agent).hook.events.stop,
            "transcript_path": file.display().to_string() });
        check_judged(agent, &payload, reason);
    };
    let message = |kind: &str, content: Value| json!({ "type": kind, "message": { "role": kind, "content": content } });
    let interrupted =
        message("user", json!([{ "type": "text", "text": "[Request interrupted by user]" }]));
    let (answer, prompt) = (message("assistant", "I begin.".into()), message("user", "Go.".into()));
    let interrupted_tool = message("user", json!("[Request interrupted by user for tool use]"));
    let notice = json!({ "type": "system", "subtype": "turn_duration" });
    let side_chain = json!({ "type": "assistant", "isSidechain": true, "message": {} });
    let event = |kind: &str| json!({ "type": "event_msg", "payload": { "type": kind } });
    let count = event("token_count");
    let broken_off = Some(not_judged::BROKEN_OFF);
    let claude = Agent::ClaudeCode;
    check(claude, &[prompt.clone(), answer.clone(), interrupted.clone()], broken_off);
    check(claude, &[answer.clone(), interrupted_tool, notice, side_chain], broken_off);
    // Another message came since, or the words are quoted.
    check(claude, &[interrupted.clone(), prompt.clone()], None);
    check(claude, &[interrupted, prompt, answer], None);
    check(claude, &[message("user", "Why [Request interrupted by user]?".into())], None);
    check(Agent::Codex, &[event("task_started"), event("turn_aborted"), count.clone()], broken_off);
    check(Agent::Codex, &[event("turn_aborted"), event("task_started"), count], None);
    check(Agent::Codex, &[event("agent_message"), event("task_complete")], None);
}

#[test]
fn plan_mode_is_where_the_client_has_it() {
    let mut payload = json!({ "permission_mode": "plan" });
    for agent in Agent::ALL {
        let HookFacts { events, has_plan_mode, .. } = &facts(agent).hook;
        payload["hook_event_name"] = events.stop.as_str().into();
        check_judged(agent, &payload, has_plan_mode.then_some(not_judged::PLAN_MODE));
    }
    payload["hook_event_name"] = "SubagentStop".into();
    check_judged(Agent::ClaudeCode, &payload, Some(not_judged::SUB_AGENT));
    payload = json!({ "hook_event_name": "Stop", "permission_mode": "bypassPermissions" });
    check_judged(Agent::ClaudeCode, &payload, None);
}

#[test]
fn an_entry_point_says_if_a_person_sits_in_front_of_claude_code() {
    let is_headless = |entry: &str| {
        let environment = [("CLAUDE_CODE_ENTRYPOINT".to_owned(), entry.to_owned())];
        client(Agent::ClaudeCode).is_headless(&Payload::new(&json!({}), &environment))
    };
    assert_eq!(is_headless("sdk-cli"), Some(true));
    assert_eq!(is_headless("cli"), Some(false));
}

#[test]
fn a_rollout_says_if_a_person_sits_in_front_of_codex() {
    let folder = tempfile::tempdir().unwrap();
    let rollout = folder.path().join("rollout.jsonl");
    let payload = json!({ "transcript_path": rollout.display().to_string() });
    for (source, expected) in [
        (json!("exec"), true),
        (json!("cli"), false),
        (json!("vscode"), false),
        (json!({ "subagent": "review" }), false),
    ] {
        let header = json!({ "type": "session_meta", "payload": { "id": "s", "source": source } });
        let later = json!({ "type": "session_meta", "payload": { "source": "exec" } });
        std::fs::write(&rollout, format!("{header}\n{later}\n")).unwrap();
        let is_headless = client(Agent::Codex).is_headless(&Payload::new(&payload, &[]));
        assert_eq!(is_headless, Some(expected), "{header}");
    }
}
