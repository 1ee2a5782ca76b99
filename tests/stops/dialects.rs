//! Programs that call the hooks of Claude Code and Copilot with events of their own.

use super::*;

/// An event as VS Code sends it to the hook of a client.
fn called(agent: &str, ran: Ran, setup: &str, name: &str, more: &Value) -> Ran {
    let mut event = json!({ "timestamp": "2026-11-02T10:00:00.000Z", "hookEventName": name,
        "sessionId": "v1", "cwd": ran.path("").display().to_string(),
        "transcript_path": ran.path("../t.json").display().to_string() });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let run = ran.again(&format!("hook {agent}")).setup(setup);
    hooked(run, &event)
}

fn stopped(agent: &str, ran: Ran, setup: &str) -> Ran {
    called(agent, ran, setup, "Stop", &json!({ "stop_hook_active": false }))
}

/// A session in which the agent made the check red.
fn began(agent: &str, ran: Ran) -> Ran {
    let ran = called(agent, ran, "touch fixed", "SessionStart", &json!({ "source": "new" }));
    let ran =
        called(agent, ran.stdout(""), "true", "UserPromptSubmit", &json!({ "prompt": "gate off" }));
    ran.stdout("")
}

fn reason(ran: &Ran) -> String {
    let reply = ran.json();
    let specific = &reply["hookSpecificOutput"];
    let reason = specific["reason"].as_str().unwrap().to_owned();
    let expected = json!({ "hookSpecificOutput":
        { "hookEventName": "Stop", "decision": "block", "reason": reason } });
    assert_eq!(reply, expected);
    reason
}

#[test]
fn a_red_stop_is_held_in_its_own_words() {
    for agent in ["claude-code", "copilot"] {
        let ran = stopped(agent, began(agent, at_rest("")), "rm fixed; echo >>work");
        assert!(reason(&ran).contains("tests failed"), "{agent}");
        let active = json!({ "stop_hook_active": true });
        let ran = called(agent, ran, "true", "Stop", &active);
        assert!(reason(&ran).contains("tests failed"), "{agent}");
        // A transcript of a form that is not known takes nothing away.
        let ran = ran.again("status").file("../t.json", "{\"requests\":[]}").code(0);
        stopped(agent, ran, "touch fixed").stdout("");
        for silent in ["PreToolUse", "PostToolUse", "PreCompact"] {
            let ran = began(agent, at_rest(""));
            called(agent, ran, "rm fixed", silent, &json!({ "tool_name": "x" })).stdout("");
        }
    }
}

#[test]
fn a_green_stop_and_one_without_work_are_silent() {
    let ran = stopped("claude-code", began("claude-code", at_rest("")), "true").stdout("");
    stopped("claude-code", ran, "echo >>work").stdout("");
}

#[test]
fn where_both_files_call_one_hook_judges() {
    let ran = began("copilot", began("claude-code", at_rest("")));
    let mut ran = stopped("claude-code", ran, "rm fixed; echo >>work");
    assert!(reason(&ran).contains("refusal 1 of"), "{}", ran.out());
    ran = stopped("copilot", ran, "true").stdout("");
    ran = stopped("claude-code", ran, "true");
    assert!(reason(&ran).contains("refusal 2 of"), "{}", ran.out());
}

#[test]
fn the_clients_own_events_are_read_as_before() {
    let ran = stops("copilot", project(""), CLAIM);
    assert!(refused("copilot", &ran).is_some());
    let ran = stops("claude-code", project(""), CLAIM);
    assert!(refused("claude-code", &ran).is_some());
}

#[test]
fn openhands_is_held_by_what_its_tree_shows() {
    let called = |ran: Ran, setup: &str, name: &str| {
        let folder = ran.path("").display().to_string();
        let event = json!({ "event_type": name, "session_id": "o1", "working_dir": folder,
            "tool_name": null, "tool_input": null, "tool_output": null, "message": "gate off",
            "metadata": {} });
        hooked(ran.again("hook claude-code").setup(setup), &event)
    };
    let ran = called(at_rest(""), "touch fixed", "SessionStart").stdout("");
    let ran = called(ran, "true", "UserPromptSubmit").stdout("");
    let ran = called(ran, "rm fixed", "PostToolUse").stdout("");
    let ran = called(ran, "echo >>work", "Stop");
    let reply = ran.json();
    let reason = reply["reason"].as_str().unwrap();
    assert!(reason.contains("tests failed"), "{reason}");
    assert_eq!(reply, json!({ "decision": "block", "reason": reason }));
    called(ran, "touch fixed", "Stop").stdout("");
}

/// Kiro's documentation knows no refusal of a stop, so nothing is said to it.
#[test]
fn a_stop_that_cannot_be_refused_hears_nothing() {
    let mut ran = at_rest("");
    for name in ["agentSpawn", "userPromptSubmit", "postToolUse", "stop"] {
        let event = json!({ "hook_event_name": name, "cwd": ran.path("").display().to_string(),
            "prompt": "add a tax", "assistant_response": "It is done." });
        ran = hooked(ran.again("hook claude-code").setup("rm -f fixed; echo >>work"), &event);
        ran = ran.stdout("");
    }
}
