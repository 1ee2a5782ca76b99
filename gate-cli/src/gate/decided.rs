//! Decisions of a person before a loop's work: their commands are criteria, and the person's word is
//! the approval of them.

use gate_checks::baseline::BaselineError;
use gate_checks::worktree::{Snapshot, WorkTree};
use gate_core::Policy;
use gate_core::config::{self, Layer};
use gate_core::decide::checks::CRITERIA;
use gate_core::decide::policy::{Criterion, Mode};

use super::Gate;
use crate::failure::Failure;
use crate::source::Source;

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
        if !self.policy.checks.contains_key(CRITERIA) {
            let defaults = config::resolve(&[Layer::checks([CRITERIA])?], None)?.policy;
            self.policy.checks.extend(defaults.checks);
        }
        if let Some(check) = self.policy.checks.get_mut(CRITERIA) {
            check.mode = Mode::Require;
            check.criteria.extend(criteria.iter().cloned());
        }
        self.loops_criteria = criteria.to_vec();
        Ok(self)
    }

    /// The policy whose programs need an approval of the settings.
    pub(super) fn approvable_policy(&self) -> Policy {
        let mut policy = self.policy_without_goals().into_owned();
        if let Some(check) = policy.checks.get_mut(CRITERIA) {
            check.criteria.retain(|criterion| !self.loops_criteria.contains(criterion));
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
