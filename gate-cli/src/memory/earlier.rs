//! What is recorded under the number that the caller gave to an iteration.

use gate_core::digest;

use super::body;
use super::loops::Loaded;
use super::turn::{Asked, Turn};
use crate::failure::Failure;
use crate::record::Record;
use crate::store::Reading;

/// What is recorded under the number that the caller gave.
pub(super) enum Earlier {
    /// Nothing.
    Nothing,
    /// The decision of this iteration, in a run that goes on.
    Live(Box<Record>),
    /// A decision of an iteration before the last, about another output: the
    /// caller began to count anew.
    Restarted,
    /// A decision of a run that is over, where nobody holds the breaker open.
    Over(Box<Record>),
}

impl Earlier {
    pub(super) fn of(
        reading: &mut dyn Reading,
        loaded: &Loaded,
        asked: &Asked<'_>,
    ) -> Result<Self, Failure> {
        let (Some(iteration), Some((run, state)), false) =
            (asked.iteration, &loaded.last, asked.new_run)
        else {
            return Ok(Self::Nothing);
        };
        let Some(sealed) = reading.decision(run, iteration)? else { return Ok(Self::Nothing) };
        let record = body::decision_of(&sealed)?;
        let other = asked.is_about_another(&record);
        let over = loaded.is_past(state);
        Ok(if over && !loaded.is_closed() {
            Self::Nothing
        } else if over {
            Self::Over(Box::new(record))
        } else if iteration < state.iteration && other {
            Self::Restarted
        } else {
            Self::Live(Box::new(record))
        })
    }

    /// The decision that is given once more. One of a run that is over opens
    /// nothing anew: it is given only where all that it rests on is the same,
    /// to a caller that did not hear it.
    pub(super) fn repeated(&self, asked: &Asked<'_>) -> Option<Record> {
        let record = match self {
            Self::Live(record) if !asked.forced && !asked.has_approved_since(record) => record,
            Self::Over(record) if asked.would_decide_the_same(record) => record,
            _ => return None,
        };
        Some(Record { repeated: true, ..Record::clone(record) })
    }

    /// The decision that another process made since the turn began.
    pub(super) fn made_meanwhile(&self, turn: &Turn, asked: &Asked<'_>) -> Option<Record> {
        let (Self::Live(record) | Self::Over(record)) = self else { return None };
        let since = record.ledger.as_ref().is_some_and(|ledger| ledger.seq > turn.head);
        (since && !asked.forced).then(|| Record { repeated: true, ..Record::clone(record) })
    }
}

impl Asked<'_> {
    fn is_about_another(&self, record: &Record) -> bool {
        match (self.input, record.input_digest.as_deref()) {
            (Some(now), Some(then)) => now != then,
            _ => false,
        }
    }

    /// Whether a decision waited for the operator to approve settings, who has by now.
    fn has_approved_since(&self, record: &Record) -> bool {
        let settings = self.settings.as_ref();
        record.decision.waits_for_settings()
            && settings.is_some_and(|settings| settings.looked.changed.is_none())
    }

    /// Whether the decision would come out the same: about the same output, by
    /// the same policy, over the same work tree, unforced.
    fn would_decide_the_same(&self, record: &Record) -> bool {
        let decision = &record.decision;
        let tree = decision.observed.tree.as_ref().map(|tree| &tree.after);
        // Without checks it rests on no tree.
        let still =
            || self.policy.checks.is_empty() || (tree.is_some() && (self.look)().as_ref() == tree);
        self.input.is_some()
            && record.input_digest.as_deref() == self.input
            && record.policy_digest == digest(self.policy_text.as_bytes())
            && !(decision.forced || self.forced)
            && still()
    }
}
