//! Approves changed tests, for `gate approve` and for a person who types it in an agent's
//! prompt.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use gate_checks::validate_glob;
use gate_core::decide::changed_tests::{ChangedTests, approve_command, names_to_approve};
use gate_core::text;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{Memory, RecordSelector};
use crate::operator::Operator;
use crate::record::{ApprovedChange, Ledger, Record};
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

/// The tests that the latest decision here names.
#[derive(Default)]
struct NamedTests {
    changed: Vec<ChangedTests>,
    failed: Vec<String>,
}

impl NamedTests {
    fn new(record: Option<&Record>) -> Self {
        let Some(decision) = record.map(|record| &record.decision) else { return Self::default() };
        let evidence = decision.evidence.iter();
        let failed =
            evidence.flat_map(|one| one.failed_tests().into_iter().chain(one.red_before()));
        let failed = failed.map(str::to_owned).collect();
        Self { changed: decision.changed_tests(), failed }
    }

    fn has_file(&self, file: &str) -> bool {
        self.changed.iter().any(|changed| changed.file == file)
    }

    fn tests(&self) -> impl Iterator<Item = &String> {
        self.changed.iter().flat_map(|changed| &changed.tests).chain(&self.failed)
    }

    fn has_test(&self, test: &str) -> bool {
        self.tests().any(|known| known == test)
    }

    /// True if the decision names this, or something that begins like this pattern.
    fn knows(&self, name: &str) -> bool {
        let start = name.split('*').next().unwrap_or_default();
        let mut files = self.changed.iter().map(|changed| &changed.file);
        if start == name {
            return self.has_file(name) || self.has_test(name);
        }
        files.any(|file| file.starts_with(start))
            || self.tests().any(|test| test.starts_with(start))
    }
}

/// The changed tests that the latest decision here waits for.
///
/// # Errors
///
/// Settings or a store that cannot be read.
pub(crate) fn waiting(here: &Here) -> Result<ApproveRecord, Failure> {
    let named = named_here(&mut memory(here, PATIENCE)?)?;
    Ok(ApproveRecord { waiting: named.changed, ..record(Vec::new(), Vec::new(), None) })
}

/// Approves changed tests, and records it.
///
/// # Errors
///
/// A glob that cannot be parsed, settings that cannot be read, a store that cannot be written.
pub(crate) fn approve(
    here: &Here,
    (tests, reason): (&[String], &str),
    operator: &Operator,
    patience: Duration,
) -> Result<ApproveRecord, Failure> {
    let mut memory = memory(here, patience)?;
    let named = named_here(&mut memory)?;
    let project = here.places.project()?;
    let changes = tests.iter().map(|test| change(test, reason, &named, &project));
    let changes = changes.collect::<Result<Vec<_>, _>>()?;
    let unknown = tests.iter().filter(|test| !named.knows(test)).cloned().collect();
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
        return Ok(card(&waiting(here)?));
    }
    let (tests, reason) = tests_and_reason(words);
    let operator = Operator::from_process();
    let record = approve(here, (&tests, &reason), &operator, patience)?;
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

/// The change that a name stands for: a test file, or a test.
fn change(
    name: &str,
    reason: &str,
    named: &NamedTests,
    project: &Path,
) -> Result<ApprovedChange, Failure> {
    let reason = reason.to_owned();
    if named.has_test(name) && !named.has_file(name) {
        return Ok(ApprovedChange { path: None, test: Some(name.to_owned()), reason });
    }
    let is_literal = named.has_file(name) || project.join(name).is_file();
    let is_glob = !name.contains("::") && name.contains('*') && name.contains(['/', '.']);
    if !is_literal && !is_glob {
        return Ok(ApprovedChange { path: None, test: Some(name.to_owned()), reason });
    }
    let glob = if is_literal { literal_glob(name) } else { name.to_owned() };
    file_glob(&glob)?;
    Ok(ApprovedChange { path: Some(glob), test: None, reason })
}

/// Checks a glob of the project's files.
///
/// # Errors
///
/// A glob that cannot be parsed, or that leads out of the project.
pub(crate) fn file_glob(glob: &str) -> Result<(), Failure> {
    validate_glob(glob).map_err(|error| {
        Failure::usage("usage", error.to_string())
            .hint("name files relative to the project, such as `tests/**`")
    })
}

/// A glob that stands for one file alone.
fn literal_glob(file: &str) -> String {
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

fn named_here(memory: &mut Memory) -> Result<NamedTests, Failure> {
    let latest = memory.latest(&RecordSelector::default())?;
    Ok(NamedTests::new(latest.as_ref()))
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
            "A change holds until the baseline has taken it in, a failing test until it passes; at \
             most 30 days.\n",
        );
        // Only if a decision waits for it.
        if record.unknown.len() < record.approved.len() {
            card.push_str("Check again: the agent needs no further turn.\n");
        }
        return card;
    }
    if record.waiting.is_empty() {
        return "nothing waits for an approval of changed tests here\n".to_owned();
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

    #[test]
    fn a_name_is_a_file_if_it_is_there_and_else_a_test() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("app")).unwrap();
        std::fs::write(folder.path().join("app/[id].test.ts"), "").unwrap();
        let changed = ChangedTests { file: "gone.py".to_owned(), tests: vec!["a/b".to_owned()] };
        let named = NamedTests { changed: vec![changed], ..NamedTests::default() };
        for (name, path, test) in [
            ("app/[id].test.ts", Some("app/[[]id[]].test.ts"), None),
            ("gone.py", Some("gone.py"), None),
            ("a/b", None, Some("a/b")),
            ("tests/**/*.snap", Some("tests/**/*.snap"), None),
            ("tests/test_a.py::test_*", None, Some("tests/test_a.py::test_*")),
            ("other/c", None, Some("other/c")),
        ] {
            let change = change(name, "r", &named, folder.path()).unwrap();
            assert_eq!((change.path.as_deref(), change.test.as_deref()), (path, test), "{name}");
        }
        assert!(change("../**/*.py", "r", &named, folder.path()).is_err());
    }
}
