//! Running one configured check in a copy of the work tree.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Mode, Policy};
use gate_platform::RealPath;

use super::finding::{Proof, SelfTestOutcome};
use crate::baseline::Baseline;
use crate::check::{Checks, GatherOptions};
use crate::copy::Copy;
use crate::event::Events;
use crate::gather::{GatherError, gather};
use crate::site::CheckSite;
use crate::worktree::Globs;

/// An error that ends a self-test.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// A file of the copy cannot be changed. Other checks can still be tested.
    #[error("a file of the copy cannot be changed: {0}")]
    File(#[from] io::Error),
    /// No check can be run at all.
    #[error(transparent)]
    Gather(#[from] GatherError),
}

/// A check, and the copy that it is run in.
pub(super) struct Bench<'a> {
    pub(super) name: &'a str,
    pub(super) copy: &'a Copy,
    /// The real site.
    pub(super) site: &'a CheckSite,
    pub(super) events: Events,
    /// The policy with this check alone.
    policy: Policy,
    must_pass: bool,
}

impl<'a> Bench<'a> {
    /// The check is run as it is configured, but once: a failure that is seen is enough here, and it
    /// waits for no other check.
    pub(super) fn new(
        policy: &Policy,
        name: &'a str,
        settings: &CheckPolicy,
        copy: &'a Copy,
        site: &'a CheckSite,
        events: Events,
    ) -> Self {
        let must_pass = settings.mode == Mode::Require;
        let settings =
            CheckPolicy { mode: Mode::Require, retry: 0, ..copy.mapping().settings(settings) };
        let mut policy = policy.clone();
        policy.checks = [(name.to_owned(), settings)].into();
        Self { name, copy, site, events, policy, must_pass }
    }

    /// The check's settings, in the copy.
    pub(super) fn settings(&self) -> &CheckPolicy {
        &self.policy.checks[self.name]
    }

    /// The folder in which the check's command runs.
    pub(super) fn cwd(&self) -> PathBuf {
        let project = &self.copy.project;
        self.settings().cwd.as_ref().map_or_else(|| project.clone(), |cwd| project.join(cwd))
    }

    /// Runs the check in the copy as it is now. Files that appear are taken away again, so that the
    /// next run begins with the same tree.
    pub(super) fn run(&self) -> Result<Evidence, GatherError> {
        let _builds = self.copy.lock_builds(self.site);
        let site = self.copy.site(self.site);
        let options = GatherOptions {
            checks: Checks::All,
            fresh: true,
            // The copy's only commit. Without a commit, the checks that compare report that.
            baseline: Baseline::from_history(&site, "").ok().flatten(),
            events: self.events.clone(),
            ..GatherOptions::default()
        };
        let gathered = gather(&self.policy, site, &options)?;
        for file in gathered.tree.iter().flat_map(|tree| &tree.wrote) {
            // A file that stays makes the next run less certain, never a pass.
            let _ = fs::remove_file(self.copy.root.join(file));
        }
        let record = gathered.evidence.into_iter().next();
        Ok(record.unwrap_or_else(|| Evidence::new(self.name, Mode::Require, Outcome::Skipped)))
    }

    /// A proof, with the log of the run that shows it: the copy's own logs go with the copy.
    pub(super) fn proof(
        &self,
        outcome: SelfTestOutcome,
        account: String,
        evidence: &Evidence,
    ) -> Proof {
        let mut log = None;
        if outcome != SelfTestOutcome::CanFail
            && let (Some(state), Some(run_log)) = (&self.site.state, &evidence.log)
        {
            log = self.copy.keep_log(state, self.name, run_log);
        }
        Proof { log, ..Proof::new(self.name, outcome, account) }
    }

    /// The proof of a check that does not pass on the tree as it is.
    pub(super) fn does_not_pass(&self, account: String, evidence: &Evidence) -> Proof {
        let proof = self.proof(SelfTestOutcome::NotShown, account, evidence);
        Proof { does_not_pass: self.must_pass, ..proof }
    }

    /// The proof of a run in a copy that the check has to refuse. The sentences say that it failed,
    /// and that it passed.
    pub(super) fn weigh(&self, evidence: &Evidence, failed: String, passed: String) -> Proof {
        let (outcome, account) = match evidence.outcome {
            Outcome::Fail => (SelfTestOutcome::CanFail, failed),
            Outcome::Pass => (SelfTestOutcome::CannotFail, passed),
            _ => (SelfTestOutcome::NotShown, evidence.summary.clone()),
        };
        self.proof(outcome, account, evidence)
    }

    /// Runs a check that compares with a commit on the unchanged copy. Unless it passes, nothing can
    /// be shown, and this is the proof. `condition` describes the unchanged copy.
    pub(super) fn prove_unchanged(&self, condition: &str) -> Result<Option<Proof>, GatherError> {
        if !self.copy.root.join(".git").is_dir() {
            return Ok(Some(self.not_shown("the project is in no git repository")));
        }
        let evidence = self.run()?;
        if evidence.outcome == Outcome::Pass {
            return Ok(None);
        }
        let account = format!("it does not pass where {condition}: {}", evidence.summary);
        Ok(Some(self.proof(SelfTestOutcome::NotShown, account, &evidence)))
    }

    /// Adds a file that the check has to find and to name. `remedy` is what to look at if it passes
    /// all the same.
    pub(super) fn finds(&self, planted: &str, remedy: &str) -> Result<Proof, Trouble> {
        if let Some(proof) = self.prove_unchanged("nothing was changed")? {
            return Ok(proof);
        }
        fs::write(self.copy.root.join(planted), "")?;
        let evidence = self.run()?;
        let (outcome, account) = match evidence.outcome {
            Outcome::Fail | Outcome::Tamper if evidence.summary.contains(planted) => {
                (SelfTestOutcome::CanFail, format!("it found {planted}, which was added"))
            }
            Outcome::Pass => (
                SelfTestOutcome::CannotFail,
                format!("it passed although {planted} was added: look at {remedy}"),
            ),
            _ => (SelfTestOutcome::NotShown, evidence.summary.clone()),
        };
        Ok(self.proof(outcome, account, &evidence))
    }

    pub(super) fn not_shown(&self, account: impl Into<String>) -> Proof {
        Proof::new(self.name, SelfTestOutcome::NotShown, account)
    }
}

/// Copies the files that the settings name and git ignores: they are no part of the tree, but the
/// check reads them all the same.
pub(super) fn copy_ignored_files(bench: &Bench<'_>) -> io::Result<()> {
    let (copy, real_project) = (bench.copy, bench.site.project.real_path()?);
    for name in &bench.settings().files {
        let copied_file = copy.project.join(name);
        let project_path = copied_file.strip_prefix(&copy.project).unwrap_or(Path::new(name));
        let real_file = real_project.join(project_path);
        let climbs =
            Path::new(name).components().any(|component| component == Component::ParentDir);
        let is_in_copy = !climbs && copied_file.starts_with(&copy.root);
        if is_in_copy && real_file.is_file() && copied_file.symlink_metadata().is_err() {
            fs::create_dir_all(copied_file.parent().unwrap_or(&copy.project))?;
            fs::copy(real_file, copied_file)?;
        }
    }
    Ok(())
}

/// The first file of the copy that the settings name.
pub(super) fn first_file(bench: &Bench<'_>) -> Option<PathBuf> {
    let copy = bench.copy;
    let mut entries = bench.settings().files.iter();
    let file = entries.find_map(|entry| file_of_entry(copy, entry))?.real_path().ok()?;
    file.starts_with(&copy.root).then_some(file)
}

/// The file of a path, or the first one that a glob matches.
fn file_of_entry(copy: &Copy, entry: &String) -> Option<PathBuf> {
    let path = copy.project.join(entry);
    if path.is_file() {
        return Some(path);
    }
    let globs = Globs::new(std::slice::from_ref(entry)).ok()?;
    let mut files = copy.files.iter().map(|file| copy.root.join(file));
    files.find(|file| {
        let project_path = file.strip_prefix(&copy.project);
        project_path.is_ok_and(|path| globs.matches(path.as_os_str().as_encoded_bytes()))
            && file.is_file()
    })
}
