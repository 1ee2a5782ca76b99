//! The plug-in for OpenCode, loaded by Node.js in the place of OpenCode.

use serde_json::Value;

use crate::needs::needs;
use crate::support::{Run, gate};

/// Loads the plug-in, tells it of these events, and prints what it asked for.
const HOST: &str = r#"
import { GatePlugin } from "./gate.mjs"
const text = (text, more) => ({ type: "text", text, ...more })
const messages = [
  { info: { role: "user" }, parts: [text("Do it.")] },
  { info: { role: "assistant" }, parts: [text("All "), { type: "tool" }, text("is done.")] },
]
const said = []
const client = {
  session: {
    get: async ({ path }) => ({ data: { parentID: path.id === "child" ? "main" : undefined } }),
    messages: async () => ({ data: messages }),
    promptAsync: async (asked) => said.push(asked),
  },
  app: { log: async ({ body }) => said.push({ log: body.level }) },
  tui: { showToast: async ({ body }) => said.push({ toast: body.message, variant: body.variant }) },
}
const plugin = await GatePlugin({ client, directory: process.cwd() })
for (const word of process.argv.slice(2)) {
  const [type, sessionID, sent] = word.split("=")
  if (type === "info.error") {
    messages[1].info.error = sent ? { name: sent } : undefined
    continue
  }
  if (type === "chat.message") {
    const message = { id: "msg_" + sent, role: "user" }
    await plugin["chat.message"]({ sessionID, agent: "build" }, { message, parts: [text(sent)] })
    continue
  }
  const error = sent ? { name: sent, data: {} } : undefined
  await plugin.event({ event: { type, properties: { sessionID, error } } })
}
console.log(JSON.stringify(said))
"#;

/// What the plug-in asks OpenCode for, where gate answers so.
fn told(answer: &str, events: &[&str]) -> String {
    let installed = gate("install opencode --shared").code(0).file(".opencode/plugins/gate.js");
    let run = Run::new("node").args(["host.mjs"]).args(events).file("host.mjs", HOST);
    let run = run.file("gate.mjs", installed);
    let run =
        run.script("bin/gate", &format!("#!/bin/sh\ncat >>input\necho \"$*\" >args\n{answer}\n"));
    let path = format!("{}:{}", run.at("bin").display(), std::env::var("PATH").unwrap());
    let ran = run.env("PATH", path).code(0);
    format!("{}{}{}", ran.stdout, ran.file("args"), ran.file("input"))
}

const BLOCK: &str = r#"echo '{"decision":"block","reason":"a test fails"}'"#;

#[test]
fn a_block_goes_on_with_what_is_missing() {
    if !needs("node") {
        return;
    }
    let told = told(BLOCK, &["session.idle=main"]);
    let (said, asked) = told.split_once('\n').unwrap();
    assert_eq!(
        said,
        r#"[{"path":{"id":"main"},"body":{"parts":[{"type":"text","text":"a test fails"}]}}]"#
    );
    let (args, event) = asked.split_once('\n').unwrap();
    assert_eq!(args, "hook opencode --deadline 540s");
    let event: Value = serde_json::from_str(event).unwrap();
    assert_eq!(event["hook_event_name"], "session.idle");
    assert_eq!(event["last_assistant_message"], "All \nis done.");
    assert_eq!((&event["session_id"], &event["client"]), (&"main".into(), &"opencode".into()));
    assert!(event["cwd"].as_str().unwrap().ends_with("/work"));
}

#[test]
fn otherwise_the_session_stays_idle() {
    if !needs("node") {
        return;
    }
    assert!(told("true", &["session.idle=main"]).starts_with("[]\nhook opencode"));
    let warned = told("echo something is odd >&2", &["session.idle=main"]);
    assert!(warned.starts_with("[{\"log\":\"warn\"}]\n"), "{warned}");
    for events in [
        &["session.error=main", "session.idle=main"][..],
        &["session.idle=child"],
        &["session.updated=main"],
    ] {
        assert_eq!(told(BLOCK, events), "[]\n", "{events:?}");
    }
}

#[test]
fn an_interrupted_turn_stays_interrupted_until_the_next_message_of_the_person() {
    if !needs("node") {
        return;
    }
    let sent =
        |events: &[&str]| told(BLOCK, events).lines().next().unwrap().matches("path").count();
    let abort = "session.error=main=MessageAbortedError";
    let (idle, message) = ("session.idle=main", "chat.message=main=Go on.");
    for (events, expected) in [
        (&[abort, idle, idle][..], 0),
        (&["info.error=main=MessageAbortedError", idle, abort, idle], 0),
        (&[idle, abort, idle, idle], 1),
        (&["session.error=main=ProviderAuthError", idle, idle], 0),
        (&[abort, idle, message, idle], 1),
        (&[abort, idle, "chat.message=main=a test fails", idle], 1),
        (&["session.error=other=MessageAbortedError", idle], 1),
        // The session is compacted, and its turn goes on.
        (&["session.error=main=ContextOverflowError", idle], 1),
        (&["info.error=main=ContextOverflowError", idle], 1),
        (&[idle], 1),
    ] {
        assert_eq!(sent(events), expected, "{events:?}");
    }
}

#[test]
fn work_that_is_let_go_undone_is_shown_to_the_person_and_not_only_logged() {
    if !needs("node") {
        return;
    }
    let shown = |answer: &str, message: &str, variant: &str| {
        let told = told(answer, &["session.idle=main"]);
        let said: Value = serde_json::from_str(told.lines().next().unwrap()).unwrap();
        let level = if variant == "error" { "error" } else { "warn" };
        assert_eq!(said[0]["log"], level, "{told}");
        assert_eq!(said[1]["variant"], variant, "{told}");
        assert!(said[1]["toast"].as_str().unwrap().contains(message), "{told}");
        assert_eq!(said.as_array().unwrap().len(), 2, "{told}");
    };
    let let_go = r#"echo '{"systemMessage":"gate let opencode stop, NOT done"}'; echo why >&2"#;
    shown(let_go, "NOT done", "warning");
    shown("echo no >&2; exit 3", "gate ended with 3: no", "error");
    shown("echo words", "JSON", "error");
}

#[test]
fn a_gate_that_is_gone_is_shown_to_the_person() {
    if !needs("node") {
        return;
    }
    let run = gate("install opencode").without_gate_in_path().code(0);
    let copy = run.copy_of_gate().display().to_string();
    let plugin = run.file("../home/.config/opencode/plugins/gate.js").replace(&copy, "/gone/gate");
    let run = Run::new("node").args(["host.mjs", "session.idle=main"]).file("host.mjs", HOST);
    let ran = run.file("gate.mjs", plugin).code(0);
    assert!(ran.stdout.contains(r#"{"toast":"gate is not installed"#), "{}", ran.stdout);
}

#[test]
fn each_message_of_the_person_is_told_and_waited_for() {
    if !needs("node") {
        return;
    }
    let messages = ["chat.message=main=Go.", "chat.message=child=Look.", "session.idle=main"];
    let told = told("true", &messages);
    let mut lines = told.lines();
    assert_eq!(lines.next(), Some("[]"));
    assert_eq!(lines.next(), Some("hook opencode --deadline 540s"));
    let events: Vec<Value> =
        serde_json::Deserializer::from_str(lines.next().unwrap()).into_iter().flatten().collect();
    let [prompt, stop] = events.as_slice() else { panic!("not for a sub-agent: {events:?}") };
    assert_eq!(prompt["hook_event_name"], "chat.message");
    assert_eq!((&prompt["session_id"], &prompt["client"]), (&"main".into(), &"opencode".into()));
    assert_eq!((&prompt["prompt"], &prompt["prompt_id"]), (&"Go.".into(), &"msg_Go.".into()));
    assert_eq!(stop["prompt_id"], "msg_Go.");
    let warned = self::told("echo no baseline >&2", &["chat.message=main=Go."]);
    assert!(warned.starts_with("[{\"log\":\"warn\"}]\n"), "{warned}");
    let failed = self::told("exit 3", &["chat.message=main=Go."]);
    assert!(failed.starts_with("[{\"log\":\"error\"},{\"toast\""), "{failed}");
}

#[test]
fn what_gate_itself_sends_is_not_taken_for_the_persons_word() {
    if needs("node") {
        let told = told(BLOCK, &["session.idle=main", "chat.message=main=a test fails"]);
        assert_eq!(told.matches("hook_event_name").count(), 1, "{told}");
    }
}
