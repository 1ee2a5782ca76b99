//! A stop hook whose deadline comes before a check has ended.

use std::fs;

use serde_json::json;

use crate::support::{DONE, gate};

/// A check that ends when there is a file `go` in the user's folder.
const SLOW: &str = "[checks.slow]
shell = true
command = ['while [ ! -e $HOME/go ]; do sleep 0.1; done; test -e a.txt']
";

#[test]
fn a_slow_check_holds_the_agent_once_and_lets_it_go_when_it_has_passed() {
    let event = json!({
        "hook_event_name": "Stop", "session_id": "one", "last_assistant_message": DONE,
    });
    let event = event.to_string();
    let run = gate("hook claude-code --deadline 3s").settings(SLOW).file("a.txt", "").committed();
    let ran = run.stdin(event.as_str()).code(0);
    let reply = ran.json();
    assert_eq!(reply["decision"], "block", "{reply}");
    let reason = reply["reason"].as_str().unwrap();
    assert!(reason.contains("it goes on, and the next stop waits for it"), "{reason}");
    fs::write(ran.path("../home/go"), "").unwrap();
    let ran = ran.again("hook claude-code --deadline 90s").stdin(event).code(0);
    assert_eq!(ran.stdout, "");
    let ran = ran.again("last --json").code(0);
    let summary = ran.json()["evidence"][0]["summary"].as_str().unwrap().to_owned();
    assert!(summary.contains("it ran on a copy of the tree"), "{summary}");
}
