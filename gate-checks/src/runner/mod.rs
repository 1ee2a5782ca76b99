//! Test runners: one table for all who have to know them, `runners.toml`.
//!
//! [`find`] reads the words of a command, [`recognise`] also looks into scripts, `npm test` and
//! `make test`. Reports, controls, `gate init` and the audit go by the same table.

mod argv;
mod script;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gate_core::decide::policy::ReportFormat as Format;
use serde::Deserialize;
use serde::de::IgnoredAny;

pub(crate) use argv::{Invocation, find};
pub use argv::{is_python, program_name};
pub(crate) use script::{RunnerCommand, recognise};

/// The table, in the order of its file.
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    #[allow(clippy::expect_used, reason = "the text is a constant, and a test reads it")]
    toml::from_str(include_str!("runners.toml")).expect("the table is right")
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(rename = "doc")]
    _doc: IgnoredAny,
    switches: Vec<String>,
    options_with_value: BTreeMap<String, Vec<String>>,
    runner: Vec<Entry>,
}

/// A runner, and how it is known and asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    runner: Runner,
    /// As people call it.
    name: String,
    /// The names of its program.
    programs: Vec<String>,
    #[serde(default)]
    verb: Verb,
    /// The format in which it reports if gate asks; none if it has no option for that.
    format: Option<Format>,
    /// gate can plant a test that has to fail.
    #[serde(default)]
    has_control: bool,
    /// Options that leave tests out.
    #[serde(default)]
    chooses: Vec<String>,
    /// The options with a value beside which all other words leave tests out; none if words do not.
    words_choose: Option<String>,
}

/// A runner of a project's tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verb {
    /// None are needed.
    #[default]
    Any,
    /// The first word that is no option is one of these.
    First(Vec<String>),
    /// One of these stands among the words.
    Among(Vec<String>),
    /// An option before the first file.
    Option(String),
    /// `nextest run`.
    Nextest,
}

/// Words that choose nothing: what a runner is to do.
const VERBS: [&str; 2] = ["run", "r"];

impl Runner {
    fn entry(self) -> &'static Entry {
        let rows = &TABLE.runner;
        rows.iter().find(|entry| entry.runner == self).unwrap_or(&rows[0])
    }

    /// As people call it.
    pub(crate) fn name(self) -> &'static str {
        &self.entry().name
    }

    /// The format in which it reports if gate asks; none if it has no option for that.
    pub(crate) fn format(self) -> Option<Format> {
        self.entry().format
    }

    /// gate can plant a test that has to fail.
    pub(crate) fn has_control(self) -> bool {
        self.entry().has_control
    }

    /// True if these arguments leave tests out: a good reason for a missing control.
    pub(crate) fn selects(self, args: &[String]) -> bool {
        let Entry { chooses, words_choose, .. } = self.entry();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let name = word.split('=').next().unwrap_or(word);
            if chooses.iter().any(|option| option == name) || word.contains("::") {
                return true;
            }
            let Some(list) = words_choose else { continue };
            if options_with_value(list).contains(word) {
                words.next();
            } else if !word.starts_with('-') && !VERBS.contains(&word.as_str()) {
                return true;
            }
        }
        false
    }
}

/// The options of a list whose next word is their value.
fn options_with_value(list: &str) -> &'static [String] {
    TABLE.options_with_value.get(list).map_or(&[], Vec::as_slice)
}

/// True for an option of a runner that takes no word. Of all others the next word may be the value.
pub(crate) fn is_switch(word: &str) -> bool {
    TABLE.switches.iter().any(|switch| switch == word)
}

/// True if gate knows the command as a test runner.
pub fn is_runner(argv: &[String]) -> bool {
    find(argv).is_some()
}

#[cfg(test)]
mod tests {
    use super::{Runner, TABLE};

    #[track_caller]
    fn check(runner: Runner, line: &str, selects: bool) {
        let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        assert_eq!(runner.selects(&args), selects, "{line}");
    }

    #[test]
    fn lists_that_rows_name_are_there() {
        let named = TABLE.runner.iter().filter_map(|entry| entry.words_choose.as_ref());
        let named = named.map(String::as_str).chain(["npm", "uv", "node"]);
        named.for_each(|list| assert!(TABLE.options_with_value.contains_key(list), "{list}"));
    }

    #[test]
    fn a_filter_selects() {
        check(Runner::Cargo, "zzz", true);
        check(Runner::Cargo, "--workspace -- a::b", true);
        check(Runner::Cargo, "-- --skip slow", true);
        check(Runner::Nextest, "-E test(x)", true);
        check(Runner::Pytest, "-k fast", true);
        check(Runner::Pytest, "tests/test_a.py::test_b", true);
        check(Runner::Jest, "src/a", true);
        check(Runner::Vitest, "run src/a", true);
        check(Runner::Go, "-run=X ./...", true);
    }

    #[test]
    fn options_about_other_things_do_not() {
        check(Runner::Cargo, "--workspace -p a --features b -- --nocapture", false);
        check(Runner::Nextest, "--profile ci", false);
        check(Runner::Pytest, "-q tests", false);
        check(Runner::Jest, "--ci --config jest.json", false);
        check(Runner::Vitest, "run", false);
        check(Runner::Go, "-race ./...", false);
    }
}
