//! Repeats safe calls if the connection to the store breaks.

use std::thread;
use std::time::{Duration, Instant};

use gate_core::config::{Backoff, Millis};

use super::Memory;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::render;
use crate::retry::{delay, random_fraction};
use crate::store::RETRY_INTERVAL;

/// The longest pause between two tries.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// The longest wait for a connection in a loop: an interrupt is seen between two of them.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Time without an answer after which a loop that waits says so.
const QUIET: Duration = Duration::from_secs(3);

/// The time in which a call is repeated.
#[derive(Clone, Debug, Default)]
pub(super) struct Patience {
    /// Zero without a connection: what a disk did not take may be lost even if it can be read.
    pub(super) limit: Duration,
    /// Set for a loop that waits: it can be interrupted, and the person gets a message.
    pub(super) waiting: Option<Interrupt>,
}

impl Memory {
    /// Waits for a store that does not answer as long as for the agent's service, or until somebody
    /// interrupts the loop.
    pub(crate) fn waiting_out(mut self, limit_ms: u64, interrupt: &Interrupt) -> Self {
        if !self.patience.limit.is_zero() {
            self.store.connect_within(CONNECT_TIMEOUT);
            let limit = Duration::from_millis(limit_ms).max(self.patience.limit);
            self.patience = Patience { limit, waiting: Some(interrupt.clone()) };
        }
        self
    }

    /// As [`Memory::retry`], for what is to be recorded. If the end of the ledger is lost, reports
    /// that to the other machines.
    pub(super) fn retry_record<T>(
        &mut self,
        work: impl FnMut(&mut Self, bool) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let done = self.retry(work);
        if done.as_ref().is_err_and(|failure| failure.code == "state-lost") {
            self.report_loss();
        }
        done
    }

    /// Calls `work` until it succeeds, or fails otherwise than by its connection. The flag is true
    /// if an earlier call may have been kept: then `work` has to look for it first.
    pub(crate) fn retry<T>(
        &mut self,
        mut work: impl FnMut(&mut Self, bool) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let patience = self.patience.clone();
        let mut outage = Outage::new(patience);
        loop {
            match work(self, outage.count > 0) {
                Ok(done) => return Ok(done),
                Err(failure) => outage.wait_after(failure)?,
            }
        }
    }
}

/// The tries until now.
struct Outage {
    patience: Patience,
    began: Instant,
    count: u64,
    is_announced: bool,
    /// The failure of a call that may have been kept.
    uncertain: Option<Failure>,
}

impl Outage {
    fn new(patience: Patience) -> Self {
        Self { patience, began: Instant::now(), count: 0, is_announced: false, uncertain: None }
    }

    /// Returns when it is time for another try.
    ///
    /// # Errors
    ///
    /// The failure, if another try is no use or nobody waits any more. One after which something
    /// may have been kept goes before all later ones.
    fn wait_after(&mut self, failure: Failure) -> Result<(), Failure> {
        // One try may have waited for a connection nearly as long.
        let is_over = self.began.elapsed() + MAX_PAUSE.min(self.patience.limit / 4)
            >= self.patience.limit
            || self.is_interrupted();
        if !failure.is_of_connection() || is_over {
            return Err(self.uncertain.take().unwrap_or(failure));
        }
        self.announce(&failure);
        if failure.is_uncertain() {
            self.uncertain = Some(failure);
        }
        self.pause();
        self.count += 1;
        Ok(())
    }

    fn is_interrupted(&self) -> bool {
        self.patience.waiting.as_ref().is_some_and(|interrupt| interrupt.code().is_some())
    }

    fn pause(&self) {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let settings = Backoff {
            first_ms: millis(RETRY_INTERVAL),
            max_ms: millis(MAX_PAUSE),
            limit_ms: millis(self.patience.limit),
        };
        let until = Instant::now() + delay(&settings, self.count, random_fraction());
        while Instant::now() < until && !self.is_interrupted() {
            thread::sleep(RETRY_INTERVAL.min(until.saturating_duration_since(Instant::now())));
        }
    }

    fn announce(&mut self, failure: &Failure) {
        if self.patience.waiting.is_none() || self.is_announced || self.began.elapsed() < QUIET {
            return;
        }
        self.is_announced = true;
        let limit = Millis(u64::try_from(self.patience.limit.as_millis()).unwrap_or(u64::MAX));
        render::notes(&[format!(
            "{}; the loop waits for the store, at most {limit}; the agent's work is kept",
            failure.message
        )]);
    }
}
