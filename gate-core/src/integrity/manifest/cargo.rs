//! `Cargo.toml`: the tests that cargo finds by itself, the targets and how they are tested,
//! profiles that change what a test notices.

use toml::{Table, Value};

use super::{below, names, restore};

/// The keys of `[package]` that say which targets there are. A build script is the product's.
const PACKAGE: [&str; 4] = ["autotests", "autobins", "autobenches", "autoexamples"];

/// The keys of a target that say whether and how it is tested. The place of a library or a program
/// is the product's.
const TARGET: [&str; 4] = ["test", "harness", "doctest", "required-features"];

/// The keys of a profile that decide whether a broken test fails.
const PROFILE: [&str; 3] = ["debug-assertions", "overflow-checks", "panic"];

pub(super) fn set_back(before: &Table, now: &mut Table) {
    for key in PACKAGE {
        restore(before, now, &["package", key]);
    }
    for key in TARGET {
        restore(before, now, &["lib", key]);
    }
    restore(before, now, &["test"]);
    for kind in ["bin", "example", "bench"] {
        targets(kind, before, now);
    }
    for profile in names(before, now, &["profile"]) {
        for key in PROFILE {
            restore(before, now, &["profile", &profile, key]);
        }
    }
    restore(before, now, &["profile", "test"]);
    restore(before, now, &["package", "metadata", "nextest"]);
    restore(before, now, &["workspace", "metadata", "nextest"]);
    workspace(before, now);
}

fn targets(kind: &str, before: &Table, now: &mut Table) {
    let was: Vec<Table> = tables(before.get(kind)).cloned().collect();
    let Some(Value::Array(list)) = now.get_mut(kind) else { return };
    for target in list.iter_mut().filter_map(Value::as_table_mut) {
        match was.iter().find(|old| old.get("name") == target.get("name")) {
            Some(old) => TARGET.into_iter().for_each(|key| restore(old, target, &[key])),
            // Cargo may have found it by itself, and tested it.
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

fn tables(list: Option<&Value>) -> impl Iterator<Item = &Table> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table)
}

/// No member of the baseline is left out; those that the tree adds or takes away stay so.
fn workspace(before: &Table, now: &mut Table) {
    let members = strings(now, "members");
    let is_member = |name: &String| {
        name == "."
            || members.iter().any(|member| {
                member == name
                    || member.split_once('*').is_some_and(|(start, _)| name.starts_with(start))
            })
    };
    let excluded = strings(before, "exclude");
    let exclude: Vec<String> =
        strings(now, "exclude").into_iter().filter(|name| excluded.contains(name)).collect();
    let chosen = strings(now, "default-members");
    let mut default = Vec::new();
    if below(before, &["workspace", "default-members"]).is_some() {
        default = strings(before, "default-members");
        default.retain(|name| chosen.contains(name) || is_member(name));
        default
            .extend(chosen.into_iter().filter(|name| !default.contains(name)).collect::<Vec<_>>());
    }
    let Some(Value::Table(workspace)) = now.get_mut("workspace") else { return };
    for (key, list) in [("exclude", exclude), ("default-members", default)] {
        if list.is_empty() {
            workspace.remove(key);
        } else {
            let list = list.into_iter().map(Value::String).collect();
            workspace.insert(key.to_owned(), Value::Array(list));
        }
    }
}

fn strings(table: &Table, key: &str) -> Vec<String> {
    let list = below(table, &["workspace", key]).and_then(Value::as_array);
    let texts = list.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}
