//! Makefiles, justfiles and Taskfiles: the recipes of the targets that checks run,
//! what these depend on, and what changes how all recipes run.

use std::collections::{BTreeMap, BTreeSet};

use super::key::{Free, Keys, Reach};
use crate::integrity::commands::hides;

/// Names that change how every recipe runs.
const SPECIAL: [&str; 9] = [
    "SHELL",
    ".SHELLFLAGS",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    ".IGNORE",
    ".ONESHELL",
    ".DEFAULT",
    ".DEFAULT_GOAL",
    ".POSIX",
];

/// Variables that runners and compilers read, beside what changes how every recipe runs.
fn is_special(name: &str) -> bool {
    let begins = ["PYTEST_", "PYTHON", "CARGO_", "RUSTC", "JEST_", "VITEST", "NODE_", "LD_"];
    SPECIAL.contains(&name)
        || ["RUSTFLAGS", "GOFLAGS", "PATH"].contains(&name)
        || begins.iter().any(|begin| name.starts_with(begin))
}

/// A target: what it depends on, and what it runs.
#[derive(Debug, Default)]
struct Recipe {
    needs: Vec<String>,
    lines: Vec<String>,
}

#[derive(Debug, Default)]
struct Recipes {
    targets: BTreeMap<String, Recipe>,
    variables: BTreeMap<String, String>,
    /// Lines that stand for themselves: what is included, settings.
    others: Vec<String>,
}

pub(super) fn keys(text: &str, reach: &Reach) -> Option<Keys> {
    Some(read(text, reach, false))
}

/// A file that makefiles include: what it sets may be used by any of them.
pub(super) fn included(text: &str, reach: &Reach) -> Option<Keys> {
    Some(read(text, reach, true))
}

fn read(text: &str, reach: &Reach, is_included: bool) -> Keys {
    let recipes = Recipes::read(text);
    let mut keys = Keys::default();
    let names = reached(reach);
    for name in &names {
        if let Some(recipe) = recipes.targets.get(name) {
            keys.add_command(format!("target {name}"), &recipe.lines.join("\n"), Free::ToAdd);
            for need in &recipe.needs {
                keys.add(format!("target {name} needs {need}"), "", Free::ToAdd);
            }
        }
    }
    for (name, value) in &recipes.variables {
        if is_special(name) || is_included && hides(value) {
            keys.add(name, value, Free::Not);
        } else if used(reach, &names).contains(name) {
            // As a part of a command: a source more is nothing.
            let lines: Vec<_> = value.lines().map(|line| format!("{name} {line}")).collect();
            keys.add_command(name, &lines.join("\n"), Free::ToAdd);
        }
    }
    for name in recipes.targets.keys().filter(|name| SPECIAL.contains(&name.as_str())) {
        keys.add(name, "", Free::Not);
    }
    for line in &recipes.others {
        keys.add(line, "", Free::Not);
    }
    keys
}

/// The targets that checks and people run in one of the versions, and what these
/// need.
fn reached(reach: &Reach) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = reach.names.iter().cloned().collect();
    for text in &reach.texts {
        let recipes = Recipes::read(text);
        let mut queue: Vec<String> = names.iter().cloned().collect();
        while let Some(name) = queue.pop() {
            let Some(recipe) = recipes.targets.get(&name) else { continue };
            let called = recipe.lines.iter().flat_map(|line| calls(line));
            let needs = recipe.needs.iter().cloned().chain(called);
            queue.extend(needs.filter(|need| names.insert(need.clone())));
        }
    }
    names
}

/// The targets that a line of a recipe runs by calling the program again.
fn calls(line: &str) -> Vec<String> {
    let words: Vec<&str> =
        line.trim_start_matches(['@', '-', '+', ' ', '\t']).split_whitespace().collect();
    let call = words.iter().position(|word| {
        matches!(*word, "make" | "gmake" | "just" | "$(MAKE)" | "${MAKE}" | "task" | "task:")
    });
    let Some(at) = call else { return Vec::new() };
    let rest = words[at + 1..].iter().take_while(|word| !matches!(**word, "&&" | "||" | ";" | "|"));
    rest.filter(|word| !word.starts_with('-') && !word.contains('='))
        .map(|word| (*word).to_owned())
        .collect()
}

/// The variables that reached recipes use.
fn used(reach: &Reach, names: &BTreeSet<String>) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for text in &reach.texts {
        let recipes = Recipes::read(text);
        let of_names = recipes.targets.iter().filter(|(name, _)| names.contains(*name));
        for line in of_names.flat_map(|(_, recipe)| &recipe.lines) {
            for part in line.split(['$', '{']).skip(1) {
                let name = part.trim_start_matches(['(', '{', ' ']);
                let name: String =
                    name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                used.insert(name);
            }
        }
    }
    used
}

impl Recipes {
    fn read(text: &str) -> Self {
        // Only a Taskfile has its tasks below a key.
        if text.lines().any(|line| line.trim_end() == "tasks:") { tasks(text) } else { make(text) }
    }
}

fn make(text: &str) -> Recipes {
    let mut recipes = Recipes::default();
    let mut open: Vec<String> = Vec::new();
    let joined = text.replace("\\\n", " ");
    for line in joined.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if line.starts_with(['\t', ' ']) && !open.is_empty() {
            for name in &open {
                recipes.targets.entry(name.clone()).or_default().lines.push(trimmed.to_owned());
            }
            continue;
        }
        open.clear();
        if let Some((name, value)) = assignment(trimmed) {
            let all = recipes.variables.entry(name).or_default();
            *all = format!("{all}{value}\n");
        } else if ["include ", "-include ", "sinclude ", "import ", "set "]
            .iter()
            .any(|word| trimmed.starts_with(word))
            || trimmed.starts_with("$(")
        {
            recipes.others.push(trimmed.to_owned());
        } else if let Some((names, rest)) = trimmed.split_once(':') {
            let (needs, first) = rest.trim_start_matches(':').split_once(';').unwrap_or((rest, ""));
            open = names
                .split_whitespace()
                .map(|name| name.trim_start_matches('@').to_owned())
                .collect();
            // What follows a just recipe's name are its parameters.
            for name in &open {
                let recipe = recipes.targets.entry(name.clone()).or_default();
                recipe.needs.extend(needs.split_whitespace().map(str::to_owned));
                recipe.lines.extend((!first.trim().is_empty()).then(|| first.trim().to_owned()));
            }
        }
    }
    recipes
}

/// A variable and its value.
fn assignment(line: &str) -> Option<(String, String)> {
    let line = ["export ", "override "]
        .iter()
        .fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
    let at = line.find('=')?;
    let name = line[..at].trim_end_matches([':', '?', '+', '!']).trim();
    let is_name = !name.is_empty() && !name.contains([' ', ':', '(', '\t']);
    is_name.then(|| (name.to_owned(), line[at + 1..].trim().to_owned()))
}

/// A Taskfile: what stands below each task's name.
fn tasks(text: &str) -> Recipes {
    let mut recipes = Recipes::default();
    let (mut inside, mut open) = (false, None::<(usize, String)>);
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#'))
    {
        let (indent, trimmed) = (line.len() - line.trim_start().len(), line.trim());
        if indent == 0 {
            inside = trimmed == "tasks:";
            open = None;
            if !inside && trimmed.starts_with("includes") {
                recipes.others.push(trimmed.to_owned());
            }
            continue;
        }
        let is_head = open.as_ref().is_none_or(|(of, _)| indent <= *of);
        if inside && is_head {
            let name = trimmed.split(':').next().unwrap_or(trimmed).trim_matches(['"', '\'']);
            open = Some((indent, name.to_owned()));
            recipes.targets.entry(name.to_owned()).or_default();
        }
        if let Some((_, name)) = &open {
            let recipe = recipes.targets.entry(name.clone()).or_default();
            recipe.lines.push(trimmed.to_owned());
            if let Some(list) = trimmed.strip_prefix("deps:") {
                let words = list.split(|c: char| !(c.is_alphanumeric() || "-_:".contains(c)));
                recipe.needs.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
            }
        }
    }
    recipes
}

/// The targets of a makefile that a file of their name would keep from running.
pub fn idle(text: &str) -> Vec<String> {
    let recipes = Recipes::read(text);
    let phony =
        recipes.targets.get(".PHONY").map(|recipe| recipe.needs.clone()).unwrap_or_default();
    let runs = recipes.targets.iter().filter(|(_, recipe)| !recipe.lines.is_empty());
    let names = runs.map(|(name, _)| name.clone());
    names.filter(|name| !phony.contains(name) && !name.contains(['.', '/', '%', '$'])).collect()
}
