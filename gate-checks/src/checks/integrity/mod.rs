//! `integrity`: nothing that was done gets around the checks.
//!
//! It checks the differences from the baseline by the rules of [`gate_core::integrity`], and finds what
//! no run of the baseline's tests shows: files that hide a dependency or a tool, links that leave the
//! tree, products that ask if they are tested, items of plans that are gone, tools and runners that
//! are others. Only files that are different are read. Findings that the operator allows in settings
//! are reported, and decide nothing.
//!
//! Limits: the scripts that a script of the tree runs in turn are not followed; a file of more than
//! 4 MiB is not looked into, which is a finding if it is a source.
//!
//! Without a baseline (outside of git, before the first commit) it is inconclusive: otherwise an
//! agent could make it pass by removing the repository.

mod compare;
mod context;

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{IntegrityPolicy, Policy};
use gate_core::integrity::{
    Finding, FindingList, HARNESS, PROTECTED, Severity, Weighed, capped, weigh,
};
use serde_json::{Value, json};

use crate::baseline::{Baseline, Origin};
use crate::check::{Check, CheckContext, CheckId};
use crate::worktree::{Globs, WorkTree, no_commit_cause};

use compare::{Comparison, compare};

/// The most allowed findings that the detail keeps.
const MAX_ALLOWED: usize = 500;

/// Compares the work with the baseline.
#[derive(Clone)]
pub(super) struct Integrity {
    id: CheckId,
    policy: Arc<Policy>,
}

impl Integrity {
    /// The check of this name. The scripts that other checks run are among the files that it guards.
    pub(super) fn new(id: CheckId, policy: &Policy) -> Self {
        Self { id, policy: Arc::new(policy.clone()) }
    }

    fn compare_tree(&self, cx: &CheckContext) -> Evidence {
        let Some(baseline) = &cx.options.baseline else {
            let cause = no_commit_cause(&cx.site);
            let summary = format!("there is nothing to compare with: {cause}");
            return self.evidence(Outcome::Inconclusive, summary);
        };
        match self.weighed(baseline, cx) {
            Ok((weighed, changed_files)) => {
                let list = capped(&weighed.findings);
                let detail = self.detail(&weighed, &list, changed_files);
                let note = list.note().map(|note| format!("; {note}")).unwrap_or_default();
                let is_judged_commit =
                    baseline.is_from_history() && changed_files == 0 && weighed.findings.is_empty();
                let (outcome, summary) = match is_judged_commit {
                    true => uncompared(baseline, cx),
                    false => (weighed.outcome, format!("{}{note}", weighed.summary)),
                };
                self.evidence(outcome, summary).with_detail(with_guarded(detail, &weighed))
            }
            Err(problem) => self.evidence(Outcome::Inconclusive, problem),
        }
    }

    /// The findings with their outcome, and the number of files that are different.
    fn weighed(&self, baseline: &Baseline, cx: &CheckContext) -> Result<(Weighed, usize), String> {
        let tree = WorkTree::open(&cx.site).map_err(|error| error.to_string())?;
        let Comparison { findings, changed_files } = compare(&self.policy, baseline, &tree, cx)?;
        // The context also has the changes that the operator has approved for this decision.
        let policy = IntegrityPolicy { allow: cx.allow.to_vec(), ..self.policy.integrity.clone() };
        let weighed = weigh(findings, &policy, |glob, file| {
            let project_path = tree.path_in_project(file.as_bytes());
            let globs = Globs::new(&[glob.to_owned()]);
            project_path.zip(globs.ok()).is_some_and(|(path, globs)| globs.matches(path))
        });
        Ok((weighed, changed_files))
    }

    fn detail(&self, weighed: &Weighed, list: &FindingList<'_>, changed_files: usize) -> Value {
        let findings = &weighed.findings;
        json!({
            "files": changed_files,
            "findings": list.findings,
            "not_listed": list.left_out,
            "allowed": weighed.allowed.iter().take(MAX_ALLOWED).collect::<Vec<_>>(),
            "totals": {
                "tamper": count(findings, Severity::Tamper),
                "block": count(findings, Severity::Block),
                "warn": count(findings, Severity::Warn),
                "allowed": weighed.allowed.len(),
            },
        })
    }
}

/// The detail with the guarded files that were changed, if a person's approval of them is all that is
/// missing.
fn with_guarded(mut detail: Value, weighed: &Weighed) -> Value {
    let decisive: Vec<_> =
        weighed.findings.iter().filter(|finding| finding.severity != Severity::Warn).collect();
    let can_be_approved = |finding: &&Finding| {
        [PROTECTED.id, HARNESS.id].contains(&finding.rule.as_str())
            && finding.severity == Severity::Block
    };
    if !decisive.is_empty() && decisive.iter().all(can_be_approved) {
        let changed: Vec<_> = decisive
            .iter()
            .map(|finding| json!({ "file": finding.file, "tests": [], "guarded": true }))
            .collect();
        detail["tests"] = json!({ "changed": changed });
    }
    detail
}

/// The outcome where the baseline is the commit that is judged. If a base would be there but for a
/// shallow clone, or no default branch is known, that is not good enough.
fn uncompared(baseline: &Baseline, cx: &CheckContext) -> (Outcome, String) {
    let is_shallow = WorkTree::open(&cx.site).is_ok_and(|tree| tree.is_shallow());
    let (outcome, reason) = if is_shallow {
        (
            Outcome::Inconclusive,
            "the clone is shallow, and has no commit but the one that is judged; fetch the base \
             (`git fetch --unshallow`, `fetch-depth: 0`)",
        )
    } else if baseline.origin() == Origin::Head {
        (
            Outcome::Inconclusive,
            "no default branch is known, and the tree is the commit that is judged; run \
             `gate baseline` before the agent starts",
        )
    } else {
        (
            Outcome::Pass,
            "the tree is a commit of the default branch; run `gate baseline` before the agent starts",
        )
    };
    (outcome, format!("nothing was compared: {reason}"))
}

fn count(findings: &[Finding], severity: Severity) -> usize {
    findings.iter().filter(|finding| finding.severity == severity).count()
}

#[async_trait]
impl Check for Integrity {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        let start = Instant::now();
        let (check, comparison_cx) = (self.clone(), cx.clone());
        // Files are read beside the processes of other checks, not between them.
        let comparing = tokio::task::spawn_blocking(move || check.compare_tree(&comparison_cx));
        let evidence = comparing.await.unwrap_or_else(|error| {
            let problem = format!("comparing with the baseline ended early: {error}");
            self.evidence(Outcome::Inconclusive, problem)
        });
        evidence.with_duration(start.elapsed())
    }
}

#[cfg(test)]
mod tests;
