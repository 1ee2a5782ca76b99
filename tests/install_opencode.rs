//! The plug-in for OpenCode, loaded by Node.js in the place of OpenCode.

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
}
const plugin = await GatePlugin({ client, directory: process.cwd() })
for (const word of process.argv.slice(2)) {
  const [type, sessionID] = word.split("=")
  if (type === "chat.message") {
    await plugin["chat.message"]({ sessionID, agent: "build" }, { message: {}, parts: [] })
    continue
  }
  await plugin.event({ event: { type, properties: { sessionID } } })
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
    let event: serde_json::Value = serde_json::from_str(event).unwrap();
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
    let warned = told("echo gate is not installed >&2", &["session.idle=main"]);
    assert!(warned.starts_with("[{\"log\":\"warn\"}]\n"), "{warned}");
    for events in [
        &["session.error=main", "session.idle=main"][..],
        &["session.idle=child"],
        &["session.updated=main"],
    ] {
        assert_eq!(told(BLOCK, events), "[]\n", "{events:?}");
    }
    assert!(told("exit 3", &["session.idle=main"]).starts_with("[{\"log\":\"error\"}]\n"));
    assert!(told("echo words", &["session.idle=main"]).starts_with("[{\"log\":\"error\"}]\n"));
}

#[test]
fn the_first_message_of_a_session_is_told_and_waited_for() {
    if !needs("node") {
        return;
    }
    let messages = ["chat.message=main", "chat.message=main", "chat.message=child"];
    let told = told("true", &messages);
    let mut lines = told.lines();
    assert_eq!(lines.next(), Some("[]"));
    assert_eq!(lines.next(), Some("hook opencode --deadline 540s"));
    let event: serde_json::Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!(event["hook_event_name"], "chat.message");
    assert_eq!((&event["session_id"], &event["client"]), (&"main".into(), &"opencode".into()));
    assert_eq!(lines.next(), None, "once, and not for a sub-agent");
    let warned = self::told("echo no baseline >&2", &["chat.message=main"]);
    assert!(warned.starts_with("[{\"log\":\"warn\"}]\n"), "{warned}");
    let failed = self::told("exit 3", &["chat.message=main"]);
    assert!(failed.starts_with("[{\"log\":\"error\"}]\n"), "{failed}");
}

#[test]
fn an_error_is_forgotten_with_its_turn() {
    if needs("node") {
        let told = told(BLOCK, &["session.error=main", "session.idle=main", "session.idle=main"]);
        assert!(told.contains("a test fails"), "{told}");
    }
}
