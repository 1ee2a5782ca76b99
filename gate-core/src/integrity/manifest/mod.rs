//! The tree's manifest with the keys that select or run tests set back to what they were
//! at the baseline. Dependencies, features, targets and exports stay the tree's.

mod cargo;
mod ini;
mod object;
mod package;
mod python;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value as Json;
use toml::{Table, Value};

/// A manifest whose keys about tests are the baseline's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergedManifest {
    /// Nothing that selects or runs tests differs: the tree's manifest stands as it is.
    Same,
    /// The tree's manifest with the keys set back.
    Text(Vec<u8>),
    /// The two differ, and gate cannot read one of them or does not know its format.
    Unmergeable,
}

/// The manifest of the tree with the baseline's keys about tests; `path` determines the format.
pub fn merge_manifest(path: &str, before: &[u8], now: &[u8]) -> MergedManifest {
    if before == now {
        return MergedManifest::Same;
    }
    let (Ok(before), Ok(now)) = (std::str::from_utf8(before), std::str::from_utf8(now)) else {
        return MergedManifest::Unmergeable;
    };
    let merged = match path.rsplit('/').next().unwrap_or(path) {
        "Cargo.toml" => toml(before, now, cargo::set_back),
        "pyproject.toml" => toml(before, now, python::set_back),
        "package.json" => package::merged(before, now),
        "deno.json" | "deno.jsonc" => package::merged_deno(before, now),
        "setup.cfg" | "tox.ini" => Some(ini::merged(before, now)),
        // It lists what the product depends on, and selects no test.
        "go.mod" => return MergedManifest::Same,
        _ => None,
    };
    match merged {
        Some(Some(text)) => MergedManifest::Text(text.into_bytes()),
        Some(None) => MergedManifest::Same,
        None => MergedManifest::Unmergeable,
    }
}

/// A readable manifest: the new text, if it differs from the tree's.
type Merged = Option<Option<String>>;

fn toml(before: &str, now: &str, set_back: fn(&Table, &mut Table)) -> Merged {
    let before: Table = toml::from_str(before).ok()?;
    let now: Table = toml::from_str(now).ok()?;
    let mut merged = now.clone();
    set_back(&before, &mut merged);
    if merged == now { Some(None) } else { toml::to_string(&merged).ok().map(Some) }
}

/// Sets the value below some keys back, or removes it if there was none.
fn restore(before: &Table, now: &mut Table, keys: &[&str]) {
    let [key, rest @ ..] = keys else { return };
    if rest.is_empty() {
        match before.get(*key) {
            Some(value) => now.insert((*key).to_owned(), value.clone()),
            None => now.remove(*key),
        };
        return;
    }
    let empty = Table::new();
    let old = before.get(*key).and_then(Value::as_table).unwrap_or(&empty);
    match now.get_mut(*key) {
        Some(Value::Table(table)) => restore(old, table, rest),
        _ if below(old, rest).is_some() => {
            let mut table = Table::new();
            restore(old, &mut table, rest);
            now.insert((*key).to_owned(), Value::Table(table));
        }
        _ => {}
    }
}

/// The value below some keys.
fn below<'t>(table: &'t Table, keys: &[&str]) -> Option<&'t Value> {
    let (first, rest) = keys.split_first()?;
    let value = table.get(*first)?;
    if rest.is_empty() { Some(value) } else { below(value.as_table()?, rest) }
}

/// The names of the tables or values below some keys, in both versions.
fn names(before: &Table, now: &Table, keys: &[&str]) -> Vec<String> {
    let tables = [before, now].map(|table| below(table, keys).and_then(Value::as_table));
    let mut names: Vec<String> =
        tables.into_iter().flatten().flat_map(|table| table.keys().cloned()).collect();
    names.sort();
    names.dedup();
    names
}

/// The names of the dependencies that a file declares: `pyproject.toml`, or a list
/// of requirements.
pub fn python_dependencies(path: &str, text: &str) -> Vec<String> {
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
    let table: Table = toml::from_str(text).ok()?;
    let table = serde_json::to_value(table).ok()?;
    let groups = [&table["project"]["optional-dependencies"], &table["dependency-groups"]];
    let groups = groups.into_iter().filter_map(Json::as_object).flat_map(|groups| groups.values());
    let lists = [&table["project"]["dependencies"]].into_iter().chain(groups);
    let lines = lists.filter_map(Json::as_array).flatten().filter_map(Json::as_str);
    let poetry = table["tool"]["poetry"]["dependencies"].as_object();
    let poetry = poetry.into_iter().flatten().map(|(name, _)| normal(name));
    Some(lines.filter_map(requirement).chain(poetry).collect())
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

/// The targets of a makefile that a file of their name would keep from running.
pub fn idle_targets(text: &str) -> Vec<String> {
    let mut phony: Vec<&str> = Vec::new();
    let mut runs: BTreeMap<&str, bool> = BTreeMap::new();
    let mut open: Vec<&str> = Vec::new();
    let joined = text.replace("\\\n", " ");
    for line in joined.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if line.starts_with(['\t', ' ']) && !open.is_empty() {
            runs.extend(open.iter().map(|name| (*name, true)));
            continue;
        }
        open.clear();
        let Some((names, rest)) =
            trimmed.split_once(':').filter(|(_, rest)| !rest.starts_with('='))
        else {
            continue;
        };
        let (needs, first) = rest.trim_start_matches(':').split_once(';').unwrap_or((rest, ""));
        if names.trim() == ".PHONY" {
            phony.extend(needs.split_whitespace());
            continue;
        }
        open = names.split_whitespace().collect();
        for name in &open {
            *runs.entry(*name).or_default() |= !first.trim().is_empty();
        }
    }
    let names = runs.into_iter().filter(|(_, has_recipe)| *has_recipe).map(|(name, _)| name);
    let names = names.filter(|name| !phony.contains(name) && !name.contains(['.', '/', '%', '$']));
    names.map(str::to_owned).collect()
}
