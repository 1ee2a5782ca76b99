//! Approves changed tests, for `gate approve` and for a person who types it in an agent's
//! prompt.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use gate_checks::worktree::Globs;
use gate_checks::{is_test_allowed, validate_glob};
use gate_core::decide::changed_tests::{ChangedTests, approve_command, names_to_approve};
use gate_core::decide::policy::Allowance;
use gate_core::integrity::{Finding, Severity};
use gate_core::{Decision, text};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::gate::Contents;
use crate::invocation::Invocation;
use crate::memory::{Memory, RecordSelector};
use crate::operator::Operator;
use crate::record::{ApprovedChange, FileContent, Ledger, Record};
use crate::render::findings::findings;
use crate::settings::Selection;
use crate::store::PATIENCE;
use crate::trust;

/// `gate.approve.v1`: changed tests that were approved, or that wait for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ApproveRecord {
    /// Always `gate.approve.v1`.
    pub schema: &'static str,
    /// The changed tests that the latest decision here waits for.
    pub waiting: Vec<ChangedTests>,
    /// The changes that were approved by this command.
    pub approved: Vec<ApprovedChange>,
    /// Approved names that the latest decision here does not name.
    pub unknown: Vec<String>,
    /// The record of the approval.
    pub ledger: Option<Ledger>,
}

/// The most red tests that a note names.
const MAX_RED_SHOWN: usize = 5;

/// The word that approves all that a decision names.
const ALL: &str = "all";

/// A file that a decision names as changed.
pub(crate) struct NamedFile {
    pub(crate) file: String,
    /// Its name is relative to the work tree's root, not to the project.
    pub(crate) is_from_root: bool,
}

/// The files that a decision names as changed.
pub(crate) fn named_files(decision: &Decision) -> impl Iterator<Item = NamedFile> {
    let tests = decision.changed_tests().into_iter();
    let test_files = tests.map(|changed| NamedFile { file: changed.file, is_from_root: false });
    let findings = deciding_findings(decision).into_iter();
    let finding_files =
        findings.map(|finding| NamedFile { file: finding.file, is_from_root: true });
    test_files.chain(finding_files).filter(|named| is_file_name(&named.file))
}

/// A finding about the whole tree names no file.
fn is_file_name(file: &str) -> bool {
    !matches!(file, "" | ".")
}

/// The findings of a decision that keep the work from counting.
fn deciding_findings(decision: &Decision) -> Vec<Finding> {
    let (findings, _) = findings(&decision.input.evidence);
    findings.into_iter().filter(|finding| finding.severity != Severity::Warn).collect()
}

/// The changes that a decision names, and the tests that failed in it.
struct NamedChanges {
    changed: Vec<ChangedTests>,
    failed: Vec<String>,
    findings: Vec<Finding>,
    /// The contents that the decision judged.
    judged: Vec<FileContent>,
    /// The files as they are now.
    contents: Contents,
}

impl NamedChanges {
    fn new(record: Option<&Record>, contents: Contents) -> Self {
        let Some(record) = record else {
            return Self {
                changed: Vec::new(),
                failed: Vec::new(),
                findings: Vec::new(),
                judged: Vec::new(),
                contents,
            };
        };
        let decision = &record.decision;
        let failed = decision.input.evidence.iter().flat_map(|evidence| {
            evidence.failed_tests().into_iter().chain(evidence.red_before()).map(str::to_owned)
        });
        let mut findings = deciding_findings(decision);
        findings.iter_mut().for_each(|finding| finding.file = contents.project_name(&finding.file));
        Self {
            changed: decision.changed_tests(),
            failed: failed.collect(),
            findings,
            judged: record.judged.clone(),
            contents,
        }
    }

    fn files(&self) -> impl Iterator<Item = &str> {
        let changed = self.changed.iter().map(|changed| changed.file.as_str());
        let findings = self.findings.iter().map(|finding| finding.file.as_str());
        changed.chain(findings).filter(|file| is_file_name(file))
    }

    fn names_file(&self, name: &str) -> bool {
        self.files().any(|file| file == name)
    }

    fn tests(&self) -> impl Iterator<Item = &String> {
        self.changed.iter().flat_map(|changed| &changed.tests).chain(&self.failed)
    }

    /// The decision names this file, test or rule, or one that begins like this pattern.
    fn is_named(&self, name: &str) -> bool {
        let beginning = name.split('*').next().unwrap_or_default();
        let is_match = |candidate: &str| match beginning == name {
            true => candidate == name,
            false => candidate.starts_with(beginning),
        };
        name == ALL && (self.files().next().is_some() || !self.findings.is_empty())
            || self.files().any(is_match)
            || self.tests().any(|test| is_match(test))
            || self.findings.iter().any(|finding| finding.rule == name)
    }

    /// The changes that a name stands for: a file's, a test's, a rule's, or all. Names that the
    /// decision has come first: a name may be a test's and a glob of files at once.
    fn changes(&self, name: &str, reason: &str) -> Result<Vec<ApprovedChange>, Failure> {
        if name == ALL {
            return Ok(self.all_changes(reason));
        }
        let test_file =
            self.changed.iter().find(|changed| changed.tests.iter().any(|test| test == name));
        if let Some(changed) = test_file
            && !self.names_file(name)
        {
            return Ok(vec![self.test_change(&changed.file, name, reason)]);
        }
        let rule_findings = self.findings.iter().filter(|finding| finding.rule == name);
        let rule_changes: Vec<_> =
            rule_findings.map(|finding| self.finding_change(finding, reason)).collect();
        if !rule_changes.is_empty() {
            return Ok(rule_changes);
        }
        let test_changes = self.tests_by_pattern(name, reason);
        if !test_changes.is_empty() {
            return Ok(test_changes);
        }
        let is_failing = self.failed.iter().any(|test| test == name);
        let is_file = self.names_file(name) || self.contents.project().join(name).is_file();
        if is_file && !is_failing {
            return Ok(vec![self.file_change(name, reason)]);
        }
        // `::` stands in names of tests alone, and names of tests have asterisks, too.
        let is_glob = !name.contains("::") && name.contains('*') && name.contains(['/', '.']);
        if is_failing || !is_glob {
            return Ok(vec![ApprovedChange::from_test(name, reason)]);
        }
        let files = self.files_by_glob(name)?;
        Ok(files.iter().map(|file| self.file_change(file, reason)).collect())
    }

    fn all_changes(&self, reason: &str) -> Vec<ApprovedChange> {
        let files: BTreeSet<_> = self.files().collect();
        let tree_findings = self.findings.iter().filter(|finding| !is_file_name(&finding.file));
        let without_file = self.changed.iter().filter(|changed| changed.file.is_empty());
        let tests = without_file.flat_map(|changed| &changed.tests);
        files
            .into_iter()
            .map(|file| self.file_change(file, reason))
            .chain(tree_findings.map(|finding| self.finding_change(finding, reason)))
            .chain(tests.map(|test| ApprovedChange::from_test(test, reason)))
            .collect()
    }

    /// The changed tests, of known files, whose names a pattern allows.
    fn tests_by_pattern(&self, pattern: &str, reason: &str) -> Vec<ApprovedChange> {
        let allowance = [Allowance::from(ApprovedChange::from_test(pattern, reason))];
        let mut changes = Vec::new();
        for changed in self.changed.iter().filter(|changed| !changed.file.is_empty()) {
            let tests = changed.tests.iter().filter(|test| is_test_allowed(test, &allowance));
            changes.extend(tests.map(|test| self.test_change(&changed.file, test, reason)));
        }
        changes
    }

    /// The files that the decision names and a glob matches, else the matching files of the project.
    fn files_by_glob(&self, glob: &str) -> Result<BTreeSet<String>, Failure> {
        check_file_glob(glob)?;
        let globs = Globs::new(&[glob.to_owned()]).map_err(|error| bad_glob(&error.to_string()))?;
        let mut files: BTreeSet<_> = self.files().map(str::to_owned).collect();
        files.retain(|file| globs.matches(file.as_bytes()));
        if files.is_empty() {
            let names = self.contents.names();
            files = names.filter(|file| globs.matches(file.as_bytes())).collect();
        }
        Ok(files)
    }

    fn file_change(&self, file: &str, reason: &str) -> ApprovedChange {
        let name = file.trim_start_matches("./");
        ApprovedChange {
            test: None,
            path: Some(literal_glob(file)),
            file: Some(name.to_owned()),
            content: Some(self.content(name)),
            ..ApprovedChange::from_test("", reason)
        }
    }

    /// The change of one test; with its file's content, if the file is known.
    fn test_change(&self, file: &str, test: &str, reason: &str) -> ApprovedChange {
        match file {
            "" => ApprovedChange::from_test(test, reason),
            file => {
                let test = Some(test.to_owned());
                ApprovedChange { test, path: None, ..self.file_change(file, reason) }
            }
        }
    }

    fn finding_change(&self, finding: &Finding, reason: &str) -> ApprovedChange {
        if is_file_name(&finding.file) {
            return self.file_change(&finding.file, reason);
        }
        let rule = Some(finding.rule.clone());
        ApprovedChange { test: None, rule, ..ApprovedChange::from_test("", reason) }
    }

    /// The content that the decision judged: an approval holds for what a person was shown. For a
    /// file that the decision does not name, the content now.
    fn content(&self, file: &str) -> String {
        match self.judged.iter().find(|judged| judged.file == file) {
            Some(judged) => judged.content.clone(),
            None => self.contents.content(file),
        }
    }
}

/// The changes that the latest decision here waits for.
///
/// # Errors
///
/// Settings or a store that cannot be read.
pub(crate) fn waiting_changes(
    invocation: &Invocation,
    run: Option<&str>,
) -> Result<ApproveRecord, Failure> {
    let NamedChanges { changed, findings, .. } =
        latest_changes(invocation, &mut memory(invocation, PATIENCE)?, run)?;
    let finding_files: BTreeSet<_> = findings.into_iter().map(|finding| finding.file).collect();
    let without_tests = finding_files
        .into_iter()
        .filter(|file| changed.iter().all(|changed| changed.file != *file))
        .map(|file| ChangedTests { file, ..ChangedTests::default() });
    let waiting = changed.iter().cloned().chain(without_tests).collect();
    Ok(ApproveRecord { waiting, ..record(Vec::new(), Vec::new(), None) })
}

/// Approves changes that a decision names, or tests that fail, and records it. `run` selects the
/// decision: the latest one of a run, else the latest one here.
///
/// # Errors
///
/// A glob that cannot be parsed, settings that cannot be read, a store that cannot be written.
pub(crate) fn approve(
    invocation: &Invocation,
    names: &[String],
    reason: &str,
    run: Option<&str>,
    operator: &Operator,
    patience: Duration,
) -> Result<ApproveRecord, Failure> {
    let mut memory = memory(invocation, patience)?;
    let named = latest_changes(invocation, &mut memory, run)?;
    let mut changes = Vec::new();
    for name in names {
        changes.extend(named.changes(name, reason)?);
    }
    if changes.is_empty() {
        return Err(Failure::usage("usage", "nothing here waits for an approval under that name")
            .hint("`gate approve` shows what waits"));
    }
    let unknown = names.iter().filter(|name| !named.is_named(name)).cloned().collect();
    let ledger = memory.approve(&changes, operator)?;
    Ok(record(changes, unknown, Some(ledger)))
}

/// Approves for a person who types it in an agent's prompt. Without a reason, the prompt is the
/// reason.
///
/// # Errors
///
/// Those of [`approve`].
pub(crate) fn approve_typed(
    invocation: &Invocation,
    words: &[String],
    patience: Duration,
) -> Result<String, Failure> {
    if words.is_empty() {
        return Ok(card(&waiting_changes(invocation, None)?));
    }
    let (tests, reason) = tests_and_reason(words);
    let operator = Operator::from_process();
    let record = approve(invocation, &tests, &reason, None, &operator, patience)?;
    let mut text = card(&record);
    for doubt in doubts(&record) {
        let _ = writeln!(text, "{doubt}");
    }
    Ok(text)
}

/// Splits typed words: the first that does not look like a name of a test or a file begins the
/// reason.
fn tests_and_reason(words: &[String]) -> (Vec<String>, String) {
    // The first word is a name, whatever it looks like.
    let mut later_words = words.iter().skip(1);
    let reason_start = later_words.position(|word| word == "--reason" || !is_like_test_name(word));
    let (tests, reason_words) = words.split_at(reason_start.map_or(words.len(), |index| index + 1));
    let reason_words: Vec<_> =
        reason_words.iter().skip_while(|word| *word == "--reason").map(String::as_str).collect();
    let reason = match reason_words.join(" ") {
        blank if blank.trim().is_empty() => "typed in a prompt".to_owned(),
        reason => reason,
    };
    (tests.to_vec(), reason)
}

fn is_like_test_name(word: &str) -> bool {
    let inner = word.trim_end_matches(['.', ',', ':', '!', '?']);
    ["::", "/", "*", " > ", "_", "."].iter().any(|mark| inner.contains(mark))
}

/// Checks a glob of the project's files.
///
/// # Errors
///
/// A glob that cannot be parsed, or that leads out of the project.
pub(crate) fn check_file_glob(glob: &str) -> Result<(), Failure> {
    validate_glob(glob).map_err(|error| bad_glob(&error.to_string()))
}

fn bad_glob(problem: &str) -> Failure {
    Failure::usage("usage", problem).hint("name files relative to the project, such as `tests/**`")
}

/// A glob that stands for one file alone.
pub(crate) fn literal_glob(file: &str) -> String {
    let mut glob = String::new();
    for c in file.trim_start_matches("./").chars() {
        match c {
            '*' | '?' | '[' | ']' | '{' | '}' => {
                let _ = write!(glob, "[{c}]");
            }
            '\\' => glob.push_str("\\\\"),
            c => glob.push(c),
        }
    }
    glob
}

fn memory(invocation: &Invocation, patience: Duration) -> Result<Memory, Failure> {
    let (settings, trust) = trust::settings_in_force(&invocation.places, &Selection::default())?;
    invocation.memory_within(&trust, &settings.policy, patience)
}

/// The changes that the latest decision names. `run` is a run's name or a task's id.
fn latest_changes(
    invocation: &Invocation,
    memory: &mut Memory,
    run: Option<&str>,
) -> Result<NamedChanges, Failure> {
    let mut latest = memory.latest(&RecordSelector { run, ..RecordSelector::default() })?;
    if run.is_some() && latest.is_none() {
        latest = memory.latest(&RecordSelector { task: run, ..RecordSelector::default() })?;
    }
    if let (Some(run), None) = (run, &latest) {
        return Err(Failure::usage("usage", format!("--run {run}: nothing was decided there"))
            .hint("`gate log` lists the runs"));
    }
    let contents = Contents::read(&invocation.site()?)
        .ok_or_else(|| Failure::internal("tree-unreadable", "the work tree cannot be read"))?;
    Ok(NamedChanges::new(latest.as_ref(), contents))
}

fn record(
    approved: Vec<ApprovedChange>,
    unknown: Vec<String>,
    ledger: Option<Ledger>,
) -> ApproveRecord {
    ApproveRecord { schema: "gate.approve.v1", waiting: Vec::new(), approved, unknown, ledger }
}

/// A line for each name that the latest decision does not name.
pub(crate) fn doubts(record: &ApproveRecord) -> Vec<String> {
    let unknown = record.unknown.iter().map(|name| text::clean(name));
    unknown
        .map(|name| {
            format!("the latest decision here does not name {name}; it is approved all the same")
        })
        .collect()
}

/// The answer for a person.
pub(crate) fn card(record: &ApproveRecord) -> String {
    let mut card = String::new();
    if record.ledger.is_some() {
        for change in &record.approved {
            let _ = writeln!(card, "approved  {}", text::clean(change.name()));
        }
        card.push_str(
            "A change holds for the bytes that the decision showed, a failing test is left out until \
             it passes; at most 30 days.\n",
        );
        // Only if a decision waits for it.
        if record.unknown.len() < record.approved.len() {
            card.push_str("Check again: the agent needs no further turn. `gate run` goes on with the same command.\n");
        }
        return card;
    }
    if record.waiting.is_empty() {
        return "nothing waits for an approval here\n".to_owned();
    }
    for changed in &record.waiting {
        let _ = writeln!(card, "waiting   {}", text::clean(&changed.file));
        for test in &changed.tests {
            let _ = writeln!(card, "          {}", text::clean(test));
        }
    }
    let command = approve_command(&names_to_approve(&record.waiting));
    let _ = writeln!(card, "next      {}", text::clean(&command));
    card
}

/// Notes for a person on tests that are red before an agent begins; empty if no test is.
pub(crate) fn red_test_notes(red_tests: &[String]) -> Vec<String> {
    if red_tests.is_empty() {
        return Vec::new();
    }
    let shown: Vec<_> =
        red_tests.iter().take(MAX_RED_SHOWN).map(|name| text::clean(name)).collect();
    let more = match red_tests.len().saturating_sub(MAX_RED_SHOWN) {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    let command = text::clean(&approve_command(red_tests));
    vec![
        format!("red before the agent begins: {}{more}", shown.join(", ")),
        format!("they refuse until they pass; to leave them out: {command}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_words_are_tests_and_then_the_reason() {
        for (words, tests, reason) in [
            ("a.py::x", "a.py::x", "typed in a prompt"),
            ("TestSum the price is new", "TestSum", "the price is new"),
            ("a.py::x b/c.snap new prices, see 7.", "a.py::x b/c.snap", "new prices, see 7."),
            ("a.py::x --reason a.b is gone", "a.py::x", "a.b is gone"),
        ] {
            let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
            let (found_tests, found_reason) = tests_and_reason(&words);
            assert_eq!((found_tests.join(" ").as_str(), found_reason.as_str()), (tests, reason));
        }
    }
}
