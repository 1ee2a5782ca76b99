//! Secrets that agents, checks and the environment say: none of them stands in what
//! gate prints, keeps and passes on.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::{project, task};
use crate::support::{Ran, Run, gate};

/// What a token goes on with; put together here, so that no scanner takes it for real.
const REST: &str = "Ab3dE9fGh1jK7mNpQ2rS5tUv8wXy4zA6bC0dE1fG";

/// Tokens of many kinds.
fn tokens() -> Vec<String> {
    let starts = [
        "ghp_",
        "glpat-",
        "sk-proj-",
        "sk-ant-api03-",
        "xoxb-1234567890-",
        "sk_live_",
        "npm_",
        "hf_",
    ];
    let mut all: Vec<_> = starts.iter().map(|start| format!("{start}{REST}")).collect();
    all.push(format!("AKIA{}", &REST.to_uppercase()[..16]));
    all.push(format!("AIza{}", &REST[..35]));
    all.push(format!("pypi-AgEIcHlwaS5vcmc{REST}"));
    all.push(format!("ey{0}{REST}.ey{0}{REST}.{REST}", "J"));
    all
}

/// The value of a variable whose name says that it is a secret.
const VALUE: &str = "correct-horse-7-battery";

/// The value of a variable that the check sets itself.
const CHECKS_VALUE: &str = "lamp-under-9-stairs";

/// A token of no known kind: only the words beside the token say what it is.
const UNKNOWN_TOKEN: &str = "zQ4rT8mW2kLp6Hs9Vd3x";

/// What nobody may find anywhere.
fn sought() -> Vec<String> {
    let mut all = tokens();
    all.extend([VALUE, CHECKS_VALUE, UNKNOWN_TOKEN].map(str::to_owned));
    all.push(REST[..30].to_owned());
    all
}

#[track_caller]
fn holds_none(what: &str, text: &str) {
    for secret in sought() {
        assert!(!text.contains(&secret), "{what} holds {secret}:\n{text}");
    }
}

/// All files under a folder.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, all) } else { all.push(path) }
    }
}

/// No file of gate's holds any, whatever their kind.
#[track_caller]
fn kept_none(folder: &Path, but: &[&str]) {
    let mut all = Vec::new();
    files(folder, &mut all);
    assert!(!all.is_empty());
    // The copy that tests run in holds what the tree holds.
    let is_copy = |file: &Path| file.components().any(|part| part.as_os_str() == "workspace");
    for file in all.into_iter().filter(|file| !is_copy(file)) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if !but.contains(&name.as_str()) {
            let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
            holds_none(&file.display().to_string(), &text);
        }
    }
}

/// A check whose every word is a secret.
fn blabs() -> String {
    let tokens = tokens();
    let tests = format!(
        "printf 'TAP version 13\\n1..2\\nnot ok 1 - test {} with {VALUE}\\nok 2 - b\\n'\n",
        tokens[0]
    );
    let said: String = tokens
        .iter()
        .map(|token| format!("echo 'said {token} so'\necho 'x {token}' >&2\n"))
        .collect();
    let unknown = format!(
        "export DEPLOY_KEY={CHECKS_VALUE}\nenv | grep DEPLOY\necho \"login with $DEPLOY_KEY\"\necho 'upload with token {UNKNOWN_TOKEN} refused'\n"
    );
    format!(
        "{tests}{said}{unknown}echo \"env $DB_PASSWORD\"\ntouch 'new-{}.txt'\nexit 1\n",
        tokens[0]
    )
}

fn said() -> String {
    let lines: String = tokens().iter().map(|token| format!("I used {token} for it.\n")).collect();
    format!(
        "{lines}All tasks are completed with {0}.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: the key {0} and {VALUE} work\nREMAINING_WORK: none\n\nsee EXIT_STATUS: {0}\n",
        tokens()[0]
    )
}

const SETTINGS: &str = "[checks.tests]\ncommand = [\"sh\", \"blabs.sh\"]\nenv = [\"DB_PASSWORD\"]\n[checks.clean_git]\nmode = \"require\"\n";

fn judged(words: &str) -> Run {
    gate(words)
        .settings(SETTINGS)
        .file("blabs.sh", blabs())
        .committed()
        .file("out.log", said())
        .env("DB_PASSWORD", VALUE)
}

#[track_caller]
fn says_none(ran: &Ran) {
    holds_none("stdout", &ran.stdout);
    holds_none("stderr", &ran.stderr);
}

#[test]
fn nothing_that_gate_prints_or_keeps_of_a_decision_holds_a_secret() {
    let ran = judged("check --json --run r --feedback next.md --all-checks out.log").code(1);
    says_none(&ran);
    let decision = ran.json();
    let masked = decision["masked"].as_array().unwrap();
    assert!(masked.iter().any(|masked| masked == "/signal/reason"), "{masked:?}");
    for pointer in masked {
        let text = decision.pointer(pointer.as_str().unwrap()).and_then(Value::as_str);
        assert!(text.unwrap().contains("[masked]"), "{pointer}");
    }
    assert!(
        decision["evidence"][1]["summary"].as_str().unwrap().contains("[masked]"),
        "{decision}"
    );
    holds_none("feedback", &ran.file("next.md"));
    let log = decision["evidence"][1]["log"].as_str().unwrap();
    assert!(fs::read_to_string(log).unwrap().contains("said [masked] so"));
    kept_none(&ran.state(), &[]);
    let mut ran = ran;
    for words in [
        "check --run r --all-checks out.log",
        "explain --json",
        "explain",
        "last --json",
        "log",
        "ledger export",
        "scan --json out.log",
        "scan out.log",
        "replay --json out.log",
        "config show --origin",
        "doctor",
        "handoff new",
    ] {
        ran = ran.again(words).env("DB_PASSWORD", VALUE).run();
        says_none(&ran);
    }
    let explained = ran.again("explain --json").code(0).json();
    assert_eq!(explained["same"], true, "what is decided again is the same");
}

#[test]
fn a_stop_hook_passes_no_secret_on() {
    let ran = judged("prompt").code(0);
    let event = serde_json::json!({ "session_id": "s1", "cwd": ran.path(""), "hook_event_name": "Stop",
        "transcript_path": "/nowhere.jsonl", "prompt_id": "p1", "permission_mode": "default",
        "stop_hook_active": false, "last_assistant_message": said(), "background_tasks": [] });
    let ran =
        ran.again("hook claude-code").stdin(event.to_string()).env("DB_PASSWORD", VALUE).code(0);
    assert!(ran.stdout.contains("\"block\""), "{}", ran.stdout);
    says_none(&ran);
    kept_none(&ran.state(), &[]);
}

#[test]
fn a_loop_leaves_none_beside_the_agent_s_own_words() {
    let token = tokens()[0].clone();
    let agent = format!("cat out.txt\necho 'failed with {token}' >&2\nexit 3\n");
    let words = format!(
        "run --task t1 --prompt PROMPT.md --max-iterations 2 --json -- ./agent.sh --key {token}"
    );
    let ran = project(&agent)
        .words(&words)
        .settings(SETTINGS)
        .file("blabs.sh", blabs())
        .file("out.txt", said())
        .committed()
        .env("DB_PASSWORD", VALUE)
        .code(1);
    says_none(&ran);
    // What the agent itself printed and was asked stays as it is.
    kept_none(&task(&ran), &["agent-stdout.txt", "agent-stderr.txt", "output.md"]);
    kept_none(&ran.state(), &[]);
}

#[test]
fn an_error_shows_no_secret() {
    let text = format!("[checks.tests]\ncomand = \"curl -H {}\"\n", tokens()[0]);
    let ran = gate("check --json out.log").settings(&text).file("out.log", "x").code(2);
    says_none(&ran);
    let url = format!("postgres://gate:{VALUE}@127.0.0.1:1/gate?x={}", tokens()[0]);
    let ran = gate("check out.log").file("out.log", "x").env("GATE_DATABASE_URL", url).run();
    says_none(&ran);
    let settings = format!("[checks.tests]\ncommand = [\"x\", \"{}\"]\n", tokens()[1]);
    let ran = gate("config show").settings(&settings).code(0).says("[masked]");
    let ran = ran.again("check --json out.log").file("out.log", "EXIT_STATUS: COMPLETE\n").code(1);
    says_none(&ran);
    let ran = ran.again("explain --json").code(0).says("[masked]");
    says_none(&ran);
    gate("breaker trip --reason")
        .args([format!("seen {}", tokens()[0])])
        .file("x", "")
        .code(0)
        .says("[masked]");
}
