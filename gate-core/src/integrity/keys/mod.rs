//! Manifests: of all that they say, what selects or runs tests, and where
//! dependencies come from.
//!
//! Each reader makes of a manifest a list of keys with values; what is different
//! between two lists is a finding. Everything else in a manifest is the work's.

mod build;
mod cargo;
mod git;
mod ini;
mod key;
mod merged;
mod package;
mod python;
mod recipes;
mod stricter;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::finding::{Finding, Severity};
use super::rule;
use key::{Keys, Reach};
pub use merged::{MergedManifest, merge_manifest};
pub use python::dependencies as python_dependencies;
pub use recipes::idle as idle_targets;
use stricter::lines_are_no_weaker;

/// The differences between two versions of a manifest in its guarded keys.
pub(super) fn findings(
    path: &str,
    (before, now): (&str, &str),
    commands: &[(String, Vec<String>)],
) -> Vec<Finding> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if lines_are_no_weaker(path, before, now) {
        return Vec::new();
    }
    let read: fn(&str, &Reach) -> Option<Keys> = match name {
        "Cargo.toml" => cargo::keys,
        "package.json" => package::keys,
        "pyproject.toml" => python::keys,
        "setup.cfg" | "tox.ini" => ini::keys,
        "pom.xml" => build::maven,
        "go.mod" | "go.work" => build::go,
        name if name.ends_with(".mk") => recipes::included,
        name if name.starts_with("vite.config.") => build::vite,
        "build.gradle" | "build.gradle.kts" => build::gradle,
        _ => recipes::keys,
    };
    let reach = Reach::new(commands, (before, now));
    match (read(before, &reach), read(now, &reach)) {
        (Some(before), Some(is)) => before.findings(&is, path, now),
        // A manifest that was broken may be repaired.
        (None, Some(_)) => Vec::new(),
        (_, None) => {
            let finding = rule::MANIFEST.finding(path);
            let message = "a manifest cannot be read any more".to_owned();
            vec![Finding { message, ..finding }]
        }
    }
}

/// True if two versions of a manifest select and run the same tests.
pub fn selects_the_same_tests(
    path: &str,
    (before, now): (&[u8], &[u8]),
    commands: &[(String, Vec<String>)],
) -> bool {
    let [before, now] = [before, now].map(String::from_utf8_lossy);
    let found = findings(path, (&before, &now), commands);
    found.iter().all(|finding| finding.severity == Severity::Warn)
}

/// Two versions of a runner's own settings select and run the same, or the new one is stricter.
pub(super) fn runs_the_same(path: &str, before: &str, now: &str) -> bool {
    if !path.ends_with("pytest.ini") {
        return lines_are_no_weaker(path, before, now);
    }
    let reach = Reach::new(&[], (before, now));
    let both = (ini::keys(before, &reach), ini::keys(now, &reach));
    matches!(both, (Some(before), Some(is)) if before.findings(&is, path, now).is_empty())
}

/// Of a file outside of the tree, or that git ignores, what can get around the
/// checks: two versions with the same are the same here.
pub fn decisive(path: &str, bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    if path.ends_with(".git/config") {
        return git::decisive(&text).into_bytes();
    }
    hooks(path, bytes).map_or_else(|| bytes.to_vec(), |value| value.to_string().into_bytes())
}

/// The part of an agent's settings that concerns hooks; `None` if the file holds no
/// settings, or cannot be read as such.
fn hooks(path: &str, bytes: &[u8]) -> Option<Value> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_local = name == "settings.local.json";
    if !(is_local || name == "settings.json") {
        return None;
    }
    let Ok(Value::Object(mut table)) = serde_json::from_slice(bytes) else { return None };
    // A client's own file is not guarded, except for the keys about what it runs and about its
    // environment.
    let hooks = ["hooks", "disableAllHooks", "allowManagedHooksOnly", "env", "hooksConfig"];
    table.retain(
        |key, _| if is_local { hooks.contains(&key.as_str()) } else { key != "permissions" },
    );
    Some(Value::Object(table))
}

/// Two versions of an agent's settings differ only in what concerns no hook: its
/// client itself keeps there what a person permitted.
pub(super) fn only_permissions(path: &str, before: Option<&[u8]>, now: Option<&[u8]>) -> bool {
    let [before, now] = [before, now].map(|bytes| hooks(path, bytes.unwrap_or(b"{}")));
    before.is_some() && before == now
}
