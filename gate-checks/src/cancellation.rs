//! The early end of work whose result nobody needs.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

/// The reason to end work early.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CancelReason {
    /// The caller has no use for the result any more.
    Unwanted,
    /// The verdict is certain without it. The text names the check that decides.
    Certain(String),
    /// The time for the work is over.
    Deadline,
}

/// The time that processes have to end by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grace {
    /// SIGTERM first, and SIGKILL some seconds later.
    Usual,
    /// SIGKILL at once.
    None,
}

/// Ends work, and all work that was started under it, with a reason and a grace. Clones are
/// the same cancellation.
///
/// ```
/// use gate_checks::{CancelReason, Cancellation, Grace};
///
/// let round = Cancellation::default();
/// let check = round.child();
/// check.cancel(CancelReason::Deadline, Grace::None);
/// assert_eq!(check.reason(), Some(&CancelReason::Deadline));
/// assert!(!round.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    parent: Option<Arc<Cancellation>>,
    reason: Arc<OnceLock<CancelReason>>,
    ended: CancellationToken,
    /// Cancelled when the grace is over too.
    killed: CancellationToken,
}

impl Cancellation {
    /// The cancellation of a part of the work: it ends with the whole, and can end alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            parent: Some(Arc::new(self.clone())),
            reason: Arc::default(),
            ended: self.ended.child_token(),
            killed: self.killed.child_token(),
        }
    }

    /// Ends the work. The first reason counts. A later call can still take the grace away.
    pub fn cancel(&self, reason: CancelReason, grace: Grace) {
        // Setting fails if there is an earlier reason, which stays.
        let _ = self.reason.set(reason);
        self.ended.cancel();
        if grace == Grace::None {
            self.killed.cancel();
        }
    }

    /// The work should end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Processes of the work have no time any more to end by themselves.
    #[must_use]
    pub fn is_grace_over(&self) -> bool {
        self.killed.is_cancelled()
    }

    /// The reason of this work's end, else that of the work that it is a part of.
    #[must_use]
    pub fn reason(&self) -> Option<&CancelReason> {
        self.reason.get().or_else(|| self.parent.as_deref()?.reason())
    }

    /// Returns when the work should end.
    pub async fn cancelled(&self) {
        self.ended.cancelled().await;
    }

    /// Returns when the grace is over.
    pub async fn grace_over(&self) {
        self.killed.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_with_the_whole_and_names_its_reason() {
        let whole = Cancellation::default();
        let part = whole.child().child();
        whole.cancel(CancelReason::Unwanted, Grace::Usual);
        assert!(part.is_cancelled() && !part.is_grace_over());
        assert_eq!(part.reason(), Some(&CancelReason::Unwanted));
    }

    #[test]
    fn the_first_reason_stays_and_the_grace_can_end_later() {
        let work = Cancellation::default();
        work.cancel(CancelReason::Certain("tests failed".to_owned()), Grace::Usual);
        work.cancel(CancelReason::Deadline, Grace::None);
        assert_eq!(work.reason(), Some(&CancelReason::Certain("tests failed".to_owned())));
        assert!(work.is_grace_over());
    }
}
