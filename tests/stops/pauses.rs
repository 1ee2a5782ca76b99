//! A pause is no stop: helpers, wake-ups, servers, questions, and failures that only advise.

use super::talk::*;
use super::*;

fn task(id: &str, kind: &str) -> Value {
    json!({ "id": id, "type": kind, "status": "running", "description": "the second half",
        "command": "npm run dev" })
}

fn tasks(all: &[Value]) -> Value {
    json!({ "background_tasks": all })
}

const BREAK: &str = "sed -i s/add/sub/ calc";

#[test]
#[ignore = "minutes: many sessions"]
fn a_stop_that_waits_for_a_helper_or_a_wake_up_is_no_stop() {
    let wake_up =
        json!({ "session_crons": [{ "id": "c", "prompt": "Go on.", "recurring": false }] });
    for more in [tasks(&[task("a", "subagent")]), tasks(&[task("a", "teammate")]), wake_up] {
        for talk in [PERSON, SCRIPT] {
            let mut ran = talk.does(talk.begins(green(""), "Go."), BREAK);
            for said in ["I wait for it.", "Still waiting.", "Not yet.", "It works."] {
                ran = silent(talk.stops_with(ran, said, more.clone()));
            }
            let ran = last(ran, "continue", Some("waiting")).says("WAITING");
            let ran = talk.does(ran, "sed -i s/sub/add/ calc");
            let ran = talk.stops(ran, CLAIM);
            let expected = if talk.headless { ("exit", None) } else { ("continue", Some("green")) };
            last(ran, expected.0, expected.1);
        }
    }
}

#[test]
fn waits_count_in_the_end() {
    let more = tasks(&[task("a", "subagent")]);
    let mut ran = SCRIPT.does(SCRIPT.begins(green(""), "Go."), BREAK);
    for _ in 0..6 {
        ran = SCRIPT.stops_with(ran, "I wait.", more.clone());
    }
    last(ran, "tripped", None).says("changed no file");
}

#[test]
fn a_claim_beside_a_running_helper_is_refused_once() {
    let more = tasks(&[task("a", "subagent")]);
    let ran = SCRIPT.does(SCRIPT.begins(green(""), "Go."), "echo more >> calc");
    let ran = refuses(SCRIPT.stops_with(ran, CLAIM, more.clone()), "npm run dev");
    last(silent(SCRIPT.stops_with(ran, CLAIM, more)), "exit", None);
}

#[test]
#[ignore = "minutes: many sessions"]
fn a_server_in_the_background_is_a_reason_to_wait_once() {
    for kind in ["shell", "local_bash"] {
        let more = tasks(&[task("s", kind)]);
        let ran = PERSON.does(PERSON.begins(green(""), "Go."), BREAK);
        let ran = silent(PERSON.stops_with(ran, "The server starts.", more.clone()));
        refuses(PERSON.stops_with(ran, "Done.", more), "tests/add.sh");
    }
    // What comes again and again, and what is over, is none either.
    let daily = json!({ "session_crons": [{ "id": "c", "prompt": "Report.", "recurring": true }] });
    let over =
        json!({ "background_tasks": [{ "id": "a", "type": "subagent", "status": "completed" }] });
    for more in [daily, over] {
        let ran = PERSON.does(PERSON.begins(green(""), "Go."), BREAK);
        refuses(PERSON.stops_with(ran, "Done.", more), "tests/add.sh");
    }
}

#[test]
fn qwen_waits_as_well() {
    let stop = |more: Value| {
        let ran = project("");
        let (mut event, transcript) = event("qwen", &ran, CHAT);
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hooked(ran.again("hook qwen").file("session.jsonl", transcript), &event)
    };
    assert!(refused("qwen", &stop(json!({}))).is_some());
    assert_eq!(refused("qwen", &stop(tasks(&[task("a", "subagent")]))), None);
    let wake_up = json!({ "crons": [{ "id": "c", "prompt": "Go on." }] });
    assert_eq!(refused("qwen", &stop(wake_up)), None);
}

#[test]
fn a_refusal_is_not_the_answer_to_what_an_agent_asked() {
    let ran = SCRIPT.does(SCRIPT.begins(green(""), "Go."), BREAK);
    let asked = "I changed the sum.\n\nPlease confirm that I may drop the table.";
    let ran = refuses(SCRIPT.stops(ran, asked), "This is not the person's answer");
    let reason = ran.json()["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("This is not the person's answer"), "{reason}");
    // A person who was asked is let alone.
    let ran = PERSON.does(PERSON.begins(green(""), "Go."), BREAK);
    silent(PERSON.stops(ran, asked));
}

#[test]
fn a_failure_may_advise_instead_of_refusing() {
    let settings = "[hook]\non_red = \"advise\"\n";
    let ran = PERSON.does(PERSON.begins(green(settings), "Go."), BREAK);
    let ran = tells(PERSON.stops(ran, "Done."), "tests failed");
    let ran = PERSON.prompt(last(ran, "continue", Some("red")), "Go on.");
    let reply = ran.json()["hookSpecificOutput"].clone();
    assert_eq!(reply["hookEventName"], "UserPromptSubmit");
    let context = reply["additionalContext"].as_str().unwrap();
    assert!(context.contains("tests/add.sh"), "{context}");
    // It is said once, and nobody is advised where nobody is there.
    PERSON.prompt(ran, "Go on.").stdout("");
    let ran = SCRIPT.does(SCRIPT.begins(green(settings), "Go."), BREAK);
    refuses(SCRIPT.stops(ran, "Done."), "tests failed");
}
