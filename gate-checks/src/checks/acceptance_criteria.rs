//! The check `acceptance_criteria`: is everything done that was asked for?
//!
//! It reads the files of its settings: task lists in Markdown, `prd.json`, and
//! beads' JSON lines. An open item fails. That all are marked as done is the
//! word of whoever marked them, usually the agent: such a pass is a claim. What
//! cannot be read, and a file without criteria, is inconclusive.

use std::time::Instant;

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Mode};

use super::acceptance::{Tally, files};
use crate::check::{Check, CheckContext, CheckId};

/// Looks for open items in files that hold acceptance criteria.
#[derive(Clone, Debug)]
pub(super) struct AcceptanceCriteria {
    id: CheckId,
    files: Vec<String>,
    optional: Vec<String>,
}

impl AcceptanceCriteria {
    /// The check of this name with `files` and `optional` of these settings.
    pub(super) fn new(id: CheckId, policy: &CheckPolicy) -> Self {
        let (files, optional) = (policy.files.clone(), policy.optional.clone());
        Self { id, files, optional }
    }

    fn look(&self, cx: &CheckContext) -> Evidence {
        if self.files.is_empty() {
            let missing =
                format!("no files are named: write files = [\"…\"] in [checks.{}]", self.id);
            return self.evidence(Outcome::Inconclusive, missing);
        }
        let mut tally = Tally::new(cx.about.task.as_deref());
        for entry in &self.files {
            if cx.cancel.is_cancelled() {
                return self.evidence(Outcome::Inconclusive, "cancelled".to_owned());
            }
            match files(&cx.site.project, entry) {
                Ok(named) => named.iter().for_each(|named| tally.read(named, &self.optional)),
                Err(error) => tally.problem(&error),
            }
        }
        let verdict = tally.verdict();
        Evidence {
            claim: verdict.outcome == Outcome::Pass,
            detail: Some(verdict.detail),
            ..self.evidence(verdict.outcome, verdict.summary)
        }
    }

    fn evidence(&self, outcome: Outcome, summary: String) -> Evidence {
        Evidence { summary, ..Evidence::new(self.id.as_str(), Mode::default(), outcome) }
    }
}

#[async_trait]
impl Check for AcceptanceCriteria {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        let start = Instant::now();
        let (check, inner) = (self.clone(), cx.clone());
        // Files are read beside the processes of other checks, not between them.
        let looking = tokio::task::spawn_blocking(move || check.look(&inner));
        let evidence = looking.await.unwrap_or_else(|error| {
            let summary = format!("reading the files ended early: {error}");
            self.evidence(Outcome::Inconclusive, summary)
        });
        let took = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        Evidence { duration_ms: took, ..evidence }
    }
}
