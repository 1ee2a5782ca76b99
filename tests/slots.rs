//! Check slots of the machine: as many checks run at once as there are, in all loops.

use std::process::{Child, Stdio};

use crate::run::wait;
use crate::support::{DONE, Ran, gate, judge};

/// A check that notes that it began, and ends when there is a file `go`.
const SLOW: &str = "[checks]\nmachine_jobs = 1\n[tree]\nignore = [\"began\", \"go\", \"there\"]\n\
                    [checks.one]\nshell = true\ncommand = [\"echo x >>began; \
                    until test -e go; do sleep 0.05; done\"]\n";

/// A project, and a gate that runs its check.
fn busy() -> (Ran, Child) {
    let ran = judge("prompt", DONE).settings(SLOW).code(0);
    let mut first = ran.beside("check --json out.log");
    let first = first.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait(|| ran.file("began") == "x\n");
    (ran, first)
}

#[test]
fn six_loops_on_one_machine_ran_into_their_timeouts() {
    let (ran, mut first) = busy();
    let settings =
        SLOW.replace("command", "timeout = \"1s\"\ncommand").replace("checks.one", "checks.two");
    let other = judge("check --json out.log", DONE)
        .settings(&settings.replace("until", "test -e go || exit 9; until"))
        .env("GATE_STATE_DIR", ran.home().join(".local/state/gate"));
    // It waits longer than its check may take.
    let go = ran.path("go");
    let mark = other.at("go");
    let starter = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(1500));
        std::fs::write(mark, "").unwrap();
        std::fs::write(go, "").unwrap();
    });
    let other = other.code(0);
    starter.join().unwrap();
    assert!(first.wait().unwrap().success());
    let evidence = &other.json()["evidence"][0];
    assert_eq!(evidence["outcome"], "pass");
    assert!(evidence["detail"]["waited_for_slot_ms"].as_u64().unwrap() >= 1000, "{evidence}");
    assert!(evidence["duration_ms"].as_u64().unwrap() < 1000, "{evidence}");
}

#[test]
fn a_hook_waits_for_a_slot_no_longer_than_its_deadline() {
    let (ran, mut first) = busy();
    let event = r#"{"session_id":"s","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"All is done.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: x"}"#;
    let settings = SLOW.replace("checks.one", "checks.two");
    let hook = gate("hook claude-code --deadline 3s")
        .settings(&settings)
        .stdin(event)
        .env("GATE_STATE_DIR", ran.home().join(".local/state/gate"))
        .code(0);
    assert_eq!(hook.file("began"), "", "it had no slot");
    assert!(!hook.stdout.contains("\"block\""), "{}", hook.stdout);
    let hook =
        hook.again("last --json").env("GATE_STATE_DIR", ran.home().join(".local/state/gate"));
    let last = hook.run().json();
    let outcome = last["evidence"][0]["outcome"].as_str();
    assert!(outcome.is_none_or(|outcome| outcome == "skipped" || outcome == "inconclusive"));
    std::fs::write(ran.path("go"), "").unwrap();
    assert!(first.wait().unwrap().success());
}

#[test]
fn a_slot_of_a_killed_gate_is_free_again() {
    let (ran, mut first) = busy();
    first.kill().unwrap();
    first.wait().unwrap();
    std::fs::write(ran.path("go"), "").unwrap();
    ran.again("check out.log").code(0);
}

#[test]
fn a_check_that_asks_gate_waited_for_its_own_slot() {
    let inner = "[checks]\nmachine_jobs = 1\n[checks.two]\ncommand = [\"true\"]\n";
    let outer = "[checks]\nmachine_jobs = 1\n[checks.one]\nshell = true\nenv = [\"XDG_STATE_HOME\"]\n\
                 command = [\"cd inner; gate check --all-checks ../out.log\"]\n";
    judge("check out.log", DONE)
        .settings(outer)
        .settings_in("inner", inner)
        .with_gate_in_path()
        .code(0);
}

#[test]
fn no_bound_is_kept_where_none_is_set() {
    let (ran, mut first) = busy();
    judge("check out.log", DONE)
        .settings(&SLOW.replace("= 1", "= 0"))
        .file("go", "")
        .env("GATE_STATE_DIR", ran.home().join(".local/state/gate"))
        .code(0);
    assert!(first.try_wait().unwrap().is_none(), "the first one still runs");
    std::fs::write(ran.path("go"), "").unwrap();
    assert!(first.wait().unwrap().success());
}
