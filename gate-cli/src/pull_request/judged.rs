//! A project after its checks: its problems beside those of the checks, and the results for files.

use std::collections::BTreeMap;
use std::path::Path;

use gate_core::decide::evidence::Evidence;
use gate_core::integrity::{Finding, Language, Severity};
use serde_json::Value;

use super::changes::{BaseVersion, ChangedFile, FileChange, Role};
use super::record::{CiProblem, ProblemKind, lost_tests};
use super::settings::JudgingSettings;
use crate::render::findings::findings;

/// A folder with settings of its own, after its checks.
pub(super) struct JudgedProject {
    /// Its folder relative to the repository's root; empty for the caller's own folder.
    pub(super) name: String,
    pub(super) settings: JudgingSettings,
    pub(super) results: CheckResults,
}

/// The results of the checks.
pub(super) struct CheckResults {
    pub(super) evidence: Vec<Evidence>,
    /// The folder of each check, relative to the repository's root.
    pub(super) folders: BTreeMap<String, String>,
    /// The names of configured checks that are not asked of a change.
    pub(super) left_out: Vec<&'static str>,
    /// The names of required checks that run the work in the tree alone: nothing of the base's is laid
    /// for them.
    pub(super) unverified: Vec<String>,
    /// Changed sources in the folder of a script that a check's command names.
    pub(super) script_neighbours: Vec<String>,
}

impl JudgedProject {
    /// Changed sources beside scripts, and data and scripts of tests if a check that runs in the tree
    /// alone may read them.
    pub(super) fn unverified_files(&self, files: &[ChangedFile]) -> Vec<CiProblem> {
        let finding = |file: &str, check: Option<String>, message: String| CiProblem {
            kind: ProblemKind::Finding,
            check,
            message,
            tests: Vec::new(),
            file: Some(file.to_owned()),
            line: None,
            detail: String::new(),
        };
        let neighbours = self.results.script_neighbours.iter().map(|file| {
            finding(file, None, "it stands beside a script that a check runs".to_owned())
        });
        let mut problems: Vec<_> = neighbours.collect();
        let Some(check) = self.results.unverified.first() else { return problems };
        let test_files = files.iter().filter(|file| {
            matches!(file.role, Role::Test | Role::Support)
                && matches!(file.change, FileChange::Edited | FileChange::Removed)
                && matches!(Language::from_path(&file.file), None | Some(Language::Shell))
                && Path::new(&file.file).starts_with(&self.name)
        });
        problems.extend(test_files.map(|file| {
            let message = format!("{check} runs with the change's own version of {}", file.file);
            finding(&file.file, Some(self.check_name(check)), message)
        }));
        problems
    }

    /// The name of a check, with the project's folder before it.
    pub(super) fn check_name(&self, check: &str) -> String {
        if self.name.is_empty() { check.to_owned() } else { format!("{}/{check}", self.name) }
    }
}

/// Writes the result of the base's version beside each file.
pub(super) fn note_base_versions(files: &mut [ChangedFile], results: &CheckResults) {
    for record in &results.evidence {
        let folder = results.folders.get(&record.check).map(String::as_str).unwrap_or_default();
        let tests = record.detail.as_ref().map_or(&Value::Null, |detail| &detail["tests"]);
        let is_listed = |key: &str, file: &str| {
            let names = tests[key].as_array().into_iter().flatten();
            names.filter_map(Value::as_str).any(|name| name == file)
        };
        for file in files.iter_mut() {
            for changed in record.changed_tests() {
                if changed.file == file.file {
                    file.base_version = BaseVersion::Fails;
                    file.failing.extend(changed.tests);
                }
            }
            // Reports name tests by their files, relative to the check's folder.
            let path_in_folder = file.file.strip_prefix(folder).unwrap_or(&file.file);
            let test_prefix = path_in_folder.trim_start_matches('/').to_owned();
            let lost: Vec<_> = lost_tests(record)
                .filter(|test| test.starts_with(&test_prefix))
                .map(str::to_owned)
                .collect();
            if !lost.is_empty() && file.base_version != BaseVersion::Fails {
                file.base_version = BaseVersion::Lost;
                file.failing.extend(lost);
            }
            let is_laid = is_listed("overlaid", &file.file) && !is_listed("adapted", &file.file);
            // A failed run names the files whose tests fail, so the others have passed.
            let has_run = tests["base_run"] == "passed" || tests["base_run"] == "failed";
            if is_laid && has_run && file.base_version == BaseVersion::NotRun {
                file.base_version = BaseVersion::Passes;
            }
        }
    }
}

/// Findings that decide nothing, without those about files that are listed as changed tests.
pub(super) fn finding_notes(evidence: &[Evidence], files: &[ChangedFile]) -> Vec<String> {
    let (deciding, allowed) = findings(evidence);
    let warnings = deciding.into_iter().filter(|finding| finding.severity == Severity::Warn);
    let allowed_findings = allowed.into_iter().map(|allowed| allowed.finding);
    let is_listed = |finding: &Finding| {
        files.iter().any(|file| file.file == finding.file && file.role != Role::Automation)
    };
    let lines =
        warnings.chain(allowed_findings).filter(|finding| !is_listed(finding)).map(|finding| {
            let place = finding.place();
            let prefix = if place.is_empty() { String::new() } else { format!("{place}: ") };
            format!("{prefix}{} ({})", finding.message, finding.rule)
        });
    lines.collect()
}
