//! Waiting for the lock of a database.

use std::thread;
use std::time::{Duration, Instant};

use super::super::error::StoreError;

/// The shortest and longest pause between two attempts, in microseconds.
const PAUSE_MICROS: (u32, u32) = (1_000, 9_000);

/// A wait for a lock. Everybody pauses as long on average, newcomers too, so that nobody is
/// left out; and at random, so that nobody pauses in step.
#[derive(Debug)]
pub(super) struct LockWait<'a> {
    place: &'a str,
    until: Instant,
}

impl<'a> LockWait<'a> {
    pub(super) fn new(place: &'a str, patience: Duration) -> Self {
        Self { place, until: Instant::now() + patience }
    }

    /// Calls `ask` until its result is another one than [`StoreError::Busy`].
    ///
    /// # Errors
    ///
    /// Those of `ask`; [`StoreError::Busy`] once the time is over.
    pub(super) fn retry<T>(
        &self,
        mut ask: impl FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        loop {
            match ask() {
                Err(StoreError::Busy { .. }) if Instant::now() < self.until => {
                    thread::sleep(pause());
                }
                Err(StoreError::Busy { .. }) => {
                    return Err(StoreError::Busy { place: self.place.to_owned() });
                }
                answer => return answer,
            }
        }
    }
}

/// A pause of another length each time: the clock's last digits choose it.
fn pause() -> Duration {
    let digits = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.subsec_nanos());
    let spread = digits.wrapping_mul(2_654_435_761) >> 8;
    Duration::from_micros(u64::from(PAUSE_MICROS.0 + spread % (PAUSE_MICROS.1 - PAUSE_MICROS.0)))
}
