//! Reads test scripts.

use super::super::watching::{Scripts, never_ends};
use super::manager::{PackageManager, words};

/// A test script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// There is none, or only the one that `npm init` writes.
    None,
    /// It waits for changes.
    Watches,
    /// It is a runner and nothing else.
    Runner(TestRunner),
    /// Anything else, and the arguments that make it end.
    Other(&'static [&'static str]),
}

impl Script {
    pub(super) fn read(text: &str, scripts: &Scripts<'_>) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        if text.contains("no test specified") {
            return Self::None;
        }
        match words.as_slice() {
            ["jest"] => return Self::Runner(TestRunner::Jest),
            ["vitest"] | ["vitest", "run"] => return Self::Runner(TestRunner::Vitest),
            ["node", "--test"] => return Self::Runner(TestRunner::Node),
            _ => {}
        }
        if never_ends(text, scripts) {
            return Self::Watches;
        }
        let settled = words.iter().any(|word| word.starts_with("--watch"));
        let waits = words.first() == Some(&"react-scripts") && !settled;
        Self::Other(if waits { &["--watchAll=false"] } else { &[] })
    }

    /// True if it tests, and comes to an end.
    pub(super) fn ends(self) -> bool {
        matches!(self, Self::Runner(_) | Self::Other(_))
    }
}

/// A test runner whose results gate can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestRunner {
    Jest,
    Vitest,
    Node,
}

impl TestRunner {
    /// Those that are packages.
    pub(super) const INSTALLED: [Self; 2] = [Self::Vitest, Self::Jest];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Node => "node",
        }
    }

    pub(super) fn command(self, manager: PackageManager) -> Vec<String> {
        match self {
            Self::Jest => manager.exec("jest"),
            Self::Vitest => [manager.exec("vitest"), words(&["run"])].concat(),
            Self::Node => words(&["node", "--test"]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Script, TestRunner};

    fn check(text: &str, expected: Script) {
        assert_eq!(Script::read(text, &|_| None), expected, "{text}");
    }

    #[test]
    fn the_text_of_npm_init_is_no_script() {
        check("echo \"Error: no test specified\" && exit 1", Script::None);
    }

    #[test]
    fn a_runner_is_recognised_where_it_stands_alone() {
        check("jest", Script::Runner(TestRunner::Jest));
        check(" vitest  run ", Script::Runner(TestRunner::Vitest));
        check("vitest", Script::Runner(TestRunner::Vitest));
        check("node --test", Script::Runner(TestRunner::Node));
        check("jest --ci", Script::Other(&[]));
        check("tsc && jest", Script::Other(&[]));
        check("mocha", Script::Other(&[]));
    }

    #[test]
    fn a_script_that_never_ends_is_none() {
        check("jest --watch", Script::Watches);
        check("jest --watchAll", Script::Watches);
        check("nodemon --exec \"node --test\"", Script::Watches);
        check("jest --watchAll=false", Script::Other(&[]));
        check("ng test --no-watch", Script::Other(&[]));
        check("react-scripts test", Script::Other(&["--watchAll=false"]));
        check("react-scripts test --watchAll=false", Script::Other(&[]));
    }
}
