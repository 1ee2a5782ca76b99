//! The table of built-in checks. A check of another name is a command of the settings, or a
//! plug-in.

use super::policy::{CheckPolicy, Mode};

/// A built-in check.
#[derive(Clone, Copy, Debug)]
pub struct BuiltInCheck {
    /// Its name in settings and records.
    pub name: &'static str,
    /// Its kind, unless settings give it a command of its own.
    pub kind: CheckKind,
    /// The cost of a run.
    pub cost: Cost,
    /// A pass says something of what the product does.
    pub is_of_behaviour: bool,
    /// It is about the end of a loop, so a pull request does not need it.
    pub ends_a_loop: bool,
    /// Its mode, unless settings give one.
    pub mode: Mode,
    /// The keys of its table that not every check has.
    pub keys: &'static [&'static str],
}

/// Kind of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// Uncommitted files.
    CleanGit,
    /// Acceptance criteria.
    Criteria,
    /// Handoffs.
    Handoff,
    /// Changes that get around the other checks.
    Integrity,
    /// A reviewer: a model, or a person's script.
    Review,
    /// A command, configured or found in the project.
    Command,
    /// A program that answers in gate's own format.
    Plugin,
    /// The check of a phase in which only tests are written. Settings cannot configure it.
    TestsFirst,
}

/// Rough cost of a check; the cheap ones run first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// It only reads files.
    Look,
    /// It runs a tool that reads sources.
    Tool,
    /// It builds.
    Build,
    /// It runs the work.
    Run,
    /// It runs a reviewer.
    Ask,
}

/// The check of acceptance criteria, which `[[criteria]]` switches on.
pub const CRITERIA: &str = "acceptance_criteria";

/// The check of the goals that a person gave.
pub const GOAL: &str = "goal";

/// The name of a person's check where the settings have a check of its name.
pub fn persons_check(name: &str) -> String {
    format!("{name}_of_person")
}

/// A check that runs the work, with all defaults.
const RUNS: BuiltInCheck = BuiltInCheck {
    name: "tests",
    kind: CheckKind::Command,
    cost: Cost::Run,
    is_of_behaviour: true,
    ends_a_loop: false,
    mode: Mode::Require,
    keys: &[],
};

/// A check that says nothing of what the product does.
const LOOKS: BuiltInCheck = BuiltInCheck { cost: Cost::Look, is_of_behaviour: false, ..RUNS };

/// The built-in checks, by name.
pub const BUILT_IN: &[BuiltInCheck] = &[
    BuiltInCheck {
        name: CRITERIA,
        kind: CheckKind::Criteria,
        ends_a_loop: true,
        keys: &["files", "optional", "done_marks"],
        ..LOOKS
    },
    BuiltInCheck { name: "build", cost: Cost::Build, ..LOOKS },
    // It looks at more than this iteration's work, so it only counts; `review` too.
    BuiltInCheck {
        name: "clean_git",
        kind: CheckKind::CleanGit,
        ends_a_loop: true,
        mode: Mode::Count,
        keys: &["ignore"],
        ..LOOKS
    },
    // gate finds no command for it in a project.
    BuiltInCheck { name: "format", kind: CheckKind::Plugin, cost: Cost::Tool, ..LOOKS },
    BuiltInCheck {
        name: "handoff",
        kind: CheckKind::Handoff,
        ends_a_loop: true,
        keys: &["files"],
        ..LOOKS
    },
    BuiltInCheck { name: "integrity", kind: CheckKind::Integrity, ..LOOKS },
    BuiltInCheck { name: "lint", cost: Cost::Tool, ..LOOKS },
    BuiltInCheck {
        name: "review",
        kind: CheckKind::Review,
        cost: Cost::Ask,
        mode: Mode::Count,
        ..LOOKS
    },
    RUNS,
    BuiltInCheck { name: "typecheck", cost: Cost::Tool, ..LOOKS },
];

/// The built-in check of this name.
pub fn built_in(name: &str) -> Option<&'static BuiltInCheck> {
    BUILT_IN.iter().find(|check| check.name == name)
}

/// A check that says something of what the product does. The command of a check with a
/// name of its own is taken for one.
pub fn is_of_behaviour(name: &str) -> bool {
    built_in(name).is_none_or(|check| check.is_of_behaviour)
}

/// A command or a plug-in: neither a look at plans, at git or at settings, nor the word of a
/// reviewer.
pub fn runs_the_work(name: &str) -> bool {
    built_in(name).is_none_or(|check| !matches!(check.cost, Cost::Look | Cost::Ask))
}

impl CheckKind {
    /// The kind of the check of this name. A `command` turns a built-in check into a command,
    /// except for `clean_git`, which takes none, and `review`, whose command is the reviewer.
    pub fn for_check(name: &str, settings: &CheckPolicy) -> Self {
        match built_in(name).map(|check| check.kind) {
            _ if !settings.tests.is_empty() => Self::TestsFirst,
            Some(kind @ (Self::CleanGit | Self::Review)) => kind,
            _ if !settings.command.is_empty() => Self::Command,
            None if !settings.criteria.is_empty() => Self::Criteria,
            kind => kind.unwrap_or(Self::Plugin),
        }
    }
}

impl Cost {
    /// The cost of the check of this name.
    pub fn for_check(name: &str, settings: &CheckPolicy) -> Self {
        match CheckKind::for_check(name, settings) {
            CheckKind::Plugin => Self::Tool,
            CheckKind::TestsFirst => Self::Run,
            CheckKind::Command => match built_in(name).map(|check| check.cost) {
                Some(cost @ (Self::Tool | Self::Build)) => cost,
                _ => Self::Run,
            },
            _ => built_in(name).map_or(Self::Look, |check| check.cost),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/book/src/concepts/evidence.md");

    #[test]
    fn the_book_names_every_built_in_check() {
        for check in BUILT_IN {
            assert!(PAGE.contains(&format!("`{}`", check.name)), "{}", check.name);
        }
        assert!(BUILT_IN.is_sorted_by_key(|check| check.name));
    }

    #[test]
    fn the_word_of_a_reviewer_is_no_behaviour() {
        let of_behaviour = BUILT_IN.iter().filter(|check| is_of_behaviour(check.name));
        assert_eq!(of_behaviour.map(|check| check.name).collect::<Vec<_>>(), ["tests"]);
        assert!(is_of_behaviour("smoke"));
        let runs = BUILT_IN.iter().filter(|check| runs_the_work(check.name));
        let names: Vec<_> = runs.map(|check| check.name).collect();
        assert_eq!(names, ["build", "format", "lint", "tests", "typecheck"]);
    }
}
