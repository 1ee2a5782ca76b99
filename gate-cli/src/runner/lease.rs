//! Renews the lease of a work item as long as its loop runs.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gate_checks::CancellationToken;

use super::watch::POLL_INTERVAL;
use crate::memory::{LeaseRef, Memory};

/// Renewals within the lifetime of a lease.
const RENEWALS_PER_TTL: u32 = 4;

/// Somebody else may return the lease, or end its phase, at any time.
const MAX_RENEWAL_INTERVAL: Duration = Duration::from_secs(5);

/// Runs the work while the lease is renewed, each time for `ttl`. Cancels `lost` if the
/// lease is over or belongs to somebody else.
///
/// Renewal and expiry have a thread each: a renewal may hang in a store that does not
/// answer, and the work has to end in time all the same.
pub(crate) fn with_lease<T>(
    memory: &mut Memory,
    (lease, ttl): (LeaseRef<'_>, Duration),
    lost: &CancellationToken,
    work: impl FnOnce() -> T,
) -> T {
    let state = LeaseState::default();
    thread::scope(|scope| {
        scope.spawn(|| renew(memory, (lease, ttl), &state, lost));
        scope.spawn(|| expire(ttl, &state, lost));
        let _ends = state.work_done.drop_guard_ref();
        work()
    })
}

struct LeaseState {
    renewed_at: Mutex<Instant>,
    work_done: CancellationToken,
}

impl Default for LeaseState {
    fn default() -> Self {
        Self { renewed_at: Mutex::new(Instant::now()), work_done: CancellationToken::new() }
    }
}

impl LeaseState {
    // A thread that panicked cannot leave half an instant, so poison does not matter.
    fn renewed_at(&self) -> MutexGuard<'_, Instant> {
        self.renewed_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn renew(
    memory: &mut Memory,
    (lease, ttl): (LeaseRef<'_>, Duration),
    state: &LeaseState,
    lost: &CancellationToken,
) {
    let interval = (ttl / RENEWALS_PER_TTL).min(MAX_RENEWAL_INTERVAL);
    let mut tried_at = Instant::now();
    while !state.work_done.is_cancelled() && !lost.is_cancelled() {
        thread::sleep(POLL_INTERVAL.min(interval));
        if tried_at.elapsed() < interval {
            continue;
        }
        tried_at = Instant::now();
        match memory.renew(lease, ttl) {
            // The time before the call: the store may have answered late.
            Ok(_) => *state.renewed_at() = tried_at,
            // The store did not answer. It may do so before the lease is over.
            Err(failure) if failure.exit_code != 2 => {}
            Err(_) => return lost.cancel(),
        }
    }
}

fn expire(ttl: Duration, state: &LeaseState, lost: &CancellationToken) {
    while !state.work_done.is_cancelled() {
        if state.renewed_at().elapsed() >= ttl {
            return lost.cancel();
        }
        thread::sleep(POLL_INTERVAL.min(ttl / RENEWALS_PER_TTL));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_that_nobody_renews_ends_the_work() {
        let (state, lost) = (LeaseState::default(), CancellationToken::new());
        expire(Duration::from_millis(20), &state, &lost);
        assert!(lost.is_cancelled() && state.renewed_at().elapsed().as_millis() >= 20);
    }

    #[test]
    fn work_that_is_done_loses_nothing() {
        let (state, lost) = (LeaseState::default(), CancellationToken::new());
        state.work_done.cancel();
        expire(Duration::ZERO, &state, &lost);
        assert!(!lost.is_cancelled());
    }
}
