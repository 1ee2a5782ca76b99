//! Rules: the pack `integrity`, which looks at added lines, and what else can be
//! found.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IgnoredAny;
use unicode_normalization::UnicodeNormalization;

use super::finding::{Finding, Severity};
use super::language::Language;
use super::lexer::{Part, View};
use crate::decide::expression::Expression;

/// The rules of the pack, in the order of the file.
static PACK: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    #[allow(clippy::expect_used, reason = "the text is a constant, and a test reads it")]
    let pack: RawPack<'static> =
        toml::from_str(include_str!("../../patterns/integrity.toml")).expect("the pack is right");
    pack.rule.into_iter().map(Rule::from).collect()
});

/// The pack as its file has it. Samples and what explains it to people who write
/// rules are for tests.
#[derive(Deserialize)]
struct RawPack<'a> {
    #[serde(borrow)]
    rule: Vec<RawRule<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule<'a> {
    id: &'a str,
    #[serde(default, borrow)]
    languages: Vec<&'a str>,
    #[serde(rename = "where")]
    place: Place,
    part: Part,
    severity: Severity,
    about: Option<Subject>,
    #[serde(default = "one")]
    lines: usize,
    #[serde(borrow)]
    unless: Option<Cow<'a, str>>,
    #[serde(default)]
    back: usize,
    #[serde(borrow)]
    under: Option<Cow<'a, str>>,
    #[serde(default)]
    may_be_abstract: bool,
    #[serde(borrow)]
    regex: Cow<'a, str>,
    message: &'a str,
    hint: &'a str,
    doc: &'a str,
    #[serde(rename = "matches")]
    _matches: IgnoredAny,
    #[serde(rename = "rejects")]
    _rejects: IgnoredAny,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Subject {
    Test,
}

fn one() -> usize {
    1
}

impl From<RawRule<'static>> for Rule {
    fn from(raw: RawRule<'static>) -> Self {
        let RawRule { id, severity, message, hint, doc, .. } = raw;
        Self {
            about: About { id, severity, message, hint, doc },
            languages: raw.languages,
            place: raw.place,
            part: raw.part,
            about_test: raw.about == Some(Subject::Test),
            lines: raw.lines,
            unless: raw.unless.as_deref().map(with_case),
            back: raw.back,
            under: raw.under.as_deref().map(with_case),
            may_be_abstract: raw.may_be_abstract,
            expression: with_case(&raw.regex),
        }
    }
}

/// Rules tell upper from lower case, gate's other expressions do not.
fn with_case(source: &str) -> Expression {
    Expression::from_pack(format!("(?-i:{source})"), Vec::new())
}

/// A rule, for people and for other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub id: &'static str,
    /// The worst effect of its findings.
    pub severity: Severity,
    /// The problem, in general.
    pub message: &'static str,
    /// The remedy.
    pub hint: &'static str,
    /// Its subject.
    pub doc: &'static str,
}

impl About {
    /// A finding of it about a file.
    pub fn finding(&self, file: &str) -> Finding {
        Finding::new(self.id, self.severity, file, self.message).hint(self.hint)
    }
}

/// The files that a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Place {
    /// In a test, or in what tests rest on.
    Test,
    /// In the product.
    Product,
    /// Anywhere.
    Any,
}

/// A rule of the pack.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) about: About,
    languages: Vec<&'static str>,
    place: Place,
    part: Part,
    /// It blocks only if the test was there before.
    pub(super) about_test: bool,
    /// The number of lines that it looks at together.
    lines: usize,
    /// Excuses a match if it matches one of the `back` lines before.
    unless: Option<Expression>,
    back: usize,
    /// Excuses a match if the line that it stands below, by its indentation, matches.
    under: Option<Expression>,
    /// Excuses a match in a method that is meant to be overridden.
    pub(super) may_be_abstract: bool,
    expression: Expression,
}

impl Rule {
    /// The rules for a language.
    pub(super) fn all_for(language: Language) -> impl Iterator<Item = &'static Self> {
        let name = language.name();
        PACK.iter().filter(move |rule| rule.languages.is_empty() || rule.languages.contains(&name))
    }

    pub(super) fn looks_at(&self, place: Place) -> bool {
        self.place == Place::Any || self.place == place
    }

    /// The line on which it finds something that includes this one, if it does.
    pub(super) fn find(&self, view: &View<'_>, line: usize) -> Option<usize> {
        let first = (line + 1).saturating_sub(self.lines);
        (first..=line).find(|from| self.fits(view, *from, line))
    }

    /// A match begins on one line and reaches another.
    fn fits(&self, view: &View<'_>, from: usize, line: usize) -> bool {
        if self.lines == 1 {
            return self.expression.is_match(&continued(view, from, self.part))
                && !self.excused(view, from);
        }
        let to = (from + self.lines).min(view.len());
        let parts: Vec<_> = (from..to).map(|at| folded(view.part(at, self.part))).collect();
        let begin: usize = parts.iter().take(line - from).map(|part| part.len() + 1).sum();
        let Some(found) = self.expression.find(&parts.join("\n")) else { return false };
        found.start <= parts[0].len() && found.end > begin && !self.excused(view, from)
    }

    fn excused(&self, view: &View<'_>, line: usize) -> bool {
        let width = |at: usize| {
            let line = view.line(at);
            line.len() - line.trim_start().len()
        };
        if let Some(under) = &self.under {
            let own = width(line);
            let mut above = (0..line).rev().filter(|at| !view.line(*at).trim().is_empty());
            let outer = above.find(|at| width(*at) < own);
            if outer.is_some_and(|at| under.is_match(&view.part(at, Part::Code))) {
                return true;
            }
        }
        let Some(unless) = &self.unless else { return false };
        let before = line.saturating_sub(self.back)..line;
        before.rev().any(|at| unless.is_match(&view.part(at, Part::Code)))
    }
}

/// A line with the lines that it goes on in.
fn continued(view: &View<'_>, from: usize, part: Part) -> String {
    const MAX_LINES: usize = 8;
    let mut text = view.part(from, part);
    for at in from + 1..view.len().min(from + MAX_LINES) {
        let Some(before) = text.trim_end().strip_suffix('\\') else { break };
        text = format!("{before}{}", view.part(at, part));
    }
    folded(text)
}

/// Characters as a compiler of Python reads them in names: `ｅｘｉｔ` is `exit`.
fn folded(text: String) -> String {
    if text.is_ascii() { text } else { text.nfkc().collect() }
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $vis:vis $name:ident = $id:literal $severity:ident $message:literal, $hint:literal;)+) => {
        $($(#[doc = $doc])+
        $vis const $name: About = About {
            id: $id,
            severity: Severity::$severity,
            message: $message,
            hint: $hint,
            doc: concat!($($doc),+),
        };)+

        const OTHERS: &[About] = &[$($name),+];
    };
}

rules! {
    /// A file that configures a test runner was added, changed or removed.
    pub(super) RUNNER = "runner-settings" Tamper "settings of a test runner were changed", "put the file back; the operator may allow it";
    /// A file that configures continuous integration was added, changed or removed.
    pub(super) CI = "ci-settings" Tamper "settings of continuous integration were changed", "put the file back; the operator may allow it";
    /// Settings or hooks of agents or of git were added, changed or removed.
    pub HOOK = "hook-settings" Tamper "settings or hooks of agents or of git were changed", "put them back; the operator may allow it";
    /// Settings of the repository decide what git runs and shows.
    pub GIT = "git-settings" Tamper "settings of the repository that say what git runs or shows were changed", "put them back: `git config --unset`";
    /// A file that settings protect was added, changed or removed.
    pub(super) PROTECTED = "protected-file" Tamper "a protected file was changed", "put the file back; the operator may allow it";
    /// A script that a check runs was changed or removed.
    pub(super) SCRIPT = "script-changed" Tamper "a script that a check runs was changed", "put the file back; the operator may allow it";
    /// A tool that runs a check is another one than before.
    pub TOOL = "tool-changed" Tamper "a tool that runs a check is another one", "put it back; after an update the operator takes a new baseline";
    /// Files of a test runner, in the folder of dependencies, are others than before, or Python loads something new at every start.
    pub HARNESS = "harness-changed" Tamper "files of the test runner were changed", "install the dependencies again; after an update the operator takes a new baseline";
    /// A link in the place of a source leads out of the tree.
    pub OUTSIDE = "link-leaves-tree" Block "a link in the place of work leads out of the work tree", "put the file itself there";
    /// A submodule stands at another commit: its tests are not compared.
    pub SUBMODULE = "submodule-moved" Block "a submodule is at another commit, and its tests are not compared", "put it back; the operator may allow it";
    /// A key of a manifest that selects or runs tests was changed.
    pub(super) MANIFEST = "manifest-key" Block "a key that selects or runs tests was changed", "put it back; the operator may allow it";
    /// A dependency comes from somewhere else than before.
    pub(super) REPLACED = "dependency-replaced" Block "a dependency is taken from somewhere else", "take the dependency itself";
    /// A module is found or loaded as another one.
    pub(super) MAPPED = "module-mapped" Warn "a name leads to another module, or a module is loaded in another way", "see that the tests still load the work";
    /// A script that is run before everything else is built was changed.
    pub(super) BUILD_SCRIPT = "build-script" Warn "a build script runs before the tests, and was changed", "see that it leaves the tests alone";
    /// A source is written in another coding than UTF-8.
    pub(super) CODING = "source-coding" Block "a source says that it is written in another coding", "write it as UTF-8";
    /// Settings of a linter or type checker leave more out.
    pub(super) LINT = "lint-settings" Budget "settings suppress findings of a linter or type checker", "repair what it finds";
    /// A test of the baseline is gone.
    pub(super) TEST_REMOVED = "test-removed" Block "a test is gone", "put it back; the operator may allow it";
    /// A test of the baseline says something else.
    pub(super) TEST_EDITED = "test-edited" Block "a test was changed", "put it as it was, and make the work pass it";
    /// Tests of the baseline are compiled under a further condition.
    pub(super) FEWER_COMPILED = "tests-not-compiled" Block "tests are compiled under a further condition", "let them be compiled for every test run";
    /// A file that tests rest on is gone.
    pub(super) SUPPORT_REMOVED = "support-removed" Block "a file that tests rest on is gone", "put it back; the operator may allow it";
    /// A file that tests rest on was changed.
    pub(super) SUPPORT_EDITED = "support-edited" Block "what tests rest on was changed", "put it as it was; more may be added";
    /// A new module hides a dependency of the same name.
    pub(super) SHADOWS = "shadows-dependency" Block "a new module has the name of a dependency, and hides it", "call it something else";
    /// A new file hides a tool that runs checks.
    pub(super) SHADOWS_TOOL = "shadows-tool" Tamper "a new file has the name of a tool that runs checks, and hides it", "take it away";
    /// A new file has the name of a target, so that make does nothing for it.
    pub(super) SHADOWS_TARGET = "shadows-target" Block "a new file has the name of a target, so that make runs nothing", "take it away";
    /// An item of a plan is gone, or says something else.
    pub CRITERION = "criterion-removed" Block "an item of the plan is gone or says something else", "put it back as it was, open or done";
    /// A new test that asserts nothing.
    pub(super) NO_ORACLE = "test-without-assertion" Warn "a new test asserts nothing", "say what is expected";
    /// Nothing is different from what a loop began with.
    pub UNCHANGED = "nothing-changed" Block "nothing was changed since the loop began", "do the work; if there is none to do, the operator sets `[integrity] nothing_changed = false`";
    /// A file that could not be compared.
    pub UNSEEN = "not-compared" Block "the file could not be compared with the baseline", "see why it cannot be read";
}

/// All rules, for a list of them.
pub fn rules() -> impl Iterator<Item = &'static About> {
    PACK.iter().map(|rule| &rule.about).chain(OTHERS)
}

/// The beginnings of the names of rules about what no run of tests shows.
const BEYOND_TESTS: [&str; 14] = [
    "criterion-removed",
    "dependency-replaced",
    "detect-",
    "equal-",
    "exec-",
    "harness-",
    "link-leaves-tree",
    "not-compared",
    "protected-file",
    "script-changed",
    "shadows-",
    "source-coding",
    "submodule-moved",
    "tool-changed",
];

/// Tells the rules about what no run of tests shows, such as a product that asks if it is tested,
/// from those that only guess what a run would say.
pub fn is_beyond_tests(rule: &str) -> bool {
    BEYOND_TESTS.iter().any(|beginning| rule.starts_with(beginning))
}

#[cfg(test)]
#[path = "rule/tests.rs"]
mod tests;
