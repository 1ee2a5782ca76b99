//! Signal tokens in loops: `gate run`, a plain loop around `gate check`, a stop hook.

use std::fs;

use serde_json::{Value, json};

use crate::run::{file_of, project, task};
use crate::support::{Ran, gate};
use crate::tokens::{done, joined};

const SETTINGS: &str = "[signal]\ntoken = \"required\"\n";

/// An agent in shell that joins the halves of its prompt, which is in `seen`.
const JOINS: &str = "\
half() { sed -n \"s/.*the $1 half is \\([a-z0-9]*\\).*/\\1/p\" seen | tail -n 1; }
token=\"$(half first)$(half second)\"
";

/// How it says that it is done, with a token.
const SAYS: &str =
    "printf 'All tasks are completed.\\n\\nEXIT_STATUS: COMPLETE\\nEXIT_TOKEN: %s\\n' ";

#[test]
fn an_agent_in_a_loop_joins_the_halves_of_its_prompt() {
    let agent =
        format!("{JOINS}test \"$(wc -l <count)\" -ge 2 && touch fixed\n{SAYS} \"$token\"\n");
    let checks = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"test -e fixed\"]\n";
    let ran = project(&agent).settings(&format!("{SETTINGS}{checks}")).code(0);
    let end = ran.json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&json!("completed"), &json!(2)));
    let prompts: Vec<_> =
        [0, 1].map(|run| file_of(&ran, &end["runs"][run], "prompt.md")).into_iter().collect();
    assert_ne!(joined(&prompts[0]), joined(&prompts[1]));
    // The feedback and the protocol of one prompt tell the same.
    assert_eq!(prompts[1].matches("the first half is").count(), 2, "{}", prompts[1]);
    let (feedback, protocol) = prompts[1].rsplit_once("Beside COMPLETE").unwrap();
    assert_eq!(joined(feedback), joined(protocol));
    ran.again("explain --json").code(0).says("\"same\": true");
}

#[test]
#[ignore = "minutes: whole loops"]
fn an_agent_in_a_loop_that_echoes_or_replays_never_ends_it() {
    for agent in [
        "cat seen\n".to_owned(),
        format!("cat seen\n{SAYS} \"$(sed -n 's/.*half is //p' seen | tail -n 1)\"\n"),
        format!(
            "{JOINS}test -e kept || echo \"$token\" >kept\ntest \"$(wc -l <count)\" -ge 2 && {SAYS} \"$(cat kept)\" || echo 'I go on.'\n"
        ),
        "printf '<promise>COMPLETE</promise>\\n'\n".to_owned(),
    ] {
        let words =
            "run --task t1 --prompt PROMPT.md --max-iterations 3 --unverified --json -- ./agent.sh";
        let settings =
            format!("{SETTINGS}[breaker]\nno_progress = 0\nsame_error = 0\nrefused = 0\n");
        let ran = project(&agent).words(words).settings(&settings).code(1);
        let end = ran.json();
        assert_eq!(end["stopped_by"], "max-iterations", "{agent}\n{end}");
    }
}

#[test]
fn a_plain_loop_that_passes_the_feedback_on_works() {
    let script = format!(
        "cat >seen\n{JOINS}test -e once && {SAYS} \"$token\" || echo 'I go on.'\ntouch once\n"
    );
    let looped = "\
        gate prompt --run r >next.md\n\
        for i in 1 2 3 4 5; do\n\
        sh agent.sh <next.md >out.log\n\
        gate check -q --run r --feedback next.md out.log && { echo $i >ended; exit 0; }\n\
        done; exit 7\n";
    let ran = crate::support::Run::new("sh")
        .args(["loop.sh"])
        .with_gate_in_path()
        .settings(SETTINGS)
        .file("agent.sh", script)
        .file("loop.sh", looped)
        .code(0);
    assert_eq!(ran.file("ended").trim(), "2");
}

/// One stop of Claude Code with these words; the reason of the refusal, if it is one.
fn stops(ran: Ran, said: &str) -> (Ran, Option<String>) {
    let event = json!({ "session_id": "s1", "cwd": ran.path(""), "hook_event_name": "Stop",
        "transcript_path": "/nowhere.jsonl", "prompt_id": "p1", "permission_mode": "default",
        "stop_hook_active": false, "last_assistant_message": said, "background_tasks": [] });
    let ran = ran.again("hook claude-code").stdin(event.to_string()).code(0);
    let reply: Option<Value> = serde_json::from_str(&ran.stdout).ok();
    let reason = reply.map(|reply| reply["reason"].as_str().unwrap().to_owned());
    (ran, reason)
}

#[test]
fn a_stop_hook_tells_the_halves_when_it_first_refuses() {
    let strict = format!("{SETTINGS}[hook]\nsignal = \"require\"\n");
    let ran = gate("prompt").settings(&strict).file("a.txt", "x\n").committed().code(0);
    fs::write(ran.path("a.txt"), "y\n").unwrap();
    let claim = "All tasks are completed.\n\nEXIT_STATUS: COMPLETE\n";
    let (ran, refused) = stops(ran, claim);
    let first = refused.unwrap();
    assert!(first.contains("does not carry the token"), "{first}");
    let token = joined(&first);
    let (ran, refused) = stops(ran, &first);
    let second = joined(&refused.unwrap());
    let (ran, refused) = stops(ran, &done(&token));
    let refused = refused.unwrap();
    assert!(refused.contains("signal-invalid"), "a token of an earlier refusal");
    let third = joined(&refused);
    assert_ne!(second, third);
    let (_, refused) = stops(ran, &done(&third));
    assert_eq!(refused, None);
}

#[test]
fn done_without_a_token_is_no_claim() {
    let agent = "task=$(sed -n 's/^JRUN_TASK_FOLDER=//p' seen | head -n 1)\ntest -n \"$task\" && touch \"$task/DONE\"\n";
    let words =
        "run --task t1 --prompt PROMPT.md --max-iterations 1 --unverified --json -- ./agent.sh";
    let ran = project(agent).words(words).settings(SETTINGS).code(1);
    assert!(!task(&ran).join("DONE").exists(), "the claim was taken away");
    let prompt = file_of(&ran, &ran.json()["runs"][0], "prompt.md");
    let agent =
        format!("{agent}{JOINS}printf 'All tasks are completed.\\nEXIT_TOKEN: %s\\n' \"$token\"\n");
    assert!(prompt.contains("the first half is"));
    project(&agent).words(words).settings(SETTINGS).code(0);
}
