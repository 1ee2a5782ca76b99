//! make and just: recipes of known names.

use std::collections::BTreeSet;

use super::folder::Folder;
use super::proposal::{Aim, Findings, Proposal};
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

/// For each aim the first name that exists.
fn chosen_names(exists: impl Fn(&str) -> bool) -> Vec<(&'static str, Aim)> {
    let mut chosen: Vec<(&'static str, Aim)> = Vec::new();
    for (name, aim) in NAMES {
        if exists(name) && chosen.iter().all(|(_, taken_aim)| *taken_aim != aim) {
            chosen.push((name, aim));
        }
    }
    chosen
}

/// Proposes for a folder with a Makefile that has targets of known names.
pub(super) fn look_for_make(folder: &Folder<'_>) -> Findings {
    let mut findings = Findings::default();
    let Some(file) = folder.first_file(&MAKEFILES) else { return findings };
    let Some(text) = folder.text(file, &mut findings) else { return findings };
    let rules = Rules::read(&text);
    for (name, aim) in chosen_names(|name| rules.targets.contains(name)) {
        if !rules.phony.contains(name) && folder.path.join(name).exists() {
            // make would say that it is up to date, and do nothing.
            findings.note(format!("{file}: `{name}` is also a file, and not in .PHONY"));
            continue;
        }
        let is_head = |line: &str| {
            parse_rule(line)
                .is_some_and(|rule| rule.targets.split_whitespace().any(|target| target == name))
        };
        let proposal =
            Proposal::new(aim, "make", &["make", "-s", name], format!("target {name} in {file}"));
        propose_unless_watching(proposal, &text, is_head, &mut findings);
    }
    findings
}

/// Proposes for a folder with a justfile that has recipes of known names.
pub(super) fn look_for_just(folder: &Folder<'_>) -> Findings {
    let mut findings = Findings::default();
    let names = folder.names(".");
    let file = names.iter().find(|name| {
        matches!(name.to_ascii_lowercase().as_str(), "justfile" | ".justfile")
            && folder.has_file(name)
    });
    let Some(file) = file else { return findings };
    let Some(text) = folder.text(file, &mut findings) else { return findings };
    let recipes = recipe_names(&text);
    // A recipe `check` is as often style as tests; nothing can be concluded.
    for (name, aim) in chosen_names(|name| name != "check" && recipes.contains(name)) {
        let is_head = |line: &str| recipe_name(line) == Some(name);
        let proposal =
            Proposal::new(aim, "just", &["just", name], format!("recipe {name} in {file}"));
        propose_unless_watching(proposal, &text, is_head, &mut findings);
    }
    findings
}

/// The names that `make` or `just` can be called with.
pub(super) fn names(folder: &Folder<'_>, tool: &str) -> BTreeSet<String> {
    let is_just =
        |name: &&String| matches!(name.to_ascii_lowercase().as_str(), "justfile" | ".justfile");
    let files = folder.names(".");
    let file = match tool {
        "make" => folder.first_file(&MAKEFILES),
        _ => files.iter().find(is_just).map(String::as_str),
    };
    let text =
        file.and_then(|file| folder.text(file, &mut Findings::default())).unwrap_or_default();
    match tool {
        "make" => Rules::read(&text).targets,
        _ => recipe_names(&text).into_iter().map(str::to_owned).collect(),
    }
}

/// Proposes a recipe, unless it never ends. The recipe stands below the line that is its head.
fn propose_unless_watching(
    proposal: Proposal,
    text: &str,
    is_head: impl Fn(&str) -> bool,
    findings: &mut Findings,
) {
    if recipe_lines(text, is_head).any(|line| never_ends(line, &|_| None)) {
        findings.note(format!("{} watches, and never ends", proposal.evidence));
    } else {
        findings.propose(proposal);
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
            let Some(rule) = parse_rule(line) else { continue };
            if rule.targets.trim() == ".PHONY" {
                rules.phony.extend(rule.prerequisites.split_whitespace().map(str::to_owned));
            } else {
                rules.targets.extend(rule.targets.split_whitespace().map(str::to_owned));
            }
        }
        rules
    }
}

/// The first line of a rule.
struct RuleHead<'t> {
    targets: &'t str,
    prerequisites: &'t str,
}

/// A recipe begins with a tab, and `:=` sets a variable.
fn parse_rule(line: &str) -> Option<RuleHead<'_>> {
    let code = line.split('#').next().unwrap_or_default();
    if code.starts_with(['\t', ' ']) {
        return None;
    }
    let (targets, behind) = code.split_once(':')?;
    // A rule may have two colons: `all:: test`.
    let behind = behind.strip_prefix(':').unwrap_or(behind);
    let sets_variable = behind.trim_start_matches(':').starts_with('=') || targets.contains('=');
    let prerequisites = behind.split(';').next().unwrap_or_default();
    (!sets_variable).then_some(RuleHead { targets, prerequisites })
}

/// The recipes that can be called without arguments, and the other names that
/// they are called by.
fn recipe_names(text: &str) -> BTreeSet<&str> {
    let mut names: BTreeSet<&str> = text.lines().filter_map(recipe_name).collect();
    let aliases = text.lines().filter_map(parse_alias);
    let aliases: Vec<_> = aliases.filter(|(_, recipe)| names.contains(recipe)).collect();
    names.extend(aliases.iter().map(|(alias, _)| alias));
    names
}

/// `alias t := test`: the alias and its recipe.
fn parse_alias(line: &str) -> Option<(&str, &str)> {
    let (alias, recipe) = line.strip_prefix("alias ")?.split_once(":=")?;
    Some((alias.trim(), recipe.trim()))
}

/// The name in a recipe's first line, if it needs no arguments.
fn recipe_name(line: &str) -> Option<&str> {
    // With `@`, just does not print the recipe's lines.
    let (head, behind) = line.strip_prefix('@').unwrap_or(line).split_once(':')?;
    let (name, parameters) = head.split_once(' ').unwrap_or((head, ""));
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let needs_no_argument =
        parameters.split_whitespace().all(|name| name.starts_with('*') || name.contains('='));
    (is_name && !name.is_empty() && needs_no_argument && !behind.starts_with('=')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{Rules, recipe_names};

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
        assert_eq!(recipe_names(text).into_iter().collect::<Vec<_>>(), expected, "{text}");
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
