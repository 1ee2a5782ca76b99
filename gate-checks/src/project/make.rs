//! make.

use std::collections::BTreeSet;

use super::folder::Folder;
use super::proposal::{Found, Proposal};
use super::targets;
use super::watching::{never_ends, recipe_lines};

/// The names in the order in which GNU make takes them.
const FILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Proposes for a folder with a Makefile that has targets of known names.
pub(super) fn look(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    let Some(file) = folder.first(&FILES) else { return found };
    let Some(text) = folder.text(file, &mut found) else { return found };
    let rules = Rules::read(&text);
    for (name, aim) in targets::chosen(|name| rules.targets.contains(name)) {
        if !rules.phony.contains(name) && folder.path.join(name).exists() {
            // make would say that it is up to date, and do nothing.
            found.notes(format!("{file}: `{name}` is also a file, and not in .PHONY"));
            continue;
        }
        let begins = |line: &str| {
            rule(line).is_some_and(|(names, _)| names.split_whitespace().any(|one| one == name))
        };
        if recipe_lines(&text, begins).any(|line| never_ends(line, &|_| None)) {
            found.notes(format!("target {name} in {file} watches, and never ends"));
            continue;
        }
        let why = format!("target {name} in {file}");
        found.proposes(Proposal::new(aim, "make", &["make", "-s", name], why));
    }
    found
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

#[cfg(test)]
mod tests {
    use super::Rules;

    fn check(text: &str, targets: &[&str], phony: &[&str]) {
        let rules = Rules::read(text);
        assert_eq!(rules.targets.iter().collect::<Vec<_>>(), targets, "{text}");
        assert_eq!(rules.phony.iter().collect::<Vec<_>>(), phony, "{text}");
    }

    #[test]
    fn rules_are_told_from_variables_and_recipes() {
        check("test:\n\tcargo test\n", &["test"], &[]);
        check("lint test: build ; echo\n", &["lint", "test"], &[]);
        check("all:: test\n", &["all"], &[]);
        check("test := a\ntest ::= a\ntest :::= a\ntest = a:b\n", &[], &[]);
        check("# test:\n\ttest: no\nx: # test:\n", &["x"], &[]);
        check(".PHONY: test \\\n  lint\n.PHONY: build\n", &[], &["build", "lint", "test"]);
    }
}
