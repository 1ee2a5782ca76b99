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

pub use argv::{Invocation, find};
pub use argv::{is_python, program_name};
pub use script::{RunnerCommand, recognise};

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
    /// The name that people use.
    name: String,
    /// The names of the runner's program.
    programs: Vec<String>,
    #[serde(default)]
    verb: Verb,
    /// The format in which it reports if gate asks; `None` if it has no option for that.
    format: Option<Format>,
    /// gate can plant a test that has to fail.
    #[serde(default)]
    has_control: bool,
    /// Options that leave tests out.
    #[serde(default, rename = "chooses")]
    choosing_options: Vec<String>,
    /// The list of options with a value, beside which all other words leave tests out; `None` if
    /// words leave none out.
    #[serde(rename = "words_choose")]
    options_beside_words: Option<String>,
}

/// A runner of a project's tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Runner {
    /// `cargo test`.
    Cargo,
    /// `cargo nextest run`.
    Nextest,
    /// pytest.
    Pytest,
    /// Python's unittest.
    Unittest,
    /// Jest.
    Jest,
    /// Vitest.
    Vitest,
    /// Mocha.
    Mocha,
    /// `node --test`.
    Node,
    /// `go test`.
    Go,
    /// Bats.
    Bats,
    /// Maven.
    Maven,
    /// Gradle.
    Gradle,
}

/// The words after a program that make it run tests.
#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verb {
    /// No word is needed.
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

    /// The name that people use.
    pub fn name(self) -> &'static str {
        &self.entry().name
    }

    /// The format in which it reports if gate asks; `None` if it has no option for that.
    pub fn format(self) -> Option<Format> {
        self.entry().format
    }

    /// gate can plant a test that has to fail.
    pub fn has_control(self) -> bool {
        self.entry().has_control
    }

    /// The arguments leave tests out: a good reason for a missing control.
    pub fn selects_tests(self, args: &[String]) -> bool {
        let Entry { choosing_options, options_beside_words, .. } = self.entry();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let name = word.split('=').next().unwrap_or(word);
            // Words with `::` are names of tests, in whatever list they stand.
            if choosing_options.iter().any(|option| option == name) || word.contains("::") {
                return true;
            }
            let Some(list) = options_beside_words else { continue };
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

/// An option of a runner that takes no word. Of all other options the next word may be the value.
pub fn is_switch(word: &str) -> bool {
    TABLE.switches.iter().any(|switch| switch == word)
}

/// gate knows a test runner in the command.
pub fn is_runner(argv: &[String]) -> bool {
    find(argv).is_some()
}

#[cfg(test)]
mod tests {
    use super::{Runner, TABLE};

    #[track_caller]
    fn check(runner: Runner, line: &str, selects: bool) {
        let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        assert_eq!(runner.selects_tests(&args), selects, "{line}");
    }

    #[test]
    fn lists_that_rows_name_are_there() {
        let lists = TABLE.runner.iter().filter_map(|entry| entry.options_beside_words.as_ref());
        let lists = lists.map(String::as_str).chain(["npm", "uv", "node"]);
        lists.for_each(|list| assert!(TABLE.options_with_value.contains_key(list), "{list}"));
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
