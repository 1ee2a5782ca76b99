//! Compares the changed files with the baseline, one after the other: what no run of tests shows.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::changed::{Around, Changed, text};
use super::finding::{Finding, Severity};
use super::guarded::{Guarded, is_product, is_vendored};
use super::language::Language;
use super::lexer::View;
use super::own_settings::only_permissions;
use super::rule::{self, Rule};
use super::shadowing;
use super::source_coding::other_coding;
use super::tests_in_source::Suite;

/// Compares files with the baseline.
#[derive(Debug)]
pub struct Examiner<'a> {
    around: &'a Around,
    findings: Vec<Finding>,
    /// Findings in lines that are gone, by rule and line.
    gone: HashMap<(&'static str, String), usize>,
    added: Vec<AddedLine>,
    new_files: HashSet<String>,
}

/// A finding in an added line.
#[derive(Debug)]
struct AddedLine {
    finding: Finding,
    rule: &'static str,
    line: String,
}

impl<'a> Examiner<'a> {
    /// An examiner that has seen nothing yet.
    pub fn new(around: &'a Around) -> Self {
        Self {
            around,
            findings: Vec::new(),
            gone: HashMap::new(),
            added: Vec::new(),
            new_files: HashSet::new(),
        }
    }

    /// Looks at a file.
    pub fn file(&mut self, file: &Changed<'_>) {
        if self.guarded(file) {
            return;
        }
        if file.before.is_none() {
            self.new_files.insert(file.path.to_owned());
            self.findings.extend(shadowing::findings(file.path, self.around));
        }
        let Some(language) = Language::from_path(file.path) else { return };
        let (before, now) = (file.before.map(text), file.now.map(text));
        self.findings.extend(other_coding(file, before.as_deref(), now.as_deref()));
        if !file.moved && is_product(file.path, file.guarded) {
            let texts = (before.as_deref().unwrap_or(""), now.as_deref().unwrap_or(""));
            self.added_lines(file, language, texts);
        }
    }

    /// Files of which any change is a finding, or a note.
    fn guarded(&mut self, file: &Changed<'_>) -> bool {
        let about = match file.guarded {
            _ if file.protected => &rule::PROTECTED,
            _ if file.script && file.before.is_some() => &rule::SCRIPT,
            Some(Guarded::Ci) => &rule::CI,
            Some(Guarded::Hook) if only_permissions(file.path, file.before, file.now) => {
                return true;
            }
            Some(Guarded::Hook) => &rule::HOOK,
            // The tests of the baseline run with the old ones; gate's own are a matter of trust.
            Some(Guarded::Runner | Guarded::Manifest | Guarded::Gate) => return true,
            Some(Guarded::Test | Guarded::Support) | None => return false,
        };
        let change = match (file.before, file.now) {
            (None, _) => "is new",
            (_, None) => "is gone",
            _ => "was changed",
        };
        let finding = about.finding(file.path);
        let message = format!("{}: it {change}", finding.message);
        self.findings.push(placed(Finding { message, ..finding }, file));
        true
    }

    /// Looks for rules in the lines that a product got. Lines that only moved are not new.
    fn added_lines(&mut self, file: &Changed<'_>, language: Language, (before, now): (&str, &str)) {
        let views = [before, now].map(|text| View::new(text, Some(language)));
        let [old, new] = &views;
        let suites = views.each_ref().map(|view| match language {
            Language::Rust => Suite::new(view, language, true),
            _ => Suite::none(),
        });
        let difference = difference(old.text, new.text);
        let rules = || Rule::all_for(language);
        for line in difference.removed.into_iter().filter(|line| !suites[0].holds(*line)) {
            for rule in rules().filter(|rule| rule.find(old, line) == Some(line)) {
                let key = (rule.about.id, old.line(line).trim().to_owned());
                *self.gone.entry(key).or_default() += 1;
            }
        }
        let mut seen = HashSet::new();
        for line in difference.added.into_iter().filter(|line| !suites[1].holds(*line)) {
            for rule in rules() {
                let Some(first) = rule.find(new, line) else { continue };
                if !seen.insert((rule.about.id, first)) {
                    continue;
                }
                let finding = rule.about.finding(file.path).at(first, new.line(first));
                let severity =
                    if is_vendored(file.path) { Severity::Warn } else { finding.severity };
                self.added.push(AddedLine {
                    finding: Finding { severity, ..finding },
                    rule: rule.about.id,
                    line: new.line(first).trim().to_owned(),
                });
            }
        }
    }

    /// Something that the caller found.
    pub fn found(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// All that was found, the worst first, and of the same effect new files last.
    pub fn finish(mut self) -> Vec<Finding> {
        for added in std::mem::take(&mut self.added) {
            match self.gone.get_mut(&(added.rule, added.line)) {
                // It only stands elsewhere now.
                Some(left) if *left > 0 => *left -= 1,
                _ => self.findings.push(added.finding),
            }
        }
        self.findings.sort_by_cached_key(|finding| {
            let is_new = self.new_files.contains(&finding.file);
            ((Reverse(finding.severity), is_new), finding.file.clone(), finding.line)
        });
        self.findings
    }
}

/// Adds the first line that was added, if there is one.
fn placed(finding: Finding, file: &Changed<'_>) -> Finding {
    let (Some(before), Some(now)) = (file.before, file.now) else { return finding };
    let (before, now) = (text(before), text(now));
    let difference = difference(&before, &now);
    match (difference.added.first(), difference.removed.first()) {
        (Some(line), _) => finding.at(*line, now.lines().nth(*line).unwrap_or_default()),
        (None, Some(line)) => Finding { line: Some(line + 1), ..finding },
        (None, None) => finding,
    }
}

/// Indices, from 0, of the lines that one text alone has.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) removed: Vec<usize>,
    pub(super) added: Vec<usize>,
}

/// Compares lines, whatever ends them.
pub(super) fn difference(before: &str, now: &str) -> Difference {
    let [before, now] =
        [before, now].map(|text| text.lines().map(str::trim_end).collect::<Vec<_>>());
    let mut difference = Difference::default();
    for op in capture_diff_slices(Algorithm::Myers, &before, &now) {
        if !matches!(op, DiffOp::Equal { .. }) {
            difference.removed.extend(op.old_range());
            difference.added.extend(op.new_range());
        }
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_and_removed() {
        let found = difference("a\nb\nc\n", "a\r\nc\nd");
        assert_eq!(found, Difference { removed: vec![1], added: vec![2] });
        assert_eq!(difference("", "a\n").added, [0]);
        assert_eq!(difference("a\n", "a").removed, [0; 0]);
    }

    #[test]
    fn two_long_texts_without_a_common_line_are_compared_at_once() {
        let text = |word: &str| (0..20_000).map(|at| format!("{word}{at}\n")).collect::<String>();
        let found = difference(&text("a"), &text("b"));
        assert_eq!((found.removed.len(), found.added.len()), (20_000, 20_000));
    }
}
