//! Which stops are judged, and what comes of them.

use super::*;

#[test]
fn an_agent_that_is_not_done_is_held_and_one_that_is_may_stop() {
    for agent in agents() {
        let ran = stops(agent, project(STRICT), CLAIM);
        let reason = refused(agent, &ran).unwrap_or_else(|| panic!("{agent} was let go"));
        assert!(reason.contains("tests failed") && reason.contains("AssertionError"), "{reason}");
        assert!(!reason.contains("COMPLETE"), "{reason}");
        let ran = ran.again("last").setup("touch fixed").code(1);
        let ran = stops(agent, ran, CLAIM);
        assert_eq!(refused(agent, &ran), None, "{agent}");
        ran.again("last --json").code(0).says("\"verdict\": \"exit\"");
    }
}

#[test]
fn a_chat_turn_and_a_question_pass_at_once_and_are_recorded_as_what_they_are() {
    for agent in agents() {
        let ran = stops(agent, at_rest(""), CHAT);
        assert_eq!(refused(agent, &ran), None, "{agent}");
        let ran = stops(agent, ran.again("prompt").setup("echo >work").code(0), QUESTION);
        assert_eq!(refused(agent, &ran), None, "{agent}");
        assert_eq!(types(ran).1, ["released", "released"], "{agent}");
    }
}

#[test]
fn where_a_signal_is_required_silence_is_refused_once_and_then_evidence_decides() {
    for agent in ["claude-code", "gemini", "copilot"] {
        let ran = stops(agent, project(STRICT), CHAT);
        let reason = refused(agent, &ran).unwrap();
        assert!(reason.contains("Completion Protocol"), "{reason}");
        let ran = stops(agent, ran, CHAT);
        let reason = refused(agent, &ran).unwrap();
        assert!(reason.contains("tests failed") && !reason.contains("Protocol"), "{reason}");
        let ran = stops(agent, ran.again("prompt").setup("touch fixed").code(0), CHAT);
        assert_eq!(refused(agent, &ran), None, "{agent}");
        ran.again("last").code(0);
    }
}

#[test]
fn a_headless_claim_is_always_judged_and_a_headless_answer_is_not() {
    for (said, held) in [(CLAIM, true), (CHAT, false)] {
        let ran = at_rest("");
        let (event, _) = event("claude-code", &ran, said);
        let run = ran.again("hook claude-code").env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
        assert_eq!(refused("claude-code", &hooked(run, &event)).is_some(), held);
        let ran = at_rest("");
        let header = json!({ "timestamp": "t", "type": "session_meta", "payload": { "id": "s1", "source": "exec" } });
        let (mut event, _) = super::event("codex", &ran, said);
        event["transcript_path"] = ran.path("session.jsonl").display().to_string().into();
        let run = ran.again("hook codex").file("session.jsonl", jsonl(&[header]));
        assert_eq!(refused("codex", &hooked(run, &event)).is_some(), held);
    }
}

#[test]
fn a_question_is_no_way_out_where_nobody_answers_and_is_told_where_one_was_refused() {
    let ran = project("");
    let (event, _) = event("claude-code", &ran, QUESTION);
    let run = ran.again("hook claude-code").env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    let ran = hooked(run, &event);
    assert!(refused("claude-code", &ran).is_some());
    are_told(["claude-code", "cursor"]);
}

#[test]
#[ignore = "minutes: many sessions"]
fn each_agent_that_asks_after_a_refusal_is_let_go_and_that_is_told() {
    are_told(agents());
}

fn are_told(agents: impl IntoIterator<Item = &'static str>) {
    for agent in agents {
        let ran = stops(agent, project(""), CLAIM);
        assert!(refused(agent, &ran).is_some(), "{agent}");
        let ran = stops(agent, ran, QUESTION).tells("still red from your earlier change");
        assert!(!ran.out().contains("decision") && !ran.out().contains("followup"), "{agent}");
        ran.again("last").code(1);
    }
}

#[test]
fn settings_say_which_turns_are_judged() {
    let ran = stops("codex", project("[hook]\njudge = \"never\"\n"), CLAIM);
    assert_eq!(refused("codex", &ran), None);
    let (ran, types) = types(ran);
    assert_eq!(types, ["hook_not_judged"]);
    ran.again("log").code(0).says("hook.judge is never");
    let ran = stops("codex", at_rest("[hook]\njudge = \"always\"\n"), CHAT);
    assert!(refused("codex", &ran).is_some());
}

#[test]
fn what_is_no_stop_of_the_agent_is_recorded_and_not_judged() {
    let judged = |agent: &str, key: &str, value: Value| {
        let ran = project("");
        let (mut event, transcript) = event(agent, &ran, CLAIM);
        event[key] = value;
        let run = ran.again(&format!("hook {agent}")).file("session.jsonl", transcript);
        let ran = hooked(run, &event);
        assert_eq!(refused(agent, &ran), None, "{agent} {key}");
        assert_eq!(types(ran).1, ["hook_not_judged"], "{agent} {key}");
    };
    for agent in ["claude-code", "codex", "droid", "qwen"] {
        judged(agent, "permission_mode", "plan".into());
        judged(agent, "hook_event_name", "SubagentStop".into());
    }
    judged("claude-code", "hook_event_name", "StopFailure".into());
    judged("copilot", "stop_reason", "aborted".into());
    // Its `errorOccurred`, as every event in its older form, has no name.
    let ran = project("");
    let error = json!({ "sessionId": "s1", "timestamp": 1, "cwd": ran.path(""), "error": {} });
    let ran = hooked(ran.again("hook copilot"), &error);
    assert_eq!(refused("copilot", &ran), None);
    judged("cursor", "status", "error".into());
}

#[test]
fn a_project_without_settings_is_none_of_its_business() {
    let ran = gate("prompt").file("a", "").committed().code(0);
    let ran = stops("claude-code", ran, CLAIM);
    assert_eq!(ran.out(), "");
    assert!(!ran.state().exists());
}

#[test]
fn an_operator_switches_hooks_off_and_on() {
    let held = |ran: Ran| {
        let ran = ran.again("prompt").setup("echo >>work").code(0);
        refused("claude-code", &stops("claude-code", ran, CLAIM)).is_some()
    };
    let off = project("").again("off --for 1h").code(0).says("off until 20");
    let off = stops("claude-code", off, CLAIM);
    assert_eq!(off.out(), "");
    let off = off.again("status").code(0).says("OFF").says("until 20");
    assert!(held(off.again("on").code(0)));
    let off = project("").again("off").code(0).again("status --json").code(0);
    assert_eq!((&off.json()["judges"], &off.json()["off_until"]), (&false.into(), &Value::Null));
    let over = project("").again("off --for 1ms").code(0);
    assert!(held(over));
    let ran = project("");
    let (event, _) = event("codex", &ran, CLAIM);
    let ran = hooked(ran.again("hook codex").env("GATE", "off"), &event);
    assert_eq!(ran.out(), "");
}

#[test]
fn the_status_is_as_its_schema_says() {
    let schema = gate("config schema status").code(0).json();
    let status = project("").again("status --json").code(0).json();
    let known = keys(&schema["properties"]);
    assert_eq!(keys(&status), known);
    assert_eq!((&status["judges"], &status["checks"][0]), (&true.into(), &"tests".into()));
}
