//! What ends a loop from outside: a person, a scheduler, the time that it has.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use gate_checks::CancellationToken;
use gate_core::protocol::run::layout;

use super::StoppedBy;
use super::watch::TICK;
use crate::governance::Task;
use crate::interrupt::Interrupt;

/// Who may end a loop from outside.
pub(super) struct Outside<'l> {
    interrupt: &'l Interrupt,
    /// `gate stop` writes it.
    stop: PathBuf,
    /// When the loop's time is over.
    until: Option<Instant>,
}

impl<'l> Outside<'l> {
    pub(super) fn of(task: &Task, interrupt: &'l Interrupt, time: Option<Duration>) -> Self {
        let until = time.and_then(|time| Instant::now().checked_add(time));
        Self { interrupt, stop: task.folder().join(layout::STOP_REQUESTED), until }
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
        self.stop.symlink_metadata().is_ok().then_some(StoppedBy::StopRequested)
    }

    /// Does the work, and cancels it when it cannot wait.
    pub(super) fn cancels<T>(&self, cancel: &CancellationToken, work: impl FnOnce() -> T) -> T {
        let done = CancellationToken::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.is_cancelled() && self.stops().is_none() {
                    thread::sleep(TICK);
                }
                cancel.cancel();
            });
            let _ends = done.drop_guard_ref();
            work()
        })
    }
}
