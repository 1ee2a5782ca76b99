//! Compares the changed files with the baseline, one after the other: what no run of tests shows.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::changed::{ChangedFile, Surroundings, lossy_text};
use super::finding::{Finding, Severity};
use super::guarded::{Guarded, is_product, is_vendored};
use super::language::Language;
use super::lexer::SourceView;
use super::own_settings::only_permissions;
use super::rule::{self, Rule};
use super::shadowing;
use super::source_coding::other_coding;
use super::tests_in_source::Suite;

/// Compares files with the baseline.
#[derive(Debug)]
pub struct Examiner<'a> {
    surroundings: &'a Surroundings,
    findings: Vec<Finding>,
    /// The number of the lines that were removed, for each of their forms.
    removed_lines: HashMap<RuleLine, usize>,
    added_lines: Vec<AddedLine>,
    new_files: HashSet<String>,
}

/// A line in which a rule finds something. An added line that equals a removed one has only moved.
#[derive(Debug, PartialEq, Eq, Hash)]
struct RuleLine {
    /// The rule's id.
    rule: &'static str,
    /// The line without the space around it.
    text: String,
}

/// A finding in an added line.
#[derive(Debug)]
struct AddedLine {
    line: RuleLine,
    finding: Finding,
}

impl<'a> Examiner<'a> {
    /// An examiner that has seen nothing yet.
    pub fn new(surroundings: &'a Surroundings) -> Self {
        Self {
            surroundings,
            findings: Vec::new(),
            removed_lines: HashMap::new(),
            added_lines: Vec::new(),
            new_files: HashSet::new(),
        }
    }

    /// Looks at a file.
    pub fn examine(&mut self, file: &ChangedFile<'_>) {
        if self.examine_guarded(file) {
            return;
        }
        if file.baseline.is_none() {
            self.new_files.insert(file.path.to_owned());
            self.findings.extend(shadowing::findings(file.path, self.surroundings));
        }
        let Some(language) = Language::from_path(file.path) else { return };
        let (old_text, new_text) = (file.baseline.map(lossy_text), file.tree.map(lossy_text));
        let coding = other_coding(file.path, old_text.as_deref(), new_text.as_deref());
        self.findings.extend(coding);
        if !file.is_moved && is_product(file.path, file.guarded) {
            let [old, new] = [old_text, new_text].map(Option::unwrap_or_default);
            let [old, new] = [&old, &new].map(|text| SourceView::new(text, Some(language)));
            self.compare_lines(file.path, language, &old, &new);
        }
    }

    /// Adds the finding of a file of which any change is one. Nothing else is looked for in such
    /// files, nor in those that another rule of gate's is for.
    fn examine_guarded(&mut self, file: &ChangedFile<'_>) -> bool {
        let rule = match file.guarded {
            _ if file.is_protected => &rule::PROTECTED,
            _ if file.is_script && file.baseline.is_some() => &rule::SCRIPT,
            Some(Guarded::Ci) => &rule::CI,
            Some(Guarded::Hook) if only_permissions(file.path, file.baseline, file.tree) => {
                return true;
            }
            Some(Guarded::Hook) => &rule::HOOK,
            // The tests of the baseline run with the old settings; gate's own are a matter of trust.
            Some(Guarded::Runner | Guarded::Manifest | Guarded::Gate) => return true,
            Some(Guarded::Test | Guarded::Support) | None => return false,
        };
        let change = match (file.baseline, file.tree) {
            (None, _) => "is new",
            (_, None) => "is gone",
            _ => "was changed",
        };
        let finding = rule.finding(file.path);
        let message = format!("{}: it {change}", finding.message);
        self.findings.push(with_first_change(Finding { message, ..finding }, file));
        true
    }

    /// Looks for rules in the lines that a product got.
    fn compare_lines(
        &mut self,
        path: &str,
        language: Language,
        old: &SourceView<'_>,
        new: &SourceView<'_>,
    ) {
        // Tests in a source are put back and run. No rule judges their text.
        let [old_tests, new_tests] = [old, new].map(|view| match language {
            Language::Rust => Suite::read(view, language, true),
            _ => Suite::empty(),
        });
        let difference = difference(old.text, new.text);
        let rules = || Rule::all_for(language);
        for line in difference.removed.into_iter().filter(|line| !old_tests.has_line(*line)) {
            // A rule that looks at several lines counts once, where its match begins.
            for rule in rules().filter(|rule| rule.find(old, line) == Some(line)) {
                *self.removed_lines.entry(RuleLine::new(rule, old, line)).or_default() += 1;
            }
        }
        let mut seen = HashSet::new();
        for line in difference.added.into_iter().filter(|line| !new_tests.has_line(*line)) {
            for rule in rules() {
                let Some(first) = rule.find(new, line) else { continue };
                if !seen.insert((rule.info.id, first)) {
                    continue;
                }
                let finding = rule.info.finding(path).at(first, new.line(first));
                let severity = if is_vendored(path) { Severity::Warn } else { finding.severity };
                self.added_lines.push(AddedLine {
                    line: RuleLine::new(rule, new, first),
                    finding: Finding { severity, ..finding },
                });
            }
        }
    }

    /// Adds a finding of the caller's.
    pub fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// All findings, the worst first, and of the same effect new files last.
    pub fn finish(mut self) -> Vec<Finding> {
        // Not before all files are seen: a line may have moved from one to another.
        for added in std::mem::take(&mut self.added_lines) {
            match self.removed_lines.get_mut(&added.line) {
                Some(count) if *count > 0 => *count -= 1,
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

impl RuleLine {
    fn new(rule: &Rule, view: &SourceView<'_>, line: usize) -> Self {
        Self { rule: rule.info.id, text: view.line(line).trim().to_owned() }
    }
}

/// Adds the place of the first line that was added, or else of the first that was removed.
fn with_first_change(finding: Finding, file: &ChangedFile<'_>) -> Finding {
    let (Some(baseline), Some(tree)) = (file.baseline, file.tree) else { return finding };
    let (old_text, new_text) = (lossy_text(baseline), lossy_text(tree));
    let difference = difference(&old_text, &new_text);
    match (difference.added.first(), difference.removed.first()) {
        (Some(line), _) => finding.at(*line, new_text.lines().nth(*line).unwrap_or_default()),
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
pub(super) fn difference(old_text: &str, new_text: &str) -> Difference {
    let [old_lines, new_lines] =
        [old_text, new_text].map(|text| text.lines().map(str::trim_end).collect::<Vec<_>>());
    let mut difference = Difference::default();
    for op in capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines) {
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
        let changed = difference("a\nb\nc\n", "a\r\nc\nd");
        assert_eq!(changed, Difference { removed: vec![1], added: vec![2] });
        assert_eq!(difference("", "a\n").added, [0]);
        assert_eq!(difference("a\n", "a").removed, [0; 0]);
    }

    #[test]
    fn two_long_texts_without_a_common_line_are_compared_at_once() {
        let text = |word: &str| (0..20_000).map(|n| format!("{word}{n}\n")).collect::<String>();
        let changed = difference(&text("a"), &text("b"));
        assert_eq!((changed.removed.len(), changed.added.len()), (20_000, 20_000));
    }
}
