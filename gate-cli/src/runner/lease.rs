//! The lease of the work item that a loop is about: it is renewed as long as the
//! loop runs.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use gate_checks::CancellationToken;

use super::watch::TICK;
use crate::memory::{Handed, Memory};

/// How many renewals fit into the time that a lease holds.
const RENEWALS: u32 = 4;

/// The longest that a lease goes without being looked at: it may have been given
/// back, or its phase ended, by somebody else.
const LONGEST: Duration = Duration::from_secs(5);

/// Does the work while the lease is renewed, each time for so long. Where it is
/// somebody else's meanwhile, or over, `lost` ends the work: in time, also while a
/// store does not answer.
pub(crate) fn keeping<T>(
    memory: &mut Memory,
    (handed, ttl): (Handed<'_>, Duration),
    lost: &CancellationToken,
    work: impl FnOnce() -> T,
) -> T {
    let done = CancellationToken::new();
    let held = Mutex::new(Instant::now());
    thread::scope(|scope| {
        scope.spawn(|| renews(memory, (handed, ttl), (&held, &done), lost));
        scope.spawn(|| expires(ttl, (&held, &done), lost));
        let _ends = done.drop_guard_ref();
        work()
    })
}

/// Since when the lease holds, and whether the work is done.
type Held<'a> = (&'a Mutex<Instant>, &'a CancellationToken);

fn renews(
    memory: &mut Memory,
    (handed, ttl): (Handed<'_>, Duration),
    (held, done): Held<'_>,
    lost: &CancellationToken,
) {
    let each = (ttl / RENEWALS).min(LONGEST);
    let mut tried = Instant::now();
    while !done.is_cancelled() && !lost.is_cancelled() {
        thread::sleep(TICK.min(each));
        if tried.elapsed() < each {
            continue;
        }
        tried = Instant::now();
        match memory.renew(handed, ttl) {
            Ok(_) => since(held, |held| *held = tried),
            // A store that does not answer may do so in time.
            Err(failure) if failure.exit_code != 2 => {}
            Err(_) => return lost.cancel(),
        }
    }
}

/// Ends the work when the lease is over that was not renewed.
fn expires(ttl: Duration, (held, done): Held<'_>, lost: &CancellationToken) {
    while !done.is_cancelled() {
        if since(held, |held| held.elapsed()) >= ttl {
            return lost.cancel();
        }
        thread::sleep(TICK.min(ttl / RENEWALS));
    }
}

/// A thread that ended in the middle leaves a moment like any other.
fn since<T>(held: &Mutex<Instant>, look: impl FnOnce(&mut Instant) -> T) -> T {
    look(&mut held.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_that_nobody_renews_ends_the_work() {
        let (held, done) = (Mutex::new(Instant::now()), CancellationToken::new());
        let lost = CancellationToken::new();
        expires(Duration::from_millis(20), (&held, &done), &lost);
        assert!(lost.is_cancelled() && since(&held, |held| held.elapsed().as_millis() >= 20));
    }

    #[test]
    fn work_that_is_done_loses_nothing() {
        let (held, done) = (Mutex::new(Instant::now()), CancellationToken::new());
        let lost = CancellationToken::new();
        done.cancel();
        expires(Duration::ZERO, (&held, &done), &lost);
        assert!(!lost.is_cancelled());
    }
}
