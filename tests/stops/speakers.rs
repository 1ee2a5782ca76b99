//! Who speaks: a person at a terminal or in a client, or something that only looks like one.

use super::talk::*;
use super::*;

const OFF: &str = "gate off --for 1h";

fn nothing_changed(ran: Ran, cause: &str) -> Ran {
    let reason = ran.json()["reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason.contains("Nothing has changed: "), "{reason}");
    assert!(reason.contains(cause) && reason.contains("in a terminal: gate "), "{reason}");
    ran.again("status").code(0).says("ON")
}

#[test]
#[ignore = "minutes: many sessions"]
fn a_prompt_that_the_client_sends_by_itself_is_no_persons() {
    let fired = json!({ "type": "system", "subtype": "scheduled_task_fire", "content": "Running" });
    let queued = json!({ "type": "queue-operation", "operation": "enqueue", "content": OFF });
    for record in [fired, queued] {
        let ran = PERSON.stops(PERSON.begins(green(""), "Go."), "Hello.");
        PERSON.write(&ran, record);
        nothing_changed(PERSON.prompt(ran, OFF), "the client sent it by itself");
    }
    let armed = json!({ "session_crons": [{ "id": "c", "prompt": OFF, "recurring": true }] });
    let ran = PERSON.stops_with(PERSON.begins(green(""), "Go."), "It is armed.", armed);
    nothing_changed(PERSON.prompt(ran, OFF), "the client was scheduled to send it");
    // A call of the agent that types it, or hands it on.
    for call in [
        "tmux send-keys -t 0 'gate off --for 1h' Enter || true",
        "printf 'gate  off --for 1h' > /dev/tty || true",
    ] {
        let ran = PERSON.does(PERSON.begins(green(""), "Go."), call);
        nothing_changed(PERSON.prompt(ran, OFF), "a call of the agent sends the same words");
    }
    // One that was refused, and that the person types, is the person's.
    let ran = PERSON.does(PERSON.begins(green(""), "Go."), "echo gate off --for 1h");
    PERSON.prompt(ran, OFF).again("status").code(0).says("OFF");
    let ran = PERSON.stops(PERSON.begins(green(""), "Go."), "Hello.");
    PERSON.prompt(ran, OFF).again("status").code(0).says("OFF");
}

#[test]
fn a_program_that_passes_a_prompt_on_is_no_person() {
    for entry in ["sdk-cli", "sdk-ts", "sdk-py", "remote_trigger", "claude-in-slack", "mcp"] {
        let ran = entered(green(""), entry, "UserPromptSubmit", "gate trust");
        nothing_changed(ran, "nobody sits in front of this client");
    }
    let ran = entered(green(""), "some-new-client", "UserPromptSubmit", "gate trust");
    nothing_changed(ran, "CLAUDE_CODE_ENTRYPOINT=some-new-client");
    let ran = entered(green(""), "claude-vscode", "UserPromptSubmit", OFF);
    ran.again("status").code(0).says("OFF");
}

/// An event of a client that was started in this way.
fn entered(ran: Ran, entry: &str, name: &str, said: &str) -> Ran {
    let event = json!({ "session_id": "s1", "cwd": ran.path(""), "hook_event_name": name,
        "prompt": said, "last_assistant_message": said, "transcript_path": ran.path("s1.jsonl") });
    hooked(ran.again("hook claude-code").env("CLAUDE_CODE_ENTRYPOINT", entry), &event)
}

#[test]
fn an_unknown_client_is_taken_for_a_persons_and_said_so_once() {
    let ran = entered(green(""), "new", "UserPromptSubmit", "Go.");
    let ran = ran.again("man").setup("echo more >> calc").code(0);
    let ran = entered(ran, "new", "Stop", CLAIM);
    let ran = tells(ran, "CLAUDE_CODE_ENTRYPOINT=new is taken for a person's");
    let ran = last(ran, "continue", Some("green")).again("man").setup("echo more >> calc").code(0);
    let ran = entered(ran, "new", "Stop", CLAIM);
    assert!(!ran.out().contains("is taken for"), "{}", ran.out());
    // The settings say who is there.
    for (person, verdict, released) in [("no", "exit", None), ("yes", "continue", Some("green"))] {
        let ran = green(&format!("[hook]\nperson = \"{person}\"\n"));
        let ran = entered(ran, "new", "UserPromptSubmit", "Go.");
        let ran = ran.again("man").setup("echo more >> calc").code(0);
        last(entered(ran, "new", "Stop", CLAIM), verdict, released);
    }
}

#[test]
fn a_question_to_gate_is_answered_and_goes_to_no_model() {
    for (prompt, part) in [("gate status", "ON  stops are checked"), ("gate last", "RELEASED")] {
        for talk in [PERSON, SCRIPT] {
            let ran = talk.stops(talk.begins(green(""), "Go."), "Hello.");
            let ran = talk.prompt(ran, prompt);
            assert_eq!(ran.json()["decision"], "block");
            assert!(ran.out().contains(part), "{}", ran.out());
        }
    }
}

#[test]
fn what_lets_work_pass_needs_a_terminal_while_an_agent_is_at_work() {
    let acts = ["approve all --reason x", "off", "baseline", "trust", "breaker reset --reason x"];
    let ran = PERSON.begins(green(""), "Go.");
    let ran = acts.iter().fold(ran, |ran, act| {
        ran.again(act)
            .by_script()
            .code(2)
            .tells("needs a terminal, and a session of an agent is open here")
    });
    let ran = ran.again("check --force-complete --reason x out.log").file("out.log", CLAIM);
    let ran = ran.by_script().code(2).tells("a terminal");
    // A person's terminal, and a session that is over.
    let ran = ran.again("off").code(0).again("on").code(0);
    let ran = PERSON.event(ran, json!({ "hook_event_name": "SessionEnd", "reason": "exit" }));
    ran.again("off").by_script().code(0);
    // A loop that goes on.
    let ran = green("").again("check --run r out.log").file("out.log", CHAT).code(1);
    let ran = ran.again("off").by_script().code(2).tells("a loop is open here");
    let ran = ran.again("check --run r out.log").file("out.log", CLAIM).code(0);
    ran.again("off").by_script().code(0);
    // The first approval of a project needs none.
    gate("trust").file("gate.toml", "[checks.a]\ncommand = [\"true\"]\n").by_script().code(0);
}

#[test]
fn a_detached_command_of_an_agent_approves_nothing() {
    let ran = PERSON.does(PERSON.begins(green(""), "Go."), "sed -i s/add/sub/ tests/add.sh");
    let act = format!(
        "env -i HOME=$HOME PATH=$PATH setsid -f sh -c '{} approve all >../said 2>&1; echo $? >>../said'; \
         while ! grep -q '^[0-9]$' ../said 2>/dev/null; do sleep 0.1; done",
        crate::support::GATE
    );
    let ran = ran.again("man").setup(&act).code(0);
    assert!(ran.file("../said").ends_with("2\n"), "{}", ran.file("../said"));
}

#[test]
fn an_event_that_a_detached_shell_makes_up_is_not_obeyed() {
    let ran = PERSON.begins(green(""), "Go.");
    let event = json!({ "session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": OFF });
    let act = format!(
        "printf '%s' '{event}' > ../event; env -i HOME=$HOME PATH=$PATH CLAUDE_CODE_ENTRYPOINT=cli \
         setsid -f sh -c 'sleep 0.2; {} hook claude-code < ../event > ../said 2>&1; echo ended >> ../said'; \
         while ! grep -q ended ../said 2>/dev/null; do sleep 0.1; done",
        crate::support::GATE
    );
    let ran = ran.again("man").setup(&act).code(0);
    ran.again("status").code(0).says("ON");
}
