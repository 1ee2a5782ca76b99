//! The way to a database, and the patience with one that does not answer for a while.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gate_core::config::{Backoff, Millis};
use tokio::runtime::Runtime;

use super::url::DatabaseUrl;

/// Pause between two attempts to reach a database.
pub(super) const RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// The way to a database.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) runtime: Runtime,
    pub(super) url: DatabaseUrl,
    pub(super) place: String,
    /// The longest wait for a lock, or for a statement.
    pub(super) patience: Duration,
    /// The wait for a database that does not answer.
    pub(super) outages: Patience,
}

impl Server {
    /// The statements that begin a change of a project's ledger, once nobody else changes it.
    pub(super) fn begin_change(&self, project: &str) -> String {
        let (patience, lock) = (self.patience.as_millis().max(1), lock(project));
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = {patience}; \
             {DURABLE}; SELECT pg_advisory_xact_lock({lock})"
        )
    }
}

/// A database or a role may be set to answer before a commit is on the disk; gate's records wait for
/// the disk. `remote_write` and `remote_apply` are left as they are: they wait for it, too.
const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', true) \
     WHERE current_setting('synchronous_commit') IN ('off', 'local')";

/// The number of a project's lock. If two projects share a number, they wait for each other, and
/// nothing worse.
pub(super) fn lock(project: &str) -> i64 {
    let digest = blake3::hash(format!("gate ledger\0{project}").as_bytes());
    i64::from_le_bytes(std::array::from_fn(|index| digest.as_bytes()[index]))
}

/// The longest pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// The longest wait for a connection in a loop: an interrupt is seen between two of them.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Time without an answer after which the person hears of the wait.
const QUIET_TIME: Duration = Duration::from_secs(3);

/// The time during which failed work is tried again.
#[derive(Debug)]
pub(super) struct Patience {
    limit: Duration,
    /// The longest wait for a connection.
    pub(super) connecting: Duration,
    /// The signal that interrupts the wait; set for a loop, whose person gets a message as well.
    interrupt: Option<Arc<AtomicUsize>>,
    /// The beginning of the last outage that the person was told of.
    announced: Cell<Option<Instant>>,
}

impl Patience {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, connecting: limit, interrupt: None, announced: Cell::new(None) }
    }

    pub(super) fn wait_in_loop(&mut self, limit: Duration, interrupt: &Arc<AtomicUsize>) {
        self.connecting = CONNECT_TIMEOUT.min(self.connecting);
        self.limit = limit.max(self.limit);
        self.interrupt = Some(interrupt.clone());
    }

    pub(super) fn wait_for(&self, start: Instant, failures: u64, message: &str) -> bool {
        // The pause is part of the wait. A quarter at most, because one attempt may have waited for
        // a connection nearly as long as the limit.
        let is_over = start.elapsed() + MAX_PAUSE.min(self.limit / 4) >= self.limit;
        if is_over || self.is_interrupted() {
            return false;
        }
        self.announce(start, message);
        let backoff = Backoff {
            first_ms: millis(RETRY_INTERVAL),
            max_ms: millis(MAX_PAUSE),
            limit_ms: millis(self.limit),
        };
        let deadline = Instant::now() + backoff.delay(failures, crate::random_fraction());
        // Short sleeps, so that an interrupt ends the pause.
        while Instant::now() < deadline && !self.is_interrupted() {
            thread::sleep(RETRY_INTERVAL.min(deadline.saturating_duration_since(Instant::now())));
        }
        true
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|interrupt| interrupt.load(Ordering::Relaxed) != 0)
    }

    fn announce(&self, start: Instant, message: &str) {
        let is_announced = self.announced.get() == Some(start);
        if self.interrupt.is_none() || is_announced || start.elapsed() < QUIET_TIME {
            return;
        }
        self.announced.set(Some(start));
        let limit = Millis(millis(self.limit));
        gate_card::notes(&[format!(
            "{message}; the loop waits for the store, at most {limit}; the agent's work is kept"
        )]);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
