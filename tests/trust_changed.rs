//! Settings that change in the middle of a run: nothing of the new text holds.

use serde_json::Value;

use crate::support::{DONE, GATE, Ran, Run, UNDONE, each, gate};

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

/// What was approved has decided, and a person has to look at what stands there now.
#[track_caller]
fn is_blocked(ran: &Ran, file: &str) {
    let decision = ran.json();
    assert_eq!((&decision["verdict"], &decision["iteration"]), (&"blocked".into(), &2.into()));
    assert_eq!((&decision["exit_code"], &decision["success"]), (&4.into(), &false.into()));
    assert_eq!(each(&decision, "reasons", "code"), ["settings-changed"]);
    let message = decision["reasons"][0]["message"].as_str().unwrap();
    assert!(
        message.contains(file) && message.contains("If that was you: `gate trust`"),
        "{message}"
    );
    assert_eq!(decision["settings_changed"], message);
    assert!(!each(&decision, "warnings", "code").contains(&"settings-differ"), "said once");
    assert_eq!(each(&decision, "evidence", "check"), ["tests"]);
    assert_eq!(decision["evidence"][0]["outcome"], "pass");
    assert_eq!(decision["breaker"]["counters"]["refused"], 0, "it is no refused claim");
    assert!(ran.path("../trace").exists(), "what was approved has run");
    assert!(ran.file("pwned").is_empty());
}

#[test]
#[ignore = "minutes: many loops"]
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
        is_blocked(&ran, "gate.toml");
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
    let ran = ran.setup("echo 'exit_gate.indicator_threshold = 0' >sub/gate.toml").code(4);
    is_blocked(&ran, "gate.toml stands in the place of ../gate.toml");
}

#[test]
fn settings_that_were_not_there_when_the_run_began_do_not_hold() {
    let ran = gate("check --json out.log").file("out.log", UNDONE).committed().code(1);
    let ran = after(ran, "echo 'exit_gate.indicator_threshold = 0' >gate.toml");
    let decision = ran.json();
    assert_eq!(each(&decision, "reasons", "code"), ["tampered"]);
    assert_eq!(each(&decision, "evidence", "check"), ["settings"]);
    assert!(ran.stdout.contains("`gate trust`"), "{}", ran.stdout);
    let ran = ran.again("trust").code(0).again("check --json out.log").code(0);
    assert_eq!(ran.json()["iteration"], 3);
}

#[test]
fn another_name_of_the_project_leads_nowhere() {
    let named = format!("{GREEN}[project]\nid = \"a\"\n");
    is_blocked(&after(going_on(&named), "sed -i s/\\\"a\\\"/\\\"b\\\"/ gate.toml"), "gate.toml");
    let hides = "rm gate.toml; git remote add origin https://host/x";
    is_blocked(&after(going_on(GREEN), hides), "gate.toml is gone");
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
fn without_memory_what_was_approved_decides_as_well() {
    let weak = "echo >gate.toml";
    let ran = going_on(GREEN).again("check --json --dry-run out.log").file("out.log", DONE);
    let ran = ran.setup(weak).code(4);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["settings-changed"]);
    let ran = ran.again("check --json --no-state out.log").code(4);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["settings-changed"]);
    ran.again("log --json").code(0).says("\"seq\":1");
}

/// The first edit of a person's own settings looked like an attack: `tampered` in seven
/// lines, a refused claim, and the one useful word cut off.
#[test]
fn a_persons_first_edit_of_gate_toml_is_no_attack() {
    let edit = "printf '[checks.lint]\\ncommand = [\"true\"]\\n' >>gate.toml";
    let line = "gate.toml changed since you approved it. If that was you: `gate trust`. \
                If not: `git diff gate.toml`.";
    // What would go on goes on.
    let ran = going_on(GREEN).again("check --json out.log").setup(edit).code(1);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["signal-continue"]);
    assert_eq!(ran.json()["warnings"][0]["message"], line);
    let said = ran.json()["feedback"].as_str().unwrap().matches("settings-differ").count();
    assert_eq!(said, 1, "{}", ran.stdout);
    // What would be an exit waits for the person, who is told once.
    let ran = ran.again("check out.log").file("out.log", DONE).code(4);
    assert_eq!(ran.stdout.matches("gate.toml changed since").count(), 1, "{}", ran.stdout);
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    assert!(ran.stderr.contains(&format!("gate: STOP, not done: {line}")), "{}", ran.stderr);
    // The next check of the same output exits.
    let ran = ran.again("trust").code(0).again("check --json out.log").code(0);
    assert_eq!(each(&ran.json(), "evidence", "check"), ["lint", "tests"]);
    assert_eq!(each(&ran.json(), "warnings", "code"), ["baseline-of-history"]);
    ran.again("ledger verify").code(0);
}

#[test]
fn a_runner_that_numbers_its_iterations_need_not_ask_for_another() {
    let ran = gate("check --iteration 1 out.log").settings(GREEN).file("out.log", DONE);
    let ran =
        ran.committed().setup("echo 'timeout = \"1m\"' | sed -i '/command/r /dev/stdin' gate.toml");
    // The settings were approved before that.
    let ran = ran.code(0);
    let edit = "sed -i s/1m/2m/ gate.toml";
    let ran = ran.again("check --new-run --iteration 1 --json out.log").setup(edit).code(4);
    assert_eq!(ran.json()["repeated"], false);
    let ran = ran.again("check --iteration 1 --json out.log").code(4);
    assert_eq!(ran.json()["repeated"], true);
    let ran = ran.again("trust").code(0).again("check --iteration 1 --json out.log").code(0);
    assert_eq!(ran.json()["repeated"], false);
}

#[test]
fn whatever_was_red_by_the_approved_settings_stays_red() {
    let red = GREEN.replace("echo ran", "exit 1; echo ran");
    for script in ["sed -i 's/exit 1/exit 0/' gate.toml", "rm gate.toml", "echo >gate.toml"] {
        let ran = gate("check --json out.log").settings(&red).file("out.log", DONE).committed();
        // Before the first decision of any run.
        let ran = ran.words("trust").code(0).again("check --json out.log").setup(script).code(1);
        assert_eq!(each(&ran.json(), "reasons", "code"), ["required-check-failed"], "{script}");
        let ran = ran.again("check --json out.log").code(1);
        let warnings = each(&ran.json(), "warnings", "code").join(" ");
        assert_eq!(warnings, "baseline-of-history settings-differ", "{script}");
    }
}

#[test]
fn settings_of_the_user_that_change_in_a_run_are_told() {
    let allows = "mkdir -p ../home/.config/gate; printf '[[integrity.allow]]\\npath = \"**\"\\nreason = \"x\"\\n' > ../home/.config/gate/config.toml";
    let ran = after(going_on(GREEN), allows);
    let decision = ran.json();
    assert_eq!(decision["verdict"], "exit");
    assert!(each(&decision, "warnings", "code").contains(&"settings-of-user-changed"));
    // The next run begins with them.
    let ran = after(ran, "true");
    assert!(!each(&ran.json(), "warnings", "code").contains(&"settings-of-user-changed"));
    let ran = after(going_on(GREEN), "true");
    assert!(!each(&ran.json(), "warnings", "code").contains(&"settings-of-user-changed"));
}

#[test]
fn an_approval_that_is_lost_in_the_middle_of_a_run_helps_nobody() {
    for lost in ["trust", "trust/texts"] {
        let script =
            format!("rm -r ../home/.local/share/gate/{lost}; sed -i s/echo/true/ gate.toml");
        let ran = after(going_on(GREEN), &script);
        assert_ne!(ran.json()["verdict"], "exit", "{lost}");
        assert!(ran.stdout.contains("gate trust") && !ran.path("../trace").exists());
        let ran = ran.again("check --new-run out.log").code(2);
        assert!(ran.stderr.contains("gate trust"), "{}", ran.stderr);
    }
}

#[test]
fn what_the_environment_approved_decides_where_gate_toml_changes() {
    let ran = gate("trust --show --json").unapproved(GREEN).file("out.log", DONE).committed();
    let ran = ran.code(0);
    let digest = ran.json()["digest"].as_str().unwrap().to_owned();
    let ran = ran.again("check out.log").env("GATE_TRUST", &digest).code(0);
    let ran = ran.again("check --json out.log").env("GATE_TRUST", &digest);
    let ran = ran.setup("rm ../trace; sed -i s/trace/trade/ gate.toml").code(4);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["settings-changed"]);
    assert!(ran.path("../trace").exists() && !ran.path("../trade").exists());
}

/// A loop whose agent runs this script and then claims to be done.
fn looped(settings: &str, script: &str) -> Run {
    let says = "printf 'All tasks are completed.\\n\\nEXIT_STATUS: COMPLETE\\nEXIT_REASON: x\\n'";
    let agent = format!("#!/bin/sh\ncat >/dev/null\n{script}\n{says}\n");
    let run = gate("run --task t --prompt P.md --max-iterations 2 --json -- ./agent.sh");
    run.settings(settings).file("P.md", "Go.\n").script("agent.sh", &agent).committed()
}

#[test]
fn an_agent_of_a_run_that_changes_the_settings_gets_nowhere() {
    let weaker = "echo 'exit_gate.enabled = false' >gate.toml";
    let ran = looped(GREEN, weaker).code(1);
    assert_eq!(ran.json()["stopped_by"], "blocked", "{}", ran.stdout);
    assert!(ran.stdout.contains("gate.toml changed since you approved it"), "{}", ran.stdout);
    assert!(ran.path("../trace").exists(), "what was approved has run");
    ran.again("last").code(4);
    // What is red by the approved settings is refused.
    let red = GREEN.replace("echo ran", "exit 1; echo ran");
    let ran = looped(&red, weaker).code(1);
    assert_eq!(ran.json()["stopped_by"], "max-iterations", "{}", ran.stdout);
    // A mistake that it leaves there ends nothing.
    let ran = looped(GREEN, "echo '[[[' >gate.toml").code(1);
    assert_eq!(ran.json()["stopped_by"], "blocked", "{}", ran.stdout);
    assert!(ran.stdout.contains("and cannot be used (line 1: "), "{}", ran.stdout);
}

#[test]
fn a_loop_goes_by_what_the_operator_approves_meanwhile() {
    let stricter = GREEN.replace("echo ran >>../trace", "echo new >>../trace; exit 1");
    let script =
        "cp strict.toml gate.toml; : >../go; while [ ! -e ../trusted ]; do sleep 0.05; done";
    let person = format!(
        "(while [ ! -e ../go ]; do sleep 0.05; done; script -qec '{GATE} trust' /dev/null; \
         : >../trusted) \
         >/dev/null 2>&1 </dev/null &"
    );
    let run = looped(GREEN, script).file("strict.toml", &stricter).setup(&person);
    let ran = run.code(1);
    assert_eq!(ran.json()["stopped_by"], "max-iterations", "{}", ran.stdout);
    assert_eq!(ran.file("../trace"), "new\n", "the old settings never decided");
    let ran = ran.again("last --json").code(1);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["required-check-failed"]);
    assert_eq!(each(&ran.json(), "warnings", "code"), [""; 0]);
}

/// A stop of Claude Code, with this last message.
fn stop(said: &str) -> String {
    let said = serde_json::to_string(said).unwrap();
    format!(
        r#"{{"hook_event_name":"Stop","session_id":"s","prompt_id":"p","last_assistant_message":{said},"background_tasks":[]}}"#
    )
}

/// A headless stop of Claude Code.
fn stopped(run: Run, said: &str) -> Ran {
    run.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli").stdin(stop(said)).code(0)
}

/// It was let go, because gate could not decide.
#[test]
fn an_agent_that_edits_gate_toml_before_its_first_stop_does_not_walk_free() {
    let red = GREEN.replace("echo ran >>../trace", "exit 1");
    for script in
        ["sed -i 's/exit 1/true/' gate.toml; git commit -qam x", "rm gate.toml; touch new"]
    {
        let run = gate("trust").settings(&red).committed().code(0).again("hook claude-code");
        let mut ran = stopped(run.setup(script), DONE);
        for _ in 0..2 {
            let reply: Value = ran.json();
            assert_eq!(reply["decision"], "block", "{script}: {reply}");
            let reason = reply["reason"].as_str().unwrap();
            assert!(reason.contains("tests failed (required-check-failed)"), "{script}: {reason}");
            ran = stopped(ran.again("hook claude-code"), DONE);
        }
    }
}

#[test]
fn a_session_whose_settings_change_is_held_to_the_approved_ones() {
    let run = gate("trust").settings(GREEN).committed().code(0).again("hook claude-code");
    let ran = stopped(run.setup("rm gate.toml; touch a"), DONE);
    // What was approved suffices there, and the person is told, once a session.
    let told = ran.json()["systemMessage"].as_str().unwrap().to_owned();
    assert_eq!(told.matches("gate.toml is gone since you approved it").count(), 1, "{told}");
    assert!(ran.path("../trace").exists(), "what was approved has run");
    let ran = stopped(ran.again("hook claude-code").setup("touch b"), DONE);
    assert!(!ran.stdout.contains("gate.toml"), "{}", ran.stdout);
}

#[test]
fn another_origin_changes_nothing() {
    let ran = after(going_on(GREEN), "git remote add origin https://example.org/other.git");
    assert_eq!((&ran.json()["verdict"], &ran.json()["iteration"]), (&"exit".into(), &2.into()));
    // The ledger is the same, until a person approves again.
    let ran = ran.again("log --json").code(0);
    assert_eq!(ran.json_lines().len(), 2, "{}", ran.stdout);
    let ran = ran.again("trust").code(0).again("log --json").code(0);
    assert_eq!(ran.json_lines().len(), 1, "{}", ran.stdout);
}
