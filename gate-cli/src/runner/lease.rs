//! The lease of the work item that a loop is about: it is renewed as long as the
//! loop runs.

use std::thread;
use std::time::{Duration, Instant};

use gate_checks::CancellationToken;

use super::watch::TICK;
use crate::memory::{Handed, Memory};

/// How many renewals fit into the time that a lease holds.
const RENEWALS: u32 = 3;

/// Does the work while the lease is renewed, each time for so long. Where it is
/// somebody else's meanwhile, or over, `lost` ends the work.
pub(crate) fn keeping<T>(
    memory: &mut Memory,
    (handed, ttl): (Handed<'_>, Duration),
    lost: &CancellationToken,
    work: impl FnOnce() -> T,
) -> T {
    let done = CancellationToken::new();
    thread::scope(|scope| {
        scope.spawn(|| renews(memory, (handed, ttl), lost, &done));
        let _ends = done.drop_guard_ref();
        work()
    })
}

fn renews(
    memory: &mut Memory,
    (handed, ttl): (Handed<'_>, Duration),
    lost: &CancellationToken,
    done: &CancellationToken,
) {
    let (mut held, mut tried) = (Instant::now(), Instant::now());
    while !done.is_cancelled() {
        thread::sleep(TICK.min(ttl / RENEWALS));
        if tried.elapsed() < ttl / RENEWALS {
            continue;
        }
        tried = Instant::now();
        match memory.renew(handed, ttl) {
            Ok(_) => held = tried,
            // A store that does not answer may do so in time.
            Err(failure) if failure.exit_code != 2 && held.elapsed() < ttl => {}
            Err(_) => return lost.cancel(),
        }
    }
}
