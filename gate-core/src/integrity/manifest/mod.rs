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

impl MergedManifest {
    /// From the new text, if it differs from the tree's.
    fn from_changed(text: Option<String>) -> Self {
        text.map_or(Self::Same, |text| Self::Text(text.into_bytes()))
    }
}

/// The manifest of the tree with the baseline's keys about tests; `path` determines the format.
pub fn merge_manifest(path: &str, baseline: &[u8], tree: &[u8]) -> MergedManifest {
    if baseline == tree {
        return MergedManifest::Same;
    }
    let texts = [baseline, tree].map(std::str::from_utf8);
    let [Ok(baseline), Ok(tree)] = texts else { return MergedManifest::Unmergeable };
    let merged = match path.rsplit('/').next().unwrap_or(path) {
        "Cargo.toml" => merged_toml(baseline, tree, cargo::set_back),
        "pyproject.toml" => merged_toml(baseline, tree, python::set_back),
        "package.json" => package::merged(baseline, tree),
        "deno.json" | "deno.jsonc" => package::merged_deno(baseline, tree),
        "setup.cfg" | "tox.ini" => Some(ini::merged(baseline, tree)),
        // It lists what the product depends on, and selects no test.
        "go.mod" => return MergedManifest::Same,
        _ => None,
    };
    merged.unwrap_or(MergedManifest::Unmergeable)
}

/// Merges manifests in TOML; `None` if one of them cannot be read.
fn merged_toml(
    baseline: &str,
    tree: &str,
    set_back: fn(&Table, &mut Table),
) -> Option<MergedManifest> {
    let baseline: Table = toml::from_str(baseline).ok()?;
    let tree: Table = toml::from_str(tree).ok()?;
    let mut merged = tree.clone();
    set_back(&baseline, &mut merged);
    let text = if merged == tree { None } else { Some(toml::to_string(&merged).ok()?) };
    Some(MergedManifest::from_changed(text))
}

/// Sets the value at a path of keys back, or removes it if the baseline has no such value.
fn restore(baseline: &Table, merged: &mut Table, path: &[&str]) {
    let [key, inner_path @ ..] = path else { return };
    if inner_path.is_empty() {
        match baseline.get(*key) {
            Some(value) => merged.insert((*key).to_owned(), value.clone()),
            None => merged.remove(*key),
        };
        return;
    }
    let empty = Table::new();
    let baseline = baseline.get(*key).and_then(Value::as_table).unwrap_or(&empty);
    match merged.get_mut(*key) {
        Some(Value::Table(table)) => restore(baseline, table, inner_path),
        // The tree has lost the table, or has something else in its place.
        _ if value_at(baseline, inner_path).is_some() => {
            let mut table = Table::new();
            restore(baseline, &mut table, inner_path);
            merged.insert((*key).to_owned(), Value::Table(table));
        }
        _ => {}
    }
}

fn value_at<'t>(table: &'t Table, path: &[&str]) -> Option<&'t Value> {
    let (key, inner_path) = path.split_first()?;
    let value = table.get(*key)?;
    if inner_path.is_empty() { Some(value) } else { value_at(value.as_table()?, inner_path) }
}

/// The keys of the table at a path, of both versions.
fn keys_at(baseline: &Table, tree: &Table, path: &[&str]) -> Vec<String> {
    let tables = [baseline, tree].map(|table| value_at(table, path).and_then(Value::as_table));
    let mut keys: Vec<String> =
        tables.into_iter().flatten().flat_map(|table| table.keys().cloned()).collect();
    keys.sort();
    keys.dedup();
    keys
}

/// The names of the dependencies that a file declares: `pyproject.toml`, or a list
/// of requirements.
pub fn python_dependencies(path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name == "pyproject.toml" {
        return declared_in_pyproject(text).unwrap_or_default();
    }
    if name.starts_with("requirements") && name.ends_with(".txt") {
        return text.lines().filter_map(required_module).collect();
    }
    Vec::new()
}

fn declared_in_pyproject(text: &str) -> Option<Vec<String>> {
    let table: Table = toml::from_str(text).ok()?;
    // Indexing into JSON gives `null` where a key is missing. So no step below has to look.
    let settings = serde_json::to_value(table).ok()?;
    let project = &settings["project"];
    let grouped = [&project["optional-dependencies"], &settings["dependency-groups"]];
    let grouped = grouped.into_iter().filter_map(Json::as_object).flat_map(|group| group.values());
    let lists = [&project["dependencies"]].into_iter().chain(grouped);
    let requirements = lists.filter_map(Json::as_array).flatten().filter_map(Json::as_str);
    // Poetry has a table, whose keys are the names.
    let poetry = settings["tool"]["poetry"]["dependencies"].as_object();
    let poetry_modules = poetry.into_iter().flatten().map(|(name, _)| module_name(name));
    Some(requirements.filter_map(required_module).chain(poetry_modules).collect())
}

/// The module in a line of requirements: `requests[socks]>=2` gives `requests`.
fn required_module(line: &str) -> Option<String> {
    let line = line.trim();
    let name: String =
        line.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')).collect();
    (!name.is_empty() && !line.starts_with(['-', '.', '#'])).then(|| module_name(&name))
}

/// A package's name as its module is usually called.
fn module_name(package: &str) -> String {
    package.to_ascii_lowercase().replace(['-', '.'], "_")
}

/// The targets of a makefile that a file of their name would keep from running.
pub fn idle_targets(text: &str) -> Vec<String> {
    let mut phony: Vec<&str> = Vec::new();
    let mut has_recipe: BTreeMap<&str, bool> = BTreeMap::new();
    let mut rule_targets: Vec<&str> = Vec::new();
    let joined = text.replace("\\\n", " ");
    for line in joined.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if line.starts_with(['\t', ' ']) && !rule_targets.is_empty() {
            has_recipe.extend(rule_targets.iter().map(|target| (*target, true)));
            continue;
        }
        rule_targets.clear();
        let Some((targets, definition)) = trimmed.split_once(':') else { continue };
        // `a := b` sets a variable.
        if definition.starts_with('=') {
            continue;
        }
        // `a:: b ; c` is a rule with a recipe in its own line.
        let definition = definition.trim_start_matches(':');
        let (needs, recipe) = definition.split_once(';').unwrap_or((definition, ""));
        if targets.trim() == ".PHONY" {
            phony.extend(needs.split_whitespace());
            continue;
        }
        rule_targets = targets.split_whitespace().collect();
        for target in &rule_targets {
            *has_recipe.entry(*target).or_default() |= !recipe.trim().is_empty();
        }
    }
    let targets = has_recipe.into_iter().filter(|(_, has_recipe)| *has_recipe);
    // A name with a dot or a slash is a file that make builds, and one with `%` or `$` is a pattern.
    let idle = targets
        .map(|(target, _)| target)
        .filter(|target| !phony.contains(target) && !target.contains(['.', '/', '%', '$']));
    idle.map(str::to_owned).collect()
}
