//! `/etc/gate/gate.toml`: the settings of the machine, and the keys that they lock.
//!
//! Each run has an /etc of its own, by a mount that it alone sees. No variable and no flag moves
//! the file, so that an agent cannot, either.

use serde_json::Value;

use crate::needs::needs;
use crate::support::{DONE, Ran, UNDONE, gate, judge};

const LOCKED: &str = "\
locked = [\"exit_gate.unverified\", \"exit_gate.indicator_threshold\", \"checks.tests.mode\", \"budget\"]

[exit_gate]
unverified = \"continue\"
indicator_threshold = 1

[checks.tests]
mode = \"require\"

[budget]
cost_usd = 5.0
";

/// Settings that try to loosen what is locked.
const LOOSE: &str = "\
[exit_gate]
unverified = \"exit\"
[checks.tests]
command = [\"false\"]
mode = \"warn\"
";

fn warnings(ran: &Ran) -> Vec<String> {
    let json = ran.json();
    let all = json["warnings"].as_array().unwrap().iter();
    let locked = all.filter(|one| one["code"] == "setting-locked");
    locked.map(|one| one["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn they_are_the_lowest_settings_above_the_default() {
    if !needs("namespaces") {
        return;
    }
    let text = "[breaker]\nno_exit = 7\nrefused = 8\nsame_error = 9\n";
    let run = gate("config show --origin")
        .on_machine(text)
        .user_settings("[breaker]\nrefused = 18\n")
        .unapproved("[breaker]\nsame_error = 19\n");
    let ran = run.code(0);
    for line in [
        "no_exit = 7  # /etc/gate/gate.toml:2",
        "refused = 18  # [..]/gate/config.toml:2",
        "same_error = 19  # [..]/gate.toml:2",
    ] {
        let (start, end) = line.split_once("[..]").unwrap_or((line, ""));
        let is_there = |found: &str| found.starts_with(start) && found.ends_with(end);
        assert!(ran.stdout.lines().any(is_there), "{line}\n{}", ran.stdout);
    }
}

#[test]
fn a_locked_key_wins_and_the_decision_says_over_what() {
    if !needs("namespaces") {
        return;
    }
    let run = judge("check --json out.log", DONE).on_machine(LOCKED).settings(LOOSE);
    let ran = run.env("GATE_EXIT_THRESHOLD", "0").code(1);
    let check = ran.json()["evidence"][0].clone();
    assert_eq!((&check["mode"], &check["outcome"]), (&"require".into(), &"fail".into()));
    let project = ran.path("gate.toml").canonicalize().unwrap();
    let project = project.display();
    assert_eq!(
        warnings(&ran),
        [
            format!(
                "/etc/gate/gate.toml:4 locks `exit_gate.unverified` at \"continue\", \
                 so \"exit\" from {project}:2 is ignored"
            ),
            "/etc/gate/gate.toml:5 locks `exit_gate.indicator_threshold` at 1, \
             so 0 from GATE_EXIT_THRESHOLD is ignored"
                .to_owned(),
            format!(
                "/etc/gate/gate.toml:8 locks `checks.tests.mode` at \"require\", \
                 so \"warn\" from {project}:5 is ignored"
            ),
        ]
    );
    let ran = ran.again_there("config show --origin").code(0);
    let line = "unverified = \"continue\"  # /etc/gate/gate.toml:4, locked; \"exit\" from ";
    assert!(ran.stdout.lines().any(|found| found.starts_with(line)), "{}", ran.stdout);
    let ran = ran.again_there("explain setting-locked").code(0);
    assert!(ran.stdout.contains("/etc/gate/gate.toml"), "{}", ran.stdout);
}

#[test]
fn an_unverified_completion_goes_on_where_that_is_locked() {
    if !needs("namespaces") {
        return;
    }
    let loose = "[exit_gate]\nunverified = \"exit\"\n";
    let ran = judge("check --json out.log", DONE).settings(loose).code(0);
    assert_eq!(ran.json()["verified"], Value::Bool(false));
    let locked = "locked = [\"exit_gate.unverified\"]\n[exit_gate]\nunverified = \"continue\"\n";
    let ran = judge("check --json out.log", DONE).on_machine(locked).settings(loose).code(1);
    assert_eq!(warnings(&ran).len(), 1, "{}", ran.stdout);
    // Nobody tries to loosen anything: nothing is said.
    let ran = judge("check --json out.log", UNDONE).on_machine(locked).settings("").code(1);
    assert_eq!(warnings(&ran), [""; 0]);
}

#[test]
fn an_operators_flag_against_a_lock_is_refused() {
    if !needs("namespaces") {
        return;
    }
    let mut ran = judge("check --no-checks out.log", DONE).on_machine(LOCKED).settings(LOOSE).run();
    let place = "/etc/gate/gate.toml";
    for (words, message) in [
        ("check --no-checks out.log", "--no-checks does not count: /etc/gate/gate.toml:8 locks"),
        ("check --no-checks --no-state out.log", "--no-checks does not count"),
        ("check --exit-threshold 0 out.log", "/etc/gate/gate.toml:5 locks it at 1"),
        ("run --prompt out.log --budget-cost 50 -- true", "--budget-cost does not count"),
        ("run --prompt out.log --unverified -- true", "--unverified does not count"),
        ("run --prompt out.log --exit-threshold 0 -- true", "locks it at 1"),
    ] {
        ran = ran.again_there(words).code(2).tells(message).tells(place);
    }
    let ran = ran.again_there("check --json --no-checks out.log").code(2);
    let error = ran.json();
    assert_eq!((&error["code"], &error["line"]), (&"config-locked".into(), &8.into()), "{error}");
    assert_eq!(error["key"], "checks.tests.mode");
    // The same threshold changes nothing.
    ran.again_there("check --exit-threshold 1 out.log").code(1);
}

#[test]
fn a_lock_without_a_setting_is_an_error_with_its_place() {
    if !needs("namespaces") {
        return;
    }
    for (text, message) in [
        ("locked = [\n  \"exit_gate.unverfied\",\n]\n", "exit_gate.unverfied"),
        ("locked = [\n  \"budget.tokens\",\n]\n", "`budget.tokens` has no value in this file"),
    ] {
        let ran = judge("check --json out.log", DONE).on_machine(text).settings("").code(2);
        let error = ran.json();
        let place = (&error["file"], &error["line"], &error["key"]);
        assert_eq!(place, (&"/etc/gate/gate.toml".into(), &2.into(), &"locked[0]".into()));
        assert!(error["message"].as_str().unwrap().contains(message), "{error}");
    }
    let ran = judge("check out.log", DONE).unapproved(LOCKED).code(2);
    ran.tells("only the machine's settings lock keys").tells("gate.toml:1");
}

#[test]
fn a_file_that_others_could_change_is_refused() {
    if !needs("namespaces") {
        return;
    }
    for (script, what) in [
        ("chmod 664 ../etc/gate/gate.toml", "../etc/gate/gate.toml can be written by others"),
        ("chmod 777 ../etc/gate", "../etc/gate can be written by others"),
    ] {
        let ran =
            judge("check out.log", DONE).on_machine(LOCKED).settings("").setup(script).code(2);
        ran.tells("machine's settings are not safe").tells(&what.replace("../etc", "/etc"));
    }
}

/// The file has one place.
#[test]
fn nothing_moves_the_file() {
    if !needs("namespaces") {
        return;
    }
    let run = judge("check --json out.log", DONE)
        .on_machine(LOCKED)
        .settings(LOOSE)
        .file("etc/gate/gate.toml", "")
        .file("gate/gate.toml", "");
    let mut run = run;
    for name in ["XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "GATE_CONFIG", "GATE_ETC", "GATE_CONFIG_DIR"]
    {
        run = run.env(name, ".");
    }
    let ran = run.code(1);
    assert_eq!(warnings(&ran).len(), 2, "{}", ran.stdout);
}

#[test]
fn a_project_file_that_is_the_machines_needs_no_approval() {
    if !needs("namespaces") {
        return;
    }
    let text = "locked = [\"checks.tests.command\"]\n[checks.tests]\ncommand = [\"true\"]\n";
    let run =
        judge("check out.log", DONE).on_machine(text).setup("ln -s /etc/gate/gate.toml gate.toml");
    run.code(0);
}
