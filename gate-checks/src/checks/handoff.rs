//! The check `handoff`: do the handoffs that the agent leaves say all that they have to?
//!
//! It reads the files of its settings, Markdown or JSON, and lets the site's [`HandoffReader`] check
//! each against the rules of the handoff protocol. A problem fails, and so does a file that is
//! missing: the agent has not handed over. A file that cannot be read is inconclusive, and so is a
//! site without a reader.
//!
//! A handoff is the word of its author, usually the agent: that it is complete is a claim. Its
//! commands are compared with gate's own records by `gate handoff verify`.

use std::collections::BTreeSet;
use std::time::Instant;

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;
use gate_core::text::brief;
use serde_json::{Value, json};

use super::acceptance::{self, NamedFile, PlanError, named_files};
use crate::check::{Check, CheckContext, CheckId};
use crate::site::{CheckSite, HandoffProblem, HandoffReader};

/// The most problems that the summary names.
const MAX_NAMED: usize = 3;

/// The most problems that the detail lists.
const MAX_DETAILED: usize = 50;

/// The most of a problem that is shown, in characters.
const MAX_SHOWN_CHARS: usize = 160;

/// Checks handoffs against the rules of their protocol.
#[derive(Clone, Debug)]
pub(super) struct Handoff {
    id: CheckId,
    files: Vec<String>,
}

impl Handoff {
    /// The check of this name with `files` of these settings.
    pub(super) fn new(id: CheckId, policy: &CheckPolicy) -> Self {
        Self { id, files: policy.files.clone() }
    }

    fn check_files(&self, site: &CheckSite) -> Evidence {
        let Some(problems_of) = site.handoff_reader else {
            let summary = "nothing here reads handoffs: the site has no reader".to_owned();
            return self.evidence(Outcome::Inconclusive, summary);
        };
        let mut findings = Findings::default();
        for entry in &self.files {
            match named_files(&site.project, entry) {
                Ok(files) => files.iter().for_each(|file| findings.read_file(file, problems_of)),
                Err(error) => findings.add_error(&error),
            }
        }
        let (outcome, summary) = findings.verdict(&self.id);
        let mut evidence = self.evidence(outcome, summary).with_detail(findings.detail());
        evidence.claim = outcome == Outcome::Pass;
        evidence
    }
}

#[async_trait]
impl Check for Handoff {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        let start = Instant::now();
        let (check, site) = (self.clone(), cx.site.clone());
        // Files are read beside the processes of other checks, not between them.
        let checking = tokio::task::spawn_blocking(move || check.check_files(&site));
        let evidence = checking.await.unwrap_or_else(|error| {
            let summary = format!("reading the files ended early: {error}");
            self.evidence(Outcome::Inconclusive, summary)
        });
        evidence.with_duration(start.elapsed())
    }
}

#[derive(Default)]
struct Findings {
    files: BTreeSet<String>,
    /// Each problem with the name of its file.
    problems: Vec<(String, HandoffProblem)>,
    /// Files that are certainly no handoffs.
    absent: Vec<String>,
    /// Files that could not be read, each with its error.
    unknown: Vec<String>,
}

impl Findings {
    /// Reads a file, once.
    fn read_file(&mut self, file: &NamedFile, problems_of: HandoffReader) {
        if !self.files.insert(file.shown.clone()) {
            return;
        }
        match acceptance::file_text(file) {
            Ok(text) => {
                let problems = problems_of(&text).into_iter();
                self.problems.extend(problems.map(|problem| (file.shown.clone(), problem)));
            }
            Err(error) => self.add_error(&error),
        }
    }

    fn add_error(&mut self, error: &PlanError) {
        use PlanError::{Missing, NoMatch, NotText, TooLong};
        let is_certain =
            matches!(error, Missing { .. } | NoMatch { .. } | NotText { .. } | TooLong { .. });
        let list = if is_certain { &mut self.absent } else { &mut self.unknown };
        list.push(brief(&error.to_string(), MAX_SHOWN_CHARS));
    }

    /// The check's outcome. A problem is certain, even if another file could not be read.
    fn verdict(&self, id: &CheckId) -> (Outcome, String) {
        let problems = self.problems.iter().map(|(file, problem)| {
            let separator = if problem.field.is_empty() { ": " } else { ", " };
            brief(&format!("{file}{separator}{}", problem.text), MAX_SHOWN_CHARS)
        });
        let failures: Vec<_> = self.absent.iter().cloned().chain(problems).collect();
        if !failures.is_empty() {
            let mut summary = failures[..failures.len().min(MAX_NAMED)].join("; ");
            if failures.len() > MAX_NAMED {
                summary.push_str(&format!("; and {} more", failures.len() - MAX_NAMED));
            }
            return (Outcome::Fail, summary);
        }
        match (self.unknown.first(), self.files.len()) {
            (Some(unknown), _) => (Outcome::Inconclusive, unknown.clone()),
            (None, 0) => {
                let missing = format!("no files are named: write files = [\"…\"] in [checks.{id}]");
                (Outcome::Inconclusive, missing)
            }
            (None, 1) => (Outcome::Pass, "the handoff says all that it has to".to_owned()),
            (None, count) => {
                (Outcome::Pass, format!("all {count} handoffs say all that they have to"))
            }
        }
    }

    fn detail(&self) -> Value {
        let listed = self.problems.iter().take(MAX_DETAILED).map(|(file, problem)| {
            json!({
                "file": file,
                "rule": problem.rule,
                "field": brief(&problem.field, MAX_SHOWN_CHARS),
                "message": brief(&problem.message, MAX_SHOWN_CHARS),
            })
        });
        let listed: Vec<_> = listed.collect();
        json!({ "files": self.files, "problems": listed, "total": self.problems.len() })
    }
}
