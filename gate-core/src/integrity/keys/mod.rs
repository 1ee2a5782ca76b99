//! Manifests: of all that they say, what selects or runs tests, and where
//! dependencies come from.
//!
//! Each reader makes of a manifest a list of keys with values; what is different
//! between two lists is a finding. Everything else in a manifest is the work's.

mod build;
mod cargo;
mod git;
mod ini;
mod package;
mod python;
mod recipes;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

use super::finding::Finding;
use super::rule::{self, About};
pub use python::dependencies as python_dependencies;
pub use recipes::idle as idle_targets;

/// What may become of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Free {
    /// Nothing: every change is told.
    Not,
    /// It may be new.
    ToAdd,
    /// It may go.
    ToRemove,
    /// It may be new, and it may go.
    Both,
}

/// A guarded key.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    value: String,
    free: Free,
    about: &'static About,
}

/// The guarded keys of a manifest, by their names.
#[derive(Debug, Default)]
struct Keys(BTreeMap<String, Key>);

impl Keys {
    fn add(&mut self, name: impl Into<String>, value: &(impl ToString + ?Sized), free: Free) {
        self.of(&rule::MANIFEST, name, value, free);
    }

    fn of(
        &mut self,
        about: &'static About,
        name: impl Into<String>,
        value: &(impl ToString + ?Sized),
        free: Free,
    ) {
        self.0.insert(name.into(), Key { value: value.to_string(), free, about });
    }

    /// What is different in another list.
    fn findings(&self, now: &Self, path: &str, text: &str) -> Vec<Finding> {
        let names: std::collections::BTreeSet<_> = self.0.keys().chain(now.0.keys()).collect();
        let different = names.into_iter().filter_map(|name| {
            let (about, how) = match (self.0.get(name), now.0.get(name)) {
                (None, Some(key)) if !matches!(key.free, Free::ToAdd | Free::Both) => {
                    (key.about, "is new")
                }
                (Some(key), None) if !matches!(key.free, Free::ToRemove | Free::Both) => {
                    (key.about, "is gone")
                }
                (Some(was), Some(is)) if was.value != is.value => (is.about, "was changed"),
                _ => return None,
            };
            let finding = about.finding(path);
            let shown = crate::text::brief(name, 80);
            let message = format!("{}: `{shown}` {how}", finding.message);
            Some(line_of(Finding { message, ..finding }, name, text))
        });
        different.collect()
    }
}

/// A finding with the line that a key stands on, where that can be seen.
fn line_of(finding: Finding, name: &str, text: &str) -> Finding {
    let last = name.rsplit(['.', ' ']).next().unwrap_or(name).trim_matches('"');
    let begins = |line: &&str| {
        let line = line.trim_start().trim_start_matches(['"', '\'', '[']);
        line.strip_prefix(last).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    };
    match text.lines().enumerate().find(|(_, line)| begins(line)) {
        Some((at, line)) if !last.is_empty() => finding.at(at, line),
        _ => finding,
    }
}

/// What is different between two versions of a manifest in its guarded keys.
pub(super) fn findings(
    path: &str,
    (before, now): (&str, &str),
    commands: &[(String, Vec<String>)],
) -> Vec<Finding> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let read: fn(&str, &Reach) -> Option<Keys> = match name {
        "Cargo.toml" => cargo::keys,
        "package.json" => package::keys,
        "pyproject.toml" => python::keys,
        "setup.cfg" | "tox.ini" => ini::keys,
        "pom.xml" => build::maven,
        "go.mod" => build::go,
        name if name.starts_with("vite.config.") => build::vite,
        "build.gradle" | "build.gradle.kts" => build::gradle,
        _ => recipes::keys,
    };
    let reach = Reach::of(commands, (before, now));
    match (read(before, &reach), read(now, &reach)) {
        (Some(before), Some(is)) => before.findings(&is, path, now),
        // What was broken before is anybody's to repair.
        (None, Some(_)) => Vec::new(),
        (_, None) => {
            let finding = rule::MANIFEST.finding(path);
            let message = "a manifest cannot be read any more".to_owned();
            vec![Finding { message, ..finding }]
        }
    }
}

/// What checks run, and people by habit.
struct Reach {
    /// Names of targets and scripts.
    names: Vec<String>,
    /// The versions of the manifest: what one of them reaches is guarded in both.
    texts: [String; 2],
}

/// Targets and scripts that run tests wherever they are.
const USUAL: [&str; 8] =
    ["test", "tests", "check", "ci", "verify", "lint", "typecheck", "coverage"];

impl Reach {
    fn of(commands: &[(String, Vec<String>)], (before, now): (&str, &str)) -> Self {
        // The first word is the program.
        let words = commands.iter().flat_map(|(_, words)| words.iter().skip(1));
        let words = words.flat_map(|word| word.split_whitespace());
        let verb = |word: &&str| matches!(*word, "run" | "run-script" | "exec");
        let plain = words.filter(|word| !word.starts_with('-') && !word.contains(['=', '/']));
        let plain = plain.filter(|word| !verb(word));
        let names = USUAL.into_iter().chain(plain).map(str::to_owned).collect();
        Self { names, texts: [before.to_owned(), now.to_owned()] }
    }
}

/// Plain data as one text, in order of its keys.
fn canonical(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).map(|value| value.to_string()).unwrap_or_default()
}

/// Every value of some data that is no table, with its path.
fn leaves(at: &str, value: &Value, found: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(table) => {
            for (key, value) in table {
                leaves(&format!("{at}.{key}"), value, found);
            }
        }
        value => found(at, value),
    }
}

/// Of a file outside of the tree, or that git ignores, what can get around the
/// checks: two versions with the same are the same here.
pub fn decisive(path: &str, bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    if path.ends_with(".git/config") {
        return git::decisive(&text).into_bytes();
    }
    hooks_of(path, bytes).map_or_else(|| bytes.to_vec(), |value| value.to_string().into_bytes())
}

/// What of an agent's settings concerns hooks; none where the file holds no
/// settings, or cannot be read as such.
fn hooks_of(path: &str, bytes: &[u8]) -> Option<Value> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_local = name == "settings.local.json";
    if !(is_local || name == "settings.json") {
        return None;
    }
    let Ok(Value::Object(mut table)) = serde_json::from_slice(bytes) else { return None };
    // A client's own file is its own, but for what it runs and is told.
    let hooks = ["hooks", "disableAllHooks", "allowManagedHooksOnly", "env", "hooksConfig"];
    let decides = |key: &str| if is_local { hooks.contains(&key) } else { key != "permissions" };
    table.retain(|key, _| decides(key));
    Some(Value::Object(table))
}

/// Whether in an agent's settings only what concerns no hook is different: its
/// client itself keeps there what a person permitted.
pub(super) fn only_permissions(path: &str, before: Option<&[u8]>, now: Option<&[u8]>) -> bool {
    let read = |bytes: Option<&[u8]>| hooks_of(path, bytes.unwrap_or(b"{}"));
    read(before).is_some_and(|was| read(now) == Some(was))
}
