//! `package.json`: scripts that run tests, settings of runners, where dependencies
//! come from.

use std::collections::BTreeSet;

use serde_json::Value;

use super::key::{Free, Keys, Reach, leaves};
use crate::integrity::rule;

/// Settings of test runners.
pub(super) const RUNNERS: [&str; 10] =
    ["jest", "vitest", "mocha", "ava", "nyc", "c8", "tap", "playwright", "karma", "babel"];

pub(super) fn keys(text: &str, reach: &Reach) -> Option<Keys> {
    let package = read(text)?;
    let mut keys = Keys::default();
    let commanded = reached_from(&reach.commanded, reach);
    for name in reached(reach) {
        if let Some(script) = package["scripts"].get(&name) {
            // `test:slow`, and a `lint` that no check runs, may come beside what runs.
            let beside = name.contains(':') || is_beside(&name) && !commanded.contains(&name);
            let free = if beside { Free::ToAdd } else { Free::Not };
            let script = script.as_str().map_or_else(|| script.to_string(), str::to_owned);
            keys.add_command(format!("scripts.{name}"), &script, free);
        }
    }
    for runner in RUNNERS {
        leaves(runner, &package[runner], &mut |at, value| {
            if !value.is_null() {
                keys.add(at, value, Free::Not);
            }
        });
    }
    for member in package["workspaces"].as_array().into_iter().flatten() {
        keys.add(format!("workspaces {member}"), "", Free::ToAdd);
    }
    for map in ["imports", "exports"] {
        leaves(map, &package[map], &mut |at, value| {
            if !value.is_null() {
                keys.add_for(&rule::MAPPED, at, value, Free::ToAdd);
            }
        });
    }
    sources(&mut keys, &package);
    Some(keys)
}

fn read(text: &str) -> Option<Value> {
    if text.trim().is_empty() {
        return Some(Value::Null);
    }
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}

/// True for a script that people run by habit, beside the tests.
fn is_beside(name: &str) -> bool {
    matches!(name, "check" | "ci" | "coverage" | "lint" | "typecheck" | "verify")
}

/// The scripts that run tests in one of the versions, with what they call.
pub(super) fn reached(reach: &Reach) -> BTreeSet<String> {
    reached_from(&reach.names, reach)
}

/// These scripts in one of the versions, with what they call.
fn reached_from(names: &[String], reach: &Reach) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = names.iter().cloned().collect();
    for package in reach.texts.iter().filter_map(|text| read(text)) {
        let scripts = package["scripts"].as_object().cloned().unwrap_or_default();
        names.extend(scripts.keys().filter(|name| name.starts_with("test:")).cloned());
        loop {
            let more: BTreeSet<String> = scripts
                .iter()
                .filter(|(name, _)| names.contains(*name) || hooks(name, &names))
                .flat_map(|(name, script)| {
                    let words = script.as_str().unwrap_or_default();
                    let words = words.split(|c: char| c.is_whitespace() || "&|;()'\"".contains(c));
                    words.map(str::to_owned).chain([name.clone()]).collect::<Vec<_>>()
                })
                .filter(|word| scripts.contains_key(word))
                .collect();
            let known = names.len();
            names.extend(more);
            if names.len() == known {
                break;
            }
        }
    }
    names
}

/// A script runs before or after one of these.
pub(super) fn hooks(name: &str, names: &BTreeSet<String>) -> bool {
    let of = name.strip_prefix("pre").or_else(|| name.strip_prefix("post"));
    of.is_some_and(|of| names.contains(of))
}

fn sources(keys: &mut Keys, package: &Value) {
    for kind in ["overrides", "resolutions", "pnpm.overrides"] {
        let value = kind.split('.').fold(package, |value, key| &value[key]);
        leaves(kind, value, &mut |at, value| {
            if !value.is_null() && elsewhere(value).is_some() {
                keys.add_for(&rule::REPLACED, at, value, Free::ToRemove);
            }
        });
    }
    for kind in ["dependencies", "devDependencies", "optionalDependencies"] {
        for (name, value) in package[kind].as_object().into_iter().flatten() {
            let from = elsewhere(value).unwrap_or("registry");
            keys.add_for(&rule::REPLACED, format!("{kind}.{name}"), from, Free::Both);
        }
    }
}

/// The source of a version that does not come from the registry.
fn elsewhere(value: &Value) -> Option<&str> {
    let version = value.as_str()?;
    let schemes =
        ["file:", "link:", "portal:", "git", "http:", "https:", "github:", "npm:", "./", "../"];
    schemes.iter().any(|scheme| version.starts_with(scheme)).then_some(version)
}
