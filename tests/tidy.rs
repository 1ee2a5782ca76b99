//! Rules of the house that hold for the source.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::here::files;
use crate::needs::root;

/// The one file of the core that reads the environment and the clock by itself, because a published
/// API has no parameters for them.
const AMBIENT: &str = "gate-core/src/exit/ambient.rs";

/// The parts of their crate that read and write a disk: they keep the formats of many agents there.
const ON_DISK: [&str; 2] = ["crates/gate-fleet/src/disk", "crates/gate-fleet/src/durable.rs"];

/// The one crate outside of the workspace that is not for tests: it needs Python.
const PYTHON: &str = "crates/gate-py";

/// Lowest first: a crate may use those before it.
pub(crate) const CRATES: [&str; 11] = [
    "crates/gate-platform",
    "crates/gate-transcript",
    "gate-core",
    "crates/gate-card",
    "crates/gate-fleet",
    "crates/gate-store",
    "crates/gate-report",
    "gate-checks",
    "crates/gate-lens",
    "gate-cli",
    PYTHON,
];

/// Crates that read no file, clock or environment by themselves.
const PURE: [&str; 3] = ["crates/gate-transcript", "gate-core", "crates/gate-fleet"];

/// The longest source file, in lines.
const MAX_LINES: usize = 500;

fn rust(folder: &Path) -> Vec<PathBuf> {
    files(folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

fn sources(krate: &str) -> Vec<PathBuf> {
    rust(&root().join(krate).join("src"))
}

fn all_sources() -> Vec<PathBuf> {
    let tests = rust(&root().join("tests"));
    CRATES.iter().flat_map(|krate| sources(krate)).chain(tests).collect()
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}

fn relative_name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// A source without its tests and comments.
fn code(path: &Path) -> String {
    let is_test =
        path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
    let text = if is_test { String::new() } else { read(path) };
    let body = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = body.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Fails with the rule and the places that break it.
#[track_caller]
fn none(rule: &str, breaches: impl IntoIterator<Item = String>) {
    let breaches: Vec<_> = breaches.into_iter().collect();
    assert!(breaches.is_empty(), "{rule}:\n  {}", breaches.join("\n  "));
}

#[test]
fn nothing_is_left_for_later() {
    let marks = [["TO", "DO"], ["FIX", "ME"], ["todo", "!"], ["unimplemented", "!"], ["dbg", "!"]];
    let marks = marks.map(|parts| parts.concat());
    let breaches = all_sources().into_iter().flat_map(|path| {
        let text = read(&path);
        let present = marks.iter().filter(move |mark| text.contains(mark.as_str()));
        present.map(|mark| format!("{}: {mark}", relative_name(&path))).collect::<Vec<_>>()
    });
    none("do it now", breaches);
}

#[test]
fn no_source_is_longer_than_500_lines() {
    let breaches = CRATES.iter().flat_map(|krate| sources(krate)).filter_map(|path| {
        let lines = read(&path).lines().count();
        (lines > MAX_LINES).then(|| format!("{}: {lines} lines", relative_name(&path)))
    });
    none("cut it in two", breaches);
}

#[test]
fn every_source_begins_by_saying_what_it_is() {
    let breaches = all_sources().into_iter().filter(|path| !read(path).starts_with("//! "));
    none("begin with //!", breaches.map(|path| relative_name(&path)));
}

#[test]
fn the_core_looks_at_nothing_by_itself() {
    let modules = ["fs", "env", "process", "net", "thread"];
    let types = ["SystemTime", "Instant", "Command::new", "::now(", "now_v7"];
    let is_exempt = |path: &PathBuf| {
        path.ends_with(root().join(AMBIENT))
            || ON_DISK.iter().any(|part| path.starts_with(root().join(part)))
    };
    let pure = PURE.iter().flat_map(|krate| sources(krate)).filter(|path| !is_exempt(path));
    let breaches = pure.flat_map(|path| {
        let code = code(&path);
        let used_modules = modules.iter().filter(|name| {
            code.contains(&format!("std::{name}")) || imports(&code).contains(**name)
        });
        let used_types = types.iter().filter(|name| code.contains(**name));
        let names = used_modules.chain(used_types);
        names.map(|name| format!("{}: {name}", relative_name(&path))).collect::<Vec<_>>()
    });
    none("bytes, time and environment are parameters", breaches);
}

#[test]
fn what_the_core_looks_at_stands_in_one_file_and_decides_nothing() {
    let code = code(&root().join(AMBIENT));
    for call in ["env::var(", "Timestamp::now()", "Uuid::now_v7()"] {
        assert_eq!(code.matches(call).count(), 1, "{AMBIENT}: {call}");
    }
    let words: Vec<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for keyword in ["if", "match", "for", "while", "let"] {
        let count = words.iter().filter(|word| **word == keyword).count();
        // `impl Default for` is the only `for`.
        let allowed = usize::from(keyword == "for");
        assert_eq!(count, allowed, "{AMBIENT}: `{keyword}` belongs into a pure form");
    }
}

/// The names that `use std::{…}` takes.
fn imports(code: &str) -> BTreeSet<String> {
    let groups = code.split("use std::{").skip(1).filter_map(|text| text.split('}').next());
    let word = |part: &str| part.split("::").next().unwrap_or_default().trim().to_owned();
    groups.flat_map(|group| group.split(',').map(word).collect::<Vec<_>>()).collect()
}

#[test]
fn arrows_run_one_way() {
    for (position, krate) in CRATES.iter().enumerate() {
        let above = &CRATES[position + 1..];
        let manifest = manifest(krate);
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let names = manifest.get(table).and_then(toml::Value::as_table).into_iter().flatten();
            let higher = names.filter(|(name, _)| above.contains(&name.as_str()));
            none(
                "a lower crate names a higher one",
                higher.map(|(name, _)| format!("{krate}: {name}")),
            );
        }
        let higher_names = above.iter().map(|name| name.replace('-', "_"));
        let breaches = higher_names.flat_map(|name| {
            let users = sources(krate)
                .into_iter()
                .filter(move |path| code(path).contains(&format!("{name}::")));
            users.map(|path| relative_name(&path)).collect::<Vec<_>>()
        });
        none("a lower crate uses a higher one", breaches);
    }
}

fn manifest(krate: &str) -> toml::Table {
    toml::from_str(&read(&root().join(krate).join("Cargo.toml"))).unwrap()
}

#[test]
fn every_crate_forbids_unsafe_and_takes_the_workspaces_lints() {
    let workspace = &manifest("")["workspace"];
    assert_eq!(workspace["lints"]["rust"]["unsafe_code"].as_str(), Some("forbid"));
    for krate in CRATES.into_iter().filter(|krate| *krate != PYTHON) {
        assert_eq!(manifest(krate)["lints"]["workspace"], toml::Value::Boolean(true), "{krate}");
    }
    // It cannot inherit from a workspace that it is not in.
    let python = manifest(PYTHON);
    assert_eq!(python["lints"], workspace["lints"], "{PYTHON}");
    for key in ["version", "edition", "rust-version", "license", "authors"] {
        assert_eq!(python["package"][key], workspace["package"][key], "{PYTHON}: {key}");
    }
}

#[test]
fn no_file_knows_the_machine_that_it_was_written_on() {
    let marks = [["/wo", "rk/"], ["/ro", "ot/"], ["/tmp/", "target"]].map(|parts| parts.concat());
    let breaches = files(root()).into_iter().filter(|path| {
        let text = read(path);
        // In the middle of a path, the mark names some other folder.
        let is_in_path = |letter: char| letter.is_alphanumeric() || letter == '.';
        let begins_path = |offset| !text[..offset].ends_with(is_in_path);
        marks
            .iter()
            .any(|mark| text.match_indices(mark.as_str()).any(|(offset, _)| begins_path(offset)))
    });
    none("name it from the repository's root", breaches.map(|path| relative_name(&path)));
}

#[test]
fn test_files_stay_readable() {
    let breaches = files(&root().join("tests")).into_iter().filter_map(|path| {
        let lines = read(&path).lines().count();
        (lines > 320).then(|| format!("{}: {lines} lines", relative_name(&path)))
    });
    none("one subject a file", breaches);
}
