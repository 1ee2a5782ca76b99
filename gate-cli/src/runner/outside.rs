//! What ends a loop from outside: a person, a scheduler, the time that it has.

use std::path::PathBuf;
use std::time::Instant;

use gate_checks::CancellationToken;
use gate_core::protocol::run::layout;

use super::Order;
use crate::governance::Task;
use crate::interrupt::{Interrupt, cancel_when};
use crate::memory::StoppedBy;

/// Who may end a loop from outside.
pub(super) struct Outside<'l> {
    interrupt: &'l Interrupt,
    /// `gate stop` writes it.
    stop: PathBuf,
    /// When the loop's time is over.
    until: Option<Instant>,
    /// The work is somebody else's.
    lost: CancellationToken,
}

impl<'l> Outside<'l> {
    pub(super) fn of(task: &Task, interrupt: &'l Interrupt, order: &Order) -> Self {
        let until = order.wall.and_then(|time| Instant::now().checked_add(time));
        let stop = task.folder().join(layout::STOP_REQUESTED);
        Self { interrupt, stop, until, lost: order.lost.clone() }
    }

    /// Who wants the loop to end now.
    pub(super) fn ends(&self) -> Option<StoppedBy> {
        let is_over = || self.until.is_some_and(|until| Instant::now() >= until);
        self.stops().or_else(|| is_over().then_some(StoppedBy::BudgetWall))
    }

    /// The same, as far as it cannot wait until gate has judged.
    pub(super) fn stops(&self) -> Option<StoppedBy> {
        if self.interrupt.code().is_some() {
            return Some(StoppedBy::Cancelled);
        }
        if self.lost.is_cancelled() {
            return Some(StoppedBy::LeaseLost);
        }
        self.stop.symlink_metadata().is_ok().then_some(StoppedBy::StopRequested)
    }

    /// Does the work, and cancels it when it cannot wait.
    pub(super) fn cancels<T>(&self, cancel: &CancellationToken, work: impl FnOnce() -> T) -> T {
        cancel_when(cancel, &|| self.stops().is_some(), work)
    }
}
