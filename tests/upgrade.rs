//! Store, settings and hooks of the version before this one, as it wrote them for the project
//! `shop`, under this version.

use std::fs;
use std::os::unix::fs::DirBuilderExt;

use rusqlite::Connection;

use crate::support::{DONE, Ran, UNDONE, each, gate};

/// Six records: an approval, a run that ended after three decisions, a lock, a run that goes on.
const STORE: &str = include_str!("upgrade/gate.sql");

/// It has keys that this version does not have.
const SETTINGS: &str = include_str!("upgrade/gate.toml");

/// The hooks of Claude Code; gate was `/srv/home/.local/share/gate/bin/gate`.
const HOOKS: &str = include_str!("upgrade/claude-settings.json");

/// A project with all that the earlier version left, and its approval.
fn upgraded() -> Ran {
    let ran = gate("man").settings("").file(".gitignore", "out.log\n").file("built", "");
    let ran = ran.committed().code(0);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(ran.state()).unwrap();
    for place in fs::read_dir(ran.state()).unwrap().flatten() {
        if place.file_name().to_string_lossy().starts_with("gate.db") {
            fs::remove_file(place.path()).unwrap();
        }
    }
    Connection::open(ran.database()).unwrap().execute_batch(STORE).unwrap();
    ran.again("man").settings(SETTINGS).committed().code(0)
}

#[test]
fn an_earlier_ledger_holds_and_goes_on() {
    let ran = upgraded().again("ledger verify --json").code(0);
    let verified = ran.json();
    assert_eq!((&verified["ok"], &verified["problem"]), (&true.into(), &serde_json::Value::Null));
    let ran = ran.again("log").code(0).says("policy_lock").says("exit");
    let ran = ran.again("explain 5").code(0).says("a rule that this version of gate does not have");
    let ran = ran.again("check --run open --json out.log").file("out.log", UNDONE).code(1);
    // The records are older than twelve hours, so the loop goes on with another run.
    assert_eq!(ran.json()["run"], "open#2", "nothing locks it");
    let ran = ran.again("check --run next out.log").file("out.log", DONE).code(0);
    ran.again("ledger verify").code(0).says("HOLDS");
}

#[test]
fn earlier_settings_hold_and_name_the_keys_that_are_gone() {
    let ran = upgraded().again("check --run next --json out.log").file("out.log", DONE).code(0);
    let decision = ran.json();
    assert_eq!(each(&decision, "warnings", "code")[..2], ["setting-gone", "setting-gone"]);
    assert_eq!(each(&decision, "evidence", "check"), ["tests"]);
    let ran = ran.again("check --run next out.log").code(0);
    let ran = ran.says("gate.toml:6: `checks.tests.fail_to_pass` is gone and changes nothing");
    let ran = ran.again("doctor").code(0).says("gate.toml:8: `checks.noticed` is gone");
    ran.again("config show").code(0);
}

#[test]
fn earlier_hooks_work_and_are_brought_up_to_date() {
    let ran = upgraded().again("install claude-code").code(0);
    let copy = ran.copy_of_gate().display().to_string();
    let hooks = HOOKS.replace("/srv/home/.local/share/gate/bin/gate", &copy);
    let settings = ran.home().join(".claude/settings.json");
    let written = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, &hooks).unwrap();
    let ran = ran.again("doctor --agent claude-code").code(0);
    let ran = ran.again("doctor --fix").code(0);
    assert_eq!(fs::read_to_string(&settings).unwrap(), written);
    ran.again("uninstall claude-code").code(0);
}
