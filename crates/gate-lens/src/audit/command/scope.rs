//! The tests that a run chooses, as far as its words tell: a later run may be a part of an earlier one.

use std::collections::BTreeSet;

use gate_report::runners::{Runner, find, is_switch};

/// Options that choose a part of a workspace, or one kind of its tests.
const PARTS: [&str; 8] = ["-p", "--package", "--test", "--bin", "--lib", "--bins", "--doc", "-pl"];

/// Words that choose all tests.
const WHOLE: [&str; 11] =
    ["--", ".", "./", "./...", "...", "test", "tests", "spec", "run", "r", "discover"];

/// The runner of a run, and what it chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    pub runner: Runner,
    /// Files, names and filters; empty if all tests run.
    choices: BTreeSet<String>,
}

impl Scope {
    /// The scope of a simple command; none if it starts no runner that is known.
    pub(crate) fn new(words: &[String]) -> Option<Self> {
        let invocation = find(words)?;
        let runner = invocation.runner;
        let mut choices = BTreeSet::new();
        let mut arguments = words[invocation.options_start..].iter().peekable();
        while let Some(word) = arguments.next() {
            let name = word.split('=').next().unwrap_or(word);
            let is_option = word.starts_with('-');
            let is_chosen = if is_option {
                let is_part = is_of_cargo(runner) && PARTS.contains(&name);
                is_part || runner.selects_tests(std::slice::from_ref(word))
            } else {
                let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
                !is_number && !WHOLE.contains(&word.trim_end_matches('/'))
            };
            // A word behind an option may be its value.
            let has_value = is_option && word.len() == name.len() && !is_switch(word);
            let value = arguments.next_if(|next| has_value && !next.starts_with('-'));
            if is_chosen {
                choices
                    .insert(value.map_or_else(|| word.clone(), |value| format!("{word} {value}")));
            }
        }
        Some(Self { runner, choices })
    }

    /// No word leaves a test out.
    pub(crate) fn is_whole(&self) -> bool {
        self.choices.is_empty()
    }

    /// It runs all that an earlier run of the same runner ran.
    pub(crate) fn covers(&self, earlier: &Self) -> bool {
        self.runner == earlier.runner
            && (self.is_whole()
                || (!earlier.is_whole() && self.choices.is_superset(&earlier.choices)))
    }
}

fn is_of_cargo(runner: Runner) -> bool {
    matches!(runner, Runner::Cargo | Runner::Nextest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(line: &str) -> Scope {
        let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        Scope::new(&words).expect("a run of a known runner")
    }

    #[test]
    fn a_run_of_all_tests_covers_each_other_one() {
        for whole in ["pytest -q", "pytest tests/ -v --tb short -n 4", "python3 -m pytest"] {
            assert!(scope(whole).is_whole(), "{whole}");
            assert!(scope(whole).covers(&scope("pytest tests/test_a.py")), "{whole}");
        }
        for whole in
            ["cargo test --workspace -- --nocapture", "go test -race ./...", "npx vitest run"]
        {
            assert!(scope(whole).is_whole(), "{whole}");
        }
        assert!(!scope("pytest").covers(&scope("cargo test")));
    }

    #[test]
    fn a_part_covers_itself_alone() {
        for (whole, part) in [
            ("pytest -q", "pytest -q tests/test_form.py"),
            ("pytest", "pytest -k form"),
            ("cargo test", "cargo test -p shop"),
            ("cargo test", "cargo test cart"),
            ("go test ./...", "go test ./cart"),
            ("go test ./...", "go test -run=TestCart ./..."),
            ("npx jest", "npx jest -t cart"),
        ] {
            assert!(!scope(part).covers(&scope(whole)), "{part}");
            assert!(scope(part).covers(&scope(part)), "{part}");
        }
        assert!(scope("pytest a.py b.py").covers(&scope("pytest a.py")));
    }
}
