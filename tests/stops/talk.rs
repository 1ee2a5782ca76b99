//! A conversation with Claude Code as its hooks report it: prompts, what the agent does,
//! and its stops, each session with a transcript that grows.

use std::fs::OpenOptions;
use std::io::Write;

use super::*;
use crate::fooled::tools;

/// Runs each script in `tests` and reports it as TAP does.
const RUNNER: &str = "\
n=0; bad=0
for t in tests/*.sh; do
  n=$((n+1))
  if sh \"$t\"; then echo \"ok $n - $t\"; else echo \"not ok $n - $t\"; bad=1; fi
done
echo \"1..$n\"
exit $bad
";

const SETTINGS: &str =
    "[checks.tests]\ncommand = [\"sh\", \"check.sh\"]\nreport = \"tap\"\ncontrol = false\n";

/// A green project with one test, and these settings beside its check.
pub(super) fn green(more: &str) -> Ran {
    with_tests(more, &[("tests/add.sh", "grep -q add calc\n")])
}

/// The same with a test that is red from the beginning.
pub(super) fn red_before(more: &str) -> Ran {
    with_tests(more, &[("tests/add.sh", "grep -q add calc\n"), ("tests/old.sh", "false\n")])
}

fn with_tests(more: &str, tests: &[(&str, &str)]) -> Ran {
    let run = gate("prompt")
        .settings(&format!("{SETTINGS}{more}"))
        .file("check.sh", RUNNER)
        .file("calc", "add\n")
        .file("README.md", "A calculator.\n")
        .file(".gitignore", "*.jsonl\n");
    let run = tests.iter().fold(run, |run, (name, text)| run.file(name, text));
    run.committed().code(0)
}

/// A test that is red until `calc` can multiply.
pub(super) const MUL: &str =
    "echo 'grep -q mul calc' > tests/mul.sh; git add -A; git commit -qm mul";
pub(super) const FIX: &str = "echo mul >> calc; git commit -qam fix";

/// A session of Claude Code.
#[derive(Clone, Copy)]
pub(super) struct Talk {
    pub(super) session: &'static str,
    pub(super) headless: bool,
}

pub(super) const PERSON: Talk = Talk { session: "s1", headless: false };
pub(super) const SCRIPT: Talk = Talk { session: "s1", headless: true };

impl Talk {
    /// The session begins, and the person says this.
    pub(super) fn begins(self, ran: Ran, prompt: &str) -> Ran {
        let ran = self.begins_silently(ran);
        self.prompt(ran, prompt)
    }

    /// The session begins, and its client reports no prompt.
    pub(super) fn begins_silently(self, ran: Ran) -> Ran {
        self.event(ran, json!({ "hook_event_name": "SessionStart", "source": "startup" }))
    }

    /// The person says this.
    pub(super) fn prompt(self, ran: Ran, text: &str) -> Ran {
        self.write(
            &ran,
            json!({ "type": "user", "promptSource": "typed",
            "message": { "role": "user", "content": text } }),
        );
        self.event(ran, json!({ "hook_event_name": "UserPromptSubmit", "prompt": text }))
    }

    /// The agent runs this in its shell.
    pub(super) fn does(self, ran: Ran, command: &str) -> Ran {
        let call = json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": command } });
        let answer = json!({ "type": "tool_result", "tool_use_id": "t", "content": "ok" });
        self.write(
            &ran,
            json!({ "type": "assistant", "message": { "role": "assistant", "id": "c",
            "model": "m", "content": [call] } }),
        );
        self.write(
            &ran,
            json!({ "type": "user", "message": { "role": "user", "content": [answer] } }),
        );
        ran.again("man").setup(command).code(0)
    }

    /// The agent stops with these words.
    pub(super) fn stops(self, ran: Ran, said: &str) -> Ran {
        self.stops_with(ran, said, json!({}))
    }

    /// The agent stops in this folder.
    pub(super) fn stops_in(self, ran: Ran, folder: &str, said: &str) -> Ran {
        let cwd = ran.path(folder).canonicalize().unwrap();
        self.stops_with(ran, said, json!({ "cwd": cwd }))
    }

    /// The agent stops, and its client says more.
    pub(super) fn stops_with(self, ran: Ran, said: &str, more: Value) -> Ran {
        self.write(
            &ran,
            json!({ "type": "assistant", "message": { "role": "assistant", "id": "w",
            "model": "m", "content": [{ "type": "text", "text": said }] } }),
        );
        let mut event = json!({ "hook_event_name": "Stop", "prompt_id": "p",
            "stop_hook_active": false, "last_assistant_message": said, "background_tasks": [] });
        let Value::Object(more) = more else { panic!("{more}") };
        event.as_object_mut().unwrap().extend(more);
        self.event(ran, event)
    }

    pub(super) fn write(self, ran: &Ran, record: Value) {
        let mut record = record;
        for (key, value) in [
            ("sessionId", json!(self.session)),
            ("isSidechain", json!(false)),
            ("uuid", json!("u")),
            ("parentUuid", Value::Null),
        ] {
            record[key] = value;
        }
        let path = ran.path(&format!("{}.jsonl", self.session));
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "{record}").unwrap();
    }

    pub(super) fn event(self, ran: Ran, mut event: Value) -> Ran {
        let path = |name: &str| ran.path(name).display().to_string();
        event["session_id"] = self.session.into();
        if event["cwd"].is_null() {
            event["cwd"] = path("").into();
        }
        event["transcript_path"] = path(&format!("{}.jsonl", self.session)).into();
        event["permission_mode"] = "default".into();
        let entry = if self.headless { "sdk-cli" } else { "cli" };
        let project = ran.path("");
        let run = ran.again("hook claude-code --deadline 110s");
        let run = run.env("CLAUDE_CODE_ENTRYPOINT", entry).env("CLAUDE_PROJECT_DIR", project);
        hooked(tools(run), &event)
    }
}

/// What came of a stop: what the agent was told, or else what the person was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Refused(String),
    Told(String),
    Silent,
}

pub(super) fn answer(ran: &Ran) -> Answer {
    if ran.out().is_empty() {
        return Answer::Silent;
    }
    let reply = ran.json();
    match (reply["reason"].as_str(), reply["systemMessage"].as_str()) {
        (Some(reason), _) => Answer::Refused(reason.to_owned()),
        (None, Some(message)) => Answer::Told(message.to_owned()),
        (None, None) => panic!("{reply}"),
    }
}

/// The stop was refused, and the agent is told this.
#[track_caller]
pub(super) fn refuses(ran: Ran, part: &str) -> Ran {
    match answer(&ran) {
        Answer::Refused(reason) if reason.contains(part) => ran,
        other => panic!("{other:?}"),
    }
}

/// The agent was let go, and the person is told this.
#[track_caller]
pub(super) fn tells(ran: Ran, part: &str) -> Ran {
    match answer(&ran) {
        Answer::Told(message) if message.contains(part) => ran,
        other => panic!("{other:?}"),
    }
}

/// The agent was let go, and nobody is told anything.
#[track_caller]
pub(super) fn silent(ran: Ran) -> Ran {
    assert_eq!(answer(&ran), Answer::Silent);
    ran
}

/// What the last decision is: its verdict, and what was released.
#[track_caller]
pub(super) fn last(ran: Ran, verdict: &str, released: Option<&str>) -> Ran {
    let ran = ran.again("last --json").run();
    let decision = ran.json();
    assert_eq!(
        (decision["verdict"].as_str(), decision["released"].as_str()),
        (Some(verdict), released),
        "{decision}"
    );
    if released.is_some() {
        assert_eq!((&decision["stop"], &decision["success"]), (&true.into(), &false.into()));
    }
    let code = match verdict {
        "exit" => 0,
        "tripped" => 3,
        "blocked" => 4,
        _ => 1,
    };
    ran.again("last").code(code)
}
