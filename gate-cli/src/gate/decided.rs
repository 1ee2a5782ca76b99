//! Decisions of a person before a loop's work: their commands are criteria, and the person's word is
//! the approval of them.

use gate_checks::baseline::BaselineError;
use gate_checks::worktree::{Snapshot, WorkTree};
use gate_core::Policy;
use gate_core::decide::policy::Criterion;

use super::Gate;
use super::persons_check::add_check;
use crate::failure::Failure;
use crate::source::Source;

/// The check of the decisions that a person made before the work.
const DECISIONS: &str = "decisions";

impl Gate {
    /// Adds criteria that a person gave for this loop. They are required.
    ///
    /// # Errors
    ///
    /// The default settings of a check cannot be used.
    pub(crate) fn requiring(mut self, criteria: &[Criterion]) -> Result<Self, Failure> {
        if criteria.is_empty() {
            return Ok(self);
        }
        self.decisions_check = Some(add_check(&mut self.policy, DECISIONS, criteria.to_vec())?);
        Ok(self)
    }

    /// The criteria that a person gave for this loop.
    pub(super) fn decided_criteria(&self) -> &[Criterion] {
        let check = self.decisions_check.as_ref().and_then(|check| self.policy.checks.get(check));
        check.map_or(&[], |check| &check.criteria)
    }

    /// The policy whose programs need an approval of the settings.
    pub(super) fn approvable_policy(&self) -> Policy {
        let mut policy = self.policy_without_goals().into_owned();
        if let Some(check) = &self.decisions_check {
            policy.checks.remove(check);
        }
        policy
    }

    /// The files of the work tree as they are, without those of gate's callers.
    ///
    /// # Errors
    ///
    /// A work tree that cannot be read.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, Failure> {
        let site = self.site_of_turn(&Source::Message(String::new()), &[]);
        let tree = WorkTree::open(&site).and_then(|tree| tree.snapshot());
        Ok(tree.map_err(BaselineError::from)?)
    }
}
