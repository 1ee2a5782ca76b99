//! The decision that is already recorded under the caller's number of an iteration.

use gate_core::digest;
use gate_core::record::GoalRecord;

use super::pending_decision::{DecisionRequest, PendingDecision};
use super::run_history::RunHistory;
use crate::failure::Failure;
use crate::record::Record;
use crate::store::View;

pub(super) enum RecordedDecision {
    None,
    /// The decision of this iteration, in a run that goes on.
    Live(Box<Record>),
    /// A decision about another output, in an iteration before the last: the caller has
    /// started to count again.
    Restarted,
    /// A decision of a run that is over, while no breaker is open.
    Over(Box<Record>),
}

impl RecordedDecision {
    /// Finds the decision on the caller's iteration in the loop's last run.
    pub(super) fn find(
        view: &mut View<'_>,
        history: &RunHistory,
        request: &DecisionRequest<'_>,
    ) -> Result<Self, Failure> {
        let (Some(iteration), Some((run, state)), false) =
            (request.asker.iteration, &history.last_run, request.asker.new_run)
        else {
            return Ok(Self::None);
        };
        let Some(sealed) = view.decision(run, iteration)? else { return Ok(Self::None) };
        let record = Record::from_sealed(&sealed)?;
        let is_over = history.is_run_over(state);
        Ok(if is_over && !history.is_closed() {
            // Whatever was decided before, an open breaker has the word now.
            Self::None
        } else if is_over {
            Self::Over(Box::new(record))
        } else if iteration < state.iteration && request.has_other_input(&record) {
            Self::Restarted
        } else {
            Self::Live(Box::new(record))
        })
    }

    /// The decision to return again, for a caller that has lost the answer.
    pub(super) fn repeated(&self, request: &DecisionRequest<'_>) -> Option<Record> {
        let Self::Live(record) = self else { return None };
        let is_repeated = !request.asker.is_forced()
            && !request.has_approved_since(record)
            && record.goals.iter().map(GoalRecord::words).eq(request.goals.iter().cloned());
        is_repeated.then(|| repeated(record))
    }

    /// A decision of a run that is over must not let a new run pass. It is returned again only
    /// if its output and policy are still the same, and the work tree, which is compared
    /// last because that is slow.
    pub(super) fn repeated_on_the_same_tree(
        &self,
        request: &DecisionRequest<'_>,
    ) -> Option<Record> {
        let Self::Over(record) = self else { return None };
        request.would_decide_the_same(record).then(|| repeated(record))
    }

    /// The decision of another process, recorded after this one began.
    pub(super) fn made_meanwhile(
        &self,
        pending: &PendingDecision,
        request: &DecisionRequest<'_>,
    ) -> Option<Record> {
        let (Self::Live(record) | Self::Over(record)) = self else { return None };
        let is_newer = record.ledger.as_ref().is_some_and(|ledger| ledger.seq > pending.head);
        (is_newer && !request.asker.is_forced()).then(|| repeated(record))
    }
}

fn repeated(record: &Record) -> Record {
    Record { repeated: true, ..record.clone() }
}

impl DecisionRequest<'_> {
    fn has_other_input(&self, record: &Record) -> bool {
        match (self.input, record.input_digest.as_deref()) {
            (Some(input), Some(recorded_input)) => input != recorded_input,
            _ => false,
        }
    }

    /// The decision waited for an approval of settings or of changed tests, which now exists.
    fn has_approved_since(&self, record: &Record) -> bool {
        let has_approved_settings = record.decision.waits_for_settings()
            && self.settings.is_some_and(|settings| settings.changed.is_none());
        let decided_at = record.ledger.as_ref().map(|ledger| ledger.seq);
        let has_approved_tests = record.decision.waits_for_tests() && self.approval > decided_at;
        has_approved_settings || has_approved_tests
    }

    /// Compares output and policy. Never true for a forced decision.
    fn would_decide_the_same(&self, record: &Record) -> bool {
        self.input.is_some()
            && record.input_digest.as_deref() == self.input
            && record.policy_digest == digest(self.policy_text.as_bytes())
            && !(record.decision.forced || self.asker.is_forced())
    }
}
