//! The check `handoff`: does what the agent leaves to the next say all that it has
//! to?
//!
//! It reads the files of its settings, Markdown or JSON, and checks each against the rules of the
//! handoff protocol ([`gate_fleet::handoff`]). A problem fails, and so does a file that is missing:
//! the agent has not handed over. A file that cannot be read is inconclusive.
//!
//! A handoff is the word of its author, usually the agent: that it is complete is a claim. Its
//! commands are compared with gate's own records by `gate handoff verify`.

use std::collections::BTreeSet;
use std::time::Instant;

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;
use gate_core::text;
use gate_fleet::handoff::{self, Format, Problem};
use serde_json::{Value, json};

use super::acceptance::{self, Named, PlanError, files};
use crate::check::{Check, CheckContext, CheckId};
use crate::site::CheckSite;

/// The most problems that the summary names, and the most that the detail lists.
const NAMED: usize = 3;
const DETAILED: usize = 50;

/// The most of a problem that is shown, in characters.
const SHOWN: usize = 160;

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

    fn look(&self, site: &CheckSite) -> Evidence {
        let mut found = Findings::default();
        for entry in &self.files {
            match files(&site.project, entry) {
                Ok(named) => named.iter().for_each(|named| found.read(named)),
                Err(error) => found.error(&error),
            }
        }
        let (outcome, summary) = found.verdict(&self.id);
        let mut evidence = self.evidence(outcome, summary).with_detail(found.detail());
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
        let looking = tokio::task::spawn_blocking(move || check.look(&site));
        let evidence = looking.await.unwrap_or_else(|error| {
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
    problems: Vec<(String, Problem)>,
    /// Files that are certainly no handoffs.
    absent: Vec<String>,
    /// Files that could not be read, each with its error.
    unknown: Vec<String>,
}

impl Findings {
    /// Reads a file, once.
    fn read(&mut self, named: &Named) {
        if !self.files.insert(named.shown.clone()) {
            return;
        }
        match acceptance::text(named) {
            Ok(text) => {
                let problems = handoff::read(&text, Format::detect(&text)).all_problems();
                self.problems
                    .extend(problems.into_iter().map(|problem| (named.shown.clone(), problem)));
            }
            Err(error) => self.error(&error),
        }
    }

    fn error(&mut self, error: &PlanError) {
        use PlanError::{Missing, NoMatch, NotText, TooLong};
        let is_certain =
            matches!(error, Missing { .. } | NoMatch { .. } | NotText { .. } | TooLong { .. });
        let list = if is_certain { &mut self.absent } else { &mut self.unknown };
        list.push(text::brief(&error.to_string(), SHOWN));
    }

    /// The check's outcome. A problem is certain, even if another file could not be read.
    fn verdict(&self, id: &CheckId) -> (Outcome, String) {
        let problems = self.problems.iter().map(|(file, problem)| {
            let place = if problem.field.is_empty() { ": " } else { ", " };
            text::brief(&format!("{file}{place}{problem}"), SHOWN)
        });
        let wrong: Vec<_> = self.absent.iter().cloned().chain(problems).collect();
        if !wrong.is_empty() {
            let named = wrong[..wrong.len().min(NAMED)].join("; ");
            let more = wrong.len().saturating_sub(NAMED);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            return (Outcome::Fail, format!("{named}{more}"));
        }
        match (self.unknown.first(), self.files.len()) {
            (Some(unknown), _) => (Outcome::Inconclusive, unknown.clone()),
            (None, 0) => {
                let missing = format!("no files are named: write files = [\"…\"] in [checks.{id}]");
                (Outcome::Inconclusive, missing)
            }
            (None, 1) => (Outcome::Pass, "the handoff says all that it has to".to_owned()),
            (None, more) => {
                (Outcome::Pass, format!("all {more} handoffs say all that they have to"))
            }
        }
    }

    fn detail(&self) -> Value {
        let problems = self.problems.iter().take(DETAILED).map(|(file, problem)| {
            json!({
                "file": file,
                "rule": problem.rule,
                "field": text::brief(&problem.field, SHOWN),
                "message": text::brief(&problem.message, SHOWN),
            })
        });
        let problems: Vec<_> = problems.collect();
        json!({ "files": self.files, "problems": problems, "total": self.problems.len() })
    }
}
