//! `pyproject.toml`: pytest, coverage, tox, nox, scripts of environments; what the
//! linters leave out; the names of the dependencies.

use serde_json::Value;

use super::key::{Free, Keys, Reach, leaves};
use crate::integrity::rule;

/// Tables of tools that select or run tests.
pub(super) const TOOLS: [&str; 8] =
    ["pytest", "coverage", "tox", "nox", "poe", "taskipy", "pytest-watch", "nose"];

/// Keys that may be changed: names, and how much is printed.
const HARMLESS: [&str; 4] = ["markers", "minversion", "required_plugins", "cache_dir"];

/// Keys of linters and type checkers that leave something out.
pub(super) const LEAVES_OUT: [&str; 11] = [
    "ignore",
    "extend-ignore",
    "per-file-ignores",
    "extend-per-file-ignores",
    "exclude",
    "extend-exclude",
    "ignore_errors",
    "ignore_missing_imports",
    "disable_error_code",
    "disable",
    "skips",
];

pub(super) fn keys(text: &str, _: &Reach) -> Option<Keys> {
    let table: toml::Table = toml::from_str(text).ok()?;
    let table = serde_json::to_value(table).ok()?;
    let tool = &table["tool"];
    let mut keys = Keys::default();
    for name in TOOLS {
        leaves(&format!("tool.{name}"), &tool[name], &mut |at, value| {
            let last = at.rsplit('.').next().unwrap_or(at);
            if !(value.is_null() || is_harmless(last)) {
                keys.add(at, value, Free::Not);
            }
        });
    }
    for (name, environment) in tool["hatch"]["envs"].as_object().into_iter().flatten() {
        leaves(
            &format!("tool.hatch.envs.{name}.scripts"),
            &environment["scripts"],
            &mut |at, value| {
                if !value.is_null() {
                    keys.add(at, value, Free::ToAdd);
                }
            },
        );
    }
    for name in ["ruff", "mypy", "pylint", "flake8", "bandit", "pyright", "basedpyright"] {
        leaves(&format!("tool.{name}"), &tool[name], &mut |at, value| {
            left_out(&mut keys, at, value);
        });
    }
    Some(keys)
}

pub(super) fn is_harmless(key: &str) -> bool {
    HARMLESS.contains(&key) || key.starts_with("log_") || key.starts_with("asyncio_")
}

/// Everything that the settings of a linter leave out.
fn left_out(keys: &mut Keys, at: &str, value: &Value) {
    let parts: Vec<_> = at.split('.').collect();
    let Some(named) = parts.iter().find(|part| LEAVES_OUT.contains(part)) else { return };
    match value {
        Value::Bool(false) | Value::Null => {}
        Value::Array(list) => {
            for item in list {
                keys.add_for(&rule::LINT, format!("{at} {item}"), "", Free::ToRemove);
            }
        }
        value => keys.add_for(&rule::LINT, format!("{at} {named}"), value, Free::ToRemove),
    }
}

/// The names of the dependencies that a file declares: `pyproject.toml`, or a list
/// of requirements.
pub fn dependencies(path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name == "pyproject.toml" {
        return declared(text).unwrap_or_default();
    }
    if name.starts_with("requirements") && name.ends_with(".txt") {
        return text.lines().filter_map(requirement).collect();
    }
    Vec::new()
}

fn declared(text: &str) -> Option<Vec<String>> {
    let table: toml::Table = toml::from_str(text).ok()?;
    let table = serde_json::to_value(table).ok()?;
    let mut names = Vec::new();
    leaves("project", &table["project"], &mut |at, value| {
        let at = at.trim_start_matches("project.");
        if at == "dependencies" || at.starts_with("optional-dependencies.") {
            let list = value.as_array().into_iter().flatten().filter_map(Value::as_str);
            names.extend(list.filter_map(requirement));
        }
    });
    leaves("groups", &table["dependency-groups"], &mut |_, value| {
        let list = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        names.extend(list.filter_map(requirement));
    });
    let poetry = table["tool"]["poetry"]["dependencies"].as_object();
    names.extend(poetry.into_iter().flatten().map(|(name, _)| normal(name)));
    Some(names)
}

/// The name in a line of requirements, as a module would be called.
fn requirement(line: &str) -> Option<String> {
    let line = line.trim();
    let name: String =
        line.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')).collect();
    (!name.is_empty() && !line.starts_with(['-', '.', '#'])).then(|| normal(&name))
}

fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', '.'], "_")
}
