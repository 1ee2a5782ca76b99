//! make and just: recipes of known names.

use std::collections::BTreeSet;

use super::folder::Folder;
use super::proposal::{Aim, Found, Proposal};
use super::watching::{never_ends, recipe_lines};

/// The names of a Makefile in the order in which GNU make takes them.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Names by what they are usually for, the most telling first. `check` stands
/// for the tests in a Makefile, as the GNU standards have it.
const NAMES: [(&str, Aim); 9] = [
    ("test", Aim::Tests),
    ("tests", Aim::Tests),
    ("check", Aim::Tests),
    ("build", Aim::Build),
    ("compile", Aim::Build),
    ("lint", Aim::Lint),
    ("typecheck", Aim::Typecheck),
    ("type-check", Aim::Typecheck),
    ("types", Aim::Typecheck),
];

/// For each aim the first name that is there.
fn chosen(is_there: impl Fn(&str) -> bool) -> Vec<(&'static str, Aim)> {
    let mut chosen: Vec<(&'static str, Aim)> = Vec::new();
    for (name, aim) in NAMES {
        if is_there(name) && chosen.iter().all(|(_, taken)| *taken != aim) {
            chosen.push((name, aim));
        }
    }
    chosen
}

/// Proposes for a folder with a Makefile that has targets of known names.
pub(super) fn look_for_make(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    let Some(file) = folder.first(&MAKEFILES) else { return found };
    let Some(text) = folder.text(file, &mut found) else { return found };
    let rules = Rules::read(&text);
    for (name, aim) in chosen(|name| rules.targets.contains(name)) {
        if !rules.phony.contains(name) && folder.path.join(name).exists() {
            // make would say that it is up to date, and do nothing.
            found.notes(format!("{file}: `{name}` is also a file, and not in .PHONY"));
            continue;
        }
        let begins = |line: &str| {
            rule(line).is_some_and(|(names, _)| names.split_whitespace().any(|one| one == name))
        };
        propose(&mut found, &text, begins, format!("target {name} in {file}"), |why| {
            Proposal::new(aim, "make", &["make", "-s", name], why)
        });
    }
    found
}

/// Proposes for a folder with a justfile that has recipes of known names.
pub(super) fn look_for_just(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    let names = folder.names(".");
    let file = names.iter().find(|name| {
        matches!(name.to_ascii_lowercase().as_str(), "justfile" | ".justfile") && folder.has(name)
    });
    let Some(file) = file else { return found };
    let Some(text) = folder.text(file, &mut found) else { return found };
    let recipes = recipes(&text);
    // A recipe `check` is as often style as tests; nothing can be concluded.
    for (name, aim) in chosen(|name| name != "check" && recipes.contains(name)) {
        let begins = |line: &str| recipe(line) == Some(name);
        propose(&mut found, &text, begins, format!("recipe {name} in {file}"), |why| {
            Proposal::new(aim, "just", &["just", name], why)
        });
    }
    found
}

/// Proposes a recipe, unless it never ends.
fn propose(
    found: &mut Found,
    text: &str,
    begins: impl Fn(&str) -> bool,
    place: String,
    proposal: impl FnOnce(String) -> Proposal,
) {
    if recipe_lines(text, begins).any(|line| never_ends(line, &|_| None)) {
        found.notes(format!("{place} watches, and never ends"));
    } else {
        found.proposes(proposal(place));
    }
}

/// The rules of a Makefile, by lines alone: what it includes or computes is
/// not seen.
#[derive(Debug, Default)]
struct Rules {
    targets: BTreeSet<String>,
    phony: BTreeSet<String>,
}

impl Rules {
    fn read(text: &str) -> Self {
        let mut rules = Self::default();
        for line in text.replace("\\\n", " ").lines() {
            let Some((names, after)) = rule(line) else { continue };
            if names.trim() == ".PHONY" {
                rules.phony.extend(after.split_whitespace().map(str::to_owned));
            } else {
                rules.targets.extend(names.split_whitespace().map(str::to_owned));
            }
        }
        rules
    }
}

/// The two sides of a rule's first line. A recipe begins with a tab, and `:=`
/// sets a variable.
fn rule(line: &str) -> Option<(&str, &str)> {
    let line = line.split('#').next().unwrap_or_default();
    if line.starts_with(['\t', ' ']) {
        return None;
    }
    let (names, after) = line.split_once(':')?;
    let after = after.strip_prefix(':').unwrap_or(after);
    let sets = after.trim_start_matches(':').starts_with('=') || names.contains('=');
    (!sets).then(|| (names, after.split(';').next().unwrap_or_default()))
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
    use super::{Rules, recipes};

    fn check_rules(text: &str, targets: &[&str], phony: &[&str]) {
        let rules = Rules::read(text);
        assert_eq!(rules.targets.iter().collect::<Vec<_>>(), targets, "{text}");
        assert_eq!(rules.phony.iter().collect::<Vec<_>>(), phony, "{text}");
    }

    #[test]
    fn rules_are_told_from_variables_and_recipes() {
        check_rules("test:\n\tcargo test\n", &["test"], &[]);
        check_rules("lint test: build ; echo\n", &["lint", "test"], &[]);
        check_rules("all:: test\n", &["all"], &[]);
        check_rules("test := a\ntest ::= a\ntest :::= a\ntest = a:b\n", &[], &[]);
        check_rules("# test:\n\ttest: no\nx: # test:\n", &["x"], &[]);
        check_rules(".PHONY: test \\\n  lint\n.PHONY: build\n", &[], &["build", "lint", "test"]);
    }

    fn check_recipes(text: &str, expected: &[&str]) {
        assert_eq!(recipes(text).into_iter().collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn recipes_are_told_from_settings_and_from_those_that_need_arguments() {
        check_recipes("test:\n    cargo test\n", &["test"]);
        check_recipes("@lint *args: build\n", &["lint"]);
        check_recipes("test filter='':\n", &["test"]);
        check_recipes("test filter:\nbuild +targets:\n", &[]);
        check_recipes("version := '1'\nset shell := ['bash']\nexport A := 'b'\n", &[]);
        check_recipes("unit:\nalias test := unit\nalias lint := nothing\n", &["test", "unit"]);
        check_recipes("# test:\n    test: no\n", &[]);
    }
}
