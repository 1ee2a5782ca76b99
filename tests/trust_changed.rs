//! Settings that change in the middle of a run: nothing of the new text holds.

use serde_json::Value;

use crate::support::{DONE, Ran, Run, UNDONE, each, gate};

/// A check that passes, and says so beside the work.
const GREEN: &str =
    "[checks.tests]\ncommand = [\"sh\", \"-c\", \"echo ran >>../trace\"]\n[breaker]\nno_exit = 4\n";

/// A project whose run goes on: its first decision was made under approved settings.
fn going_on(settings: &str) -> Ran {
    let ran = gate("check --json out.log").settings(settings).file("out.log", UNDONE);
    ran.committed().code(1)
}

/// The run's next decision, after a script.
fn after(ran: Ran, script: &str) -> Ran {
    ran.again("check --json out.log").file("out.log", DONE).setup(script).run()
}

#[track_caller]
fn is_tampered(ran: &Ran, file: &str) {
    let decision = ran.json();
    assert_eq!((&decision["verdict"], &decision["iteration"]), (&"continue".into(), &2.into()));
    let reasons = each(&decision, "reasons", "code");
    assert!(reasons.iter().all(|code| *code == "tampered") && !reasons.is_empty(), "{reasons:?}");
    for evidence in decision["evidence"].as_array().unwrap() {
        let summary = evidence["summary"].as_str().unwrap();
        assert_eq!(evidence["outcome"], "tamper");
        assert!(summary.contains(file) && summary.contains("gate trust"), "{summary}");
    }
    assert!(!ran.path("../trace").exists());
    assert!(ran.file("pwned").is_empty());
}

#[test]
fn whatever_is_changed_nothing_of_it_holds() {
    for script in [
        "echo '[checks.more]' >>gate.toml; echo 'command = [\"touch\", \"pwned\"]' >>gate.toml",
        "sed -i s/echo/touch\\ pwned\\;echo/ gate.toml",
        "echo >gate.toml",
        "echo 'exit_gate.indicator_threshold = 0' >gate.toml",
        "sed -i 's/no_exit = 4/no_exit = 0/' gate.toml",
        "rm gate.toml",
        "rm gate.toml; : >../empty; ln -s ../empty gate.toml",
    ] {
        let ran = after(going_on(GREEN), script);
        is_tampered(&ran, "gate.toml");
        assert_eq!(each(&ran.json(), "evidence", "check"), ["tests"], "{script}");
        // What was approved is there again.
        let ran = ran.again("check --json out.log").setup("git checkout -q gate.toml").code(0);
        assert_eq!(ran.json()["iteration"], 3);
        ran.again("explain").code(0).again("ledger verify").code(0);
    }
}

#[test]
fn a_file_nearer_to_the_work_does_not_take_the_place_of_the_approved_one() {
    let ran = gate("-C sub check --json ../out.log").settings(GREEN).file("out.log", UNDONE);
    let ran = ran.file("sub/a.txt", "").committed().code(1);
    let ran = ran.again("-C sub check --json ../out.log").file("out.log", DONE);
    let ran = ran.setup("echo 'exit_gate.indicator_threshold = 0' >sub/gate.toml").code(1);
    is_tampered(&ran, "sub/gate.toml");
}

#[test]
fn settings_that_were_not_there_when_the_run_began_do_not_hold() {
    let ran = gate("check --json out.log").file("out.log", UNDONE).committed().code(1);
    let ran = after(ran, "echo 'exit_gate.indicator_threshold = 0' >gate.toml");
    is_tampered(&ran, "gate.toml");
    assert_eq!(each(&ran.json(), "evidence", "check"), ["settings"]);
    let ran = ran.again("trust").code(0).again("check --json out.log").code(0);
    assert_eq!(ran.json()["iteration"], 3);
}

#[test]
fn another_name_of_the_project_leads_nowhere() {
    let named = format!("{GREEN}[project]\nid = \"a\"\n");
    is_tampered(&after(going_on(&named), "sed -i s/\\\"a\\\"/\\\"b\\\"/ gate.toml"), "gate.toml");
    let ran = after(going_on(GREEN), "rm gate.toml; git remote add origin https://host/x");
    assert_eq!(ran.json()["code"], "config-not-trusted", "{}", ran.stdout);
}

#[test]
fn the_breaker_is_that_of_the_approved_settings() {
    let weak = "sed -i 's/no_exit = 4/no_exit = 0/' gate.toml; date +%N >work; git add -A; git commit -qm w";
    let mut ran = going_on(GREEN);
    for expected in ["continue", "continue", "tripped"] {
        ran = ran.again("check --json out.log").file("out.log", UNDONE).setup(weak).run();
        assert_eq!(ran.json()["verdict"], expected, "{}", ran.stdout);
    }
}

#[test]
fn what_the_operator_approves_holds_and_begins_to_count_anew() {
    let twice = format!("exit_gate.consecutive = 2\n{GREEN}");
    let ran = gate("check --json out.log").settings(&twice).file("out.log", DONE).committed();
    let ran = ran.code(1);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["consecutive-not-reached"]);
    let ran = ran
        .again("trust")
        .setup("echo 'timeout = \"1m\"' | sed -i '/command/r /dev/stdin' gate.toml");
    let ran = ran.code(0).again("check --json out.log").code(1);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["consecutive-not-reached"]);
    ran.again("check --json out.log").code(0).again("ledger verify").code(0);
}

#[test]
fn nothing_is_kept_of_a_dry_run_and_without_memory_it_is_only_not_approved() {
    let weak = "echo >gate.toml";
    let ran = going_on(GREEN).again("check --json --dry-run out.log").file("out.log", DONE);
    let ran = ran.setup(weak).code(1);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["tampered"]);
    let ran = ran.again("check --json --no-state out.log").code(2);
    assert_eq!(ran.json()["code"], "config-not-trusted");
    ran.again("log --json").code(0).says("\"seq\":1");
}

#[test]
fn an_agent_of_a_run_that_changes_the_settings_gets_nowhere() {
    let says = "printf 'All tasks are completed.\\n\\nEXIT_STATUS: COMPLETE\\nEXIT_REASON: x\\n'";
    let agent =
        format!("#!/bin/sh\ncat >/dev/null\necho 'exit_gate.enabled = false' >gate.toml\n{says}\n");
    let run = gate("run --task t --prompt P.md --max-iterations 2 --json -- ./agent.sh");
    let ran = run.settings(GREEN).file("P.md", "Go.\n").script("agent.sh", &agent).committed();
    let ran = ran.code(1);
    assert_eq!(ran.json()["stopped_by"], "max-iterations", "{}", ran.stdout);
    assert!(!ran.path("../trace").exists());
    let ran = ran.again("last --json").code(1);
    assert_eq!(each(&ran.json(), "evidence", "outcome"), ["tamper"]);
    assert!(ran.stdout.contains("gate.toml was changed under the loop"), "{}", ran.stdout);
}

#[test]
fn a_session_whose_settings_change_is_refused() {
    let event = |said: &str| {
        let said = serde_json::to_string(said).unwrap();
        format!(
            r#"{{"hook_event_name":"Stop","session_id":"s","prompt_id":"p","last_assistant_message":{said},"background_tasks":[]}}"#
        )
    };
    let hook = |run: Run, said: &str| run.stdin(event(said)).code(0);
    let ran = hook(gate("hook claude-code").settings(GREEN).committed(), UNDONE);
    assert_eq!(ran.json()["decision"], "block");
    let ran = hook(ran.again("hook claude-code").setup("rm gate.toml; touch a"), DONE);
    // Without settings a project is none of gate's, but for what was approved.
    let reply: Value = ran.json();
    assert!(reply["reason"].as_str().unwrap().contains("was approved, and is gone"), "{reply}");
}

#[test]
fn another_origin_is_another_project_and_is_told_as_that() {
    let ran = going_on(GREEN).again("check out.log --new-run");
    let ran = ran.setup("git remote add origin https://example.org/other.git").code(2);
    assert!(
        ran.stderr.contains("was approved while the project was known by another name"),
        "{}",
        ran.stderr
    );
}
