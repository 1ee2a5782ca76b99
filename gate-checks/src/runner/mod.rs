//! Test runners: one table for all who have to know them.
//!
//! [`find`] reads the words of a command, [`recognise`] also looks into scripts, `npm test` and
//! `make test`. Reports, controls, `gate init` and the audit go by the same table.

mod argv;
mod script;
mod selection;

use gate_core::decide::policy::ReportFormat as Format;

pub(crate) use argv::{Invocation, find};
pub(crate) use script::{RunnerCommand, recognise};

/// A runner of a project's tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    Cargo,
    Nextest,
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Mocha,
    Node,
    Go,
    Bats,
    Maven,
    Gradle,
}

/// The words after a program that make it run tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    /// None are needed.
    Any,
    /// The first word that is no option is one of these.
    First(&'static [&'static str]),
    /// One of these stands among the words.
    Among(&'static [&'static str]),
    /// An option before the first file.
    Option(&'static str),
    /// `nextest run`.
    Nextest,
}

/// A runner, and how it is known and asked.
struct Entry {
    runner: Runner,
    /// As people call it.
    name: &'static str,
    /// The names of its program.
    programs: &'static [&'static str],
    verb: Verb,
    /// The format in which it reports if gate asks; none if it has no option for that.
    format: Option<Format>,
    /// gate can plant a test that has to fail.
    has_control: bool,
}

/// The table, with those first whose programs run other things, too.
const TABLE: [Entry; 13] = [
    entry(Runner::Nextest, "nextest", &["cargo"], Verb::Nextest, Some(Format::Nextest), true),
    entry(
        Runner::Nextest,
        "nextest",
        &["cargo-nextest"],
        Verb::Nextest,
        Some(Format::Nextest),
        true,
    ),
    entry(
        Runner::Cargo,
        "cargo test",
        &["cargo"],
        Verb::First(&["test", "t"]),
        Some(Format::Libtest),
        true,
    ),
    entry(
        Runner::Pytest,
        "pytest",
        &["pytest", "py.test", "pytest-3"],
        Verb::Any,
        Some(Format::Pytest),
        true,
    ),
    entry(Runner::Unittest, "unittest", &["unittest"], Verb::Any, None, false),
    entry(Runner::Jest, "jest", &["jest", "jest.js"], Verb::Any, Some(Format::Jest), true),
    entry(
        Runner::Vitest,
        "vitest",
        &["vitest", "vitest.mjs"],
        Verb::Any,
        Some(Format::Vitest),
        true,
    ),
    entry(Runner::Mocha, "mocha", &["mocha", "_mocha", "mocha.js"], Verb::Any, None, false),
    entry(
        Runner::Node,
        "node --test",
        &["node", "nodejs", "tsx"],
        Verb::Option("--test"),
        Some(Format::Node),
        true,
    ),
    entry(Runner::Go, "go test", &["go"], Verb::First(&["test"]), Some(Format::Go), true),
    entry(Runner::Bats, "bats", &["bats"], Verb::Any, None, false),
    entry(
        Runner::Maven,
        "Maven",
        &["mvn", "mvnw", "mvnd"],
        Verb::Among(&["test", "verify", "package", "install"]),
        None,
        false,
    ),
    entry(
        Runner::Gradle,
        "Gradle",
        &["gradle", "gradlew"],
        Verb::Among(&["test", "check", "build"]),
        None,
        false,
    ),
];

const fn entry(
    runner: Runner,
    name: &'static str,
    programs: &'static [&'static str],
    verb: Verb,
    format: Option<Format>,
    has_control: bool,
) -> Entry {
    Entry { runner, name, programs, verb, format, has_control }
}

impl Runner {
    fn entry(self) -> &'static Entry {
        TABLE.iter().find(|entry| entry.runner == self).unwrap_or(&TABLE[0])
    }

    /// As people call it.
    pub(crate) fn name(self) -> &'static str {
        self.entry().name
    }

    /// The format in which it reports if gate asks; none if it has no option for that.
    pub(crate) fn format(self) -> Option<Format> {
        self.entry().format
    }

    /// gate can plant a test that has to fail.
    pub(crate) fn has_control(self) -> bool {
        self.entry().has_control
    }
}

/// True if gate knows the command as a test runner.
pub fn is_runner(argv: &[String]) -> bool {
    find(argv).is_some()
}
