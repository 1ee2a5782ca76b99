//! What a decision's work tree is compared with.

use gate_checks::baseline::{self, Baseline, BaselineError};
use gate_checks::{Gathered, Site};
use gate_core::decide::reason::{Warning, WarningCode};
use jiff::Timestamp;

use super::Gate;
use crate::failure::Failure;
use crate::memory::Turn;
use crate::request::Request;

impl Gate {
    /// The gate with what the tree was before the agent acted.
    #[must_use]
    pub(crate) fn compared_with(self, baseline: Option<Baseline>) -> Self {
        Self { baseline, ..self }
    }

    /// What the tree is before a loop's first agent, where a check compares with it.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read.
    pub(crate) fn take_baseline_if_wanted(&self) -> Result<Option<Baseline>, Failure> {
        if baseline::is_wanted(&self.policy) { self.taken() } else { Ok(None) }
    }

    /// Takes what the tree is at this moment, and keeps it: for a run, or for those
    /// that begin from now on. None outside of git, and where nothing was committed.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read, a state folder that cannot be written.
    pub(crate) fn take_baseline(&self, run: Option<&str>) -> Result<Option<Baseline>, Failure> {
        let taken = self.taken()?;
        if let Some(taken) = &taken {
            taken.keep(&self.site, run)?;
        }
        Ok(taken)
    }

    fn taken(&self) -> Result<Option<Baseline>, Failure> {
        let site = Site { ignore: self.policy.tree_ignore.clone(), ..self.site.clone() };
        Ok(Baseline::take(&self.policy, &site, &Timestamp::now().to_string())?)
    }

    /// What the tree of a decision is compared with: what the caller took, else what
    /// is kept for the run, else what waits for runs, else the commit at which the
    /// work left the default branch. It is kept for the run, so that nothing that is
    /// committed meanwhile becomes a part of it.
    ///
    /// # Errors
    ///
    /// One that is kept and cannot be read: whatever it says is not known to hold.
    pub(super) fn baseline(
        &self,
        site: &Site,
        request: &Request,
        turn: Option<&Turn>,
    ) -> Result<Option<Baseline>, Failure> {
        if self.baseline.is_some() || !baseline::is_wanted(&self.policy) {
            return Ok(self.baseline.clone());
        }
        let run = turn.and_then(Turn::is_of).map(|(run, _)| run);
        if let Some(run) = run
            && let Some(kept) = Baseline::kept(site, Some(run))?
        {
            return Ok(Some(kept));
        }
        let found = match Baseline::kept(site, None)? {
            Some(waiting) => Some(waiting),
            None => of_history(site)?,
        };
        if let (Some(found), Some(run), false) = (&found, run, request.dry_run) {
            found.keep(site, Some(run))?;
        }
        Ok(found)
    }

    /// What is worth saying where checks compare, and there was nothing to compare
    /// with.
    pub(super) fn no_baseline(&self, gathered: &Gathered) -> Option<Warning> {
        let compared = gathered.tree.is_some() && baseline::is_wanted(&self.policy);
        let message = "outside of git, or nothing was committed: what the tree was before the \
                       agent acted is not known, and nothing is compared with it";
        (compared && gathered.baseline.is_none())
            .then(|| Warning::new(WarningCode::NoBaseline, message))
    }
}

/// The baseline that history tells. A tree that cannot be read is the checks' to
/// tell: none of them passes there.
fn of_history(site: &Site) -> Result<Option<Baseline>, Failure> {
    match Baseline::of_history(site, &Timestamp::now().to_string()) {
        Err(BaselineError::Tree(_)) => Ok(None),
        found => Ok(found?),
    }
}
