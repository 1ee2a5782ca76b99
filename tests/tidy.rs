//! Rules of the house that hold for the source.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::here::files;
use crate::needs::root;

/// The one file of the core that looks around by itself, because a published API
/// has no parameters for what it finds.
const AMBIENT: &str = "gate-core/src/exit/ambient.rs";

/// What keeps the formats of many agents on a disk: the only part of that crate which looks.
const ON_DISK: [&str; 2] = ["crates/gate-fleet/src/disk", "crates/gate-fleet/src/durable.rs"];

/// Lowest first: a crate may use those before it.
pub(crate) const CRATES: [&str; 9] = [
    "crates/gate-transcript",
    "gate-core",
    "crates/gate-card",
    "crates/gate-fleet",
    "crates/gate-store",
    "crates/gate-report",
    "gate-checks",
    "crates/gate-lens",
    "gate-cli",
];

/// Crates that look at nothing by themselves.
const PURE: [&str; 3] = ["crates/gate-transcript", "gate-core", "crates/gate-fleet"];

/// The longest source file, in lines.
const LONGEST: usize = 500;

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

fn named(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// The part of a source that is no test and no comment.
fn code(path: &Path) -> String {
    let is_test =
        path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
    let text = if is_test { String::new() } else { read(path) };
    let body = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = body.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The files in which something is found.
#[track_caller]
fn none(rule: &str, found: impl IntoIterator<Item = String>) {
    let found: Vec<_> = found.into_iter().collect();
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

#[test]
fn nothing_is_left_for_later() {
    let marks = [["TO", "DO"], ["FIX", "ME"], ["todo", "!"], ["unimplemented", "!"], ["dbg", "!"]];
    let marks = marks.map(|parts| parts.concat());
    let found = all_sources().into_iter().flat_map(|path| {
        let text = read(&path);
        let here = marks.iter().filter(move |mark| text.contains(mark.as_str()));
        here.map(|mark| format!("{}: {mark}", named(&path))).collect::<Vec<_>>()
    });
    none("do it now", found);
}

#[test]
fn no_source_is_longer_than_500_lines() {
    let found = CRATES.iter().flat_map(|krate| sources(krate)).filter_map(|path| {
        let lines = read(&path).lines().count();
        (lines > LONGEST).then(|| format!("{}: {lines} lines", named(&path)))
    });
    none("cut it in two", found);
}

#[test]
fn every_source_begins_by_saying_what_it_is() {
    let found = all_sources().into_iter().filter(|path| !read(path).starts_with("//! "));
    none("begin with //!", found.map(|path| named(&path)));
}

#[test]
fn the_core_looks_at_nothing_by_itself() {
    let modules = ["fs", "env", "process", "net", "thread"];
    let types = ["SystemTime", "Instant", "Command::new", "::now(", "now_v7"];
    let pure = PURE.iter().flat_map(|krate| sources(krate));
    let pure = pure.filter(|path| !path.ends_with(root().join(AMBIENT)));
    let pure = pure.filter(|path| ON_DISK.iter().all(|part| !path.starts_with(root().join(part))));
    let found = pure.flat_map(|path| {
        let code = code(&path);
        let at = |what: &str| Some(format!("{}: {what}", named(&path)));
        let module = modules.iter().filter_map(|name| {
            let used = code.contains(&format!("std::{name}")) || imports(&code).contains(*name);
            if used { at(name) } else { None }
        });
        let kind =
            types.iter().filter_map(|name| if code.contains(name) { at(name) } else { None });
        module.chain(kind).collect::<Vec<_>>()
    });
    none("bytes, time and environment are parameters", found);
}

#[test]
fn what_the_core_looks_at_stands_in_one_file_and_decides_nothing() {
    let code = code(&root().join(AMBIENT));
    for looks in ["env::var(", "Timestamp::now()", "Uuid::now_v7()"] {
        assert_eq!(code.matches(looks).count(), 1, "{AMBIENT}: {looks}");
    }
    let words: Vec<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for word in ["if", "match", "for", "while", "let"] {
        let found = words.iter().filter(|other| **other == word).count();
        // `impl Default for` is the only one.
        assert_eq!(
            found,
            usize::from(word == "for"),
            "{AMBIENT}: `{word}` belongs into a pure form"
        );
    }
}

/// The names that `use std::{…}` takes.
fn imports(code: &str) -> BTreeSet<String> {
    let groups = code.split("use std::{").skip(1).filter_map(|rest| rest.split('}').next());
    let word = |part: &str| part.split("::").next().unwrap_or_default().trim().to_owned();
    groups.flat_map(|group| group.split(',').map(word).collect::<Vec<_>>()).collect()
}

#[test]
fn arrows_run_one_way() {
    for (position, krate) in CRATES.iter().enumerate() {
        let above = &CRATES[position + 1..];
        let manifest: toml::Table =
            toml::from_str(&read(&root().join(krate).join("Cargo.toml"))).unwrap();
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let names = manifest.get(table).and_then(toml::Value::as_table).into_iter().flatten();
            let up = names.filter(|(name, _)| above.contains(&name.as_str()));
            none(
                "a lower crate names a higher one",
                up.map(|(name, _)| format!("{krate}: {name}")),
            );
        }
        let crates = above.iter().map(|name| name.replace('-', "_"));
        let used = crates.flat_map(|name| {
            let uses = sources(krate)
                .into_iter()
                .filter(move |path| code(path).contains(&format!("{name}::")));
            uses.map(|path| named(&path)).collect::<Vec<_>>()
        });
        none("a lower crate uses a higher one", used);
    }
}

#[test]
fn every_crate_forbids_unsafe_and_takes_the_workspaces_lints() {
    for krate in CRATES {
        let manifest: toml::Table =
            toml::from_str(&read(&root().join(krate).join("Cargo.toml"))).unwrap();
        assert_eq!(manifest["lints"]["workspace"], toml::Value::Boolean(true), "{krate}");
    }
    let workspace: toml::Table = toml::from_str(&read(&root().join("Cargo.toml"))).unwrap();
    assert_eq!(workspace["workspace"]["lints"]["rust"]["unsafe_code"].as_str(), Some("forbid"));
}

#[test]
fn no_file_knows_the_machine_that_it_was_written_on() {
    let marks = [["/wo", "rk/"], ["/ro", "ot/"], ["/tmp/", "target"]].map(|parts| parts.concat());
    let found = files(root()).into_iter().filter(|path| {
        let text = read(path);
        // In the middle of a path it is some other folder.
        let is_inner = |before: char| before.is_alphanumeric() || before == '.';
        let begins = |at| !text[..at].ends_with(is_inner);
        marks.iter().any(|mark| text.match_indices(mark.as_str()).any(|(at, _)| begins(at)))
    });
    none("name it from the repository's root", found.map(|path| named(&path)));
}

#[test]
fn test_files_stay_readable() {
    let found = files(&root().join("tests")).into_iter().filter_map(|path| {
        let lines = read(&path).lines().count();
        (lines > 320).then(|| format!("{}: {lines} lines", named(&path)))
    });
    none("one subject a file", found);
}
