//! `package.json` and `deno.json`: scripts that run tests, and the settings of runners.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Merged;
use super::object::Object;

/// Settings of test runners.
const RUNNERS: [&str; 10] =
    ["jest", "vitest", "mocha", "ava", "nyc", "c8", "tap", "playwright", "karma", "babel"];

/// Scripts that run tests, whatever they are called by.
const USUAL: [&str; 8] =
    ["test", "tests", "check", "ci", "verify", "lint", "typecheck", "coverage"];

/// Scripts that build make the product, also if tests need it.
const BUILDS: [&str; 9] =
    ["build", "compile", "prepare", "generate", "codegen", "clean", "bundle", "lint", "typecheck"];

pub(super) fn merged(before: &str, now: &str) -> Merged {
    let names = reached([before, now]);
    // How tests are compiled decides what their text means.
    let settings = RUNNERS.into_iter();
    merge(before, now, ("scripts", &names), settings)
}

pub(super) fn merged_deno(before: &str, now: &str) -> Merged {
    let names = BTreeSet::from(["test".to_owned()]);
    merge(before, now, ("tasks", &names), ["test"].into_iter())
}

fn merge(
    before: &str,
    now: &str,
    (key, names): (&str, &BTreeSet<String>),
    settings: impl Iterator<Item = &'static str>,
) -> Merged {
    let (before, mut now) = (Object::read(before)?, Object::read(now)?);
    let mut is_changed = false;
    for setting in settings {
        is_changed |= now.set(setting, before.get(setting));
    }
    let read = |object: &Object| object.get(key).and_then(Object::read).unwrap_or_default();
    let (was, mut is) = (read(&before), read(&now));
    if set_scripts_back(&was, &mut is, names) {
        is_changed |= now.set(key, Some(&is.text(4)));
    }
    Some(is_changed.then(|| now.text(2) + "\n"))
}

/// A script that runs tests is the baseline's; a new one may come, but none that runs
/// before or after one of the baseline's.
fn set_scripts_back(was: &Object, is: &mut Object, names: &BTreeSet<String>) -> bool {
    let all: Vec<String> = was.0.iter().chain(&is.0).map(|(name, _)| name.clone()).collect();
    let mut is_changed = false;
    for name in all {
        let old = was.get(&name);
        let texts = [old, is.get(&name)];
        let runs_tests = texts.into_iter().flatten().any(names_runner)
            || ((names.contains(&name) || hooks(&name, names)) && !builds(&name));
        let is_new_beside = old.is_none() && !hooks(&name, names);
        if runs_tests && !is_new_beside {
            is_changed |= is.set(&name, old);
        }
    }
    is_changed
}

fn builds(name: &str) -> bool {
    let own = name.trim_start_matches("pre").trim_start_matches("post");
    let starts = |name: &str| BUILDS.iter().any(|start| name.starts_with(start));
    starts(name) || starts(own)
}

/// A script's text names a test runner.
fn names_runner(text: &str) -> bool {
    const OTHERS: [&str; 6] = ["jasmine", "tape", "cypress", "uvu", "--test", "test-runner"];
    let words = text.split(|c: char| c.is_whitespace() || "&|;()'\"/\\".contains(c));
    let words: Vec<&str> = words.collect();
    words.iter().any(|word| RUNNERS.contains(word) || OTHERS.contains(word))
        || words.windows(2).any(|pair| matches!(pair, ["bun" | "deno", "test"]))
}

/// The scripts that run tests in one of the versions, with what they call.
fn reached(versions: [&str; 2]) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = USUAL.into_iter().map(str::to_owned).collect();
    for package in versions.into_iter().filter_map(read) {
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
            let number = names.len();
            names.extend(more);
            if names.len() == number {
                break;
            }
        }
    }
    names
}

/// A script runs before or after one of these.
fn hooks(name: &str, names: &BTreeSet<String>) -> bool {
    let of = name.strip_prefix("pre").or_else(|| name.strip_prefix("post"));
    of.is_some_and(|of| names.contains(of))
}

fn read(text: &str) -> Option<Value> {
    if text.trim().is_empty() {
        return Some(Value::Null);
    }
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}
