//! Sealed tests: laid over the product in the deciding copy, after everything else has passed.
//!
//! Nothing of their text may leave this run: it has no log and no excerpt, its report stands in the
//! copy, which is emptied after the run, and the product under test is confined as far as the
//! system can do that. What is shown is a count.

use std::collections::BTreeSet;
use std::path::PathBuf;

use gate_core::decide::evidence::Outcome;
use gate_core::decide::policy::Reveal;
use gate_core::decide::sealed_tests::{MAX_SEALED_REFUSALS, SealedOutcome};
use gate_core::text::{MAX_NAMES, some_names};
use serde_json::json;

use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace};
use super::verdict::Verdict;
use super::{Trouble, VerifiedTests};
use crate::cancellation::Cancellation;
use crate::check::{CheckId, PrivateRun};
use crate::checks::test_run::Ran;
use crate::process::{Capture, Confinement, Job, JobEnd, environment};
use crate::report::{Status, TestReport};
use crate::runner::RunnerCommand;
use crate::seal::Seal;
use crate::site::CheckSite;
use crate::worktree::WorkTree;

/// Result of the sealed tests.
struct Count {
    passed: u64,
    failed: u64,
    /// The failing ones, as far as the report names them.
    names: Vec<String>,
}

impl Count {
    /// Counts those that are not in `before`, the report without them. A failure counts in any
    /// case: a sealed file may stand in the place of one of the tree's.
    fn new(report: &TestReport, before: Option<&TestReport>) -> Self {
        let known: BTreeSet<_> =
            before.into_iter().flat_map(|before| &before.tests).map(|test| &test.id).collect();
        let passed = if report.tests.is_empty() {
            report.passed.saturating_sub(before.map_or(0, |before| before.passed))
        } else {
            let passed = report.tests.iter().filter(|test| test.status == Status::Passed);
            passed.filter(|test| !known.contains(&test.id)).count() as u64
        };
        let names: Vec<_> = report.named(Status::Failed).map(str::to_owned).collect();
        Self { passed, failed: report.failed.max(names.len() as u64), names }
    }

    fn all(&self) -> u64 {
        self.passed + self.failed
    }
}

impl VerifiedTests<'_> {
    /// Also true if the seals cannot be read: tests that may be there must not be left out.
    pub(super) fn is_sealed(&self, tree: &WorkTree) -> bool {
        let configured = self.settings.sealed.as_deref();
        let seal = Seal::find(&self.cx.site, tree, self.id.as_str(), configured);
        !matches!(seal, Ok(None))
    }

    /// Runs the check's sealed tests, if it has any and all is well so far.
    pub(super) async fn run_sealed(
        &self,
        deciding: &mut TestWorkspace,
        (overlay, runner): (Option<&Overlay<'_>>, Option<&RunnerCommand>),
        of_old: Option<&TestReport>,
        verdict: &mut Verdict,
    ) -> Result<(), Trouble> {
        if !verdict.passed() {
            return Ok(());
        }
        let (site, tree) = (&self.cx.site, deciding.tree().clone());
        let configured = self.settings.sealed.as_deref();
        let found = Seal::find(site, &tree, self.id.as_str(), configured);
        let found = found.and_then(|seal| match seal {
            Some(seal) => seal.files().map(|files| Some((seal, files))),
            None => Ok(None),
        });
        let (seal, files) = match found {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(()),
            Err(error) => {
                verdict.becomes(Outcome::Inconclusive, error.to_string());
                return Ok(());
            }
        };
        if self.cx.options.about.sealed_refusals >= MAX_SEALED_REFUSALS {
            let summary = format!(
                "the sealed tests refused {MAX_SEALED_REFUSALS} times in this run, and do not run \
                 again: a person has to look at the work"
            );
            verdict.add_detail("sealed", json!({ "outcome": SealedOutcome::Spent }));
            verdict.becomes(Outcome::Fail, summary);
            return Ok(());
        }
        let laid = match overlay {
            Some(overlay) => self.laid(&tree, overlay, None)?,
            None => Vec::new(),
        };
        match overlay {
            Some(overlay) => self.lay(deciding, overlay, &laid)?,
            None => deciding.lay(self.id, Contents::Tree, &BTreeSet::new(), None)?,
        }
        let mut report = of_old.or(verdict.report.as_ref()).cloned();
        if runner.is_none() {
            // No earlier run proved that the copy lacks nothing.
            let Some(unsealed) = self.passes_without(deciding).await? else {
                let summary = "sealed tests run in a copy of the tree, and without them the command \
                               does not pass there: what tests need and git ignores has to be \
                               tracked, or made by the tests";
                verdict.becomes(Outcome::Inconclusive, summary.to_owned());
                return Ok(());
            };
            report = unsealed.report;
        }
        let mut sealed = deciding.deciding(self.settings)?;
        sealed.lay_sealed(&seal.folder, &files)?;
        let ran = self.run_confined(&mut sealed, (&seal, &files), (runner, report.as_ref())).await;
        sealed.end_private()?;
        let (ran, is_alone, confined) = ran?;
        let unsealed = if is_alone { None } else { report.as_ref() };
        let readable = seal.is_readable_in(&tree);
        self.weigh_sealed(ran.as_ref(), unsealed, (confined, readable), verdict);
        Ok(())
    }

    /// Runs the sealed tests, alone if the runner can; and the limits of that run.
    async fn run_confined(
        &self,
        sealed: &mut TestWorkspace,
        (seal, files): (&Seal, &[PathBuf]),
        (runner, report): (Option<&RunnerCommand>, Option<&TestReport>),
    ) -> Result<(Option<Ran>, bool, &'static str), Trouble> {
        let confinement = confinement(&self.cx.site, sealed, seal, &self.cx.cancel).await;
        let confined = match &confinement {
            Some(confinement) if confinement.has_namespaces => "network",
            Some(_) => "files",
            None => "none",
        };
        let folder = sealed.folder().to_owned();
        sealed.keep_private(PrivateRun { folder, confinement });
        let is_alone = runner.zip(report).is_some_and(|(runner, report)| {
            // No other test runs then, and each in the report is sealed.
            sealed.run_only(runner, files, report)
        });
        let ran = sealed.run(&CheckId::new(format!("{}-sealed", self.id)), true).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        Ok((ran.ok(), is_alone, confined))
    }

    /// The run of the command in this folder as it is; none if it does not pass. Where no earlier
    /// run proved that, a folder that lacks something would look like a wrong product.
    async fn passes_without(&self, copy: &TestWorkspace) -> Result<Option<Ran>, Trouble> {
        let log = CheckId::new(format!("{}-unsealed", self.id));
        let ran = copy.run(&log, true).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        Ok(ran.ok().filter(|ran| ran.launched.exit_code == Some(0)))
    }

    fn weigh_sealed(
        &self,
        ran: Option<&Ran>,
        before: Option<&TestReport>,
        (confined, readable): (&str, bool),
        verdict: &mut Verdict,
    ) {
        let Some(ran) = ran else {
            let summary = "the sealed tests gave no answer: the command did not end by itself";
            verdict.becomes(Outcome::Inconclusive, summary.to_owned());
            return;
        };
        let ended_well = ran.launched.exit_code == Some(0);
        let count = ran.report.as_ref().map(|report| Count::new(report, before));
        let is_listed = count.as_ref().is_some_and(|count| count.all() > 0);
        // A product that ends its process with 0 leaves no report either.
        let is_expected = verdict.report.is_some() || ran.report.is_some();
        if ended_well && is_expected && !is_listed {
            let summary = "no sealed test is in the report: the command does not find the files \
                           that were laid over the tree, or the product ends it";
            verdict.becomes(Outcome::Inconclusive, summary.to_owned());
            return;
        }
        let has_failed = count.as_ref().is_some_and(|count| count.failed > 0);
        let passed = ended_well && !has_failed;
        let outcome = if passed { SealedOutcome::Passed } else { SealedOutcome::Failed };
        let reveal = self.settings.reveal;
        let mut detail = json!({ "outcome": outcome, "confined": confined, "readable": readable });
        let mut shown = String::new();
        if let Some(count) = count
            && is_listed
            && reveal != Reveal::None
        {
            shown = format!("{} of {} sealed tests pass", count.passed, count.all());
            (detail["passed"], detail["total"]) = (json!(count.passed), json!(count.all()));
            if reveal == Reveal::Names && !count.names.is_empty() {
                shown = format!("{shown}, not {}", some_names(&count.names, MAX_NAMES));
                detail["failed"] = json!(count.names);
            }
        } else if !passed {
            "a sealed test fails".clone_into(&mut shown);
        }
        verdict.add_detail("sealed", detail);
        if passed {
            let shown = if shown.is_empty() { "the sealed tests pass" } else { &shown };
            let who = if readable { " (readable by the agent)" } else { "" };
            verdict.evidence.summary.push_str(&format!("; {shown}{who}"));
        } else {
            verdict.becomes(Outcome::Fail, shown);
            // The own run's failures and excerpt are none of this.
            verdict.evidence.excerpt = None;
        }
    }
}

/// The limits of the run: as many as the system can set. None if it can set none.
async fn confinement(
    site: &CheckSite,
    copy: &TestWorkspace,
    seal: &Seal,
    cancel: &Cancellation,
) -> Option<Confinement> {
    let folder = copy.folder().to_owned();
    let hidden: Vec<PathBuf> = [Some(&seal.folder), site.state.as_ref()]
        .into_iter()
        .flatten()
        .filter(|hidden| !folder.starts_with(hidden))
        .cloned()
        .collect();
    for has_namespaces in [true, false] {
        let confinement =
            Confinement { folder: folder.clone(), hidden: hidden.clone(), has_namespaces };
        let job = Job {
            argv: ["sh", "-c", ":"].map(str::to_owned).to_vec(),
            folder: folder.clone(),
            environment: environment(&site.environment, &[]),
            stdin: None,
            supervisor: site.supervisor.clone(),
            memory: None,
            is_low_priority: false,
            confinement: Some(confinement.clone()),
        };
        let supervised = site.supervisor.is_some();
        if supervised && job.run(Capture::new(None), cancel).await.how == JobEnd::Exited(0) {
            return Some(confinement);
        }
    }
    None
}
