//! `pyproject.toml`: the tables of test runners, scripts of environments, plug-ins that
//! pytest loads by itself.

use toml::{Table, Value};

use super::{keys_at, restore};

/// Tables of tools that select or run tests.
const TOOLS: [&str; 8] =
    ["pytest", "coverage", "tox", "nox", "poe", "taskipy", "pytest-watch", "nose"];

/// Keys that may be changed: names, and how much is printed.
const HARMLESS: [&str; 4] = ["markers", "minversion", "required_plugins", "cache_dir"];

pub(super) fn set_back(baseline: &Table, merged: &mut Table) {
    for tool in keys_at(baseline, merged, &["tool"]) {
        let runs_tests = TOOLS.contains(&tool.as_str())
            || ["pytest", "coverage"].iter().any(|start| tool.starts_with(start));
        if runs_tests {
            set_tool_back(baseline, merged, &tool);
        }
    }
    for environment in keys_at(baseline, merged, &["tool", "hatch", "envs"]) {
        restore(baseline, merged, &["tool", "hatch", "envs", &environment, "scripts"]);
    }
    for runner in ["pdm", "rye"] {
        restore(baseline, merged, &["tool", runner, "scripts"]);
    }
    restore(baseline, merged, &["project", "entry-points", "pytest11"]);
    restore(baseline, merged, &["tool", "poetry", "plugins", "pytest11"]);
}

/// Sets a tool's table back, but for what selects nothing.
fn set_tool_back(baseline: &Table, merged: &mut Table, tool: &str) {
    let settings = |table: &Table| table.get("tool").and_then(|tools| tools.get(tool)).cloned();
    let value = merged_value(settings(baseline), settings(merged), false);
    let tools: Table = value.into_iter().map(|value| (tool.to_owned(), value)).collect();
    let merged_tools = Table::from_iter([("tool".to_owned(), Value::Table(tools))]);
    restore(&merged_tools, merged, &["tool", tool]);
}

/// The baseline's value; of a table, the tree's harmless keys. With `is_union` a list has the entries
/// of both versions.
fn merged_value(old: Option<Value>, new: Option<Value>, is_union: bool) -> Option<Value> {
    let (old, new) = match (old, new) {
        (Some(Value::Table(old)), Some(Value::Table(new))) => (old, new),
        (Some(Value::Array(mut list)), Some(Value::Array(new_list))) if is_union => {
            let added: Vec<Value> =
                new_list.into_iter().filter(|entry| !list.contains(entry)).collect();
            list.extend(added);
            return Some(Value::Array(list));
        }
        (Some(Value::Table(old)), None) => (old, Table::new()),
        (None, Some(Value::Table(new))) => (Table::new(), new),
        (old, _) => return old,
    };
    let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
    keys.sort();
    keys.dedup();
    let mut merged = Table::new();
    for key in keys {
        let (old_value, new_value) = (old.get(key).cloned(), new.get(key).cloned());
        let value = if is_harmless(key) {
            new_value
        } else {
            merged_value(old_value, new_value, is_list_of_tests(key))
        };
        if let Some(value) = value {
            merged.insert(key.clone(), value);
        }
    }
    // A table that only held settings of tests goes with them; one that was empty stays.
    let is_kept = !merged.is_empty() || (old.is_empty() && new.is_empty());
    is_kept.then_some(Value::Table(merged))
}

/// A list of what is run: the baseline's and the tree's together leave no test out.
pub(super) fn is_list_of_tests(key: &str) -> bool {
    matches!(
        key,
        "testpaths" | "python_files" | "python_classes" | "python_functions" | "pythonpath"
    )
}

/// A key that selects nothing.
pub(super) fn is_harmless(key: &str) -> bool {
    HARMLESS.contains(&key) || key.starts_with("log_") || key.starts_with("asyncio_")
}
