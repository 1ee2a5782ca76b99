//! Messages about ends of loops: to a program and to an address, after the verdict.

use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tiny_http::{Response, Server};

use crate::run::wait;
use crate::support::{DONE, Ran, Run, UNDONE, gate, judge};

/// A program that keeps each message in a file, a line each.
const KEEPS: &str = "#!/bin/sh\ncat >>../sent\necho >>../sent\n";

/// Fails twice, then keeps the message.
const FAILS_TWICE: &str = "#!/bin/sh\necho x >>../tries\n\
     test $(wc -l <../tries) -ge 3 || exit 1\ncat >>../sent\n";

const COMMAND: &str = "[notify]\ncommand = [\"./keep.sh\"]\n";

const TEST: &str = "doctor --self-test";

const GREEN: &str = "[checks.tests]\ncommand = [\"true\"]\n";

fn judged(output: &str, settings: &str) -> Run {
    judge("check out.log --run r", output).settings(settings).script("keep.sh", KEEPS)
}

/// The messages that arrived, of which there have to be so many.
fn sent(ran: &Ran, count: usize) -> Vec<Value> {
    let file = ran.path("../sent");
    let lines = || std::fs::read_to_string(&file).unwrap_or_default();
    wait(|| lines().lines().count() >= count);
    lines().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_test_message_arrives_at_the_program() {
    let ran = gate("doctor").settings(COMMAND).script("keep.sh", KEEPS).code(0);
    let ran = ran.says("messages about ends of loops go to ./keep.sh");
    assert!(!ran.path("../sent").exists());
    let ran = ran.again(TEST).code(0).says("a test message was sent to ./keep.sh");
    let message = &sent(&ran, 1)[0];
    assert_eq!((&message["schema"], &message["event"]), (&json!("gate.notify.v1"), &json!("done")));
    assert_eq!(message["test"], true);
    let ran = ran.again("doctor --self-test --json").code(0);
    let record = ran.json();
    let codes = crate::support::each(&record, "findings", "code");
    assert!(codes.contains(&"notify"), "{codes:?}");
}

#[test]
fn what_cannot_be_sent_is_told() {
    let missing = "[notify]\ncommand = [\"./missing\"]\n";
    gate(TEST).settings(missing).code(1).says("was not sent: ./missing: it cannot be started");
    gate(TEST).unapproved(COMMAND).script("keep.sh", KEEPS).code(1).says("gate trust");
    let bad = gate(TEST).settings("[notify]\non = [\"finished\"]\n").code(2);
    bad.tells("needs-person");
    gate("check out.log")
        .settings("[notify]\nwebhook = \"ftp://x\"\n")
        .file("out.log", DONE)
        .code(2)
        .tells("https://");
}

#[test]
fn each_end_of_a_loop_of_checks_is_sent_once_and_nothing_else() {
    let settings = format!("{GREEN}{COMMAND}");
    let ran = judged(UNDONE, &settings).code(1);
    let ran = ran.again("check out.log --run r --iteration 7 --json").file("out.log", DONE).code(0);
    let id = ran.json()["decision_id"].clone();
    let messages = sent(&ran, 1);
    assert_eq!(messages.len(), 1, "{messages:?}");
    let message = &messages[0];
    assert_eq!((&message["event"], &message["verdict"]), (&json!("done"), &json!("exit")));
    assert_eq!((&message["run"], &message["decision_id"]), (&json!("r"), &id));
    assert_eq!((&message["test"], &message["next"]), (&json!(false), &Value::Null));
    // The same iteration once more is no news.
    let ran = ran.again("check out.log --run r --iteration 7").code(0);
    thread::sleep(Duration::from_millis(300));
    assert_eq!(sent(&ran, 1).len(), 1);
}

#[test]
fn a_loop_of_gate_run_tells_why_it_stopped_and_what_is_next() {
    let settings = format!("{GREEN}{COMMAND}[breaker]\nno_progress = 1\n");
    let ran = gate("run --task t1 --prompt PROMPT.md -- ./agent.sh")
        .settings(&settings)
        .file("PROMPT.md", "Mend it.\n")
        .script("agent.sh", "#!/bin/sh\necho 'I read the code. Key AKIA7Q3ZP5XM2LKJW4TB.'\n")
        .script("keep.sh", KEEPS)
        .committed()
        .code(1);
    let messages = sent(&ran, 1);
    assert_eq!(messages.len(), 1, "{messages:?}");
    let message = &messages[0];
    assert_eq!((&message["event"], &message["task"]), (&json!("stopped"), &json!("t1")));
    assert!(message["title"].as_str().unwrap().starts_with("gate: STOPPED t1"), "{message}");
    assert!(message["next"].as_str().unwrap().contains("gate breaker reset"), "{message}");
    assert!(!message.to_string().contains("AKIA7Q3ZP5XM2LKJW4TB"));
}

#[test]
fn an_event_that_nobody_wants_is_not_sent() {
    let settings = format!("{GREEN}[notify]\non = [\"stopped\"]\ncommand = [\"./keep.sh\"]\n");
    let ran = judged(DONE, &settings).code(0);
    thread::sleep(Duration::from_millis(300));
    assert!(!ran.path("../sent").exists());
}

#[test]
fn a_program_that_fails_is_tried_again() {
    let ran = gate(TEST).settings(COMMAND).script("keep.sh", FAILS_TWICE).code(0);
    assert_eq!(sent(&ran, 1).len(), 1);
}

#[test]
fn a_program_that_hangs_keeps_nobody_from_a_verdict() {
    let settings = format!("{GREEN}{COMMAND}");
    let hangs = "#!/bin/sh\necho $$ >../pid\nexec sleep 300\n";
    let ran = judge("check out.log", DONE).settings(&settings).script("keep.sh", hangs).code(0);
    let pid = ran.path("../pid");
    wait(|| pid.exists());
    // It is still at work when the verdict is there, and is ended after its time.
    let pid = std::fs::read_to_string(pid).unwrap();
    let process = std::path::PathBuf::from(format!("/proc/{}", pid.trim()));
    assert!(process.exists());
}

/// A server that answers with these codes, one after another, and hands on what it gets.
fn server(codes: Vec<u16>) -> (String, Receiver<String>) {
    let server = Server::http("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hook", server.server_addr().to_ip().unwrap());
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for code in codes {
            let mut request = server.recv().unwrap();
            let mut body = String::new();
            request.as_reader().read_to_string(&mut body).unwrap();
            let _ = sender.send(body);
            request.respond(Response::empty(code)).unwrap();
        }
    });
    (address, receiver)
}

#[test]
fn a_webhook_gets_the_event_and_is_tried_again_after_its_own_errors() {
    if !cfg!(feature = "webhook") {
        let settings = "[notify]\nwebhook = \"http://127.0.0.1:1/\"\n";
        gate(TEST).settings(settings).code(1).says("--features webhook");
        return;
    }
    let (address, received) = server(vec![500, 204]);
    let settings = format!("[notify]\nwebhook = \"{address}\"\n");
    gate(TEST).settings(&settings).code(0).says("a test message was sent to the webhook");
    for _ in 0..2 {
        let body: Value = serde_json::from_str(&received.recv().unwrap()).unwrap();
        assert_eq!(body["event"], "done");
    }
    let (address, received) = server(vec![404]);
    let settings = format!("[notify]\nwebhook = \"{address}?key=SECRET77\"\n");
    let ran = gate(TEST).settings(&settings).code(1).says("it answered with 404");
    assert!(!ran.stdout.contains("SECRET77"));
    assert_eq!(received.try_iter().count(), 1);
}
