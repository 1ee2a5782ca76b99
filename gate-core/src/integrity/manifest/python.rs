//! `pyproject.toml`: the tables of test runners, scripts of environments, plug-ins that
//! pytest loads by itself.

use toml::{Table, Value};

use super::{names, restore};

/// Tables of tools that select or run tests.
const TOOLS: [&str; 8] =
    ["pytest", "coverage", "tox", "nox", "poe", "taskipy", "pytest-watch", "nose"];

/// Keys that may be changed: names, and how much is printed.
const HARMLESS: [&str; 4] = ["markers", "minversion", "required_plugins", "cache_dir"];

pub(super) fn set_back(before: &Table, now: &mut Table) {
    for tool in names(before, now, &["tool"]) {
        let runs_tests = TOOLS.contains(&tool.as_str())
            || ["pytest", "coverage"].iter().any(|start| tool.starts_with(start));
        if runs_tests {
            set_back_table(before, now, &tool);
        }
    }
    for environment in names(before, now, &["tool", "hatch", "envs"]) {
        restore(before, now, &["tool", "hatch", "envs", &environment, "scripts"]);
    }
    for runner in ["pdm", "rye"] {
        restore(before, now, &["tool", runner, "scripts"]);
    }
    restore(before, now, &["project", "entry-points", "pytest11"]);
    restore(before, now, &["tool", "poetry", "plugins", "pytest11"]);
}

/// Sets a tool's table back, but for what selects nothing.
fn set_back_table(before: &Table, now: &mut Table, tool: &str) {
    let own = |table: &Table| table.get("tool").and_then(|tools| tools.get(tool)).cloned();
    let merged = mixed(own(before), own(now), false);
    let mut was = Table::new();
    let mut tools = Table::new();
    if let Some(value) = merged {
        tools.insert(tool.to_owned(), value);
        was.insert("tool".to_owned(), Value::Table(tools));
    }
    restore(&was, now, &["tool", tool]);
}

/// The baseline's value; of a table, the tree's harmless keys. With `is_union` a list has the items of
/// both.
fn mixed(before: Option<Value>, now: Option<Value>, is_union: bool) -> Option<Value> {
    let (was, is) = match (before, now) {
        (Some(Value::Table(was)), Some(Value::Table(is))) => (was, is),
        (Some(Value::Array(mut was)), Some(Value::Array(is))) if is_union => {
            was.extend(is.into_iter().filter(|item| !was.contains(item)).collect::<Vec<_>>());
            return Some(Value::Array(was));
        }
        (Some(Value::Table(was)), None) => (was, Table::new()),
        (None, Some(Value::Table(is))) => (Table::new(), is),
        (before, _) => return before,
    };
    let mut keys: Vec<&String> = was.keys().chain(is.keys()).collect();
    keys.sort();
    keys.dedup();
    let mut merged = Table::new();
    for key in keys {
        let (old, new) = (was.get(key).cloned(), is.get(key).cloned());
        let value = if is_harmless(key) { new } else { mixed(old, new, is_list_of_tests(key)) };
        if let Some(value) = value {
            merged.insert(key.clone(), value);
        }
    }
    let is_left = !merged.is_empty() || (was.is_empty() && is.is_empty());
    is_left.then_some(Value::Table(merged))
}

/// True for a list of what is run: the baseline's and the tree's together leave no test out.
pub(super) fn is_list_of_tests(key: &str) -> bool {
    matches!(
        key,
        "testpaths" | "python_files" | "python_classes" | "python_functions" | "pythonpath"
    )
}

/// True for a key that selects nothing.
pub(super) fn is_harmless(key: &str) -> bool {
    HARMLESS.contains(&key) || key.starts_with("log_") || key.starts_with("asyncio_")
}
