//! Holds the changed files against the baseline, one after the other.
//!
//! A test is held against what it said, not against the lines it stood on: a test
//! that is laid out anew, or stands in another file, is the same. Additions are
//! free, but where a rule finds something in them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::finding::{Finding, Severity};
use super::guarded::Guarded;
use super::keys;
use super::language::Language;
use super::lexer::View;
use super::lines;
use super::place::{is_vendored, place};
use super::rule::{self, About, Place, Rule};
use super::shadowing;
use super::tests_in_source::{Suite, Test};
use crate::decide::expression::Expression;

/// A file that is different from the baseline.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changed<'a> {
    /// Its name, relative to the work tree's root, with slashes.
    pub path: &'a str,
    /// Why it is guarded, where it is.
    pub guarded: Option<Guarded>,
    /// Settings protect it.
    pub protected: bool,
    /// A check's command names it.
    pub script: bool,
    /// Its bytes only came from, or went to, another name.
    pub moved: bool,
    /// The bytes of the baseline; `None` if it did not exist.
    pub before: Option<&'a [u8]>,
    /// The bytes of the tree; `None` if it is gone.
    pub now: Option<&'a [u8]>,
}

/// Facts about the project beside its changed files.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// The languages whose tests a required check runs over the work as the baseline
    /// has them, so that an edited test hides nothing.
    pub overlaid: Vec<Language>,
    /// The commands of the checks: the folder that each runs in, relative to the
    /// root and empty for the root itself, and its words.
    pub commands: Vec<(String, Vec<String>)>,
    /// The names of the dependencies that the project declared.
    pub dependencies: Vec<String>,
    /// Targets of makefiles that are no files, with the folder of each.
    pub targets: Vec<(String, String)>,
}

/// Holds files against the baseline.
#[derive(Debug)]
pub struct Examiner<'a> {
    around: &'a Around,
    findings: Vec<Finding>,
    was: Vec<Known>,
    now: Vec<Known>,
    /// Findings in lines that are gone, by rule and line.
    gone: HashMap<(&'static str, String), usize>,
    added: Vec<Added>,
    new_files: HashSet<String>,
}

/// A test, and where it stands.
#[derive(Debug)]
struct Known {
    file: String,
    name: String,
    body: String,
    line: usize,
    /// Its language, where the baseline's text of its file can be laid over.
    apart: Option<Language>,
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
}

impl<'a> Examiner<'a> {
    /// An examiner that has seen nothing yet.
    pub fn new(around: &'a Around) -> Self {
        Self {
            around,
            findings: Vec::new(),
            was: Vec::new(),
            now: Vec::new(),
            gone: HashMap::new(),
            added: Vec::new(),
            new_files: HashSet::new(),
        }
    }

    /// Looks at a file.
    pub fn file(&mut self, file: &Changed<'_>) {
        if self.untouchable(file) {
            return;
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
                self.findings.push(rule::SUPPORT_REMOVED.finding(file.path));
            }
            (None, Some(before), Some(now)) if rests => self.data(file, &before, &now),
            (None, ..) => {}
            (Some(language), before, now) => {
                self.code(file, language, before.as_deref(), now.as_deref());
            }
        }
    }

    /// Files of which any change is a finding.
    fn untouchable(&mut self, file: &Changed<'_>) -> bool {
        let about = match file.guarded {
            _ if file.protected => &rule::PROTECTED,
            _ if file.script && file.before.is_some() => &rule::SCRIPT,
            Some(Guarded::Runner) => &rule::RUNNER,
            Some(Guarded::Ci) => &rule::CI,
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
        self.findings.push(self.placed(Finding { message, ..finding }, file));
        true
    }

    /// With the first line that was added, where there is one.
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
        let [old, new] = [&was, &is].map(|view| {
            let has_inline = is_test || language == Language::Rust;
            if has_inline { Suite::new(view, language, !is_test) } else { Suite::none() }
        });
        let apart = is_test.then_some(language);
        self.was.extend(old.tests.iter().map(|test| Known::new(file, test, apart)));
        self.now.extend(new.tests.iter().map(|test| Known::new(file, test, apart)));
        if file.moved {
            return;
        }
        // Where all tests are gone, what becomes of them says it.
        if old.tests.is_empty() || !new.tests.is_empty() {
            self.beside_tests(file, (&was, &old), &new, apart);
        }
        let difference = lines::lines(was.text, is.text);
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
                if !seen.insert((rule.about.id, first)) {
                    continue;
                }
                let found = added(file, rule, (&is, first), &new, !old.tests.is_empty());
                self.added.push(found);
            }
        }
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
        let lines: Vec<_> = removed
            .into_iter()
            .filter(|token| !token.is_layout())
            .map(|token| token.line)
            .collect();
        let other = lines.iter().find(|line| !IMPORTS.is_match(view.line(**line)));
        let Some(line) = other.or(lines.first()) else { return };
        let finding = rule::SUPPORT_EDITED.finding(file.path).at(*line, view.line(*line));
        let finding = self.unless_overlaid(finding, apart);
        let severity = if other.is_none() { Severity::Warn } else { finding.severity };
        self.findings.push(Finding { severity, ..finding });
    }

    fn removed(&mut self, language: Language, place: Place, view: &View<'_>, line: usize) {
        for rule in Rule::all_for(language).filter(|rule| rule.looks_at(place)) {
            if rule.find(view, line) == Some(line) {
                let key = (rule.about.id, view.line(line).trim().to_owned());
                *self.gone.entry(key).or_default() += 1;
            }
        }
    }

    /// An edit of a file in a language, or of data, warns where the baseline's version
    /// is run; it decides elsewhere.
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
        let added = self.in_added_lines();
        self.findings.extend(tests);
        self.findings.extend(added);
        self.findings.sort_by_cached_key(|finding| {
            let is_new = self.new_files.contains(&finding.file);
            let rank = (Reverse(finding.severity), is_new, finding.test.is_none());
            (rank, finding.file.clone(), finding.line)
        });
        self.findings
    }

    /// Tests that are gone or say something else, and new ones that say nothing.
    fn tests(&self) -> Vec<Finding> {
        let mut same: HashMap<(&str, &str), usize> = HashMap::new();
        for test in &self.now {
            *same.entry((&test.name, &test.body)).or_default() += 1;
        }
        let mut findings = Vec::new();
        for test in &self.was {
            match same.get_mut(&(test.name.as_str(), test.body.as_str())) {
                Some(left) if *left > 0 => *left -= 1,
                _ => findings.push(self.missing(test)),
            }
        }
        let known: HashSet<&str> = self.was.iter().map(|test| test.name.as_str()).collect();
        let new = self.now.iter().filter(|test| !known.contains(test.name.as_str()));
        let silent = new.filter(|test| !asserts(&test.body));
        findings.extend(silent.map(|test| test.finding(&rule::NO_ORACLE)));
        findings
    }

    /// A test of the baseline that is not there as it was.
    fn missing(&self, test: &Known) -> Finding {
        let mut named: Vec<_> = self.now.iter().filter(|now| now.name == test.name).collect();
        named.sort_by_key(|now| now.file != test.file);
        match named.first() {
            Some(now) => self.unless_overlaid(now.finding(&rule::TEST_EDITED), test.apart),
            None => test.finding(&rule::TEST_REMOVED),
        }
    }

    fn in_added_lines(&mut self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for added in std::mem::take(&mut self.added) {
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
                if self.was.iter().any(|test| test.name == *name && test.body == *body) {
                    return None;
                }
                self.was.iter().any(|test| test.name == *name)
            }
            None => added.had_tests,
        };
        let severity = if was { added.finding.severity } else { Severity::Warn };
        Some(Finding { severity, ..added.finding })
    }
}

impl Known {
    fn new(file: &Changed<'_>, test: &Test, apart: Option<Language>) -> Self {
        Self {
            file: file.path.to_owned(),
            name: test.name.clone(),
            body: test.body.clone(),
            line: test.lines.0,
            apart,
        }
    }

    fn finding(&self, about: &About) -> Finding {
        let message = format!("{}: {}", about.message, crate::text::brief(&self.name, 80));
        let finding = Finding { message, ..about.finding(&self.file) };
        finding.at(self.line, "").for_test(&self.name)
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
    }
}

/// Looks for the words by which frameworks assert something.
fn asserts(body: &str) -> bool {
    static SAYS: Expression = Expression::new(
        r"assert|expect|should|must|raise|throw|panic|fail|check|verify|require|error|fatal|match|equal|snapshot|compare|is_ok|status",
    );
    SAYS.is_match(body)
}

/// Bytes as text, whatever they are.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
