//! The guarded keys of a manifest, and the names that checks reach in it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::stricter::{is_no_weaker, runner};
use crate::integrity::commands::{covers, is_wider};
use crate::integrity::finding::Finding;
use crate::integrity::rule::{self, About};

/// The changes to a key that are not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Free {
    /// Nothing: every change is reported.
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
pub(super) struct Key {
    value: String,
    free: Free,
    about: &'static About,
    /// Its value is a command, or some, each in a line.
    is_command: bool,
}

impl Key {
    /// All that was run is run, line by line.
    fn keeps(&self, was: &Self, name: &str) -> bool {
        if self.value == was.value || selects_more(name, &was.value, &self.value) {
            return true;
        }
        let lines = |key: &Self| {
            let lines = key.value.lines().map(|line| line.trim_matches('"').to_owned());
            lines.collect::<Vec<_>>()
        };
        let (old, new) = (lines(was), lines(self));
        self.is_command
            && old.len() == new.len()
            && old.iter().zip(&new).all(|(old, new)| is_wider(old, new))
    }
}

/// A list of what is run grew, or a list of what is left out shrank.
fn selects_more(name: &str, was: &str, now: &str) -> bool {
    const SELECTS: &[&str] =
        &["testpaths", "python_files", "testMatch", "roots", "include", "spec", "projects"];
    const LEAVES_OUT: &[&str] = &[
        "testPathIgnorePatterns",
        "coveragePathIgnorePatterns",
        "norecursedirs",
        "exclude",
        "omit",
        "ignore",
    ];
    let last = name.rsplit('.').next().unwrap_or(name);
    let list = |text: &str| serde_json::from_str::<Vec<String>>(text).ok();
    let (Some(was), Some(now)) = (list(was), list(now)) else { return false };
    if LEAVES_OUT.contains(&last) {
        now.iter().all(|glob| was.contains(glob))
    } else {
        SELECTS.contains(&last)
            && was.iter().all(|glob| now.iter().any(|wider| covers(wider, glob)))
    }
}

/// The guarded keys of a manifest, by their names.
#[derive(Debug, Default)]
pub(super) struct Keys(pub(super) BTreeMap<String, Key>);

impl Keys {
    pub(super) fn add(
        &mut self,
        name: impl Into<String>,
        value: &(impl ToString + ?Sized),
        free: Free,
    ) {
        self.add_for(&rule::MANIFEST, name, value, free);
    }

    pub(super) fn add_for(
        &mut self,
        about: &'static About,
        name: impl Into<String>,
        value: &(impl ToString + ?Sized),
        free: Free,
    ) {
        let key = Key { value: value.to_string(), free, about, is_command: false };
        self.0.insert(name.into(), key);
    }

    /// Adds a key whose value is run.
    pub(super) fn add_command(&mut self, name: impl Into<String>, value: &str, free: Free) {
        let about = &rule::MANIFEST;
        self.0.insert(name.into(), Key { value: value.to_owned(), free, about, is_command: true });
    }

    /// The differences to another list.
    pub(super) fn findings(&self, now: &Self, path: &str, text: &str) -> Vec<Finding> {
        let names: BTreeSet<_> = self.0.keys().chain(now.0.keys()).collect();
        let different = names.into_iter().filter_map(|name| {
            let (was, is) = (self.0.get(name), now.0.get(name));
            if self.configures(runner(name)) && is_no_weaker(name, value(was), value(is)) {
                return None;
            }
            let (about, how) = match (was, is) {
                (None, Some(key)) if !matches!(key.free, Free::ToAdd | Free::Both) => {
                    (key.about, "is new")
                }
                (Some(key), None) if !matches!(key.free, Free::ToRemove | Free::Both) => {
                    (key.about, "is gone")
                }
                (Some(was), Some(is)) if !is.keeps(was, name) => (is.about, "was changed"),
                _ => return None,
            };
            let finding = about.finding(path);
            let shown = crate::text::brief(name, 80);
            let message = format!("{}: `{shown}` {how}", finding.message);
            Some(line_of(Finding { message, ..finding }, name, text))
        });
        different.collect()
    }

    /// It has settings of a runner, which are then those that hold: the first ones in a file may
    /// hide the settings of another.
    fn configures(&self, name: &str) -> bool {
        self.0.keys().any(|key| runner(key) == name)
    }
}

fn value(key: Option<&Key>) -> Option<&str> {
    key.map(|key| key.value.as_str())
}

/// A finding with the line that a key stands on, if that can be found.
fn line_of(finding: Finding, name: &str, text: &str) -> Finding {
    let last = name.rsplit(['.', ' ']).next().unwrap_or(name).trim_matches('"');
    let line = text.lines().enumerate().find(|(_, line)| {
        let line = line.trim_start().trim_start_matches(['"', '\'', '[']);
        line.strip_prefix(last).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    });
    match line {
        Some((at, line)) if !last.is_empty() => finding.at(at, line),
        _ => finding,
    }
}

/// Targets and scripts that checks run, and people by habit.
pub(super) struct Reach {
    /// Names of targets and scripts.
    pub(super) names: Vec<String>,
    /// Those of them that checks run, and those that run tests.
    pub(super) commanded: Vec<String>,
    /// The versions of the manifest: what one of them reaches is guarded in both.
    pub(super) texts: [String; 2],
}

/// Targets and scripts that run tests wherever they are.
const USUAL: [&str; 8] =
    ["test", "tests", "check", "ci", "verify", "lint", "typecheck", "coverage"];

impl Reach {
    pub(super) fn new(commands: &[(String, Vec<String>)], (before, now): (&str, &str)) -> Self {
        // The first word is the program.
        let words = commands.iter().flat_map(|(_, words)| words.iter().skip(1));
        let words = words.flat_map(|word| word.split_whitespace());
        let plain = words.filter(|word| !word.starts_with('-') && !word.contains(['=', '/']));
        let plain = plain.filter(|word| !matches!(*word, "run" | "run-script" | "exec"));
        let commanded: Vec<_> =
            ["test", "tests"].into_iter().chain(plain).map(str::to_owned).collect();
        let names = USUAL.into_iter().map(str::to_owned).chain(commanded.iter().cloned()).collect();
        Self { names, commanded, texts: [before.to_owned(), now.to_owned()] }
    }
}

/// Plain data as one text, in order of its keys.
pub(super) fn canonical(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).map(|value| value.to_string()).unwrap_or_default()
}

/// Every value of some data that is no table, with its path.
pub(super) fn leaves(at: &str, value: &Value, found: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(table) => {
            for (key, value) in table {
                leaves(&format!("{at}.{key}"), value, found);
            }
        }
        value => found(at, value),
    }
}
