//! Agents that never get it right: held for long, and let go.

use super::*;

/// Breakers that do not trip before the hook's own limit is reached.
const PATIENT: &str = "[breaker]\nrefused = 0\nno_progress = 0\nsame_error = 0\n";

#[test]
fn an_agent_is_let_go_at_the_limit_and_that_is_told() {
    are_let_go(["claude-code", "cursor"]);
}

#[test]
#[ignore = "minutes: many sessions"]
fn each_agent_is_let_go_at_the_limit() {
    are_let_go(agents());
}

fn are_let_go(agents: impl IntoIterator<Item = &'static str>) {
    for agent in agents {
        let mut ran = project(&format!("{PATIENT}{STRICT}max_blocks = 2\n"));
        for _ in 0..2 {
            ran = stops(agent, ran, CLAIM);
            assert!(refused(agent, &ran).is_some(), "{agent}");
        }
        ran = stops(agent, ran, CLAIM).tells("NOT done: the stop was refused 2 times");
        let shows_messages = facts(agent)["hook"]["shows_messages"].as_bool().unwrap();
        assert_eq!(ran.out().contains("systemMessage"), shows_messages, "{agent}");
        assert!(!ran.out().contains("decision"), "{agent}");
        ran = ran.again("last --json").code(3).says("max-blocks");
        // The breaker is closed, and the next prompt is held again.
        let ran = stops(agent, ran, CLAIM);
        assert!(refused(agent, &ran).is_some(), "{agent}");
    }
}

#[test]
fn forty_claims_in_a_row_end_at_the_limit() {
    let (mut ran, mut blocks) = (project(STRICT), 0);
    for _ in 0..40 {
        ran = stops("codex", ran, CLAIM);
        if refused_or_told(&ran) {
            blocks += 1;
        } else {
            break;
        }
    }
    assert!((1..=5).contains(&blocks), "{blocks}");
    ran.again("last").code(3);
}

fn refused_or_told(ran: &Ran) -> bool {
    ran.out().contains("\"decision\":\"block\"")
}

#[test]
fn each_prompt_and_session_has_its_own_count() {
    let mut ran = project(&format!("{PATIENT}{STRICT}max_blocks = 1\n"));
    for (session, prompt, held) in
        [("a", "1", true), ("a", "2", true), ("b", "2", true), ("b", "2", false), ("a", "2", false)]
    {
        let (mut event, _) = event("claude-code", &ran, CLAIM);
        event["session_id"] = session.into();
        event["prompt_id"] = prompt.into();
        ran = hooked(ran.again("hook claude-code"), &event);
        assert_eq!(refused_or_told(&ran), held, "{session} {prompt}");
    }
}

#[test]
fn tasks_in_the_background_are_waited_for_once() {
    let ran = project(STRICT).again("prompt").setup("touch fixed").code(0);
    let (mut event, _) = event("claude-code", &ran, CLAIM);
    let task = |status: &str| json!({ "id": "b1", "type": "shell", "status": status, "description": "d", "command": "npm run build" });
    event["background_tasks"] = json!([task("running"), task("completed")]);
    let ran = hooked(ran.again("hook claude-code"), &event);
    let reason = refused("claude-code", &ran).unwrap();
    assert!(reason.contains("a background task is still running; wait for it"), "{reason}");
    assert!(reason.contains("npm run build"), "{reason}");
    let ran = hooked(ran.again("hook claude-code"), &event);
    assert_eq!(ran.out(), "");
    ran.again("last").code(0);
}

#[test]
fn a_blocked_agent_is_let_go_and_the_person_is_told() {
    let said = "EXIT_STATUS: BLOCKED\nEXIT_REASON: the key is missing";
    let ran = stops("claude-code", project(""), said).tells("the key is missing");
    assert_eq!(ran.json()["systemMessage"].as_str().map(|it| it.contains("NOT done")), Some(true));
    ran.again("last").code(4);
}
