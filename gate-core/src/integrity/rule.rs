//! Rules: the pack `integrity`, which looks at lines that the product got, and what else can be
//! found.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IgnoredAny;
use unicode_normalization::UnicodeNormalization;

use super::finding::{Finding, Severity};
use super::language::Language;
use super::lexer::{LinePart, SourceView};
use crate::decide::expression::Expression;

/// The rules of the pack, in the order of the file.
static PACK: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    #[allow(clippy::expect_used, reason = "the text is a constant, and a test reads it")]
    let pack: RawPack<'static> =
        toml::from_str(gate_patterns::INTEGRITY).expect("the pack is right");
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
    part: LinePart,
    #[serde(default = "one_line")]
    lines: usize,
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

/// A rule looks at one line unless it says more.
fn one_line() -> usize {
    1
}

impl From<RawRule<'static>> for Rule {
    fn from(raw: RawRule<'static>) -> Self {
        let RawRule { id, message, hint, doc, .. } = raw;
        Self {
            info: RuleInfo { id, severity: Severity::Block, message, hint, doc },
            languages: raw.languages,
            part: raw.part,
            lines: raw.lines,
            // Rules tell upper from lower case, gate's other expressions do not.
            expression: Expression::from_pack(format!("(?-i:{})", raw.regex), Vec::new()),
        }
    }
}

/// A rule, for people and for other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleInfo {
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

impl RuleInfo {
    /// A finding of the rule about a file.
    pub fn finding(&self, file: &str) -> Finding {
        Finding::new(self.id, self.severity, file, self.message).hint(self.hint)
    }
}

/// A rule of the pack.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) info: RuleInfo,
    languages: Vec<&'static str>,
    part: LinePart,
    /// The number of lines that it looks at together.
    lines: usize,
    expression: Expression,
}

impl Rule {
    /// The rules for a language.
    pub(super) fn all_for(language: Language) -> impl Iterator<Item = &'static Self> {
        let name = language.name();
        PACK.iter().filter(move |rule| rule.languages.contains(&name))
    }

    /// The line on which a match begins that reaches `line`.
    pub(super) fn find(&self, view: &SourceView<'_>, line: usize) -> Option<usize> {
        let first = (line + 1).saturating_sub(self.lines);
        (first..=line).find(|begin| self.matches_from(view, *begin, line))
    }

    /// A match begins on line `begin` and reaches `line`.
    fn matches_from(&self, view: &SourceView<'_>, begin: usize, line: usize) -> bool {
        if self.lines == 1 {
            return self.expression.is_match(&with_continuation(view, begin, self.part));
        }
        let end = (begin + self.lines).min(view.line_count());
        let parts: Vec<_> = (begin..end).map(|line| folded(view.part(line, self.part))).collect();
        // One more byte for the break of each line.
        let line_start: usize = parts.iter().take(line - begin).map(|part| part.len() + 1).sum();
        let Some(found) = self.expression.find(&parts.join("\n")) else { return false };
        found.start <= parts[0].len() && found.end > line_start
    }
}

/// A line with the lines that it goes on in after a `\`, which could hide words from a rule.
fn with_continuation(view: &SourceView<'_>, first: usize, part: LinePart) -> String {
    const MAX_LINES: usize = 8;
    let mut text = view.part(first, part);
    for line in first + 1..view.line_count().min(first + MAX_LINES) {
        let Some(unfinished) = text.trim_end().strip_suffix('\\') else { break };
        text = format!("{unfinished}{}", view.part(line, part));
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
        $vis const $name: RuleInfo = RuleInfo {
            id: $id,
            severity: Severity::$severity,
            message: $message,
            hint: $hint,
            doc: concat!($($doc),+),
        };)+

        const OTHER_RULES: &[RuleInfo] = &[$($name),+];
    };
}

rules! {
    /// Settings of continuous integration were added, changed or removed.
    pub(super) CI = "ci-settings" Warn "settings of continuous integration were changed", "see that they still run the checks";
    /// Settings or hooks of agents or of git were added, changed or removed.
    pub HOOK = "hook-settings" Warn "settings or hooks of agents or of git were changed", "see that they still do what they did";
    /// Settings of the repository decide what git runs and shows.
    pub GIT = "git-settings" Warn "settings of the repository that say what git runs or shows were changed", "see that they are meant: `git config --local --list`";
    /// A file that settings guard was added, changed or removed.
    pub PROTECTED = "protected-file" Block "a guarded file was changed", "put the file back, or let a person approve it";
    /// A script that a check runs was changed or removed, and no older one can run in its place.
    pub(super) SCRIPT = "script-changed" Tamper "a script that a check runs was changed", "put the file back; the operator may allow it";
    /// A tool that runs a check is another one than before.
    pub TOOL = "tool-changed" Tamper "a tool that runs a check is another one", "put it back; after an update the operator takes a new baseline";
    /// Files of a test runner, in the folder of dependencies, are others than before, or Python loads something new at every start.
    pub HARNESS = "harness-changed" Tamper "files of the test runner were changed", "install the dependencies again; after an update the operator takes a new baseline";
    /// A link in the place of a source leads out of the tree.
    pub OUTSIDE = "link-leaves-tree" Block "a link in the place of work leads out of the work tree", "put the file itself there";
    /// A submodule stands at another commit.
    pub SUBMODULE = "submodule-moved" Warn "a submodule is at another commit", "see that it is meant";
    /// A source is written in another coding than UTF-8.
    pub(super) CODING = "source-coding" Block "a source says that it is written in another coding", "write it as UTF-8";
    /// A new module hides a dependency of the same name.
    pub(super) SHADOWS = "shadows-dependency" Block "a new module has the name of a dependency, and hides it", "call it something else";
    /// A new file hides a tool that runs checks.
    pub(super) SHADOWS_TOOL = "shadows-tool" Tamper "a new file has the name of a tool that runs checks, and hides it", "take it away";
    /// A new file has the name of a target, so that make does nothing for it.
    pub(super) SHADOWS_TARGET = "shadows-target" Block "a new file has the name of a target, so that make runs nothing", "take it away";
    /// An item of a plan is gone, or says something else.
    pub CRITERION = "criterion-removed" Block "an item of the plan is gone or says something else", "put it back as it was, open or done";
    /// A file that could not be compared.
    pub UNSEEN = "not-compared" Block "the file could not be compared with the baseline", "see why it cannot be read";
}

/// All rules, for a list of them.
pub fn rules() -> impl Iterator<Item = &'static RuleInfo> {
    PACK.iter().map(|rule| &rule.info).chain(OTHER_RULES)
}

#[cfg(test)]
#[path = "rule/tests.rs"]
mod tests;
