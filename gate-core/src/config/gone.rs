//! Keys that earlier versions had: a text that has one still counts, and the key changes nothing.

use toml::{Table, Value};

use super::key::KeyPath;
use super::lock;

/// The check that earlier versions had built in. With a command it is a check of the project's own.
const NOTICED: &str = "noticed";

/// The keys of checks that earlier versions had, each with its remedy.
const OF_CHECKS: [(&str, &str); 3] = [
    ("fail_to_pass", "with `gate run --tests-first` tests have to fail before the work"),
    ("deciding", "the baseline's tests always decide in a copy of their own"),
    ("prepare", "what tests need and git ignores has to be tracked, or made by the tests"),
];

/// The keys of `[integrity]` that earlier versions had, each with its remedy.
const OF_INTEGRITY: [(&str, &str); 2] = [
    ("budget", "a linter as a check counts suppressions"),
    ("nothing_changed", "work that changed nothing is asked about once"),
];

/// The key of `[integrity]` whose globs stand in `[guarded]` now.
const PROTECT: &str = "protect";

/// The effect of a key that has none.
const NOTHING: &str = "is gone and changes nothing";

/// A key of an earlier version.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GoneKey {
    pub(super) path: KeyPath,
    /// The effect that it still has, as a phrase.
    pub(super) effect: &'static str,
    /// The remedy, as a phrase.
    pub(super) instead: &'static str,
}

/// The text without keys of earlier versions, and these keys; none if it has none.
pub(super) fn without(text: &str) -> Option<(String, Vec<GoneKey>)> {
    // Most texts have none, and are read once.
    let keys = OF_CHECKS.iter().chain(&OF_INTEGRITY).map(|(key, _)| *key);
    if !keys.chain([NOTICED, PROTECT]).any(|name| text.contains(name)) {
        return None;
    }
    let mut table: Table = text.parse().ok()?;
    let mut removed_keys = Vec::new();
    let has_command = has_own_check(&table);
    take(&mut table, has_command, &KeyPath::default(), &mut removed_keys);
    if let Some(Value::Table(integrity)) = table.get_mut("integrity") {
        take_keys(integrity, &OF_INTEGRITY, &KeyPath::dotted("integrity"), &mut removed_keys);
    }
    move_protected(&mut table, &mut removed_keys);
    let types = table.get_mut("task_types").and_then(Value::as_table_mut);
    for (name, settings) in types.into_iter().flatten() {
        if let Value::Table(settings) = settings {
            take(
                settings,
                has_command,
                &KeyPath::dotted("task_types").key(name),
                &mut removed_keys,
            );
        }
    }
    if let Some(Value::Array(locked)) = table.get_mut(lock::LOCKED) {
        let taken: Vec<_> = removed_keys.iter().map(|key| key.path.to_string()).collect();
        let is_taken =
            |key: &str| taken.iter().any(|path| path == key || lock::is_below(key, path));
        locked.retain(|key| !key.as_str().is_some_and(is_taken));
    }
    if removed_keys.is_empty() { None } else { Some((table.to_string(), removed_keys)) }
}

/// Moves the globs of `integrity.protect` to `[guarded]`.
fn move_protected(table: &mut Table, removed_keys: &mut Vec<GoneKey>) {
    let integrity = table.get_mut("integrity").and_then(Value::as_table_mut);
    let Some(Value::Array(globs)) = integrity.and_then(|integrity| integrity.remove(PROTECT))
    else {
        return;
    };
    let path = KeyPath::dotted("integrity").key(PROTECT);
    let instead = "write `\"GLOB\" = \"block\"` there";
    removed_keys.push(GoneKey { path, effect: "is `[guarded]` now", instead });
    let guarded = table.entry("guarded").or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(guarded) = guarded {
        for glob in globs.into_iter().filter_map(|glob| glob.as_str().map(str::to_owned)) {
            guarded.entry(glob).or_insert_with(|| Value::from("block"));
        }
    }
}

/// True if `noticed` is a check of the project's own: it has a command, for all tasks or for one type.
fn has_own_check(table: &Table) -> bool {
    let types = table.get("task_types").and_then(Value::as_table);
    let types = types.into_iter().flatten().filter_map(|(_, settings)| settings.as_table());
    [table].into_iter().chain(types).any(|settings| {
        let noticed = settings.get("checks").and_then(|checks| checks.get(NOTICED));
        noticed.is_some_and(|check| check.get("command").is_some())
    })
}

/// Takes the keys out of the checks in a table.
fn take(settings: &mut Table, has_command: bool, at: &KeyPath, removed_keys: &mut Vec<GoneKey>) {
    let Some(Value::Table(checks)) = settings.get_mut("checks") else { return };
    let at = at.key("checks");
    if !has_command && checks.get(NOTICED).is_some_and(Value::is_table) {
        checks.remove(NOTICED);
        let instead = "a check of your own can run a tool such as `cargo mutants`";
        removed_keys.push(GoneKey { path: at.key(NOTICED), effect: NOTHING, instead });
    }
    for (name, check) in checks.iter_mut() {
        if let Value::Table(check) = check {
            take_keys(check, &OF_CHECKS, &at.key(name), removed_keys);
        }
    }
}

fn take_keys(
    table: &mut Table,
    keys: &[(&str, &'static str)],
    at: &KeyPath,
    removed_keys: &mut Vec<GoneKey>,
) {
    for (key, instead) in keys {
        if table.remove(*key).is_some() {
            removed_keys.push(GoneKey { path: at.key(key), effect: NOTHING, instead });
        }
    }
}
