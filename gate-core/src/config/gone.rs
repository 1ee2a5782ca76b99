//! Keys that earlier versions had: a text that has one still counts, and the key changes nothing.

use toml::{Table, Value};

use super::key::KeyPath;
use super::lock;

/// The check that earlier versions had built in. With a command it is a check of the project's own.
const NOTICED: &str = "noticed";

/// The key of a check that earlier versions had.
const FAIL_TO_PASS: &str = "fail_to_pass";

/// A key of an earlier version.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GoneKey {
    pub(super) path: KeyPath,
    /// The remedy, as a phrase.
    pub(super) instead: &'static str,
}

/// The text without keys of earlier versions, and these keys; none if it has none.
pub(super) fn without(text: &str) -> Option<(String, Vec<GoneKey>)> {
    // Most texts have none, and are read once.
    if ![NOTICED, FAIL_TO_PASS].iter().any(|name| text.contains(name)) {
        return None;
    }
    let mut table: Table = text.parse().ok()?;
    let mut removed_keys = Vec::new();
    let has_command = has_own_check(&table);
    take(&mut table, has_command, &KeyPath::default(), &mut removed_keys);
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
        removed_keys.push(GoneKey { path: at.key(NOTICED), instead });
    }
    for (name, check) in checks.iter_mut() {
        if let Value::Table(check) = check
            && check.remove(FAIL_TO_PASS).is_some()
        {
            let path = at.key(name).key(FAIL_TO_PASS);
            let instead = "with `gate run --tests-first` tests have to fail before the work";
            removed_keys.push(GoneKey { path, instead });
        }
    }
}
