//! Stops of a loop from outside: a signal, `gate stop`, a lost lease, the time limit.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use gate_checks::{Cancellation, Grace};
use gate_fleet::run::layout;

use super::agent_loop::Order;
use crate::governance::Task;
use crate::interrupt::{Interrupt, cancel_when};
use crate::memory::StoppedBy;

pub(super) struct StopConditions<'l> {
    interrupt: &'l Interrupt,
    /// The file that `gate stop` writes.
    stop_file: PathBuf,
    /// The end of the loop's time.
    deadline: Option<Instant>,
    lost_lease: LostLease,
}

impl<'l> StopConditions<'l> {
    pub(super) fn new(task: &Task, interrupt: &'l Interrupt, order: &Order) -> Self {
        let deadline = order.wall.and_then(|limit| Instant::now().checked_add(limit));
        let stop_file = task.folder().join(layout::STOP_REQUESTED);
        Self { interrupt, stop_file, deadline, lost_lease: order.lost_lease.clone() }
    }

    /// The reason to end the loop now.
    pub(super) fn stop_reason(&self) -> Option<StoppedBy> {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.urgent_stop().or(is_late.then_some(StoppedBy::BudgetWall))
    }

    /// A reason that does not wait until gate has judged.
    pub(super) fn urgent_stop(&self) -> Option<StoppedBy> {
        if self.interrupt.code().is_some() {
            return Some(StoppedBy::Cancelled);
        }
        if self.lost_lease.is_lost() {
            return Some(StoppedBy::LeaseLost);
        }
        self.stop_file.symlink_metadata().is_ok().then_some(StoppedBy::StopRequested)
    }

    /// The cause of the signal that ends the loop.
    pub(super) fn signal_cause(&self) -> Option<&'static str> {
        self.interrupt.cause()
    }

    /// Runs the work, and cancels `cancel` on an urgent stop.
    pub(super) fn run_cancellable<T>(&self, cancel: &Cancellation, work: impl FnOnce() -> T) -> T {
        cancel_when(cancel, Grace::Usual, &|| self.urgent_stop().is_some(), work)
    }
}

/// Set if the lease is over or belongs to somebody else. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostLease(Arc<AtomicBool>);

impl LostLease {
    pub(super) fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_lost(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
