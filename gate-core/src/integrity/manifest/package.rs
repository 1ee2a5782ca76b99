//! `package.json` and `deno.json`: scripts that run tests, and the settings of runners.

use std::collections::BTreeSet;

use serde_json::Value;

use super::MergedManifest;
use super::object::JsonObject;

/// Settings of test runners.
const RUNNERS: [&str; 10] =
    ["jest", "vitest", "mocha", "ava", "nyc", "c8", "tap", "playwright", "karma", "babel"];

/// Scripts that run tests by convention, also if no other script calls them.
const USUAL: [&str; 8] =
    ["test", "tests", "check", "ci", "verify", "lint", "typecheck", "coverage"];

/// Scripts that build make the product, also if tests need it.
const BUILDS: [&str; 9] =
    ["build", "compile", "prepare", "generate", "codegen", "clean", "bundle", "lint", "typecheck"];

/// `None` if one of the texts is no object of JSON.
pub(super) fn merged(baseline: &str, tree: &str) -> Option<MergedManifest> {
    let scripts = TestScripts { key: "scripts", names: scripts_of_tests([baseline, tree]) };
    // `babel` is among the settings: how tests are compiled decides what their text means.
    merged_object(baseline, tree, &scripts, &RUNNERS)
}

/// `None` if one of the texts is no object of JSON.
pub(super) fn merged_deno(baseline: &str, tree: &str) -> Option<MergedManifest> {
    let scripts = TestScripts { key: "tasks", names: BTreeSet::from(["test".to_owned()]) };
    merged_object(baseline, tree, &scripts, &["test"])
}

/// The scripts of a manifest that run tests.
struct TestScripts {
    /// The key of the object that holds all scripts.
    key: &'static str,
    names: BTreeSet<String>,
}

impl TestScripts {
    /// A script runs before or after one of these, as npm has it: `pretest`, `posttest`.
    fn has_hook(&self, name: &str) -> bool {
        is_hook(name, &self.names)
    }
}

fn merged_object(
    baseline: &str,
    tree: &str,
    scripts: &TestScripts,
    settings: &[&str],
) -> Option<MergedManifest> {
    let (old, mut merged) = (JsonObject::read(baseline)?, JsonObject::read(tree)?);
    let mut is_changed = false;
    for setting in settings {
        is_changed |= merged.set(setting, old.get(setting));
    }
    let scripts_in = |object: &JsonObject| {
        object.get(scripts.key).and_then(JsonObject::read).unwrap_or_default()
    };
    let (old_scripts, mut merged_scripts) = (scripts_in(&old), scripts_in(&merged));
    if set_scripts_back(&old_scripts, &mut merged_scripts, scripts) {
        is_changed |= merged.set(scripts.key, Some(&merged_scripts.text(4)));
    }
    Some(MergedManifest::from_changed(is_changed.then(|| merged.text(2) + "\n")))
}

/// A script that runs tests is the baseline's; a new one may come, but none that runs
/// before or after one of the baseline's.
fn set_scripts_back(old: &JsonObject, merged: &mut JsonObject, scripts: &TestScripts) -> bool {
    let names: Vec<String> = old.keys().chain(merged.keys()).map(str::to_owned).collect();
    let mut is_changed = false;
    for name in names {
        let old_text = old.get(&name);
        let is_hook = scripts.has_hook(&name);
        let is_called_by_tests = scripts.names.contains(&name) || is_hook;
        let runs_tests = old_text.is_some_and(names_runner)
            || merged.get(&name).is_some_and(names_runner)
            || is_called_by_tests && !is_build(&name);
        let is_allowed_addition = old_text.is_none() && !is_hook;
        if runs_tests && !is_allowed_addition {
            is_changed |= merged.set(&name, old_text);
        }
    }
    is_changed
}

fn is_build(name: &str) -> bool {
    let hooked = name.trim_start_matches("pre").trim_start_matches("post");
    // `prepare` and `prebuild` both begin with `pre`; only the second is a hook.
    BUILDS.iter().any(|build| name.starts_with(build) || hooked.starts_with(build))
}

/// A script's text names a test runner.
fn names_runner(text: &str) -> bool {
    // Runners without settings in `package.json`.
    const OTHERS: [&str; 6] = ["jasmine", "tape", "cypress", "uvu", "--test", "test-runner"];
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || "&|;()'\"/\\".contains(c)).collect();
    words.iter().any(|word| RUNNERS.contains(word) || OTHERS.contains(word))
        || words.windows(2).any(|pair| matches!(pair, ["bun" | "deno", "test"]))
}

/// The names of the scripts that run tests in one of the versions, with those that they call.
fn scripts_of_tests(versions: [&str; 2]) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = USUAL.into_iter().map(str::to_owned).collect();
    for text in versions {
        let package: Value =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let scripts = package["scripts"].as_object().cloned().unwrap_or_default();
        names.extend(scripts.keys().filter(|name| name.starts_with("test:")).cloned());
        // A called script calls others, until a round adds no name.
        loop {
            let called: BTreeSet<String> = scripts
                .iter()
                .filter(|(name, _)| names.contains(*name) || is_hook(name, &names))
                .flat_map(|(name, script)| {
                    let words = script
                        .as_str()
                        .unwrap_or_default()
                        .split(|c: char| c.is_whitespace() || "&|;()'\"".contains(c));
                    words.chain([name.as_str()])
                })
                .filter(|word| scripts.contains_key(*word))
                .map(str::to_owned)
                .collect();
            let count = names.len();
            names.extend(called);
            if names.len() == count {
                break;
            }
        }
    }
    names
}

fn is_hook(name: &str, scripts: &BTreeSet<String>) -> bool {
    let hooked = name.strip_prefix("pre").or_else(|| name.strip_prefix("post"));
    hooked.is_some_and(|hooked| scripts.contains(hooked))
}
