//! Renews the lease of a work item as long as its loop runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gate_fleet::work::WorkItem;

use super::stop_conditions::LostLease;
use super::watch::POLL_INTERVAL;
use crate::memory::{LeaseRef, Memory};

/// Renewals within the lifetime of a lease.
const RENEWALS_PER_TTL: u32 = 4;

/// Somebody else may return the lease, or end its phase, at any time.
const MAX_RENEWAL_INTERVAL: Duration = Duration::from_secs(5);

/// The task of a work item's phase. Each step has a task of its own, and so its own breaker.
pub(crate) fn phase_task(work: &WorkItem) -> String {
    let (id, phase) = (&work.id, work.state.phase.as_str().to_lowercase());
    let steps = work.state.transition_count;
    if id.len() <= 60 && id.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
        return format!("work-{id}-{steps}-{phase}");
    }
    // Another id would be no name for a folder, or too long for one.
    let digest = blake3::hash(id.as_bytes()).to_hex();
    format!("work-{}-{steps}-{phase}", &digest[..16])
}

/// Runs the work while the lease is renewed, each time for `ttl`. Sets `lost_lease` if the
/// lease is over or belongs to somebody else.
///
/// Renewal and expiry have a thread each: a renewal may hang in a store that does not
/// answer, and the work has to end in time all the same.
pub(crate) fn with_lease<T>(
    memory: &mut Memory,
    lease: LeaseRef<'_>,
    ttl: Duration,
    lost_lease: &LostLease,
    work: impl FnOnce() -> T,
) -> T {
    let state = LeaseState::default();
    thread::scope(|scope| {
        scope.spawn(|| renew(memory, lease, ttl, &state, lost_lease));
        scope.spawn(|| expire(ttl, &state, lost_lease));
        let _end_of_work = EndOfWork(&state.is_done);
        work()
    })
}

struct LeaseState {
    renewed_at: Mutex<Instant>,
    is_done: AtomicBool,
}

impl Default for LeaseState {
    fn default() -> Self {
        Self { renewed_at: Mutex::new(Instant::now()), is_done: AtomicBool::new(false) }
    }
}

/// Ends the threads at the end of the work, even if the work panics.
struct EndOfWork<'s>(&'s AtomicBool);

impl Drop for EndOfWork<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl LeaseState {
    fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Relaxed)
    }

    // A thread that panicked cannot leave half an instant, so poison does not matter.
    fn renewed_at(&self) -> MutexGuard<'_, Instant> {
        self.renewed_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn renew(
    memory: &mut Memory,
    lease: LeaseRef<'_>,
    ttl: Duration,
    state: &LeaseState,
    lost_lease: &LostLease,
) {
    let interval = (ttl / RENEWALS_PER_TTL).min(MAX_RENEWAL_INTERVAL);
    let mut tried_at = Instant::now();
    while !state.is_done() && !lost_lease.is_lost() {
        thread::sleep(POLL_INTERVAL.min(interval));
        if tried_at.elapsed() < interval {
            continue;
        }
        tried_at = Instant::now();
        match memory.renew(lease, ttl) {
            // The time before the call: the store may have answered late.
            Ok(_) => *state.renewed_at() = tried_at,
            // The store did not answer. It may do so before the lease is over. With code 2 it
            // answered that the lease is no longer this loop's.
            Err(failure) if failure.exit_code != 2 => {}
            Err(_) => return lost_lease.note(),
        }
    }
}

fn expire(ttl: Duration, state: &LeaseState, lost_lease: &LostLease) {
    while !state.is_done() {
        if state.renewed_at().elapsed() >= ttl {
            return lost_lease.note();
        }
        thread::sleep(POLL_INTERVAL.min(ttl / RENEWALS_PER_TTL));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_that_nobody_renews_ends_the_work() {
        let (state, lost_lease) = (LeaseState::default(), LostLease::default());
        expire(Duration::from_millis(20), &state, &lost_lease);
        assert!(lost_lease.is_lost() && state.renewed_at().elapsed().as_millis() >= 20);
    }

    #[test]
    fn work_that_is_done_loses_nothing() {
        let (state, lost_lease) = (LeaseState::default(), LostLease::default());
        drop(EndOfWork(&state.is_done));
        expire(Duration::ZERO, &state, &lost_lease);
        assert!(!lost_lease.is_lost());
    }
}
