//! just.

use std::collections::BTreeSet;

use super::folder::Folder;
use super::proposal::{Found, Proposal};
use super::targets;
use super::watching::{never_ends, recipe_lines};

/// Proposes for a folder with a justfile that has recipes of known names.
pub(super) fn look(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    let names = folder.names(".");
    let file = names.iter().find(|name| {
        matches!(name.to_ascii_lowercase().as_str(), "justfile" | ".justfile") && folder.has(name)
    });
    let Some(file) = file else { return found };
    let Some(text) = folder.text(file, &mut found) else { return found };
    let recipes = recipes(&text);
    // A recipe `check` is as often style as tests; nothing can be concluded.
    for (name, aim) in targets::chosen(|name| name != "check" && recipes.contains(name)) {
        let begins = |line: &str| recipe(line) == Some(name);
        if recipe_lines(&text, begins).any(|line| never_ends(line, &|_| None)) {
            found.notes(format!("recipe {name} in {file} watches, and never ends"));
            continue;
        }
        let why = format!("recipe {name} in {file}");
        found.proposes(Proposal::new(aim, "just", &["just", name], why));
    }
    found
}

/// The recipes that can be called without arguments, and the other names that
/// they are called by.
fn recipes(text: &str) -> BTreeSet<&str> {
    let known: BTreeSet<&str> = text.lines().filter_map(recipe).collect();
    let other = text.lines().filter_map(alias).filter(|(_, of)| known.contains(of));
    let other: Vec<&str> = other.map(|(name, _)| name).collect();
    known.into_iter().chain(other).collect()
}

/// `alias t := test`
fn alias(line: &str) -> Option<(&str, &str)> {
    let (name, of) = line.strip_prefix("alias ")?.split_once(":=")?;
    Some((name.trim(), of.trim()))
}

/// The name in a recipe's first line, if it needs no arguments.
fn recipe(line: &str) -> Option<&str> {
    let line = line.strip_prefix('@').unwrap_or(line);
    let (head, after) = line.split_once(':')?;
    let (name, parameters) = head.split_once(' ').unwrap_or((head, ""));
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let callable =
        parameters.split_whitespace().all(|name| name.starts_with('*') || name.contains('='));
    (is_name && !name.is_empty() && callable && !after.starts_with('=')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::recipes;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(recipes(text).into_iter().collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn recipes_are_told_from_settings_and_from_those_that_need_arguments() {
        check("test:\n    cargo test\n", &["test"]);
        check("@lint *args: build\n", &["lint"]);
        check("test filter='':\n", &["test"]);
        check("test filter:\nbuild +targets:\n", &[]);
        check("version := '1'\nset shell := ['bash']\nexport A := 'b'\n", &[]);
        check("unit:\nalias test := unit\nalias lint := nothing\n", &["test", "unit"]);
        check("# test:\n    test: no\n", &[]);
    }
}
