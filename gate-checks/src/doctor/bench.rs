//! Running one configured check in a copy of the work tree.

use std::fs;
use std::io;
use std::path::PathBuf;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Mode, Policy};

use super::proof::{Proof, SelfTestOutcome};
use crate::baseline::Baseline;
use crate::copy::Copy;
use crate::event::Events;
use crate::gather::{Checks, GatherError, GatherOptions, gather};
use crate::site::CheckSite;

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

    pub(super) fn not_shown(&self, how: impl Into<String>) -> Proof {
        Proof::new(self.name, SelfTestOutcome::NotShown, how)
    }
}
