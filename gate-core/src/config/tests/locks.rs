//! Settings that the machine's file locks.

use super::project;
use crate::config::{
    ConfigError, ConfigWarning, Layer, Lock, Origin, Resolved, environment, resolve, show,
};
use crate::decide::policy::{Mode, Threshold, Unverified};

const MACHINE: &str = "\
locked = [\"exit_gate.unverified\", \"checks.tests.mode\"]
[exit_gate]
unverified = \"continue\"
[checks.tests]
mode = \"require\"
timeout = \"5m\"
";

fn machine(text: &str) -> Result<Layer, ConfigError> {
    Layer::parse(Origin::Machine("/etc/gate/gate.toml".into()), text)
}

/// The machine's settings below those of a project.
fn over(locked: &str, settings: &str) -> Resolved {
    resolve(&[machine(locked).unwrap(), project(settings).unwrap()], None).unwrap()
}

fn warnings(resolved: &Resolved) -> Vec<String> {
    resolved.warnings.iter().map(ConfigWarning::to_string).collect()
}

#[test]
fn a_locked_setting_wins_and_others_do_not() {
    let text =
        "[exit_gate]\nunverified = \"exit\"\n[checks.tests]\nmode = \"warn\"\ntimeout = \"9m\"\n";
    let resolved = over(MACHINE, text);
    assert_eq!(resolved.policy.exit_gate.unverified, Unverified::Continue);
    let tests = &resolved.policy.checks["tests"];
    assert_eq!((tests.mode, tests.timeout_ms), (Mode::Require, 540_000));
    assert_eq!(
        warnings(&resolved),
        [
            "/etc/gate/gate.toml:3 locks `exit_gate.unverified` at \"continue\", \
             so \"exit\" from gate.toml:2 is ignored",
            "/etc/gate/gate.toml:5 locks `checks.tests.mode` at \"require\", \
             so \"warn\" from gate.toml:4 is ignored",
        ]
    );
    let lock = Lock {
        key: "exit_gate.unverified".to_owned(),
        file: "/etc/gate/gate.toml".to_owned(),
        line: 3,
    };
    assert_eq!(resolved.locks[0], lock);
}

#[test]
fn the_same_value_and_silence_are_no_attempts() {
    for text in ["", "[exit_gate]\nunverified = \"continue\"\n", "[breaker]\nno_exit = 7\n"] {
        let resolved = over(MACHINE, text);
        assert_eq!(resolved.policy.exit_gate.unverified, Unverified::Continue);
        assert_eq!(warnings(&resolved), [""; 0], "{text}");
    }
}

#[test]
fn a_task_type_changes_nothing_that_is_locked() {
    let machine = machine(
        "locked = [\"breaker.no_progress\", \"exit_gate.indicator_threshold\"]\n\
         [breaker]\nno_progress = 4\n[exit_gate]\nindicator_threshold = 2\n",
    );
    let project =
        project("[task_types.notes]\nprogress = \"none\"\nexit_gate.indicator_threshold = 0\n");
    let layers = [machine.unwrap(), project.unwrap()];
    let resolved = resolve(&layers, Some("notes")).unwrap();
    assert_eq!(resolved.policy.breaker.no_progress, 4);
    assert_eq!(resolved.policy.exit_gate.threshold, Threshold::Fixed(2));
    assert_eq!(
        warnings(&resolved),
        [
            "/etc/gate/gate.toml:3 locks `breaker.no_progress` at 4, so 0 from gate.toml:2 is ignored",
            "/etc/gate/gate.toml:5 locks `exit_gate.indicator_threshold` at 2, \
             so 0 from gate.toml:3 is ignored",
        ]
    );
}

#[test]
fn the_machines_own_task_type_may_say_otherwise() {
    let text = "[task_types.notes]\nexit_gate.unverified = \"exit\"\n";
    let layers = [machine(&format!("{MACHINE}{text}")).unwrap()];
    let resolved = resolve(&layers, Some("notes")).unwrap();
    assert_eq!(resolved.policy.exit_gate.unverified, Unverified::Exit);
    assert_eq!(warnings(&resolved), [""; 0]);
    assert_eq!(resolve(&layers, None).unwrap().policy.exit_gate.unverified, Unverified::Continue);
}

#[test]
fn a_locked_table_has_nothing_but_the_machines_settings() {
    let machine = "locked = [\"checks.tests\", \"budget\"]\n\
                   [checks.tests]\ncommand = [\"make\", \"test\"]\n[budget]\ncost_usd = 5.0\n";
    let text = "[checks.tests]\ncommand = [\"true\"]\nmode = \"warn\"\n[checks.lint]\n\
                [budget]\niterations = 1000\n";
    let resolved = over(machine, text);
    let policy = &resolved.policy;
    assert_eq!(policy.checks["tests"].command, ["make", "test"]);
    assert_eq!(policy.checks["tests"].mode, Mode::Require);
    assert!(policy.checks.contains_key("lint"), "another check is the project's");
    assert_eq!((policy.budget.cost_micro_usd, policy.budget.iterations), (5_000_000, 100));
    let found = warnings(&resolved);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found[1].contains("locks `checks.tests.mode` at its default, so \"warn\" from gate.toml:3")
    );
}

#[test]
fn a_variable_is_ignored_and_a_flag_refused() {
    let text =
        "locked = [\"exit_gate.indicator_threshold\"]\n[exit_gate]\nindicator_threshold = 2\n";
    let variable = ("GATE_EXIT_THRESHOLD".to_owned(), "0".to_owned());
    let variables = environment([variable].into_iter()).unwrap().unwrap();
    let resolved = resolve(&[machine(text).unwrap(), variables], None).unwrap();
    assert_eq!(resolved.policy.exit_gate.threshold, Threshold::Fixed(2));
    assert_eq!(
        warnings(&resolved),
        ["/etc/gate/gate.toml:3 locks `exit_gate.indicator_threshold` at 2, \
          so 0 from GATE_EXIT_THRESHOLD is ignored"]
    );
    let flag = |threshold| resolve(&[machine(text).unwrap(), Layer::flags(threshold)], None);
    let error = flag(Some(1)).unwrap_err();
    assert_eq!(error.code(), "config-locked");
    assert_eq!(
        error.to_string(),
        "--exit-threshold: `exit_gate.indicator_threshold`: /etc/gate/gate.toml:3 locks it at 2, \
         leave out --exit-threshold"
    );
    assert!(flag(Some(2)).is_ok() && flag(None).is_ok());
}

#[test]
fn a_key_that_cannot_be_locked_is_an_error() {
    for (text, message) in [
        (
            "locked = [\"exit_gate.unverfied\"]\n",
            "/etc/gate/gate.toml:1:11: `locked[0]`: unknown setting `exit_gate.unverfied`, \
             did you mean `exit_gate.unverified`?",
        ),
        (
            "locked = [\n  \"exit_gate.enabled\",\n  \"exit_gate.unverified\",\n]\n[exit_gate]\nenabled = true\n",
            "/etc/gate/gate.toml:3:3: `locked[1]`: `exit_gate.unverified` has no value in this file, \
             so nothing can be locked, set it below",
        ),
        (
            "locked = [\"checks.tests.mode\"]\n[checks.tests]\n",
            "/etc/gate/gate.toml:1:11: `locked[0]`: `checks.tests.mode` has no value in this file, \
             so nothing can be locked, set it below",
        ),
        (
            "locked = [\"task_types.notes.progress\"]\n[task_types.notes]\nprogress = \"none\"\n",
            "/etc/gate/gate.toml:1:11: `locked[0]`: `task_types.notes.progress` is for one type of \
             task, and cannot be locked by itself, lock the setting: then no task type changes it",
        ),
        (
            "locked = \"checks\"\n",
            "/etc/gate/gate.toml:1:10: `locked`: expected an array, found string \"checks\", \
             an array stands in brackets: [\"one\", \"two\"]",
        ),
    ] {
        assert_eq!(machine(text).unwrap_err().to_string(), message);
    }
    for text in ["locked = [\"locked\"]\n", "locked = [\"\"]\n", "locked = [\"locked[0]\"]\n"] {
        assert_eq!(machine(text).unwrap_err().code(), "config-unknown-name", "{text}");
    }
}

#[test]
fn only_the_machine_locks() {
    let error = project("locked = [\"breaker.no_exit\"]\n[breaker]\nno_exit = 7\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "gate.toml:1:10: `locked`: only the machine's settings lock keys, \
         move it to /etc/gate/gate.toml"
    );
}

#[test]
fn what_is_shown_names_locks_and_attempts() {
    let resolved = over(MACHINE, "[exit_gate]\nunverified = \"exit\"\n");
    let text = show(&resolved, true);
    for line in [
        "unverified = \"continue\"  # /etc/gate/gate.toml:3, locked; \"exit\" from gate.toml:2 is ignored",
        "mode = \"require\"  # /etc/gate/gate.toml:5, locked",
        "timeout = \"5m\"  # /etc/gate/gate.toml:6",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert_eq!(super::resolved(&show(&resolved, false)).policy, resolved.policy);
}
