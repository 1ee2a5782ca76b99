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

use crate::context::Here;
use crate::failure::Failure;
use crate::gate::Contents;
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
    let tests = decision.changed_tests().into_iter().map(|changed| (changed.file, false));
    let findings = deciding_findings(decision).into_iter().map(|finding| (finding.file, true));
    let named = tests.chain(findings).filter(|(file, _)| !matches!(file.as_str(), "" | "."));
    named.map(|(file, is_from_root)| NamedFile { file, is_from_root })
}

/// The findings of a decision that keep the work from counting.
fn deciding_findings(decision: &Decision) -> Vec<Finding> {
    let (findings, _) = findings(&decision.input.evidence);
    findings.into_iter().filter(|finding| finding.severity != Severity::Warn).collect()
}

/// The changes that a decision names, and the tests that failed in it.
#[derive(Default)]
struct Named {
    changed: Vec<ChangedTests>,
    failed: Vec<String>,
    findings: Vec<Finding>,
    judged: Vec<FileContent>,
}

impl Named {
    fn new(record: Option<&Record>, contents: &Contents) -> Self {
        let Some(record) = record else { return Self::default() };
        let decision = &record.decision;
        let evidence = decision.input.evidence.iter();
        let failed =
            evidence.flat_map(|one| one.failed_tests().into_iter().chain(one.red_before()));
        let failed = failed.map(str::to_owned).collect();
        let mut findings = deciding_findings(decision);
        findings.iter_mut().for_each(|finding| finding.file = contents.project_name(&finding.file));
        let (changed, judged) = (decision.changed_tests(), record.judged.clone());
        Self { changed, failed, findings, judged }
    }

    fn files(&self) -> impl Iterator<Item = &str> {
        let changed = self.changed.iter().map(|changed| changed.file.as_str());
        let findings = self.findings.iter().map(|finding| finding.file.as_str());
        changed.chain(findings).filter(|file| !matches!(*file, "" | "."))
    }

    fn tests(&self) -> impl Iterator<Item = &String> {
        self.changed.iter().flat_map(|changed| &changed.tests).chain(&self.failed)
    }

    /// True if the decision names this, or something that begins like this pattern.
    fn knows(&self, name: &str) -> bool {
        let start = name.split('*').next().unwrap_or_default();
        let fits = |named: &str| match start == name {
            true => named == name,
            false => named.starts_with(start),
        };
        name == ALL && (self.files().next().is_some() || !self.findings.is_empty())
            || self.files().any(fits)
            || self.tests().any(|test| fits(test))
            || self.findings.iter().any(|finding| finding.rule == name)
    }

    /// The content that the decision judged; if it names no such file, the content now.
    fn content(&self, file: &str, contents: &Contents) -> String {
        let judged = self.judged.iter().find(|judged| judged.file == file);
        judged.map_or_else(|| contents.content(file), |judged| judged.content.clone())
    }
}

/// The changes that the latest decision here waits for.
///
/// # Errors
///
/// Settings or a store that cannot be read.
pub(crate) fn waiting(here: &Here, run: Option<&str>) -> Result<ApproveRecord, Failure> {
    let named = named_here(here, &mut memory(here, PATIENCE)?, run)?.0;
    let files: BTreeSet<_> = named.findings.iter().map(|finding| finding.file.clone()).collect();
    let changed = named.changed;
    let beside = files.into_iter().filter(|file| changed.iter().all(|one| one.file != *file));
    let beside = beside.map(|file| ChangedTests { file, ..ChangedTests::default() });
    let waiting = changed.iter().cloned().chain(beside).collect();
    Ok(ApproveRecord { waiting, ..record(Vec::new(), Vec::new(), None) })
}

/// Approves changes that a decision names, or tests that fail, and records it. `run` selects the
/// decision: the latest one of a run, else the latest one here.
///
/// # Errors
///
/// A glob that cannot be parsed, settings that cannot be read, a store that cannot be written.
pub(crate) fn approve(
    here: &Here,
    (names, reason): (&[String], &str),
    run: Option<&str>,
    operator: &Operator,
    patience: Duration,
) -> Result<ApproveRecord, Failure> {
    let mut memory = memory(here, patience)?;
    let (named, contents) = named_here(here, &mut memory, run)?;
    let mut changes = Vec::new();
    for name in names {
        changes.extend(approved(name, reason, &named, &contents)?);
    }
    if changes.is_empty() {
        return Err(Failure::usage("usage", "nothing here waits for an approval under that name")
            .hint("`gate approve` shows what waits"));
    }
    let unknown = names.iter().filter(|name| !named.knows(name)).cloned().collect();
    let ledger = memory.approve(&changes, operator)?;
    Ok(record(changes, unknown, Some(ledger)))
}

/// Obeys a person who types it in an agent's prompt. Without a reason, the prompt is the
/// reason.
///
/// # Errors
///
/// As of [`approve`].
pub(crate) fn approve_typed(
    here: &Here,
    words: &[String],
    patience: Duration,
) -> Result<String, Failure> {
    if words.is_empty() {
        return Ok(card(&waiting(here, None)?));
    }
    let (tests, reason) = tests_and_reason(words);
    let operator = Operator::from_process();
    let record = approve(here, (&tests, &reason), None, &operator, patience)?;
    let mut text = card(&record);
    for doubt in doubts(&record) {
        let _ = writeln!(text, "{doubt}");
    }
    Ok(text)
}

/// Splits typed words: what does not look like a test's or a file's name begins the reason.
fn tests_and_reason(words: &[String]) -> (Vec<String>, String) {
    let mut rest = words.iter().skip(1);
    let end = rest.position(|word| word == "--reason" || !looks_like_a_test(word));
    let (tests, reason) = words.split_at(end.map_or(words.len(), |end| end + 1));
    let reason: Vec<_> =
        reason.iter().skip_while(|word| *word == "--reason").map(String::as_str).collect();
    let reason = reason.join(" ");
    let reason = if reason.trim().is_empty() { "typed in a prompt".to_owned() } else { reason };
    (tests.to_vec(), reason)
}

fn looks_like_a_test(word: &str) -> bool {
    let inner = word.trim_end_matches(['.', ',', ':', '!', '?']);
    ["::", "/", "*", " > ", "_", "."].iter().any(|mark| inner.contains(mark))
}

/// The changes that a name stands for: a file's, a test's, a rule's, or all.
fn approved(
    name: &str,
    reason: &str,
    named: &Named,
    contents: &Contents,
) -> Result<Vec<ApprovedChange>, Failure> {
    let of_file = |file: &str| ApprovedChange {
        path: Some(literal_glob(file)),
        file: Some(file.trim_start_matches("./").to_owned()),
        content: Some(named.content(file.trim_start_matches("./"), contents)),
        ..ApprovedChange::from_test("", reason)
    };
    let of_file = |file: &str| ApprovedChange { test: None, ..of_file(file) };
    let of_rule = |finding: &Finding| match finding.file.as_str() {
        "" | "." => {
            let rule = Some(finding.rule.clone());
            ApprovedChange { test: None, rule, ..ApprovedChange::from_test("", reason) }
        }
        file => of_file(file),
    };
    if name == ALL {
        let files: BTreeSet<_> = named.files().collect();
        let rules = named.findings.iter().filter(|one| matches!(one.file.as_str(), "" | "."));
        let of_no_file = named.changed.iter().filter(|changed| changed.file.is_empty());
        let tests = of_no_file.flat_map(|changed| &changed.tests);
        let changes = files.into_iter().map(of_file).chain(rules.map(of_rule));
        return Ok(changes
            .chain(tests.map(|test| ApprovedChange::from_test(test, reason)))
            .collect());
    }
    if let Some(changed) =
        named.changed.iter().find(|one| one.tests.iter().any(|test| test == name))
        && !named.files().any(|file| file == name)
    {
        let test = ApprovedChange::from_test(name, reason);
        return Ok(vec![match changed.file.as_str() {
            "" => test,
            file => ApprovedChange { test: test.test, path: None, ..of_file(file) },
        }]);
    }
    let of_rules: Vec<_> = named.findings.iter().filter(|one| one.rule == name).collect();
    if !of_rules.is_empty() {
        return Ok(of_rules.into_iter().map(of_rule).collect());
    }
    let pattern = [Allowance::from(ApprovedChange::from_test(name, reason))];
    let by_pattern: Vec<_> = named
        .changed
        .iter()
        .flat_map(|changed| changed.tests.iter().map(|test| (&changed.file, test)))
        .filter(|(file, test)| !file.is_empty() && is_test_allowed(test, &pattern))
        .map(|(file, test)| ApprovedChange {
            test: Some(test.clone()),
            path: None,
            ..of_file(file)
        })
        .collect();
    if !by_pattern.is_empty() {
        return Ok(by_pattern);
    }
    let is_failing = named.failed.iter().any(|test| test == name);
    let is_file = named.files().any(|file| file == name) || contents.project().join(name).is_file();
    if is_file && !is_failing {
        return Ok(vec![of_file(name)]);
    }
    let is_glob = !name.contains("::") && name.contains('*') && name.contains(['/', '.']);
    if is_failing || !is_glob {
        return Ok(vec![ApprovedChange::from_test(name, reason)]);
    }
    file_glob(name)?;
    let fits = Globs::new(&[name.to_owned()]).map_err(|error| bad_glob(&error.to_string()))?;
    let mut files: BTreeSet<_> = named.files().map(str::to_owned).collect();
    files.retain(|file| fits.matches(file.as_bytes()));
    if files.is_empty() {
        files = contents.names().filter(|file| fits.matches(file.as_bytes())).collect();
    }
    Ok(files.iter().map(|file| of_file(file)).collect())
}

/// Checks a glob of the project's files.
///
/// # Errors
///
/// A glob that cannot be parsed, or that leads out of the project.
pub(crate) fn file_glob(glob: &str) -> Result<(), Failure> {
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

fn memory(here: &Here, patience: Duration) -> Result<Memory, Failure> {
    let (settings, trust) = trust::settings_in_force(&here.places, &Selection::default())?;
    here.memory_within(&trust, &settings.policy, patience)
}

/// The changes that a decision names, and the files as they are now.
fn named_here(
    here: &Here,
    memory: &mut Memory,
    run: Option<&str>,
) -> Result<(Named, Contents), Failure> {
    let mut latest = memory.latest(&RecordSelector { run, ..RecordSelector::default() })?;
    if run.is_some() && latest.is_none() {
        latest = memory.latest(&RecordSelector { task: run, ..RecordSelector::default() })?;
    }
    if let (Some(run), None) = (run, &latest) {
        return Err(Failure::usage("usage", format!("--run {run}: nothing was decided there"))
            .hint("`gate log` lists the runs"));
    }
    let contents = Contents::read(&here.site()?)
        .ok_or_else(|| Failure::internal("tree-unreadable", "the work tree cannot be read"))?;
    Ok((Named::new(latest.as_ref(), &contents), contents))
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

/// A line for a person about tests that are red before an agent begins; none if there are
/// none.
pub(crate) fn red_before(red: &[String]) -> Vec<String> {
    if red.is_empty() {
        return Vec::new();
    }
    let shown: Vec<_> = red.iter().take(MAX_RED_SHOWN).map(|name| text::clean(name)).collect();
    let more = match red.len().saturating_sub(MAX_RED_SHOWN) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let command = text::clean(&approve_command(red));
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
            let (found, why) = tests_and_reason(&words);
            assert_eq!((found.join(" ").as_str(), why.as_str()), (tests, reason));
        }
    }
}
