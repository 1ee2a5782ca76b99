//! The check `acceptance_criteria`: is everything done that was asked for?
//!
//! It reads the criteria of the settings, and the files that they name: task lists in
//! Markdown, `prd.json`, and beads' JSON lines. If a criterion has a command, that command
//! decides. It comes from the settings or from the baseline's files, never from what the
//! agent wrote. An open item fails. That all others are marked as done is the word of
//! whoever marked them, usually the agent: such a pass is a claim. What cannot be read or
//! run, and a file without criteria, is inconclusive.

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;

use super::acceptance::{CommandResult, Criteria, Plan, PlanError, Tally, Verify, files, parse};
use super::launch::{Launch, argv};
use crate::baseline::Baseline;
use crate::check::{Check, CheckContext, CheckId};
use crate::worktree::WorkTree;

/// Looks for criteria that are open or not met.
#[derive(Clone, Debug)]
pub(super) struct AcceptanceCriteria {
    id: CheckId,
    settings: CheckPolicy,
}

impl AcceptanceCriteria {
    /// The check of this name with these settings.
    pub(super) fn new(id: CheckId, policy: &CheckPolicy) -> Self {
        Self { id, settings: policy.clone() }
    }

    /// The criteria of the settings and of all files.
    fn read(&self, cx: &CheckContext) -> Criteria {
        let CheckPolicy { files: entries, criteria, .. } = &self.settings;
        let rules = &self.settings;
        let configured = Criteria::configured(criteria);
        if entries.is_empty() {
            return configured;
        }
        let mut tally = Tally::new(cx.options.about.task.as_deref());
        let mut before = Vec::new();
        for entry in entries {
            match files(&cx.site.project, entry) {
                Ok(named) => {
                    for named in &named {
                        tally.read(named, rules);
                        let plan = cx
                            .options
                            .baseline
                            .as_ref()
                            .map(|baseline| earlier_plan(cx, baseline, &named.shown, rules));
                        match plan.transpose() {
                            Ok(plan) => before.extend(plan.flatten()),
                            Err(error) => tally.problem(&error),
                        }
                    }
                }
                Err(error) => tally.problem(&error),
            }
        }
        let mut read = tally.finish(&before);
        read.all.splice(0..0, configured.all);
        read
    }

    /// Runs the command of a criterion.
    async fn verify(&self, cx: &CheckContext, verify: &Verify) -> CommandResult {
        let argv = match verify {
            Verify::Argv(command) => argv(command, false),
            Verify::Line(line) => argv(std::slice::from_ref(line), true),
        };
        let launched = match Launch::new(&self.id, &self.settings, argv).run(cx).await {
            Ok(launched) => launched,
            Err(evidence) => {
                let why = evidence.summary.clone();
                return CommandResult { outcome: Outcome::Inconclusive, why, excerpt: None };
            }
        };
        let (outcome, why) = launched.outcome();
        let excerpt = launched.came_to(outcome, "", None).excerpt;
        CommandResult { outcome, why, excerpt }
    }
}

/// A file of criteria as the baseline has it.
fn earlier_plan(
    cx: &CheckContext,
    baseline: &Baseline,
    file: &str,
    rules: &CheckPolicy,
) -> Result<Option<(String, Plan)>, PlanError> {
    let unreadable = |why: String| PlanError::Unreadable { file: file.to_owned(), why };
    let tree = WorkTree::open(&cx.site).map_err(|error| unreadable(error.to_string()))?;
    let path = cx.site.project.join(file);
    let Ok(inside) = path.strip_prefix(tree.root()) else { return Ok(None) };
    let stored = baseline.content(&tree, inside).map_err(|error| unreadable(error.to_string()))?;
    let Some(stored) = stored else { return Ok(None) };
    let text = String::from_utf8_lossy(&stored.bytes);
    // Of a file that was broken then, nothing is known.
    let plan = parse(inside, file, &text, rules).ok();
    Ok(plan.map(|plan| (file.to_owned(), plan)))
}

#[async_trait]
impl Check for AcceptanceCriteria {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        if self.settings.files.is_empty() && self.settings.criteria.is_empty() {
            let missing = format!(
                "no criteria are named: write [[criteria]], or files = [\"…\"] in [checks.{}]",
                self.id
            );
            return self.evidence(Outcome::Inconclusive, missing);
        }
        let (check, inner) = (self.clone(), cx.clone());
        // Files are read beside the processes of other checks, not between them.
        let mut criteria = match tokio::task::spawn_blocking(move || check.read(&inner)).await {
            Ok(criteria) => criteria,
            Err(error) => {
                let summary = format!("reading the files ended early: {error}");
                return self.evidence(Outcome::Inconclusive, summary);
            }
        };
        for criterion in criteria.all.iter_mut() {
            if cx.cancel.is_cancelled() {
                return self.evidence(Outcome::Inconclusive, "cancelled");
            }
            if let Some(verify) = &criterion.verify {
                criterion.result = Some(self.verify(cx, verify).await);
            }
        }
        criteria.verdict(&self.id)
    }
}
