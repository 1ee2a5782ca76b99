//! The tree's manifest with the keys that select or run tests set back to what they were
//! at the baseline. Dependencies, features, targets and exports stay the tree's.

mod cargo;
mod dependencies;
mod ini;
mod object;
mod package;
mod python;
mod targets;
#[cfg(test)]
mod tests;

pub use dependencies::python_dependencies;
pub use targets::idle_targets;
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
