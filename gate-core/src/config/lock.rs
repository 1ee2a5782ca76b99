//! Keys that the machine's settings lock: no other source changes them.

use toml::Table;

use super::error::{Fault, Validation};
use super::key::KeyPath;
use super::raw::RawConfig;
use super::schema;

/// The key of a file that lists the locked ones.
pub(super) const LOCKED: &str = "locked";

/// Settings for a type of task. They are locked with the settings that they change.
const TASK_TYPES: &str = "task_types";

/// A locked setting, or a locked table with all settings in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Dotted key, such as `checks.tests.mode`.
    pub key: String,
    /// The file that locks it.
    pub file: String,
    /// The line of the key there, from 1.
    pub line: usize,
}

/// A source that would have set another value of a locked setting.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedAttempt {
    /// Dotted key of the setting.
    pub key: String,
    /// The locked value, as TOML; `None` if the lock leaves the setting out.
    pub value: Option<String>,
    /// File and line of the lock.
    pub lock: String,
    /// The other value, as TOML.
    pub tried_value: String,
    /// The source of the other value: file and line, variable or flag.
    pub source: String,
}

impl Lock {
    /// File and line.
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// The locked key, or a key below it.
    pub(super) fn covers(&self, key: &str) -> bool {
        key == self.key || is_below(key, &self.key)
    }
}

/// Checks the keys that a source locks: only the machine's may, each is a setting, and the same
/// file sets it.
pub(super) fn check(raw: &RawConfig, is_machine: bool) -> Validation {
    let Some(locked) = &raw.locked else { return Ok(()) };
    let list_path = KeyPath::dotted(LOCKED);
    if !is_machine {
        return Err(Fault::invalid(list_path, "only the machine's settings lock keys")
            .hint("move it to /etc/gate/gate.toml"));
    }
    let table = Table::try_from(raw)
        .map_err(|error| Fault::invalid(KeyPath::default(), error.to_string()))?;
    for (index, key) in locked.iter().enumerate() {
        lockable_setting(&table, key, list_path.index(index))?;
    }
    Ok(())
}

fn lockable_setting(table: &Table, key: &str, path: KeyPath) -> Validation {
    let first_step = key.split('.').next().unwrap_or_default();
    if first_step == TASK_TYPES {
        let message = format!("`{key}` is for one type of task, and cannot be locked by itself");
        return Err(
            Fault::invalid(path, message).hint("lock the setting: then no task type changes it")
        );
    }
    if first_step != LOCKED && KeyPath::dotted(key).value_in(table).is_some() {
        return Ok(());
    }
    let all_keys = schema::keys();
    let keys: Vec<&str> = all_keys.iter().map(String::as_str).collect();
    if first_step != LOCKED && keys.iter().any(|pattern| is_within(pattern, key)) {
        let message = format!("`{key}` has no value in this file, so nothing can be locked");
        return Err(Fault::invalid(path, message).hint("set it below"));
    }
    Err(Fault::unknown(path, "setting", key, &keys))
}

/// A key in this table.
pub(super) fn is_below(key: &str, table: &str) -> bool {
    key.strip_prefix(table).is_some_and(|below| below.starts_with('.'))
}

/// A key of the schema, in which `NAME` stands for any name, that is this key or below it.
fn is_within(pattern: &str, key: &str) -> bool {
    let mut steps = pattern.split('.');
    key.split('.').all(|step| steps.next().is_some_and(|name| name == step || name == "NAME"))
}
