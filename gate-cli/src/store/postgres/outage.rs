//! A database that does not answer for a while: what is safe is tried again.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

use gate_core::config::{Backoff, Millis};
use gate_core::ledger::Head;

use super::connection::Session;
use super::transaction::Running;
use super::{RETRY_INTERVAL, Server};
use crate::interrupt::Interrupt;
use crate::render;
use crate::retry::{delay, random_fraction};
use crate::store::error::StoreError;
use crate::store::view::View;

/// The longest pause between two tries.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// The longest wait for a connection in a loop: an interrupt is seen between two of them.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Time without an answer after which a loop that waits says so.
const QUIET: Duration = Duration::from_secs(3);

/// The time in which a work is tried again.
#[derive(Debug)]
pub(super) struct Patience {
    limit: Duration,
    /// The longest wait for a connection.
    pub(super) connecting: Duration,
    /// Set for a loop that waits: it can be interrupted, and the person gets a message.
    interrupt: Option<Interrupt>,
    /// The beginning of the last outage that the person was told of.
    announced: Cell<Option<Instant>>,
}

impl Patience {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, connecting: limit, interrupt: None, announced: Cell::new(None) }
    }

    pub(super) fn wait_in_loop(&mut self, limit: Duration, interrupt: &Interrupt) {
        self.connecting = CONNECT_TIMEOUT.min(self.connecting);
        self.limit = limit.max(self.limit);
        self.interrupt = Some(interrupt.clone());
    }

    pub(super) fn wait_for(&self, began: Instant, failed: u64, message: &str) -> bool {
        // One try may have waited for a connection nearly as long.
        let is_over = began.elapsed() + MAX_PAUSE.min(self.limit / 4) >= self.limit;
        if is_over || self.is_interrupted() {
            return false;
        }
        self.announce(began, message);
        let settings = Backoff {
            first_ms: millis(RETRY_INTERVAL),
            max_ms: millis(MAX_PAUSE),
            limit_ms: millis(self.limit),
        };
        let until = Instant::now() + delay(&settings, failed, random_fraction());
        while Instant::now() < until && !self.is_interrupted() {
            thread::sleep(RETRY_INTERVAL.min(until.saturating_duration_since(Instant::now())));
        }
        true
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|interrupt| interrupt.code().is_some())
    }

    fn announce(&self, began: Instant, message: &str) {
        let is_announced = self.announced.get() == Some(began);
        if self.interrupt.is_none() || is_announced || began.elapsed() < QUIET {
            return;
        }
        self.announced.set(Some(began));
        let limit = Millis(millis(self.limit));
        render::notes(&[format!(
            "{message}; the loop waits for the store, at most {limit}; the agent's work is kept"
        )]);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Server {
    /// Finds out what became of a commit that has no answer, and of the record that it appended
    /// last.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unreachable`] if nothing was kept, and `uncertain` if that cannot be found out.
    pub(super) fn settle(
        &self,
        project: &str,
        head: Head,
        uncertain: StoreError,
    ) -> Result<(), StoreError> {
        let began = Instant::now();
        for failed in 0.. {
            match self.holds(project, head) {
                Ok(true) => return Ok(()),
                Ok(false) => {
                    let what = "the connection broke before the commit".to_owned();
                    return Err(StoreError::Unreachable { place: self.place.clone(), what });
                }
                Err(error @ (StoreError::Unreachable { .. } | StoreError::Busy { .. }))
                    if self.outages.wait_for(began, failed, &error.to_string()) => {}
                Err(_) => break,
            }
        }
        Err(uncertain)
    }

    /// True if the ledger has this record. Whoever has the project's lock sees it: the server has
    /// ended the transaction that held the lock before.
    fn holds(&self, project: &str, head: Head) -> Result<bool, StoreError> {
        let session = Session::connect(self, self.outages.connecting)?;
        let mut running = Running::new(self, &session).in_transaction();
        running.run(&self.writing(project))?;
        if running.version()? == 0 {
            // The transaction would have made the tables.
            return Ok(false);
        }
        let kept = View::new(Box::new(running), project)?.entry(head.seq)?;
        Ok(kept.is_some_and(|sealed| sealed.hash == head.hash))
    }
}
