//! `gate.ci.v1`: what came of a change.

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;
use gate_core::text::some_names;
use schemars::JsonSchema;
use serde::Serialize;

use super::approval::ReviewApproval;
use super::changes::{ChangedFile, Role};
use super::settings::SettingsFrom;

/// The most names in a sentence.
pub(super) const MAX_NAMES: usize = 3;

/// The verdict on a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CiVerdict {
    /// Every required check passes, and no test of the base was lost.
    Pass,
    /// The change must not be merged as it is.
    Fail,
}

/// `gate.ci.v1`: what came of a pull request or a push.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CiRecord {
    /// Always `gate.ci.v1`.
    pub(crate) schema: &'static str,
    /// The version of gate.
    pub(crate) gate_version: &'static str,
    /// The time of the verdict (RFC 3339, UTC).
    pub(crate) time: String,
    /// The verdict.
    pub(crate) verdict: CiVerdict,
    /// The reason in one sentence.
    pub(crate) summary: String,
    /// The CI: `github`, `gitlab`, `bitbucket`, `jenkins`; null elsewhere.
    pub(crate) service: Option<&'static str>,
    /// `pull-request`, `push` or `other`.
    pub(crate) event: &'static str,
    /// The newest commit of the change, by its full name: approvals hold for it.
    pub(crate) head: String,
    /// The commit that is checked out, by its full name: `head`, or its merge with the base.
    pub(crate) checkout: String,
    /// The commit that it is compared with, by its full name; null if nothing was there before.
    pub(crate) base: Option<String>,
    /// The base's name for people, such as `main`.
    pub(crate) base_name: String,
    /// The settings that judged.
    pub(crate) settings: SettingsFrom,
    /// Ways in which the change's gate.toml asks for less than the base's.
    pub(crate) weaker_settings: Vec<String>,
    /// Each required check that did not pass, and everything else that a reviewer has to approve.
    pub(crate) problems: Vec<CiProblem>,
    /// The changed files of tests and of their settings.
    pub(crate) changed_files: Vec<ChangedFile>,
    /// The workflow that runs gate, if the change edits it; null otherwise.
    pub(crate) changed_workflow: Option<String>,
    /// The approval of changed tests, if one was given.
    pub(crate) approval: Option<ReviewApproval>,
    /// The checks.
    pub(crate) checks: Vec<Evidence>,
    /// Remarks for a reviewer: another base than expected, a changed workflow, findings that only
    /// warn.
    pub(crate) notes: Vec<String>,
    /// The next step; null if it passes.
    pub(crate) next: Option<String>,
    /// The time that it took, in milliseconds.
    pub(crate) duration_ms: u64,
}

/// A reason not to merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct CiProblem {
    /// The kind.
    pub(crate) kind: ProblemKind,
    /// The check; null if it is about settings.
    pub(crate) check: Option<String>,
    /// The reason in one sentence.
    pub(crate) message: String,
    /// The tests that it is about, as the report names them.
    pub(crate) tests: Vec<String>,
    /// The place, relative to the repository's root.
    pub(crate) file: Option<String>,
    /// The line there, from 1.
    pub(crate) line: Option<u64>,
    /// The assertion, or the last lines of what the command wrote.
    pub(crate) detail: String,
}

/// The kind of a reason not to merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProblemKind {
    /// A check fails: the product is wrong, or its tests are.
    Failed,
    /// The base's version of a changed test fails: a reviewer has to look.
    ChangedTests,
    /// Tests of the base do not run any more: a reviewer has to look.
    LostTests,
    /// Something that no run of tests shows, such as a new module that hides another: a reviewer
    /// has to look.
    Finding,
    /// gate.toml asks for less than the base's: a reviewer has to look.
    WeakerSettings,
    /// A check gave no result.
    NoResult,
}

impl ProblemKind {
    /// A reviewer's approval removes it.
    pub(crate) fn can_be_approved(self) -> bool {
        !matches!(self, Self::Failed | Self::NoResult)
    }
}

impl CiProblem {
    /// `file:line`, or the file alone.
    pub(crate) fn place(&self) -> Option<String> {
        let file = self.file.as_deref()?;
        Some(self.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")))
    }
}

impl CiRecord {
    pub(crate) fn is_pass(&self) -> bool {
        self.verdict == CiVerdict::Pass
    }

    /// The changed files of tests, support and settings of tests.
    pub(crate) fn changed_tests(&self) -> impl Iterator<Item = &ChangedFile> {
        self.changed_files.iter().filter(|file| file.role != Role::Automation)
    }
}

/// The problem that a reviewer has to approve: a gate.toml that asks for less than the base's.
pub(super) fn weaker_problem(file: &str, weaker: &[String]) -> CiProblem {
    CiProblem {
        kind: ProblemKind::WeakerSettings,
        check: None,
        message: format!("{file} asks for less: {}", some_names(weaker, MAX_NAMES)),
        tests: Vec::new(),
        file: Some(file.to_owned()),
        line: None,
        detail: weaker.join("\n"),
    }
}

/// The reasons that a check's record gives.
pub(super) fn problems_of_check(evidence: &Evidence, cwd: &str) -> Vec<CiProblem> {
    if evidence.mode != Mode::Require || evidence.outcome == Outcome::Pass {
        return Vec::new();
    }
    let kind = problem_kind(evidence);
    if kind == ProblemKind::Finding {
        return finding_problems(evidence);
    }
    let lost_tests: Vec<_> = lost_tests(evidence).map(str::to_owned).collect();
    if kind == ProblemKind::ChangedTests && !lost_tests.is_empty() {
        let mut problems = problems_of_kind(evidence, cwd, kind);
        problems.push(lost_problem(evidence, lost_tests));
        return problems;
    }
    if kind == ProblemKind::LostTests {
        return vec![lost_problem(evidence, lost_tests)];
    }
    problems_of_kind(evidence, cwd, kind)
}

fn lost_problem(evidence: &Evidence, tests: Vec<String>) -> CiProblem {
    CiProblem {
        kind: ProblemKind::LostTests,
        check: Some(evidence.check.clone()),
        message: match tests.len() {
            0 => evidence.summary.clone(),
            1 => "it does not run any more".to_owned(),
            _ => "they do not run any more".to_owned(),
        },
        tests,
        file: None,
        line: None,
        detail: String::new(),
    }
}

/// A problem for each failure that the check's report explains, else one for the check.
fn problems_of_kind(evidence: &Evidence, cwd: &str, kind: ProblemKind) -> Vec<CiProblem> {
    let check_problem = CiProblem {
        kind,
        check: Some(evidence.check.clone()),
        message: evidence.summary.clone(),
        tests: evidence.failed_tests().into_iter().map(str::to_owned).collect(),
        file: None,
        line: None,
        detail: evidence.excerpt.clone().unwrap_or_default(),
    };
    let failures = evidence.failures();
    let changed = evidence.changed_tests();
    // Where the tree's own tests pass, the change's edits of tests explain each failure.
    let detail = evidence.detail.as_ref();
    let are_failures_of_base =
        detail.is_some_and(|detail| detail["tests"]["failures_of_base"] == true);
    let is_by_changed_tests = |test: Option<&String>| {
        let is_listed =
            test.is_some_and(|test| changed.iter().any(|changed| changed.tests.contains(test)));
        kind == ProblemKind::ChangedTests && (are_failures_of_base || is_listed)
    };
    let mut problems: Vec<_> = failures
        .iter()
        .map(|failure| CiProblem {
            kind: match is_by_changed_tests(failure.test.as_ref()) {
                true => kind,
                false => ProblemKind::Failed,
            },
            message: failure.message.lines().next().unwrap_or_default().to_owned(),
            tests: failure.test.clone().into_iter().collect(),
            file: failure.file.as_deref().map(|file| in_repository(cwd, file)),
            line: failure.line,
            detail: failure.message.clone(),
            ..check_problem.clone()
        })
        .collect();
    if kind == ProblemKind::ChangedTests {
        let explained_tests: Vec<_> =
            problems.iter().flat_map(|problem| problem.tests.clone()).collect();
        let unexplained = changed.into_iter().filter(|changed| {
            problems.is_empty() || changed.tests.iter().any(|test| !explained_tests.contains(test))
        });
        let file_problems: Vec<_> = unexplained
            .map(|changed| CiProblem {
                message: "the base's version fails over this change".to_owned(),
                tests: changed
                    .tests
                    .into_iter()
                    .filter(|test| !explained_tests.contains(test))
                    .collect(),
                file: Some(changed.file),
                detail: String::new(),
                ..check_problem.clone()
            })
            .collect();
        problems.extend(file_problems);
    }
    if problems.is_empty() { vec![check_problem] } else { problems }
}

fn problem_kind(evidence: &Evidence) -> ProblemKind {
    match evidence.outcome {
        Outcome::Inconclusive | Outcome::Skipped => ProblemKind::NoResult,
        Outcome::Pass | Outcome::Fail | Outcome::Tamper => {
            if evidence.check == "integrity" {
                ProblemKind::Finding
            } else if !evidence.changed_tests().is_empty() {
                ProblemKind::ChangedTests
            } else if has_lost_tests(evidence) {
                ProblemKind::LostTests
            } else {
                ProblemKind::Failed
            }
        }
    }
}

/// Tests of the base do not run any more, by name or by their number.
fn has_lost_tests(evidence: &Evidence) -> bool {
    let detail = evidence.detail.as_ref();
    // A runner that names failing tests alone is compared by the number of its tests.
    let lost_count = detail.and_then(|detail| detail["tests"]["baseline"]["lost"].as_u64());
    lost_count.is_some() || lost_tests(evidence).next().is_some()
}

/// The tests of the base that are gone or skipped.
pub(super) fn lost_tests(evidence: &Evidence) -> impl Iterator<Item = &str> {
    let detail = evidence.detail.as_ref();
    let comparison = detail.and_then(|detail| detail.get("tests")?.get("baseline"));
    let lists = ["missing", "skipped"].into_iter();
    let names = lists.filter_map(move |key| comparison?.get(key)?.as_array()).flatten();
    names.filter_map(serde_json::Value::as_str)
}

fn finding_problems(evidence: &Evidence) -> Vec<CiProblem> {
    use gate_core::integrity::Severity;
    let (findings, _) = crate::render::findings::findings(std::slice::from_ref(evidence));
    let deciding = findings.into_iter().filter(|finding| finding.severity != Severity::Warn);
    let problems = deciding.map(|finding| CiProblem {
        kind: ProblemKind::Finding,
        check: Some(evidence.check.clone()),
        message: format!("{} ({})", finding.message, finding.rule),
        tests: Vec::new(),
        file: Some(finding.file.clone()).filter(|file| !file.is_empty()),
        line: finding.line.map(|line| line as u64),
        detail: finding.excerpt.clone(),
    });
    problems.collect()
}

/// A path of a report, which is relative to the check's folder, relative to the root.
fn in_repository(cwd: &str, file: &str) -> String {
    let path = file.trim_start_matches("./");
    if cwd.is_empty() || path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") }
}
