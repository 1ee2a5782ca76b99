//! A finding: what was done to the work that gets around its checks; and those that a record keeps.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The effect of a finding.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It is shown, and never decides.
    Warn,
    /// It blocks.
    Block,
    /// It blocks, whatever the check's mode.
    Tamper,
}

/// A finding in one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The rule's name.
    pub rule: String,
    /// Its effect.
    pub severity: Severity,
    /// The file, relative to the work tree's root.
    pub file: String,
    /// The line, from 1, where it concerns one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The line, made fit to be shown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub excerpt: String,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub hint: String,
}

/// The most characters of a line that are shown.
const MAX_EXCERPT: usize = 160;

impl Finding {
    /// A finding about a file as a whole.
    pub fn new(rule: &str, severity: Severity, file: &str, message: impl Into<String>) -> Self {
        Self {
            rule: rule.to_owned(),
            severity,
            file: crate::text::brief(file, MAX_EXCERPT * 2),
            line: None,
            excerpt: String::new(),
            message: message.into(),
            hint: String::new(),
        }
    }

    /// The finding with a remedy.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// The finding with its line, from 0, and the line's text.
    #[must_use]
    pub fn at(self, line: usize, text: &str) -> Self {
        let excerpt = crate::text::brief(text.trim(), MAX_EXCERPT);
        Self { line: Some(line + 1), excerpt, ..self }
    }

    /// The remedy, behind the file and line unless it concerns the whole tree.
    pub fn advice(&self) -> String {
        match self.file.as_str() {
            "" | "." => self.hint.clone(),
            _ => format!("{}: {}", self.place(), self.hint),
        }
    }

    /// Its file and line, for a person.
    pub fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.file),
            None if self.file == "." => "the work tree".to_owned(),
            None => self.file.clone(),
        }
    }
}

/// The most findings that a record keeps.
const MAX_FINDINGS: usize = 500;

/// The most warnings about one folder, if not all findings can be kept.
const MAX_WARNINGS_OF_FOLDER: usize = 100;

/// The most folders that a note names.
const MAX_NAMED_FOLDERS: usize = 5;

/// The findings of a record.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingList<'a> {
    /// The findings, in their order.
    pub findings: Vec<&'a Finding>,
    /// The number of findings left out, by the topmost folder; `.` for files beside the folders.
    pub left_out: BTreeMap<&'a str, usize>,
}

/// Keeps the first findings. One folder full of warnings does not hide those of all others.
pub fn capped(findings: &[Finding]) -> FindingList<'_> {
    let has_too_many = findings.len() > MAX_FINDINGS;
    let mut warnings_of_folders: BTreeMap<&str, usize> = BTreeMap::new();
    let mut list = FindingList { findings: Vec::new(), left_out: BTreeMap::new() };
    for finding in findings {
        let folder = finding.file.split_once('/').map_or(".", |(folder, _)| folder);
        let warnings = warnings_of_folders.entry(folder).or_default();
        *warnings += usize::from(finding.severity == Severity::Warn);
        let hides_others = has_too_many && *warnings > MAX_WARNINGS_OF_FOLDER;
        if hides_others || list.findings.len() == MAX_FINDINGS {
            *list.left_out.entry(folder).or_default() += 1;
        } else {
            list.findings.push(finding);
        }
    }
    list
}

impl FindingList<'_> {
    /// A note for a person about the findings that were left out; `None` if all are in the list.
    pub fn note(&self) -> Option<String> {
        let mut folders: Vec<_> = self.left_out.iter().collect();
        folders.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let mut named: Vec<_> = folders
            .iter()
            .take(MAX_NAMED_FOLDERS)
            .map(|(folder, count)| format!("{count} in {folder}/"))
            .collect();
        let unnamed: usize = folders.iter().skip(MAX_NAMED_FOLDERS).map(|(_, count)| **count).sum();
        if unnamed > 0 {
            named.push(format!("{unnamed} elsewhere"));
        }
        let count: usize = self.left_out.values().sum();
        (count > 0).then(|| {
            let named = named.join(", ");
            format!("{count} are not listed: {named} (name what is no work in `[tree] ignore`)")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(severity: Severity, folder: &str, count: usize) -> Vec<Finding> {
        (0..count).map(|n| Finding::new("x", severity, &format!("{folder}{n}"), "")).collect()
    }

    #[track_caller]
    fn check(findings: &[Vec<Finding>], kept: usize, note: Option<&str>) {
        let findings_of_all = findings.concat();
        let list = capped(&findings_of_all);
        assert_eq!(list.findings.len(), kept);
        assert_eq!(list.note().as_deref(), note);
    }

    #[test]
    fn a_folder_full_of_warnings_does_not_hide_those_of_another() {
        let logs = findings(Severity::Warn, "logs/", 2_923);
        let note = "2823 are not listed: 2823 in logs/ (name what is no work in `[tree] ignore`)";
        check(&[logs.clone(), findings(Severity::Warn, "src/", 2)], 102, Some(note));
        assert_eq!(
            capped(&[logs, findings(Severity::Warn, "", 2)].concat()).findings[100].file,
            "0"
        );
    }

    #[test]
    fn the_note_names_a_few_folders() {
        let findings_of_all: Vec<_> =
            (0..9).map(|n| findings(Severity::Block, &format!("f{n}/"), 100)).collect();
        let note = "400 are not listed: 100 in f5/, 100 in f6/, 100 in f7/, 100 in f8/ \
                    (name what is no work in `[tree] ignore`)";
        check(&findings_of_all, 500, Some(note));
        let findings_of_all: Vec<_> =
            (0..9).map(|n| findings(Severity::Block, &format!("f{n}/"), 300)).collect();
        let note = capped(&findings_of_all.concat()).note().unwrap();
        assert!(note.contains("300 in f6/, 700 elsewhere (") && note.len() < 150, "{note}");
    }

    #[test]
    fn a_few_findings_are_kept_whole() {
        check(&[findings(Severity::Warn, "logs/", 500)], 500, None);
        check(&[], 0, None);
    }

    #[test]
    fn what_blocks_is_kept_whatever_its_folder() {
        let findings_of_all =
            [findings(Severity::Block, "src/", 400), findings(Severity::Warn, "src/", 200)];
        let note = "100 are not listed: 100 in src/ (name what is no work in `[tree] ignore`)";
        check(&findings_of_all, 500, Some(note));
    }
}
