//! The verdict on a change in one sentence, and the next step.

use gate_core::decide::evidence::Evidence;
use gate_core::decide::policy::Mode;
use gate_core::text::{counted, some_names};

use super::base::short_name;
use super::changes::BaseVersion;
use super::record::{CiRecord, MAX_NAMES, ProblemKind};

/// Digits of the commit that an approval names: too many for a second commit that begins like it.
const COMMIT_DIGITS: usize = 20;

/// The reason of the verdict in one sentence.
pub(super) fn summary(record: &CiRecord) -> String {
    let name = &record.base_name;
    if record.is_pass() {
        return passing_summary(record);
    }
    let problems =
        |kind: ProblemKind| record.problems.iter().filter(move |problem| problem.kind == kind);
    let tests = |kind: ProblemKind| -> Vec<String> {
        problems(kind).flat_map(|problem| problem.tests.iter().cloned()).collect()
    };
    let mut parts = Vec::new();
    let failed = tests(ProblemKind::Failed);
    if !failed.is_empty() {
        let names = some_names(&failed, MAX_NAMES);
        parts.push(format!(
            "{} {}: {names}",
            failing_tests(failed.len()),
            ChangeWords::new(record).place
        ));
    } else if let Some(first) = problems(ProblemKind::Failed).next() {
        let failed_checks =
            problems(ProblemKind::Failed).filter_map(|problem| problem.check.as_deref());
        let check = failed_checks.into_iter().next().unwrap_or_default();
        parts.push(format!("{check}: {}", first.message));
    }
    if problems(ProblemKind::ChangedTests).next().is_some() {
        parts.push(changed_sentence(record, &tests(ProblemKind::ChangedTests)));
    }
    let lost = tests(ProblemKind::LostTests);
    if let (Some(first), true) = (problems(ProblemKind::LostTests).next(), lost.is_empty()) {
        parts.push(first.message.clone());
    } else if !lost.is_empty() {
        parts.push(format!(
            "{} of {name} {} not run any more: {}",
            counted(lost.len(), "test"),
            if lost.len() == 1 { "does" } else { "do" },
            some_names(&lost, MAX_NAMES)
        ));
    }
    for kind in [ProblemKind::Finding, ProblemKind::WeakerSettings, ProblemKind::NoResult] {
        let Some(first) = problems(kind).next() else { continue };
        let place = match kind {
            ProblemKind::Finding => first.file.as_ref(),
            ProblemKind::NoResult => first.check.as_ref(),
            _ => None,
        };
        let prefix = place.map(|place| format!("{place}: ")).unwrap_or_default();
        parts.push(format!("{prefix}{}", first.message));
    }
    parts.join("; ")
}

/// The words for a change in a sentence.
struct ChangeWords {
    /// The place of a failure.
    place: &'static str,
    /// The subject that has changed files, with its verb.
    subject: &'static str,
}

impl ChangeWords {
    fn new(record: &CiRecord) -> Self {
        if record.event == "commit" {
            Self { place: "with what is staged", subject: "it changes" }
        } else {
            Self { place: "on this branch", subject: "the branch changed" }
        }
    }
}

/// The sentence on tests that the change itself edits, which only a reviewer can judge.
fn changed_sentence(record: &CiRecord, tests: &[String]) -> String {
    let name = &record.base_name;
    let failing_files: Vec<_> =
        record.changed_tests().filter(|file| file.base_version == BaseVersion::Fails).collect();
    let added: usize = failing_files.iter().map(|file| file.added).sum();
    let removed: usize = failing_files.iter().map(|file| file.removed).sum();
    let file_names: Vec<_> = failing_files.iter().map(|file| file.file.clone()).collect();
    let files = some_names(&file_names, MAX_NAMES);
    // Without names of tests, the files stand for them.
    let (count, failing, test_names) = match tests {
        [] => (file_names.len(), format!("{files} as on {name}"), String::new()),
        tests => (
            tests.len(),
            format!("{} of {name}", counted(tests.len(), "test")),
            format!(": {}", some_names(tests, MAX_NAMES)),
        ),
    };
    let fail = if count == 1 { "fails" } else { "fail" };
    let ChangeWords { place, subject } = ChangeWords::new(record);
    format!(
        "{failing} {fail} {place}{test_names}; {subject} {files} (+{added} −{removed}), so only a \
         reviewer can say if that is right"
    )
}

fn passing_summary(record: &CiRecord) -> String {
    let required = record.checks.iter().filter(|check| check.mode == Mode::Require);
    let checks = counted(required.count(), "check");
    let executed: u64 = record.checks.iter().filter_map(executed_tests).sum();
    let tests =
        if executed == 0 { String::new() } else { format!(", {}", counted(executed, "test")) };
    let comparison = match &record.base {
        Some(commit) => format!(", compared with {} ({})", record.base_name, short_name(commit)),
        None => String::new(),
    };
    let changed_files: Vec<_> = record.changed_tests().map(|file| file.file.clone()).collect();
    let is_all_passing =
        record.changed_tests().all(|file| file.base_version == BaseVersion::Passes);
    let base_versions = if is_all_passing { "; the old versions pass, too" } else { "" };
    let approval = record.approval.as_ref().filter(|approval| approval.counts);
    let changed_tests = match (changed_files.is_empty(), approval) {
        (true, _) => String::new(),
        (false, Some(approval)) => format!("; changed tests approved by {}", approval.by),
        (false, None) => {
            format!("; changed: {}{base_versions}", some_names(&changed_files, MAX_NAMES))
        }
    };
    format!("{checks}{tests} passed{comparison}{changed_tests}")
}

/// The tests of a check that ran.
fn executed_tests(evidence: &Evidence) -> Option<u64> {
    let tests = evidence.detail.as_ref()?.get("tests")?;
    tests.get("passed")?.as_u64()
}

fn failing_tests(count: usize) -> String {
    format!("{} {}", counted(count, "test"), if count == 1 { "fails" } else { "fail" })
}

/// The step that changes the verdict; `None` if it is a pass.
pub(super) fn next_step(record: &CiRecord, approve_label: Option<&str>) -> Option<String> {
    if record.is_pass() {
        return None;
    }
    // A problem that nobody can approve comes first: an approval of the others would not help.
    let unapprovable = record.problems.iter().find(|problem| !problem.kind.can_be_approved());
    if let Some(problem) = unapprovable {
        return Some(match problem.kind {
            ProblemKind::NoResult => {
                "let the check give a result here: install what it needs in a step before"
                    .to_owned()
            }
            _ => "mend the code; if a test is wrong, change it in this pull request and have a \
                  reviewer approve that"
                .to_owned(),
        });
    }
    if record.event == "commit" {
        return Some(
            "if that is right: `SKIP=gate-check git commit`; the pull request asks a reviewer"
                .to_owned(),
        );
    }
    let commit: String = record.head.chars().take(COMMIT_DIGITS).collect();
    Some(match approve_label {
        Some(label) => format!(
            "if that is right, a reviewer puts the label {label} on the pull request: it holds for \
             this commit alone"
        ),
        None => format!(
            "if that is right: `gate ci --approve-tests WHO@{commit}`, which holds for this commit \
             alone; or [[integrity.allow]] in the gate.toml of {}",
            record.base_name
        ),
    })
}
