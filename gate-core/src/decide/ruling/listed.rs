//! The turn that lists what its task leaves open.

use super::{Case, Ruling};
use crate::decide::reason::{Reason, ReasonCode};
use crate::decide::signal::Status;
use crate::decide::verdict::Verdict;

impl Case<'_> {
    /// The ruling on a turn that lists the open decisions of its task: nothing else counts in it. An
    /// agent that listed nothing may say that it cannot go on.
    pub(super) fn listed(&self) -> Option<Ruling> {
        let listing = self.input.observed.listing.as_ref()?;
        if let Some(objection) = listing.objection() {
            let is_blocked = self.input.signal.status == Status::Blocked;
            return (!is_blocked).then(|| {
                let reason = Reason::new(ReasonCode::DecisionsUnlisted, objection);
                Ruling::new(Verdict::Continue, vec![reason])
            });
        }
        let verdict = if listing.open.is_empty() { Verdict::Continue } else { Verdict::Blocked };
        let reason = Reason::new(ReasonCode::DecisionsOpen, listing.sentence());
        Some(Ruling::new(verdict, vec![reason]))
    }
}
