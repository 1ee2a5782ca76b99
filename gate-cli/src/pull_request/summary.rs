//! The verdict on a change in one sentence, and the next step.

use gate_core::decide::evidence::Evidence;
use gate_core::decide::policy::Mode;
use gate_core::text::{counted, some_names};

use super::base::short;
use super::changes::BaseVersion;
use super::record::{CiRecord, MAX_NAMES, ProblemKind};

/// Digits of the commit that an approval names: too many for a second commit that begins like it.
const COMMIT_DIGITS: usize = 20;

/// The reason of the verdict in one sentence.
pub(super) fn summary(record: &CiRecord) -> String {
    let name = &record.base_name;
    if record.passes() {
        return passing_summary(record);
    }
    let of = |kind: ProblemKind| record.problems.iter().filter(move |one| one.kind == kind);
    let tests = |kind: ProblemKind| -> Vec<String> {
        of(kind).flat_map(|problem| problem.tests.iter().cloned()).collect()
    };
    let checks: Vec<_> = of(ProblemKind::Failed).filter_map(|one| one.check.clone()).collect();
    let mut parts = Vec::new();
    let failed = tests(ProblemKind::Failed);
    if !failed.is_empty() {
        let names = some_names(&failed, MAX_NAMES);
        parts.push(format!("{} {}: {names}", fail(failed.len()), Words::new(record).with));
    } else if let Some(first) = of(ProblemKind::Failed).next() {
        let check = checks.first().map(String::as_str).unwrap_or_default();
        parts.push(format!("{check}: {}", first.message));
    }
    if of(ProblemKind::ChangedTests).next().is_some() {
        parts.push(changed_sentence(record, &tests(ProblemKind::ChangedTests)));
    }
    let lost = tests(ProblemKind::LostTests);
    if let (Some(first), true) = (of(ProblemKind::LostTests).next(), lost.is_empty()) {
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
        let Some(first) = of(kind).next() else { continue };
        let place = match kind {
            ProblemKind::Finding => first.file.as_ref(),
            ProblemKind::NoResult => first.check.as_ref(),
            _ => None,
        };
        let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
        parts.push(format!("{place}{}", first.message));
    }
    parts.join("; ")
}

/// The words for a change in a sentence.
struct Words {
    /// The place of a failure.
    with: &'static str,
    /// The subject that has changed files.
    changes: &'static str,
}

impl Words {
    fn new(record: &CiRecord) -> Self {
        if record.event == "commit" {
            Self { with: "with what is staged", changes: "it changes" }
        } else {
            Self { with: "on this branch", changes: "the branch changed" }
        }
    }
}

/// The sentence on tests that the change itself edits, which only a reviewer can judge.
fn changed_sentence(record: &CiRecord, tests: &[String]) -> String {
    let name = &record.base_name;
    let files = record.changed_tests().filter(|file| file.base_version == BaseVersion::Fails);
    let files: Vec<_> = files.collect();
    let (added, removed) =
        files.iter().fold((0, 0), |sum, file| (sum.0 + file.added, sum.1 + file.removed));
    let names: Vec<_> = files.iter().map(|file| file.file.clone()).collect();
    let (number, what) = match tests {
        [] => (names.len(), format!("{} as on {name}", some_names(&names, MAX_NAMES))),
        tests => {
            let number = counted(tests.len(), "test");
            (tests.len(), format!("{number} of {name}"))
        }
    };
    let fail = if number == 1 { "fails" } else { "fail" };
    let named = match tests {
        [] => String::new(),
        tests => format!(": {}", some_names(tests, MAX_NAMES)),
    };
    let files = some_names(&names, MAX_NAMES);
    let Words { with, changes } = Words::new(record);
    format!(
        "{what} {fail} {with}{named}; {changes} {files} (+{added} −{removed}), so only a reviewer \
         can say if that is right"
    )
}

fn passing_summary(record: &CiRecord) -> String {
    let required = record.checks.iter().filter(|check| check.mode == Mode::Require);
    let checks = counted(required.count(), "check");
    let executed: u64 = record.checks.iter().filter_map(executed_tests).sum();
    let tests =
        if executed == 0 { String::new() } else { format!(", {}", counted(executed, "test")) };
    let compared = match &record.base {
        Some(commit) => format!(", compared with {} ({})", record.base_name, short(commit)),
        None => String::new(),
    };
    let changed: Vec<_> = record.changed_tests().map(|file| file.file.clone()).collect();
    let all_pass = record.changed_tests().all(|file| file.base_version == BaseVersion::Passes);
    let base_versions = if all_pass { "; the old versions pass, too" } else { "" };
    let approval = record.approval.as_ref().filter(|approval| approval.counts);
    let changed = match (changed.is_empty(), approval) {
        (true, _) => String::new(),
        (false, Some(approval)) => format!("; changed tests approved by {}", approval.by),
        (false, None) => {
            format!("; changed: {}{base_versions}", some_names(&changed, MAX_NAMES))
        }
    };
    format!("{checks}{tests} passed{compared}{changed}")
}

/// The tests of a check that ran.
fn executed_tests(evidence: &Evidence) -> Option<u64> {
    let tests = evidence.detail.as_ref()?.get("tests")?;
    tests.get("passed")?.as_u64()
}

fn fail(number: usize) -> String {
    format!("{} {}", counted(number, "test"), if number == 1 { "fails" } else { "fail" })
}

/// The step that changes the verdict; none if it passes.
pub(super) fn next(record: &CiRecord, approve_label: Option<&str>) -> Option<String> {
    if record.passes() {
        return None;
    }
    let is_approvable = record.problems.iter().all(|problem| problem.kind.can_be_approved());
    if !is_approvable {
        let kind = record.problems.iter().find(|problem| !problem.kind.can_be_approved())?.kind;
        return Some(match kind {
            ProblemKind::NoResult => {
                "let the check give a result here: install what it needs in a \
                                      step before"
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
