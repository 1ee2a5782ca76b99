//! Compares the changed files with the baseline, one after the other.
//!
//! A test is compared with what it asserted, not with the lines that it stood on: a test that is
//! laid out anew, or stands in another file, is the same. Additions are free, unless a rule finds
//! something in them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::abstract_methods::{Class, Method, classes, is_abstract, is_overridden, method_at};
use super::changed::{Around, Changed, text};
use super::ci;
use super::file_rules::{fewer_compiled, other_coding, runner_language, says_the_same};
use super::finding::{Finding, Severity};
use super::guarded::Guarded;
use super::keys;
use super::known_tests::{Gone, GoneBeside, Known, KnownTests};
use super::language::Language;
use super::lexer::{Part, View};
use super::lines;
use super::place::{is_vendored, place};
use super::rule::{self, Place, Rule};
use super::shadowing;
use super::tests_in_source::Suite;
use crate::decide::expression::Expression;

/// Compares files with the baseline.
#[derive(Debug)]
pub struct Examiner<'a> {
    around: &'a Around,
    findings: Vec<Finding>,
    tests: KnownTests,
    /// Findings in lines that are gone, by rule and line.
    gone: HashMap<(&'static str, String), usize>,
    added: Vec<Added>,
    /// Classes in Python of the changed product.
    classes: Vec<Class>,
    ci: Vec<ci::Settings>,
    new_files: HashSet<String>,
}

/// A finding in an added line.
#[derive(Debug)]
struct Added {
    rule: &'static Rule,
    finding: Finding,
    line: String,
    /// The test that the line belongs to: name and body.
    test: Option<(String, String)>,
    had_tests: bool,
    /// The method that it stands in, if it may be abstract.
    method: Option<Method>,
}

impl<'a> Examiner<'a> {
    /// An examiner that has seen nothing yet.
    pub fn new(around: &'a Around) -> Self {
        Self {
            around,
            findings: Vec::new(),
            tests: KnownTests::default(),
            gone: HashMap::new(),
            added: Vec::new(),
            classes: Vec::new(),
            ci: Vec::new(),
            new_files: HashSet::new(),
        }
    }

    /// Looks at a file.
    pub fn file(&mut self, file: &Changed<'_>) {
        if self.untouchable(file) {
            return;
        }
        if file.guarded.is_none() {
            let words = file.path.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let words = words.map(str::to_owned);
            match (file.before, file.now) {
                (None, _) => self.tests.words.new.extend(words),
                (_, None) => self.tests.words.gone.extend(words),
                _ => {}
            }
        }
        if file.before.is_none() {
            self.new_files.insert(file.path.to_owned());
            self.findings.extend(shadowing::findings(file.path, self.around));
        }
        let (before, now) = (file.before.map(text), file.now.map(text));
        if file.guarded == Some(Guarded::Manifest) {
            let both = (before.as_deref().unwrap_or(""), now.as_deref().unwrap_or(""));
            self.findings.extend(keys::findings(file.path, both, &self.around.commands));
            return;
        }
        let rests = matches!(file.guarded, Some(Guarded::Test | Guarded::Support));
        match (Language::from_path(file.path), before, now) {
            (_, Some(_), None)
                if rests && !file.moved && Language::from_path(file.path).is_none() =>
            {
                let language = self.around.overlaid.first().copied();
                let finding = rule::SUPPORT_REMOVED.finding(file.path);
                self.findings.push(self.unless_overlaid(finding, language));
            }
            (None, Some(before), Some(now)) if rests => self.data(file, &before, &now),
            (None, ..) => {}
            (Some(language), before, now) => {
                if file.path.rsplit('/').next() == Some("build.rs") && before != now && !file.moved
                {
                    self.findings.push(rule::BUILD_SCRIPT.finding(file.path));
                }
                self.findings.extend(other_coding(file, before.as_deref(), now.as_deref()));
                self.code(file, language, before.as_deref(), now.as_deref());
            }
        }
    }

    /// Files of which any change is a finding.
    fn untouchable(&mut self, file: &Changed<'_>) -> bool {
        let about = match file.guarded {
            _ if file.protected => &rule::PROTECTED,
            _ if file.script && file.before.is_some() => &rule::SCRIPT,
            Some(Guarded::Runner) if says_the_same(file) => return true,
            Some(Guarded::Runner) => &rule::RUNNER,
            Some(Guarded::Ci) => {
                let (before, now) = (file.before.map(text), file.now.map(text));
                self.ci.push(ci::Settings { path: file.path.to_owned(), before, now });
                return true;
            }
            Some(Guarded::Hook) => {
                if keys::only_permissions(file.path, file.before, file.now) {
                    return true;
                }
                &rule::HOOK
            }
            // Whether these hold is a matter of trust.
            Some(Guarded::Gate) => return true,
            _ => return false,
        };
        let how = match (file.before, file.now) {
            (None, _) => "is new",
            (_, None) => "is gone",
            _ => "was changed",
        };
        let finding = about.finding(file.path);
        let message = format!("{}: it {how}", finding.message);
        let finding = self.placed(Finding { message, ..finding }, file);
        let is_runner = file.guarded == Some(Guarded::Runner) && !(file.protected || file.script);
        let language = is_runner.then(|| runner_language(file.path)).flatten();
        self.findings.push(self.unless_overlaid(finding, language));
        true
    }

    /// Adds the first line that was added, if there is one.
    fn placed(&self, finding: Finding, file: &Changed<'_>) -> Finding {
        let (Some(before), Some(now)) = (file.before, file.now) else { return finding };
        let (before, now) = (text(before), text(now));
        let difference = lines::lines(&before, &now);
        match (difference.added.first(), difference.removed.first()) {
            (Some(line), _) => finding.at(*line, now.lines().nth(*line).unwrap_or_default()),
            (None, Some(line)) => Finding { line: Some(line + 1), ..finding },
            (None, None) => finding,
        }
    }

    /// Compares data that tests rest on: its lines have to stay.
    fn data(&mut self, file: &Changed<'_>, before: &str, now: &str) {
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        if json(before).is_some_and(|before| json(now) == Some(before)) {
            return;
        }
        let Some(&line) = lines::lines(before, now).removed.first() else { return };
        let line_was = before.lines().nth(line).unwrap_or_default();
        let finding = rule::SUPPORT_EDITED.finding(file.path).at(line, line_was);
        // Whose tests read it cannot be seen.
        let language = self.around.overlaid.first().copied();
        self.findings.push(self.unless_overlaid(finding, language));
    }

    fn code(
        &mut self,
        file: &Changed<'_>,
        language: Language,
        before: Option<&str>,
        now: Option<&str>,
    ) {
        let place = place(file.path, file.guarded);
        let is_test = place == Some(Place::Test);
        let (was, is) = (before.unwrap_or(""), now.unwrap_or(""));
        let (was, is) = (View::new(was, Some(language)), View::new(is, Some(language)));
        let [old, mut new] = [&was, &is].map(|view| {
            let has_inline = is_test || language == Language::Rust;
            if has_inline { Suite::new(view, language, !is_test) } else { Suite::none() }
        });
        let apart = is_test.then_some(language);
        if language == Language::Python && place == Some(Place::Product) {
            self.classes.extend(classes(&is));
        }
        let difference = lines::lines(was.text, is.text);
        self.words(&old, &new, (&was, &is), &difference);
        // If all tests are gone, the findings about them suffice.
        if !file.moved && (old.tests.is_empty() || !new.tests.is_empty()) {
            self.beside_tests(file, (&was, &old), &new, apart);
        }
        self.findings.extend(fewer_compiled(file, &was, &is));
        for line in &difference.added {
            self.tests.added_lines.extend(new.words_of(*line));
        }
        self.tests.add(file, language, (&old, &mut new), apart);
        if file.moved {
            return;
        }
        for line in difference.removed {
            if let Some(place) = old.place(line, place) {
                self.removed(language, place, &was, line);
            }
        }
        let mut seen = HashSet::new();
        for line in difference.added {
            let Some(place) = new.place(line, place) else { continue };
            for rule in Rule::all_for(language).filter(|rule| rule.looks_at(place)) {
                let Some(first) = rule.find(&is, line) else { continue };
                let is_old_mark = rule.about_test && {
                    let marks = |view: &View<'_>, suite: &Suite, at: Option<&str>| {
                        let lines = (0..view.len()).filter(|line| suite.name_at(*line) == at);
                        lines.filter(|line| rule.find(view, *line) == Some(*line)).count()
                    };
                    let test = new.name_at(first);
                    marks(&was, &old, test) >= marks(&is, &new, test)
                };
                let is_excused = rule.may_be_abstract && is_abstract(&is, first);
                if is_old_mark || is_excused || !seen.insert((rule.about.id, first)) {
                    continue;
                }
                let found = added(file, rule, (&is, first), &new, !old.tests.is_empty());
                self.added.push(found);
            }
        }
    }

    /// The words that the product lost and got.
    fn words(
        &mut self,
        old: &Suite,
        new: &Suite,
        (was, is): (&View<'_>, &View<'_>),
        difference: &lines::Difference,
    ) {
        let words = |view: &View<'_>, line: usize| {
            let code = view.part(line, Part::Code);
            let words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        let left: HashSet<String> = (0..is.len()).flat_map(|line| words(is, line)).collect();
        let gone = difference.removed.iter().filter(|line| !old.holds(**line));
        let gone = gone.flat_map(|line| words(was, *line));
        self.tests.words.gone.extend(gone.filter(|word| !left.contains(word)));
        let added = difference.added.iter().filter(|line| !new.holds(**line));
        self.tests.words.new.extend(added.flat_map(|line| words(is, *line)));
    }

    /// Compares the code beside the tests of a file. Imports follow the work.
    fn beside_tests(
        &mut self,
        file: &Changed<'_>,
        (view, old): (&View<'_>, &Suite),
        new: &Suite,
        apart: Option<Language>,
    ) {
        static IMPORTS: Expression = Expression::new(
            r"^\s*(?:pub\s+)?(?:use|import|from|mod|package|using|require|require_relative|#include|export)\b|=\s*require\(|^\s*\}\s*from\b",
        );
        let removed = lines::removed(&old.rest, &new.rest);
        let lines: BTreeSet<usize> =
            removed.iter().filter(|token| !token.is_layout()).map(|token| token.line).collect();
        let gone = lines.into_iter().map(|line| Gone {
            line,
            text: view.line(line).to_owned(),
            tokens: old.words_of(line).unwrap_or_default(),
            is_import: IMPORTS.is_match(view.line(line)),
        });
        let lines = gone.collect();
        self.tests.gone.push(GoneBeside { file: file.path.to_owned(), lines, apart });
    }

    /// Code that stood beside tests and is gone.
    fn gone_beside_tests(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (beside, gone) in self.tests.gone_beside() {
            let other = gone.iter().find(|gone| !gone.is_import);
            let Some(first) = other.or(gone.first()) else { continue };
            let finding = rule::SUPPORT_EDITED.finding(&beside.file).at(first.line, &first.text);
            let finding = self.unless_overlaid(finding, beside.apart);
            let severity = if other.is_none() { Severity::Warn } else { finding.severity };
            findings.push(Finding { severity, ..finding });
        }
        findings
    }

    fn removed(&mut self, language: Language, place: Place, view: &View<'_>, line: usize) {
        for rule in Rule::all_for(language).filter(|rule| rule.looks_at(place)) {
            if rule.find(view, line) == Some(line) {
                let key = (rule.about.id, view.line(line).trim().to_owned());
                *self.gone.entry(key).or_default() += 1;
            }
        }
    }

    /// An edit of a file in a language, or of data, only warns if the baseline's version is run;
    /// else it decides.
    fn unless_overlaid(&self, finding: Finding, language: Option<Language>) -> Finding {
        if language.is_some_and(|language| self.around.overlaid.contains(&language)) {
            Finding { severity: Severity::Warn, ..finding }
        } else {
            finding
        }
    }

    /// Something that the caller found.
    pub fn found(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// All that was found, the worst first. Of the same effect, tests that were there come first,
    /// and new files last.
    pub fn finish(mut self) -> Vec<Finding> {
        let tests = self.tests();
        let beside = self.gone_beside_tests();
        let added = self.in_added_lines();
        self.findings.extend(ci::findings(&self.ci));
        self.findings.extend(tests);
        self.findings.extend(beside);
        self.findings.extend(added);
        self.findings.sort_by_cached_key(|finding| {
            let is_new = self.new_files.contains(&finding.file);
            let rank = (Reverse(finding.severity), is_new, finding.test.is_none());
            (rank, finding.file.clone(), finding.line)
        });
        self.findings
    }

    /// Tests that are gone or claim less, and new ones that say nothing.
    fn tests(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for missing in self.tests.missing() {
            let (finding, apart) = missing.finding();
            findings.push(self.unless_overlaid(finding, apart));
        }
        let silent = self.tests.new_tests().filter(|test| !asserts(&test.body));
        findings.extend(silent.map(|test| test.finding(&rule::NO_ORACLE)));
        findings
    }

    fn in_added_lines(&mut self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for added in std::mem::take(&mut self.added) {
            if added.method.as_ref().is_some_and(|method| is_overridden(method, &self.classes)) {
                continue;
            }
            if added.rule.about_test {
                findings.extend(self.test_finding(added));
                continue;
            }
            match self.gone.get_mut(&(added.rule.about.id, added.line)) {
                // It only stands elsewhere now.
                Some(left) if *left > 0 => *left -= 1,
                _ => findings.push(added.finding),
            }
        }
        findings
    }

    /// The finding of a rule about tests: it decides only if the test is the baseline's.
    fn test_finding(&self, added: Added) -> Option<Finding> {
        let was = match &added.test {
            Some((name, body)) => {
                let was: &[Known] = &self.tests.was;
                if was.iter().any(|test| test.name == *name && test.body == *body) {
                    return None;
                }
                was.iter().any(|test| test.name == *name)
            }
            None => added.had_tests,
        };
        let severity = if was { added.finding.severity } else { Severity::Warn };
        Some(Finding { severity, ..added.finding })
    }
}

fn added(
    file: &Changed<'_>,
    rule: &'static Rule,
    (view, line): (&View<'_>, usize),
    suite: &Suite,
    had_tests: bool,
) -> Added {
    let finding = rule.about.finding(file.path).at(line, view.line(line));
    let test = suite.at(line);
    let finding = match test {
        Some(test) => finding.for_test(&test.name),
        None => finding,
    };
    let severity = if is_vendored(file.path) { Severity::Warn } else { finding.severity };
    Added {
        rule,
        finding: Finding { severity, ..finding },
        line: view.line(line).trim().to_owned(),
        test: test.map(|test| (test.name.clone(), test.body.clone())),
        had_tests,
        method: rule.may_be_abstract.then(|| method_at(view, line)).flatten(),
    }
}

/// Looks for the words by which frameworks assert something.
fn asserts(body: &str) -> bool {
    static SAYS: Expression = Expression::new(
        r"assert|expect|should|must|raise|throw|panic|fail|check|verify|require|error|fatal|match|equal|snapshot|compare|is_ok|status",
    );
    SAYS.is_match(body)
}
