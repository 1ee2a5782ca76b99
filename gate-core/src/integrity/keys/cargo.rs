//! `Cargo.toml`: which targets are tested and how, what belongs to the workspace,
//! how tests are built, where dependencies come from.

use serde_json::Value;

use super::key::{Free, Keys, Reach, canonical, leaves};
use crate::integrity::rule;

/// The keys of `[package]` that say which targets there are.
pub(super) const PACKAGE: [&str; 5] =
    ["autotests", "autobins", "autobenches", "autoexamples", "build"];

/// The keys of a target that say whether and how it is tested.
pub(super) const TARGET: [&str; 5] = ["test", "harness", "path", "doctest", "required-features"];

pub(super) fn keys(text: &str, _: &Reach) -> Option<Keys> {
    let table: toml::Table = toml::from_str(text).ok()?;
    let table = serde_json::to_value(table).ok()?;
    let mut keys = Keys::default();
    for key in PACKAGE {
        if let Some(value) = table["package"].get(key) {
            keys.add(format!("package.{key}"), value, Free::Not);
        }
    }
    for key in TARGET {
        if let Some(value) = table["lib"].get(key) {
            keys.add(format!("lib.{key}"), value, Free::Not);
        }
    }
    for kind in ["test", "bin"] {
        for target in table[kind].as_array().into_iter().flatten() {
            a_target(&mut keys, kind, target);
        }
    }
    workspace(&mut keys, &table["workspace"]);
    if let Some(profile) = table["profile"].get("test") {
        keys.add("profile.test", &canonical(profile), Free::Not);
    }
    sources(&mut keys, &table);
    lints(&mut keys, &table);
    Some(keys)
}

/// A new target may be tested; one that was may not stop being.
fn a_target(keys: &mut Keys, kind: &str, target: &Value) {
    let name = target["name"].as_str().unwrap_or_default();
    if kind == "test" {
        keys.add(format!("test {name}"), "", Free::ToAdd);
    }
    for key in TARGET {
        let Some(value) = target.get(key) else { continue };
        let weakens = matches!(key, "test" | "harness") && value == &Value::Bool(false);
        // Another file may take the place of the one that is found by the name.
        let usual = [format!("tests/{name}.rs"), format!("tests/{name}/main.rs")];
        let is_elsewhere = kind == "test"
            && key == "path"
            && !value.as_str().is_some_and(|path| usual.iter().any(|usual| usual == path));
        let free = if weakens || is_elsewhere { Free::ToRemove } else { Free::ToAdd };
        if kind == "test" || matches!(key, "test" | "harness") {
            keys.add(format!("{kind} {name}.{key}"), value, free);
        }
    }
}

fn workspace(keys: &mut Keys, workspace: &Value) {
    for member in workspace["members"].as_array().into_iter().flatten() {
        keys.add(format!("workspace.members {member}"), "", Free::ToAdd);
    }
    for member in workspace["exclude"].as_array().into_iter().flatten() {
        keys.add(format!("workspace.exclude {member}"), "", Free::ToRemove);
    }
    if let Some(members) = workspace.get("default-members") {
        keys.add("workspace.default-members", "", Free::ToRemove);
        for member in members.as_array().into_iter().flatten() {
            keys.add(format!("workspace.default-members {member}"), "", Free::ToAdd);
        }
    }
}

/// The sources of dependencies: a new one from anywhere, a known one from the same.
fn sources(keys: &mut Keys, table: &Value) {
    for kind in ["patch", "replace"] {
        leaves(kind, &table[kind], &mut |at, value| {
            if !value.is_null() {
                keys.add_for(&rule::REPLACED, at, value, Free::ToRemove);
            }
        });
    }
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for list in [&table[kind], &table["workspace"][kind]] {
            for (name, value) in list.as_object().into_iter().flatten() {
                let from = ["path", "git", "registry", "package"];
                let from = from.map(|key| value.get(key).map(ToString::to_string));
                keys.add_for(
                    &rule::REPLACED,
                    format!("{kind}.{name}"),
                    &canonical(&from),
                    Free::Both,
                );
            }
        }
    }
}

/// Lints that are allowed.
fn lints(keys: &mut Keys, table: &Value) {
    for (at, lints) in
        [("lints", &table["lints"]), ("workspace.lints", &table["workspace"]["lints"])]
    {
        for (tool, list) in lints.as_object().into_iter().flatten() {
            for (lint, level) in list.as_object().into_iter().flatten() {
                let level = level.get("level").unwrap_or(level);
                if level == "allow" {
                    keys.add_for(&rule::LINT, format!("{at}.{tool}.{lint}"), level, Free::ToRemove);
                }
            }
        }
    }
}
