//! `Cargo.toml`: the tests that cargo finds by itself, the targets and how they are tested,
//! profiles that change what a test notices.

use toml::{Table, Value};

use super::{keys_at, restore, value_at};

/// The keys of `[package]` that say which targets there are. A build script is the product's.
const PACKAGE: [&str; 4] = ["autotests", "autobins", "autobenches", "autoexamples"];

/// The keys of a target that say whether and how it is tested. The place of a library or a program
/// is the product's.
const TARGET: [&str; 4] = ["test", "harness", "doctest", "required-features"];

/// The keys of a profile that decide whether a broken test fails.
const PROFILE: [&str; 3] = ["debug-assertions", "overflow-checks", "panic"];

pub(super) fn set_back(baseline: &Table, merged: &mut Table) {
    for key in PACKAGE {
        restore(baseline, merged, &["package", key]);
    }
    for key in TARGET {
        restore(baseline, merged, &["lib", key]);
    }
    restore(baseline, merged, &["test"]);
    for kind in ["bin", "example", "bench"] {
        set_targets_back(kind, baseline, merged);
    }
    for profile in keys_at(baseline, merged, &["profile"]) {
        for key in PROFILE {
            restore(baseline, merged, &["profile", &profile, key]);
        }
    }
    restore(baseline, merged, &["profile", "test"]);
    restore(baseline, merged, &["package", "metadata", "nextest"]);
    restore(baseline, merged, &["workspace", "metadata", "nextest"]);
    set_workspace_back(baseline, merged);
}

/// Sets the tests of programs, examples or benchmarks back; which of them there are is the product's.
fn set_targets_back(kind: &str, baseline: &Table, merged: &mut Table) {
    let old_targets = baseline.get(kind).and_then(Value::as_array).into_iter().flatten();
    let old_targets: Vec<&Table> = old_targets.filter_map(Value::as_table).collect();
    let Some(Value::Array(targets)) = merged.get_mut(kind) else { return };
    for target in targets.iter_mut().filter_map(Value::as_table_mut) {
        match old_targets.iter().find(|old_target| old_target.get("name") == target.get("name")) {
            Some(old_target) => {
                TARGET.into_iter().for_each(|key| restore(old_target, target, &[key]));
            }
            // A manifest need not name a target. Cargo may have found this one by itself, and
            // tested it; a benchmark it does not test unless it is told to.
            None if kind != "bench" => {
                for key in ["test", "harness"] {
                    if target.get(key) == Some(&Value::Boolean(false)) {
                        target.remove(key);
                    }
                }
            }
            None => {}
        }
    }
}

/// No member of the baseline is left out; those that the tree adds or takes away stay so.
fn set_workspace_back(baseline: &Table, merged: &mut Table) {
    let members = workspace_list(merged, "members");
    let is_member = |name: &String| {
        name == "."
            || members.iter().any(|member| {
                member == name
                    || member.split_once('*').is_some_and(|(start, _)| name.starts_with(start))
            })
    };
    let old_excluded = workspace_list(baseline, "exclude");
    let mut excluded = workspace_list(merged, "exclude");
    excluded.retain(|name| old_excluded.contains(name));
    let new_defaults = workspace_list(merged, "default-members");
    let mut defaults = Vec::new();
    // Without the key all members are tested. A list that the tree adds would leave some out.
    if value_at(baseline, &["workspace", "default-members"]).is_some() {
        defaults = workspace_list(baseline, "default-members");
        defaults.retain(|name| new_defaults.contains(name) || is_member(name));
        let added: Vec<String> =
            new_defaults.into_iter().filter(|name| !defaults.contains(name)).collect();
        defaults.extend(added);
    }
    let Some(Value::Table(workspace)) = merged.get_mut("workspace") else { return };
    for (key, names) in [("exclude", excluded), ("default-members", defaults)] {
        if names.is_empty() {
            workspace.remove(key);
        } else {
            let names = names.into_iter().map(Value::String).collect();
            workspace.insert(key.to_owned(), Value::Array(names));
        }
    }
}

/// The texts in a list of `[workspace]`.
fn workspace_list(manifest: &Table, key: &str) -> Vec<String> {
    let list = value_at(manifest, &["workspace", key]).and_then(Value::as_array);
    let names = list.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}
