//! Keys of earlier versions: a text that has one still counts, and the key changes nothing.

use toml::{Table, Value};

use super::key::KeyPath;
use super::lock;

/// The check that earlier versions had built in. With a command it is a check of the project's own.
const NOTICED: &str = "noticed";

/// The keys of checks that earlier versions had, each with its remedy.
const CHECK_KEYS: [(&str, &str); 3] = [
    ("fail_to_pass", "with `gate run --tests-first` tests have to fail before the work"),
    ("deciding", "the baseline's tests always decide in a copy of their own"),
    ("prepare", "what tests need and git ignores has to be tracked, or made by the tests"),
];

/// The keys of `[integrity]` that earlier versions had, each with its remedy.
const INTEGRITY_KEYS: [(&str, &str); 2] = [
    ("budget", "a linter as a check counts suppressions"),
    ("nothing_changed", "work that changed nothing is asked about once"),
];

/// The key of `[integrity]` whose globs stand in `[guarded]` now.
const PROTECT: &str = "protect";

/// The effect of a key that changes nothing.
const NO_EFFECT: &str = "is gone and changes nothing";

/// A key of an earlier version.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RemovedKey {
    pub(super) path: KeyPath,
    /// The effect that it still has, as a phrase.
    pub(super) effect: &'static str,
    /// The remedy, as a phrase.
    pub(super) instead: &'static str,
}

/// The text without keys of earlier versions, and these keys; `None` if it has no such key.
pub(super) fn remove_old_keys(text: &str) -> Option<(String, Vec<RemovedKey>)> {
    // Most texts have no such key, and are read once.
    let keys = CHECK_KEYS.iter().chain(&INTEGRITY_KEYS).map(|(key, _)| *key);
    if !keys.chain([NOTICED, PROTECT]).any(|name| text.contains(name)) {
        return None;
    }
    let mut table: Table = text.parse().ok()?;
    let mut removed_keys = Vec::new();
    let has_command = has_own_check(&table);
    remove_check_keys(&mut table, has_command, &KeyPath::default(), &mut removed_keys);
    if let Some(Value::Table(integrity)) = table.get_mut("integrity") {
        remove_keys(integrity, &INTEGRITY_KEYS, &KeyPath::dotted("integrity"), &mut removed_keys);
    }
    move_protected(&mut table, &mut removed_keys);
    let types = table.get_mut("task_types").and_then(Value::as_table_mut);
    for (name, settings) in types.into_iter().flatten() {
        if let Value::Table(settings) = settings {
            remove_check_keys(
                settings,
                has_command,
                &KeyPath::dotted("task_types").key(name),
                &mut removed_keys,
            );
        }
    }
    if let Some(Value::Array(locked)) = table.get_mut(lock::LOCKED) {
        let removed: Vec<_> = removed_keys.iter().map(|key| key.path.to_string()).collect();
        let is_removed =
            |key: &str| removed.iter().any(|path| path == key || lock::is_below(key, path));
        locked.retain(|key| !key.as_str().is_some_and(is_removed));
    }
    if removed_keys.is_empty() { None } else { Some((table.to_string(), removed_keys)) }
}

/// Moves the globs of `integrity.protect` to `[guarded]`.
fn move_protected(table: &mut Table, removed_keys: &mut Vec<RemovedKey>) {
    let integrity = table.get_mut("integrity").and_then(Value::as_table_mut);
    let Some(Value::Array(globs)) = integrity.and_then(|integrity| integrity.remove(PROTECT))
    else {
        return;
    };
    let path = KeyPath::dotted("integrity").key(PROTECT);
    let instead = "write `\"GLOB\" = \"block\"` there";
    removed_keys.push(RemovedKey { path, effect: "is `[guarded]` now", instead });
    let guarded = table.entry("guarded").or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(guarded) = guarded {
        for glob in globs.into_iter().filter_map(|glob| glob.as_str().map(str::to_owned)) {
            guarded.entry(glob).or_insert_with(|| Value::from("block"));
        }
    }
}

/// `noticed` is a check of the project's own: it has a command, for all tasks or for one type.
fn has_own_check(table: &Table) -> bool {
    let types = table.get("task_types").and_then(Value::as_table);
    let type_settings = types.into_iter().flatten().filter_map(|(_, value)| value.as_table());
    [table].into_iter().chain(type_settings).any(|settings| {
        let noticed = settings.get("checks").and_then(|checks| checks.get(NOTICED));
        noticed.is_some_and(|check| check.get("command").is_some())
    })
}

/// Removes the keys of the checks in a table.
fn remove_check_keys(
    settings: &mut Table,
    has_command: bool,
    table_path: &KeyPath,
    removed_keys: &mut Vec<RemovedKey>,
) {
    let Some(Value::Table(checks)) = settings.get_mut("checks") else { return };
    let checks_path = table_path.key("checks");
    if !has_command && checks.get(NOTICED).is_some_and(Value::is_table) {
        checks.remove(NOTICED);
        let instead = "a check of your own can run a tool such as `cargo mutants`";
        removed_keys.push(RemovedKey {
            path: checks_path.key(NOTICED),
            effect: NO_EFFECT,
            instead,
        });
    }
    for (name, check) in checks.iter_mut() {
        if let Value::Table(check) = check {
            remove_keys(check, &CHECK_KEYS, &checks_path.key(name), removed_keys);
        }
    }
}

fn remove_keys(
    table: &mut Table,
    keys: &[(&str, &'static str)],
    table_path: &KeyPath,
    removed_keys: &mut Vec<RemovedKey>,
) {
    for (key, instead) in keys {
        if table.remove(*key).is_some() {
            removed_keys.push(RemovedKey { path: table_path.key(key), effect: NO_EFFECT, instead });
        }
    }
}
