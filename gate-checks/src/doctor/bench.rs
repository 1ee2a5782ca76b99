//! Running one configured check in a copy of the work tree.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Mode, Policy};

use super::finding::{Proof, SelfTestOutcome};
use crate::baseline::Baseline;
use crate::check::{Checks, GatherOptions};
use crate::copy::Copy;
use crate::event::Events;
use crate::gather::{GatherError, gather};
use crate::site::CheckSite;
use crate::worktree::Globs;

/// Why something could not be tried.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// A file of the copy.
    #[error("a file of the copy cannot be changed: {0}")]
    File(#[from] io::Error),
    /// Nothing can be run at all.
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
    /// The check is run as it is configured, but once: a failure that is seen
    /// is enough here, and it waits for no other.
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

    /// The folder that its command runs in.
    pub(super) fn cwd(&self) -> PathBuf {
        let project = &self.copy.project;
        self.settings().cwd.as_ref().map_or_else(|| project.clone(), |cwd| project.join(cwd))
    }

    /// Runs the check in the copy as it is now. Files that appear are taken
    /// away again, so that the next run finds the tree as this one did.
    pub(super) fn run(&self) -> Result<Evidence, GatherError> {
        let _builds = self.copy.lock_builds(self.site);
        let site = self.copy.site(self.site);
        // The copy's only commit. Without one, the checks that compare report that.
        let baseline = Baseline::from_history(&site, "").ok().flatten();
        let events = self.events.clone();
        let checks = Checks::All;
        let wanted =
            GatherOptions { checks, fresh: true, baseline, events, ..GatherOptions::default() };
        let gathered = gather(&self.policy, site, &wanted)?;
        for file in gathered.tree.iter().flat_map(|tree| &tree.wrote) {
            // What stays makes the next run less certain, never a pass.
            let _ = fs::remove_file(self.copy.root.join(file));
        }
        let record = gathered.evidence.into_iter().next();
        Ok(record.unwrap_or_else(|| Evidence::new(self.name, Mode::Require, Outcome::Skipped)))
    }

    /// A proof, with the log of the run that shows it: the copy's own logs go with the copy.
    pub(super) fn proof(
        &self,
        standing: SelfTestOutcome,
        how: String,
        evidence: &Evidence,
    ) -> Proof {
        let mut log = None;
        if standing != SelfTestOutcome::CanFail
            && let (Some(state), Some(of_run)) = (&self.site.state, &evidence.log)
        {
            log = self.copy.keep_log(state, self.name, of_run);
        }
        Proof { log, ..Proof::new(self.name, standing, how) }
    }

    /// The proof of a check that does not pass on the tree as it is.
    pub(super) fn does_not_pass(&self, how: String, evidence: &Evidence) -> Proof {
        let proof = self.proof(SelfTestOutcome::NotShown, how, evidence);
        Proof { does_not_pass: self.must_pass, ..proof }
    }

    /// The proof of a run with something in its way: what came of it is said by these sentences.
    pub(super) fn weigh(&self, evidence: &Evidence, failed: String, passed: String) -> Proof {
        let (standing, how) = match evidence.outcome {
            Outcome::Fail => (SelfTestOutcome::CanFail, failed),
            Outcome::Pass => (SelfTestOutcome::CannotFail, passed),
            _ => (SelfTestOutcome::NotShown, evidence.summary.clone()),
        };
        self.proof(standing, how, evidence)
    }

    /// Runs a check that compares with a commit as it is: the proof that there can be none if it does
    /// not pass, in a tree that says so.
    pub(super) fn does_not_begin(&self, as_it_is: &str) -> Result<Option<Proof>, GatherError> {
        if !self.copy.root.join(".git").is_dir() {
            return Ok(Some(self.not_shown("the project is in no git repository")));
        }
        let plain = self.run()?;
        let how = format!("it does not pass where {as_it_is}: {}", plain.summary);
        let passes = plain.outcome == Outcome::Pass;
        Ok((!passes).then(|| self.proof(SelfTestOutcome::NotShown, how, &plain)))
    }

    /// Adds a file that the check has to find and to name. `remedy` is what to look at if it passes
    /// all the same.
    pub(super) fn finds(&self, planted: &str, remedy: &str) -> Result<Proof, Trouble> {
        if let Some(proof) = self.does_not_begin("nothing was changed")? {
            return Ok(proof);
        }
        fs::write(self.copy.root.join(planted), "")?;
        let after = self.run()?;
        let (standing, how) = match after.outcome {
            Outcome::Fail | Outcome::Tamper if after.summary.contains(planted) => {
                (SelfTestOutcome::CanFail, format!("it found {planted}, which was added"))
            }
            Outcome::Pass => (
                SelfTestOutcome::CannotFail,
                format!("it passed although {planted} was added: look at {remedy}"),
            ),
            _ => (SelfTestOutcome::NotShown, after.summary.clone()),
        };
        Ok(self.proof(standing, how, &after))
    }

    pub(super) fn not_shown(&self, how: impl Into<String>) -> Proof {
        Proof::new(self.name, SelfTestOutcome::NotShown, how)
    }
}

/// Files that git ignores are no part of the tree, but are read all the
/// same.
pub(super) fn fetch(bench: &Bench<'_>) -> io::Result<()> {
    let (copy, project) = (bench.copy, bench.site.project.canonicalize()?);
    for name in &bench.settings().files {
        let to = copy.project.join(name);
        let inside = to.strip_prefix(&copy.project).unwrap_or(Path::new(name)).to_owned();
        let from = project.join(inside);
        let climbs = Path::new(name).components().any(|part| part == Component::ParentDir);
        if !climbs && to.starts_with(&copy.root) && from.is_file() && to.symlink_metadata().is_err()
        {
            fs::create_dir_all(to.parent().unwrap_or(&copy.project))?;
            fs::copy(from, to)?;
        }
    }
    Ok(())
}

/// The first file that the settings name, which lies in the copy.
pub(super) fn file(bench: &Bench<'_>) -> Option<PathBuf> {
    let copy = bench.copy;
    let mut entries = bench.settings().files.iter();
    let file = entries.find_map(|entry| file_of_entry(copy, entry))?.canonicalize().ok()?;
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
        let inside = file.strip_prefix(&copy.project);
        inside.is_ok_and(|inside| globs.matches(inside.as_os_str().as_encoded_bytes()))
            && file.is_file()
    })
}
